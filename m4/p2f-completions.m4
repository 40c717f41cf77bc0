dnl SPDX-License-Identifier: MIT

dnl P2F_COMPLETIONS: where shells look for completions, below our own prefix.
dnl bash-completion tells where it looks below its own; zsh has no place that all
dnl distributions agree on.
AC_DEFUN([P2F_COMPLETIONS], [
AC_ARG_WITH([zsh-completion-dir],
	[AS_HELP_STRING([--with-zsh-completion-dir=DIR], [where to install for zsh @<:@DATADIR/zsh/site-functions@:>@])],
	[], [with_zsh_completion_dir='${datadir}/zsh/site-functions'])
bashcompletiondir=`$PKG_CONFIG --define-variable=prefix='${prefix}' --variable=completionsdir bash-completion 2>/dev/null`
AS_CASE(["$bashcompletiondir"], ['${prefix}'/*], [],
	[bashcompletiondir='${datadir}/bash-completion/completions'])
AC_SUBST([bashcompletiondir])
AC_SUBST([zshcompletiondir], [$with_zsh_completion_dir])
AC_SUBST([fishcompletiondir], ['${datadir}/fish/vendor_completions.d'])
])
