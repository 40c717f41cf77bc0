# SPDX-License-Identifier: MIT
dist_pkgdata_DATA += doc/summary.schema.json
EXTRA_DIST += doc/ARCHITECTURE.md doc/answers.md doc/BUDGETS.md doc/GLOSSARY.md doc/seeds.md doc/timing.md doc/screenshot.png

# The picture in README.md, made anew: the slow call of `make demo`, by Chromium.
picture: ptrace2ftf$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/static/causes$(EXEEXT)
	tests/ptsim/ptsim$(EXEEXT) record --cpus=2 --cyc -o demo.data -- \
		tests/programs/static/causes$(EXEEXT) lock 7
	./ptrace2ftf$(EXEEXT) -q --time=20.001234,20.001258 demo.data -o picture.html
	chromium --headless --no-sandbox --window-size=1200,400 \
		--screenshot='$(abs_srcdir)/doc/screenshot.png' 'file://$(abs_builddir)/picture.html'
	rm -f demo.data picture.html
.PHONY: picture
