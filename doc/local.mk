# SPDX-License-Identifier: MIT
dist_pkgdata_DATA += doc/answer.schema.json doc/batch-line.schema.json doc/diff.schema.json doc/diff-first.schema.json \
	doc/record-check.schema.json doc/slow-index.schema.json doc/summary.schema.json doc/why-merged.schema.json
perfettodir = $(pkgdatadir)/perfetto
dist_perfetto_DATA = doc/perfetto/summary.textproto
perfetto_sqldir = $(perfettodir)/ptrace2ftf
dist_perfetto_sql_DATA = doc/perfetto/ptrace2ftf/calls.sql doc/perfetto/ptrace2ftf/functions.sql \
	doc/perfetto/ptrace2ftf/slow_calls.sql
EXTRA_DIST += doc/ARCHITECTURE.md doc/answers.md doc/BUDGETS.md doc/GLOSSARY.md doc/seeds.md doc/timing.md \
	doc/tutorial.md doc/screenshot.png doc/perfetto.png doc/first-minute.svg

# The first picture in README.md, made anew: the slow call of `make demo`, by Chromium.
picture: ptrace2ftf$(EXEEXT) tests/ptsim/ptsim$(EXEEXT) tests/programs/static/causes$(EXEEXT)
	tests/ptsim/ptsim$(EXEEXT) record --cpus=2 --cyc --wakings -o demo.data -- \
		tests/programs/static/causes$(EXEEXT) lock 7
	./ptrace2ftf$(EXEEXT) -q --time=20.00124,20.001342 demo.data -o picture.html
	chromium --headless --no-sandbox --window-size=1200,428 \
		--screenshot='$(abs_srcdir)/doc/screenshot.png' 'file://$(abs_builddir)/picture.html'
	rm -f demo.data picture.html
# The recording of a terminal in README.md, made anew: of the recording in release/.
dist_noinst_SCRIPTS += doc/first-minute.sh
first-minute: ptrace2ftf$(EXEEXT)
	$(SHELL) '$(srcdir)/doc/first-minute.sh' ./ptrace2ftf$(EXEEXT) release/ptrace2ftf-*-demo.tar.xz >first-minute.svg
	mv first-minute.svg '$(srcdir)/doc/first-minute.svg'
.PHONY: first-minute picture
