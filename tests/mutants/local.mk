# SPDX-License-Identifier: MIT
# make mutants [SEED=n] [COUNT=n] [FOLDER=folder]: do the unit programs notice a changed token?
EXTRA_DIST += tests/mutants/equivalent
dist_noinst_SCRIPTS += tests/mutants/mutants.py
mutants:
	$(MAKE) $(AM_MAKEFLAGS) $(filter tests/unit/% tests/support/% tests/programs/inlined,$(check_PROGRAMS)) $(bin_PROGRAMS) \
		$(filter tests/unit/%,$(check_DATA))
	UNIT_PROGRAMS='$(filter tests/unit/%.test,$(TESTS))' SEED='$(SEED)' COUNT='$(COUNT)' FOLDER='$(FOLDER)' \
		python3 '$(abs_top_srcdir)/tests/mutants/mutants.py' '$(abs_top_srcdir)' '$(MAKE)' '$(COMPILE)' 2
.PHONY: mutants
