# SPDX-License-Identifier: MIT
dist_pkgdata_DATA += doc/summary.schema.json
EXTRA_DIST += doc/ARCHITECTURE.md doc/answers.md doc/BUDGETS.md doc/GLOSSARY.md doc/seeds.md doc/timing.md doc/icicle.svg

# The picture in README.md, made anew: one thread of the program that `make demo` records.
picture: ptrace2ftf$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/static/threads$(EXEEXT)
	tests/ptsim/ptsim$(EXEEXT) record --cpus=2 --cyc --seed=3 -o picture.data -- \
		tests/programs/static/threads$(EXEEXT)
	./ptrace2ftf$(EXEEXT) -q --format=svg --min-duration=60ns picture.data -o $(srcdir)/doc/icicle.svg
	rm -f picture.data
.PHONY: picture
