# SPDX-License-Identifier: MIT
# Each shell's own place below our prefix; bash looks a command's file up by its name.
bashcompletion_DATA = completions/ptrace2ftf
dist_zshcompletion_DATA = completions/_ptrace2ftf
dist_fishcompletion_DATA = completions/ptrace2ftf.fish
EXTRA_DIST += completions/ptrace2ftf.bash
CLEANFILES += completions/ptrace2ftf

completions/ptrace2ftf: completions/ptrace2ftf.bash
	$(AM_V_GEN)$(MKDIR_P) completions && cp $(srcdir)/completions/ptrace2ftf.bash $@
