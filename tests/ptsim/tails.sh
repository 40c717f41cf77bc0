#!/bin/sh
# SPDX-License-Identifier: MIT
# Tail calls: a program compiled with and without sibling calls makes the same calls in each format.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for name in chains chains_called; do
	"$ptsim" record --cyc --interrupts=0 --seed=3 --truth="$work" -o "$work/$name.data" -- "$programs/$name" >/dev/null \
		2>"$work/messages" || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
	mv "$work/truth.branches" "$work/$name.branches"
done

convert() { # NAME FORMAT OPTIONS...
	name=$1 format=$2
	shift 2
	"$program" -q --from=request --format="$format" "$@" -o "$work/$name.$format" "$work/$name.data"
}

# Compare what FILTER (a program of sed) leaves of both outputs.
same() { # FORMAT FILTER OPTIONS...
	format=$1 filter=$2
	shift 2
	for name in chains chains_called; do
		convert $name "$format" "$@" && sed -E "$filter" "$work/$name.$format" >"$work/$name.filtered" || return 1
	done
	grep -q innermost "$work/chains.filtered" && diff "$work/chains_called.filtered" "$work/chains.filtered"
}

jumps() {
	same slices 's/^[^ ]* ([0-9]+) [0-9]+ [0-9]+ ([a-z]+).*/\1 \2/' && grep -c tail_call=true "$work/chains.slices" >"$work/count"
	# 10 requests each have three, two and one; the other program has none.
	[ "$(cat "$work/count")" -eq 60 ] && ! grep tail_call "$work/chains_called.slices"
}
tap_check "slices: the same calls, of which 60 are tail calls" jumps
# Instructions of both programs differ, times as well.
tap_check "folded: the same paths" same folded 's/^[^;]*;//; s/ [0-9]+$//'
tap_check "tree: the same" same tree '/^# EVENTS/,$d; s/^.*\| //; s/ \/\* tail_call \*\///'
tap_check "functions: the same calls" same functions 's/^ *([0-9]+) .* ([a-z]+)$/\1 \2/; /^times/d'
tap_check "chrome: the same calls" same chrome \
	's/^.*"name":"([^"]*)".*/\1/; s/chains_called/chains/g; /displayTimeUnit/d; /"ph":"E"/d'

# "caller callee calls" of each pair of functions: callgrind writes a name once, with its number.
callgrind() {
	for name in chains chains_called; do
		convert $name callgrind && awk -F '[= ()]+' '/^c?fn=/ { if (NF > 2 && $3 != "") names[$2] = $3 }
			/^fn=/ { fn = names[$2] } /^cfn=/ { callee = names[$2] } /^calls=/ { calls[fn " " callee] += $2 }
			END { for (pair in calls) print pair, calls[pair] }' "$work/$name.callgrind" | sort >"$work/$name.filtered" || return 1
	done
	grep -q "inner innermost" "$work/chains.filtered" && diff "$work/chains_called.filtered" "$work/chains.filtered"
}
tap_check "callgrind: the same callers, callees and calls" callgrind

pprof() {
	for name in chains chains_called; do
		convert $name pprof && "$go" tool pprof -sample_index=calls -traces "$work/$name.pprof" 2>"$work/messages" |
			awk '/^ *-+\+/ { if (path != "" && n) calls[path] += n; path = ""; n = 0; next }
				/^ *thread:/ { next } /^ +[0-9]+ +[a-z]+/ { n = $1; path = $2; next } path != "" && /^ +[a-z]/ { path = path "<" $1 }
				END { if (n) calls[path] += n; for (path in calls) print path, calls[path] }' | sort >"$work/$name.filtered" || return 1
	done
	grep -q "innermost<inner<" "$work/chains.filtered" && diff "$work/chains_called.filtered" "$work/chains.filtered"
}
if go=$(command -v go) && "$program" -q --format=pprof -o "$work/try.pprof" "$work/chains.data" 2>/dev/null; then
	tap_check "pprof: the same stacks and calls" pprof
else
	tap_skip "pprof: the same stacks and calls" "no go, or no libprotobuf-c"
fi

# A jump has CALL_RETURN_NON_CALL and CALL_RETURN_NO_RETURN (perf's tools/perf/util/thread-stack.c).
flags() {
	convert chains sqlite 2>"$work/messages" || { cat "$work/messages"; return 1; }
	[ "$(sqlite3 "$work/chains.sqlite" "SELECT count(*) FROM calls_view WHERE flags = 'jump'")" -eq 60 ]
}
parents() {
	for name in chains chains_called; do
		convert $name sqlite && sqlite3 "$work/$name.sqlite" "SELECT own.name, caller.name, count(*)
			FROM calls JOIN call_paths path ON path.id = calls.call_path_id JOIN symbols own ON own.id = path.symbol_id
			JOIN call_paths around ON around.id = path.parent_id JOIN symbols caller ON caller.id = around.symbol_id
			GROUP BY own.name, caller.name" >"$work/$name.filtered" || return 1
	done
	grep -q "^innermost|inner|" "$work/chains.filtered" && diff "$work/chains_called.filtered" "$work/chains.filtered"
}
if command -v sqlite3 >/dev/null && ! grep -q 'this build is without libsqlite3' "$program"; then
	tap_check "sqlite: perf's flag of tail calls" flags
	tap_check "sqlite: the same callers, callees and calls" parents
else
	tap_skip "sqlite: perf's flag of tail calls" "no sqlite3"
	tap_skip "sqlite: the same callers, callees and calls" "no sqlite3"
fi

# "target file:line" of each jump that was executed to one of the functions.
callers() {
	convert chains slices --args=full || return 1
	sed -n '/ tail_call=/s/.* address=0x\([0-9a-f]*\) .*caller=\([^ ]*\).*/\1 \2/p' "$work/chains.slices" |
		sort -u >"$work/ours"
	awk '$6 ~ /^i?jmp$/ { print $7, $8 }' "$work/chains.branches" | sort -u >"$work/jumps"
	cut -d ' ' -f 1 "$work/jumps" | addr2line -e "$programs/chains" | sed 's/ (discriminator.*//' |
		paste -d ' ' "$work/jumps" - | cut -d ' ' -f 2- | sort -u >"$work/expected"
	[ "$(wc -l <"$work/ours")" -ge 5 ] && ! comm -23 "$work/ours" "$work/expected" | grep .
}
if command -v addr2line >/dev/null; then
	tap_check "full: the caller is the line of the jump" callers
else
	tap_skip "full: the caller is the line of the jump" "no addr2line"
fi

replaced() {
	convert chains slices --stacks=replace && ! grep tail_call "$work/chains.slices" &&
		awk '$5 == "request" { n += $2 == 0 } $5 == "inner" { m += $2 > 0 } END { exit n != 30 || m }' "$work/chains.slices"
}
tap_check "--stacks=replace: the function that jumps ends" replaced

# perf's call-return export follows calls and returns only, so its requests last until their returns.
durations() {
	cat >"$work/export.py" <<-END
		perf_db_export_mode = perf_db_export_calls = True
		perf_db_export_callchains = False
		symbols, paths, calls = {}, {}, []
		def symbol_table(id, dso, start, end, binding, name, *rest): symbols[id] = name
		def call_path_table(id, parent, symbol, ip, *rest): paths[id] = symbol
		def call_return_table(id, thread, comm, path, begin, end, *rest): calls.append((begin, end, path))
		def trace_end():
		    for begin, end, path in sorted(calls):
		        if symbols.get(paths[path]) == "request": print(begin, end)
	END
	perf script -i "$work/chains.data" --itrace=cr -s "$work/export.py" >"$work/theirs" 2>/dev/null
	[ "$(wc -l <"$work/theirs")" -eq 30 ] || return 77
	"$program" -q --format=slices -o "$work/mine" "$work/chains.data" &&
		awk '$5 == "request" { print $3, $4 }' "$work/mine" | paste -d ' ' - "$work/theirs" |
		awk 'function off(a, b) { return a > b + 60 || b > a + 60 } off($1 % 1e9, $3 % 1e9) || off($2 % 1e9, $4 % 1e9) { print; wrong = 1 } END { exit wrong || NR != 30 }'
}
durations >"$work/result"
case $? in
77) tap_skip "requests begin and end where perf's export has them" "perf exports no calls" ;;
0) tap_check "requests begin and end where perf's export has them" true ;;
*) tap_check "requests begin and end where perf's export has them" sh -c "cat '$work/result'; false" ;;
esac
tap_done
