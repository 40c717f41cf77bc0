#!/bin/sh
# SPDX-License-Identifier: MIT
# Viewers read the formats made for them: speedscope and Firefox Profiler of npm, below $CONSUMERS or
# installed; FlameGraph's scripts below $FLAMEGRAPH or in PATH; tracy-import-chrome and tracy-csvexport
# below $TRACY or in PATH; uftrace; xmllint.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
here=$top_srcdir/tests/consumers
work=$(mktemp -d)
cd "$work" || exit 1
HOME=$work
export HOME
leave() {
	[ -z "$firefox" ] || node "$firefox" stop --all >/dev/null 2>&1
	rm -rf "$work"
}
trap leave EXIT
for name in threads signals unwinding; do
	"$ptsim" record --cyc --cpus=2 --seed=3 -o $name -- "$programs/$name" >/dev/null 2>messages ||
		tap_skip_all "programs cannot be traced here: $(cat messages)"
	"$program" -q --no-warn --no-samples -f slices --args=none $name >$name.slices
	"$program" -q --no-warn -f chrome $name -o $name.json
done
# "PID TID SLICES DEPTH" of each thread.
threads_of() {
	awk '{ n[$1]++; if ($2 >= deepest[$1]) deepest[$1] = $2 + 1 }
		END { for (key in n) { split(key, id, "/"); print id[1], id[2], n[key], deepest[key] } }' "$1" | sort
}

packages=${CONSUMERS:-$work/npm}
missing=
if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
	missing="no node and npm"
elif [ -z "$CONSUMERS" ] && ! npm install --silent --prefix "$packages" speedscope @firefox-devtools/profiler-cli >npm.log 2>&1; then
	missing="npm installs no packages here: $(tail -n 1 npm.log)"
fi
speedscope() { # FILE: as threads_of(), or what is wrong
	node "$here/speedscope.js" "$packages" "$1" >lines || { cat lines; return 1; }
	! grep "^warning" lines && sed -n 's/.*(pid \([0-9]*\).*tid \([0-9]*\)) \([0-9]*\) \([0-9]*\) [0-9]*$/\1 \2 \3 \4/p' lines | sort
}
chrome_in_speedscope() {
	speedscope $1.json >got || { cat got; return 1; }
	threads_of $1.slices | diff - got && [ -s got ]
}
# Calls that take no time are no samples of its own format.
own_in_speedscope() {
	"$program" -q --no-warn -f speedscope $1 -o own.speedscope.json && node "$here/speedscope.js" "$packages" own.speedscope.json >got &&
		[ "$(grep -vc warning got)" -eq "$(threads_of $1.slices | wc -l)" ] && ! grep warning got || return 1
	awk 'FILENAME != "got" { n += $4 > $3; next } { all += $(NF - 2) } END { exit all > NR || all < 0.98 * n }' $1.slices got
}
folded_in_speedscope() {
	"$program" -q --no-warn -f folded $1 -o stacks.folded && node "$here/speedscope.js" "$packages" stacks.folded >got || return 1
	awk '{ n += $NF } END { printf "%d\n", n }' stacks.folded >sum
	awk '{ print $NF }' got | diff sum -
}
markers() { # THREAD: how many calls Firefox Profiler has of it
	node "$firefox" thread markers --thread "$1" | sed -n 's/^Markers in thread .* \([0-9]*\) markers$/\1/p'
}
chrome_in_firefox() {
	node "$firefox" load $1.json >loaded 2>&1
	for try in 1 2 3 4 5 6 7 8 9 10; do
		node "$firefox" status >/dev/null 2>&1 && break
		sleep 1
	done
	: >got
	for i in $(seq 0 $(($(threads_of $1.slices | wc -l) - 1))); do
		markers t-$i >>got
	done
	node "$firefox" stop --all >/dev/null 2>&1
	threads_of $1.slices | awk '{ print $3 }' | sort >wanted
	sort got | diff wanted - && [ -s got ] || { cat loaded; return 1; }
}
firefox=
if [ -z "$missing" ]; then
	firefox=$packages/node_modules/@firefox-devtools/profiler-cli/dist/profiler-cli.js
	node "$here/speedscope.js" "$packages" threads.json >/dev/null 2>messages
	[ $? -ne 77 ] || missing=$(cat messages)
fi
for name in threads signals unwinding; do
	for check in chrome_in_speedscope own_in_speedscope folded_in_speedscope; do
		if [ -z "$missing" ]; then
			tap_check "$check: all calls of $name" $check $name
		else
			tap_skip "$check: all calls of $name" "$missing"
		fi
	done
	if [ -n "$firefox" ] && node "$firefox" --version >/dev/null 2>&1; then
		tap_check "chrome_in_firefox: all calls of $name" chrome_in_firefox $name
	else
		tap_skip "chrome_in_firefox: all calls of $name" "${missing:-no Firefox Profiler of npm}"
	fi
done

# Each stack has the time of --format=folded, which begins with the thread's name; it prints us.
PATH=${FLAMEGRAPH:+$FLAMEGRAPH:}$PATH
collapser=$(command -v stackcollapse-chrome-tracing.py)
own_times() {
	awk -v unit=$1 '{ time = $NF; sub(" [^ ]*$", ""); n[$0] += time * unit } END { for (stack in n) if (n[stack] >= 0.5) printf "%s %.0f\n", stack, n[stack] }' | sort
}
collapsed() {
	python3 "$collapser" $1.json >stacks && own_times 1000 <stacks >got && "$program" -q --no-warn --no-samples --max-stack=none -f folded $1 |
		sed 's/^[^;]*;//' | own_times 1 | diff - got && [ "$(wc -l <got)" -gt 50 ]
}
for name in threads signals unwinding; do
	if [ -n "$collapser" ] && command -v python3 >/dev/null; then
		tap_check "FlameGraph's collapser reads chrome: all stacks of $name" collapsed $name
	else
		tap_skip "FlameGraph's collapser reads chrome: all stacks of $name" "no stackcollapse-chrome-tracing.py or python3"
	fi
done
# Tracy's importer has one zone for each call; its statistics leave out zones without length.
PATH=${TRACY:+$TRACY:}$PATH
in_tracy() {
	tracy-import-chrome $1.json x.tracy >log 2>&1 && tracy-csvexport -s '|' x.tracy | awk -F'|' 'NR > 1 { print $6, $1 }' | sort >got || { cat log; return 1; }
	awk '$4 > $3 { name = $5; for (i = 6; i <= NF; i++) name = name " " $i; n[name]++ } END { for (name in n) print n[name], name }' $1.slices | sort | diff - got && [ "$(wc -l <got)" -gt 50 ]
}
for name in threads signals unwinding; do
	if command -v tracy-import-chrome >/dev/null && command -v tracy-csvexport >/dev/null; then
		tap_check "Tracy reads chrome: all calls of $name" in_tracy $name
	else
		tap_skip "Tracy reads chrome: all calls of $name" "no tracy-import-chrome and tracy-csvexport"
	fi
done
# flamegraph.pl's own pattern of a line; "#" and "-" begin none.
flame_graph() {
	"$program" -q -f folded threads >stacks.folded && ! grep -vE '^[^#-].*;?.* [0-9]+$' stacks.folded && [ -s stacks.folded ] || return 1
	! command -v flamegraph.pl >/dev/null || { flamegraph.pl stacks.folded >graph.svg && grep -q worker-1 graph.svg; }
}
tap_check "folded: lines as flamegraph.pl reads them" flame_graph
page() {
	"$program" -q threads -o page.html && xmllint --html --noout --nowarning page.html 2>&1 | grep -v 'Tag .* invalid\|^<\|^ *^' >wrong
	! grep 'error' wrong
}
if command -v xmllint >/dev/null; then
	tap_check "html: xmllint reads the page" page
else
	tap_skip "html: xmllint reads the page" "no xmllint"
fi

# perf's viewer of databases: its call tree, call graph and branches, of another format here.
viewer=${SQL_VIEWER:-/usr/lib/perf-core/scripts/python/exported-sql-viewer.py}
database() {
	"$program" -q --no-warn --args=full threads -o full.db && python3 "$here/sql_viewer.py" "$viewer" full.db >shown || return 1
	sed -n 's/^tree \([0-9]*\) \(.*\) [^ ]* \([0-9]*\) \([0-9]*\)$/\1 \3 \4 \2/p' shown | sort >got
	awk '{ $1 = ""; $4 -= $3; print substr($0, 2) }' threads.slices | sort | diff - got && [ "$(wc -l <got)" -gt 1000 ] || return 1
	awk '$1 == "graph" { n += $(NF - 1) } END { print n }' shown >sum
	wc -l <got | diff -w - sum && grep -qx 'table samples_view [1-9].*' shown && ! grep '^table.* 0$' shown
}
database_branches() {
	sed -n 's/^branches *\([0-9]*\) \(-*[0-9]*\) .* \([0-9]* [0-9]*\) \([a-z]*[a-z /]*\) No \([0-9a-f]*\) .* -> \([0-9a-f]*\) .*/\1 \3 \5 \6 \4/p' shown >got
	"$program" -q --no-warn -f branches threads | sed 's/^ *//; s/[.]//; s/: / /; s,/, ,; s/=> *//; s/tr strt/trace begin/; s/tr end *\([a-z]*\) /\1 trace end/
		s/ async/ asynchronous branch/; s/ jcc/ conditional jump/; s/ jmp/ unconditional jump/; s/ syscall/ system call/' >text
	awk '{ for (i = 4; $i !~ /^[0-9a-f]+$/ || $(i + 1) !~ /^[_a-z[]/; i++) kind = kind " " $i; sub(/ trace end/, " / trace end", kind)
		print $3, $1, $2, $i, $(i + 2) kind; kind = "" }' text | diff - got && [ -s got ]
}
for check in database database_branches; do
	if [ -f "$viewer" ] && command -v python3 >/dev/null && ! grep -q 'this build is without libsqlite3' "$program"; then
		tap_check "sqlite: perf's viewer shows the same ($check)" $check
	else
		tap_skip "sqlite: perf's viewer shows the same ($check)" "no exported-sql-viewer.py of perf, python3 or libsqlite3"
	fi
done

# perf's own exporter, without Qt: calls that have the same first and last branch have as many, and
# the branches of a thread as many instructions and cycles.
exporter=${SQL_EXPORTER:-/usr/lib/perf-core/scripts/python/export-to-sqlite.py}
as_exported() {
	mkdir -p stubs/PySide2 && cp "$here/QtSql.py" stubs/PySide2/ && : >stubs/PySide2/__init__.py
	"$program" -q --no-warn --args=full threads -o full.db || return 1
	# It may crash when it ends, once it has committed.
	PYTHONPATH=$PWD/stubs perf script --itrace=b -i threads -s "$exporter" perf.db branches calls >perf.log 2>&1
	sqlite3 full.db "ATTACH 'perf.db' AS perf; SELECT count(*) > 1000, min(o.branch_count = p.branch_count) FROM main.calls o
		JOIN perf.calls p USING (call_id, return_id) WHERE o.flags = 0 AND p.flags IN (0, 6)" >got
	[ "$(cat got)" = "1|1" ] || return 1
	for database in full perf; do
		sqlite3 $database.db "SELECT tid, sum(insn_count), sum(cyc_count) FROM samples s JOIN threads t ON t.id = thread_id
			WHERE tid > 0 GROUP BY tid ORDER BY tid" >$database.costs
	done
	diff perf.costs full.costs && [ "$(grep -c '[|][1-9][0-9]*$' full.costs)" -gt 3 ]
}
if [ -f "$exporter" ] && command -v perf >/dev/null && command -v sqlite3 >/dev/null &&
	! grep -q 'this build is without libsqlite3' "$program"; then
	tap_check "sqlite: calls have the branches that perf exports" as_exported
else
	tap_skip "sqlite: calls have the branches that perf exports" "no export-to-sqlite.py of perf, sqlite3 or libsqlite3"
fi

# The same program, compiled for uftrace: the lines of both, without times.
calls_only() {
	sed -n 's/.*] | //p' | grep -E '^ *((fib|leaf|even|odd|main)\(|\} /\* (fib|leaf|even|odd|main) )'
}
same_as_uftrace() {
	cat >calls.c <<-'END'
		#define CALL static int __attribute__((noinline))
		CALL leaf(int n) { volatile int sum = 0; while (n > 0) sum += n--; return sum; }
		CALL fib(int n) { return n < 2 ? leaf(n) : fib(n - 1) + fib(n - 2); }
		CALL even(int n);
		CALL odd(int n) { if (n) even(n - 1); return leaf(n); }
		CALL even(int n) { if (n) odd(n - 1); return leaf(n); }
		int main(void) { return fib(6) + even(9) < 0; }
	END
	flags='-O1 -fno-optimize-sibling-calls'
	cc $flags -pg -no-pie calls.c -o with && uftrace record --no-libcall -d traced ./with >/dev/null &&
		uftrace replay -d traced | calls_only >wanted && cc $flags -static calls.c -o without &&
		"$ptsim" record --cyc -o recorded -- ./without >/dev/null 2>&1 &&
		"$program" -q -f tree --symbol=main --from=main --hide='[[]*' recorded | calls_only | diff wanted - && [ "$(wc -l <wanted)" -gt 80 ]
}
if command -v uftrace >/dev/null && command -v cc >/dev/null; then
	tap_check "tree: the lines of uftrace" same_as_uftrace
else
	tap_skip "tree: the lines of uftrace" "no uftrace, or no compiler"
fi
tap_done
