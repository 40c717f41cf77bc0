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
tap_check "tree: the same" same tree 's/^.*\| //; s/ \/\* tail_call \*\///'
tap_check "functions: the same calls" same functions 's/^ *([0-9]+) .* ([a-z]+)$/\1 \2/; /^times/d'
tap_check "chrome: the same calls" same chrome \
	's/^.*"name":"([^"]*)".*/\1/; s/chains_called/chains/g; /displayTimeUnit/d'

callgrind() {
	for name in chains chains_called; do
		convert $name callgrind && awk '/^fn=/ { sub(/^fn=/, ""); fn = $0 } /^cfn=/ { sub(/^cfn=/, ""); callee = $0 }
			/^fn=|^cfn=|^\([0-9]*\)/ { } /^calls=/ { split($1, n, "="); getline; print fn, callee, n[2], $1 }' \
			"$work/$name.callgrind" | sed -E 's/\([0-9]+\) ?//g' >"$work/$name.filtered" || return 1
	done
	[ -s "$work/chains.filtered" ] && awk '{ n += $(NF - 1) } END { print n }' "$work/chains.filtered" >"$work/a" &&
		awk '{ n += $(NF - 1) } END { print n }' "$work/chains_called.filtered" | diff - "$work/a"
}
tap_check "callgrind: as many calls" callgrind

# A jump has CALL_RETURN_NON_CALL and CALL_RETURN_NO_RETURN (perf's tools/perf/util/thread-stack.c).
flags() {
	convert chains sqlite 2>"$work/messages" || { cat "$work/messages"; return 1; }
	[ "$(sqlite3 "$work/chains.sqlite" "SELECT count(*) FROM calls_view WHERE flags = 'jump'")" -eq 60 ]
}
if command -v sqlite3 >/dev/null && ! grep -q 'this build is without libsqlite3' "$program"; then
	tap_check "sqlite: perf's flag of tail calls" flags
else
	tap_skip "sqlite: perf's flag of tail calls" "no sqlite3"
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
	convert chains slices --tail-calls=replace && ! grep tail_call "$work/chains.slices" &&
		awk '$5 == "request" { n += $2 == 0 } $5 == "inner" { m += $2 > 0 } END { exit n != 30 || m }' "$work/chains.slices"
}
tap_check "--tail-calls=replace: the function that jumps ends" replaced

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
