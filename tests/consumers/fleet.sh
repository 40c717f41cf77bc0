#!/bin/sh
# SPDX-License-Identifier: MIT
# -f parquet and doc/fleet.md: DuckDB, ClickHouse and hyparquet (npm's; CONSUMERS=FOLDER has them installed) read the tables, and
# DuckDB runs all queries of the document, unchanged, on recordings of three hosts on two days, of two builds.
. "$top_srcdir/tests/support/tap.sh"
for tool in node npm jq; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
program=$top_builddir/ptrace2ftf
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
here=$top_srcdir/tests/consumers
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! [ -d "$CONSUMERS/node_modules/@duckdb/node-api" ] || ! [ -d "$CONSUMERS/node_modules/hyparquet-compressors" ] ||
	! [ -d "$CONSUMERS/node_modules/chdb" ]; then
	CONSUMERS=$work/npm
	HOME=$work npm install --silent --ignore-scripts --prefix "$CONSUMERS" @duckdb/node-api hyparquet hyparquet-compressors chdb \
		>"$work/log" 2>&1 || tap_skip_all "npm installs no packages here: $(tail -n 1 "$work/log")"
fi
CONSUMERS=$(realpath "$CONSUMERS")
cd "$work" || exit 1
mkdir recordings traces
PATH=$top_builddir:$PATH
day=86400000000000
record() { # NAME HOST WALL OPTIONS... -- PROGRAM...: interrupts would be in some calls only
	name=$1 host=$2 wall=$3
	shift 3
	"$ptsim" record --cpus=2 --wakings --interrupts=0 --host="$host" --wall="$wall" -o "recordings/$name.data" "$@" >/dev/null 2>messages ||
		tap_skip_all "programs cannot be traced here: $(cat messages)"
}
first=1796000000000000000 # 2026-11-30
next=$((first + 8 * day))
record a1 a $first --seed=1 -- "$programs/version_a"
record b1 "b/.." $first --seed=2 -- "$programs/version_a"
record a2 a $next --seed=3 -- "$programs/version_a"
record b2 "b/.." $next --seed=4 -- "$programs/version_b"
record lock c $((first + 1000000)) --cyc -- "$programs/causes" lock 1
"$program" -q -f parquet --args=full -o lake/ recordings/*.data || exit 1

block() { # NAME
	sed -n "/^<!-- $1 -->\$/,/^\`\`\`\$/p" "$top_srcdir/doc/fleet.md" | grep -v '^<!--\|^```'
}
duckdb() {
	node "$here/fleet.mjs" "$CONSUMERS" query command.sql
}
query() { # NAME: rows with tabs
	block views >command.sql
	block "query $1" >>command.sql && duckdb
}
select_rows() { # SQL
	block views >command.sql
	echo "$1" >>command.sql && duckdb
}

# --format=csv has the same calls, and is written by other code: pid, tid, depth, times, name, costs.
columns='pid tid depth call_time return_time insn_count cyc_count'
csv_rows() { # RECORDING
	"$program" -q -f csv --args=full -o - "recordings/$1.data" | sed 1d |
		awk -F, '{ gsub(/"/, ""); print $1 "\t" $2 "\t" $3 "\t" $4 "\t" $4 + $5 "\t" $8 "\t" $9 }' OFMT=%.0f CONVFMT=%.0f
}
same_calls() { # READER
	for name in a1 b2 lock; do
		csv_rows $name | sort >wanted
		$1 $name | sort >ours
		[ "$(wc -l <ours)" -gt 400 ] && diff wanted ours | head -5 >different
		[ -s ours ] && [ ! -s different ] || { cat different; return 1; }
	done
}
by_duckdb() {
	select_rows "SELECT pid, tid, depth, call_time, return_time, insn_count, cyc_count FROM calls WHERE recording = '$1'"
}
by_hyparquet() {
	# shellcheck disable=SC2086 # a word for each column
	node "$here/fleet.mjs" "$CONSUMERS" rows "$(find lake/calls -name "$1.parquet")" $columns
}
tap_check "DuckDB reads the calls of --format=csv" same_calls by_duckdb
tap_check "hyparquet reads them, too" same_calls by_hyparquet
clickhouse() {
	node "$here/fleet.mjs" "$CONSUMERS" clickhouse command.sql
}
by_clickhouse() {
	echo "SELECT pid, tid, depth, call_time, return_time, insn_count, cyc_count FROM file('lake/calls/**/*.parquet')
		WHERE recording = '$1'" >command.sql && clickhouse
}
tap_check "so does ClickHouse" same_calls by_clickhouse

each_table() {
	for table in functions calls switches waits; do
		for file in $(find lake/$table -name '*.parquet'); do
			node "$here/fleet.mjs" "$CONSUMERS" rows "$file" recording >rows || return 1
			[ "$(sort -u rows)" = "$(basename "$file" .parquet)" ] || { echo "$file"; return 1; }
		done
	done
	[ "$(select_rows 'SELECT recording, calls FROM recordings ORDER BY 1')" = "$(select_rows \
		'SELECT recording, count(*) FROM calls GROUP BY 1 ORDER BY 1')" ]
}
tap_check "each table of each recording is read" each_table
folders() {
	find lake -name b1.parquet | sed 's/build=[0-9a-f]*/build=/' | sort >found
	printf 'lake/%s\n' b1.parquet calls/date=2026-11-30/host=b%2F../build=/b1.parquet \
		functions/date=2026-11-30/host=b%2F../build=/b1.parquet switches/date=2026-11-30/host=b%2F../build=/b1.parquet | diff - found &&
		[ "$(select_rows "SELECT DISTINCT host FROM calls ORDER BY 1" | tr '\n' ' ')" = 'a b/.. c ' ]
}
tap_check "folders have the day, the host and the build" folders
# The parents by ids are those by depth and time.
parents() {
	[ "$(select_rows 'SELECT count(*) FROM calls c JOIN calls p ON p.recording = c.recording AND p.id = c.parent_id
		WHERE p.depth = c.depth - 1 AND p.tid = c.tid AND p.call_time <= c.call_time AND p.return_time >= c.return_time')" = \
		"$(select_rows 'SELECT count(*) FROM calls WHERE depth > 0')" ]
}
tap_check "each call has the call around it" parents
# Functions of equal bytes in one build have one id on all hosts, and another one in another build.
ids() {
	[ "$(select_rows "SELECT count(DISTINCT function_id), count(DISTINCT build) FROM calls WHERE name = 'parse_word'")" = "2	2" ] &&
		[ "$(select_rows "SELECT count(DISTINCT function_id) FROM calls WHERE name = 'parse_word' AND recording <> 'b2'")" = 1 ]
}
tap_check "a function of a build has one id in all recordings" ids

# versions.c: parse_word() has 25 rounds instead of 20 in the new build, of b2, which calls added().
answers() { # NAME PATTERN OF THE FIRST ROWS
	query "$1" >rows && head -n "${3:-1}" rows | tr '\n' ' ' | grep -q "^$2" || { cat rows; return 1; }
}
tap_check "1: the function that grew" answers grown 'parse_word	'
tap_check "2: the host on which it did" answers hosts 'b/..	2026-12-08	'
hosts_by_clickhouse() {
	query hosts >wanted && block clickhouse >command.sql && clickhouse >rows && [ "$(wc -l <rows)" -eq 4 ] && diff wanted rows
}
tap_check "2: ClickHouse says the same" hosts_by_clickhouse
builds() {
	query builds >rows && awk -F'\t' 'NR == 1 { old = $3 } NR == 2 { ok = $2 == "2026-12-08" && $3 > old } END { exit !ok }' rows ||
		{ cat rows; return 1; }
}
tap_check "3: the build since which it did" builds
tap_check "4: the functions with most time" answers own 'work	'
tap_check "5: the function of the new build" answers new 'added *$' 9
tap_check "6: slow calls" answers slow 'lock	'
tap_check "7: the tree of the slowest call" answers tree '0	request	[0-9]* 1	use_lock	' 2
tap_check "8: waits" answers waits 'lock	100[12]	blocked	2	[0-9]*	100[12]'
tap_check "9: where a thread waited longest" answers waited '.*futex\|.*sem_wait\|.*lock'
tap_check "10: switches of each host" answers switches 'a	.* b/..	.* c	' 3
causes() {
	block why >command && sh ./command && query causes >rows && grep -q '^request	use_lock	\|^use_lock	' rows || { cat rows; return 1; }
}
tap_check "causes of slow calls are read from answers of why" causes

# The archive by the reference of the format: each file has its machine, and the clock of the first one in time.
manifest() {
	"$program" -q -o traces/ recordings/*.data && block views >command.sql && block manifest >>command.sql && duckdb >/dev/null &&
		block archive >command && sh ./command || return 1
	[ "$(tar tf merged.tar | wc -l)" -eq 6 ] && tar xOf merged.tar perfetto_manifest.json | tr -d ' \n' | grep -q '^{"perfetto_manifest"' &&
		tar xOf merged.tar perfetto_manifest.json | jq -e --argjson day $day '.perfetto_manifest | .version == 1 and
			.trace_time == {clock: "BOOTTIME", file: "a1.ftf"} and ([.files[].path] == ["a1.ftf", "a2.ftf", "b1.ftf", "b2.ftf", "lock.ftf"]) and
			([.files[].machine.name] == ["a", "a", "b/..", "b/..", "c"]) and .files[0].clocks == null and
			([.files[1:][].clocks | [.clock, .sync_to.file, .sync_to.clock, .offset_ns]] == [["BOOTTIME", "a1.ftf", "BOOTTIME", 8 * $day],
			["BOOTTIME", "a1.ftf", "BOOTTIME", 0], ["BOOTTIME", "a1.ftf", "BOOTTIME", 8 * $day],
			["BOOTTIME", "a1.ftf", "BOOTTIME", 1000000]])' >/dev/null || { cat traces/perfetto_manifest.json; return 1; }
}
tap_check "an archive for Perfetto has a machine and a clock for each trace" manifest
tap_done
