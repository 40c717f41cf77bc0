#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=sqlite: the queries of perf's exported-sql-viewer.py find the calls of --format=slices.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
! grep -q 'this build is without libsqlite3' "$program" || tap_skip_all "this build is without libsqlite3"
command -v sqlite3 >/dev/null || tap_skip_all "no sqlite3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$ptsim" record --cyc --cpus=2 --seed=3 -o threads -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
# Linkage names: a database distinguishes clones (f.part.0), and slices do not.
"$program" -q --demangle=none --format=slices --args=full threads >slices
"$program" -q --demangle=none threads -o calls.db 2>messages || tap_skip_all "$(cat messages)"

query() {
	sqlite3 -separator ' ' calls.db "$1"
}

# The call tree: each level is looked up by the id of its parent, from 0 on.
call_tree() {
	query "WITH RECURSIVE tree(id, depth) AS (
			SELECT id, 0 FROM calls WHERE parent_id = 0 AND id > 0
			UNION ALL SELECT c.id, depth + 1 FROM calls c JOIN tree t ON c.parent_id = t.id)
		SELECT pid || '/' || tid, depth, call_time, return_time, name, insn_count, cyc_count
		FROM tree JOIN calls USING (id) JOIN call_paths ON calls.call_path_id = call_paths.id
		JOIN symbols ON call_paths.symbol_id = symbols.id JOIN dsos ON symbols.dso_id = dsos.id
		JOIN threads ON threads.id = thread_id JOIN comms ON comms.id = comm_id
		WHERE comms.has_calls = 1" | sort >ours
	awk '{
		insns = cycles = 0
		name = $5
		for (i = 6; i <= NF; i++) {
			if ($i ~ /^insns=/) insns = substr($i, 7)
			else if ($i ~ /^cycles=/) cycles = substr($i, 8)
			else if ($i !~ /^[a-z_]+=/) name = name " " $i
		}
		print $1, $2, $3, $4, name, insns, cycles
	}' slices | sort | diff - ours && [ "$(wc -l <ours)" -gt 1000 ]
}
tap_check "the call tree has the calls, with times and costs" call_tree

# The call graph: the levels below call path 1 are looked up by parent_call_path_id, comm and thread.
call_graph() {
	query "SELECT tid, name, count(calls.id), sum(return_time - call_time)
		FROM comm_threads JOIN threads ON threads.id = thread_id JOIN calls USING (comm_id, thread_id)
		JOIN call_paths ON calls.call_path_id = call_paths.id JOIN symbols ON symbols.id = symbol_id
		WHERE parent_call_path_id = 1 GROUP BY tid, call_path_id, name" | sort >ours
	awk '$2 == 0 { split($1, id, "/"); key = id[2] " " $5; n[key]++; t[key] += $4 - $3 }
		END { for (key in n) print key, n[key], t[key] }' slices | sort | diff - ours && [ -s ours ] || return 1
	[ "$(query "SELECT count(*) FROM calls c JOIN call_paths p ON p.id = c.call_path_id
		WHERE c.id > 0 AND p.parent_id != c.parent_call_path_id")" -eq 0 ]
}
tap_check "the call graph begins with the outermost calls of each thread" call_graph
marks() {
	query "SELECT count(*) FROM calls_view WHERE flags IN ('no call', 'no call/return')" >ours
	grep -c inferred_start_time=true slices | diff - ours || return 1
	[ "$(query "SELECT group_concat(comm, ' ') FROM (SELECT DISTINCT comm FROM comms WHERE has_calls ORDER BY comm)")" = \
		"threads worker-0 worker-1 worker-2 worker-3" ] &&
		[ "$(query "SELECT DISTINCT d.short_name FROM dsos d JOIN symbols s ON s.dso_id = d.id WHERE s.name = 'main'")" = threads ] &&
		[ "$(query 'PRAGMA integrity_check')" = ok ]
}
tap_check "calls that were not seen to begin, threads and files have their names" marks
# The records of an FTF are written by other code. perf has a row for each side of a switch.
others() {
	"$program" -q -o others.ftf threads && "$ftfdump" others.ftf >dump
	sed -n 's/.* context-switch cpu \([0-9]*\) \([0-9]*\) from \([0-9]*\) state .* to \([0-9]*\) .*/\1 \2 \3 \4/p' dump | sort >wanted
	for flags in out in; do
		query "SELECT cpu, time, tid_out, tid_in FROM context_switches_view
			WHERE flags = '$flags' OR (flags = 'out preempt' AND '$flags' = 'out')" | sort | diff wanted - || return 1
	done
	sed -n 's/.* counter [0-9/]* \([0-9]*\) "\(CPU [0-9]* GHz\)" .*/\1 \2/p' dump | sort >counters
	query "SELECT time, name FROM events WHERE kind = 'counter'" | sort | diff counters - && [ -s wanted ] && [ -s counters ]
}
tap_check "context switches are in perf's table, other events in their own" others
files() {
	[ "$(query "SELECT count(*) FROM dsos WHERE id > 0 AND long_name NOT LIKE '%' || short_name")" -eq 0 ] || return 1
	id=$(readelf -n "$programs/threads" | sed -n 's/.*Build ID: //p')
	[ "$id" ] && [ "$(query "SELECT build_id FROM dsos WHERE long_name LIKE '/%/threads'")" = "$id" ]
}
if command -v readelf >/dev/null; then
	tap_check "files have their paths and build ids" files
else
	tap_skip "files have their paths and build ids" "no readelf"
fi
# The viewer's dialogs compare numbers with texts: branches of --args=full, of one thread by its tid.
branches() {
	"$program" -q --args=full threads -o full.db && "$program" -q --format=branches threads >lines || return 1
	tid=$(sed -n '1s/^ *[0-9]*.\([0-9]*\) .*/\1/p' lines)
	sqlite3 full.db "SELECT count(*) FROM samples WHERE in_tx = '0' AND cpu IN ('0', '1') AND thread_id IN
		(SELECT id FROM threads WHERE tid = '$tid')" >ours
	grep -c "^ *[0-9]*/$tid " lines | diff - ours && [ "$(query 'SELECT count(*) FROM samples')" -eq 0 ] &&
		sqlite3 full.db 'SELECT count(*) FROM calls' >calls && query 'SELECT count(*) FROM calls' | diff - calls
}
tap_check "branches of --args=full, beside the same calls" branches
# The truth is the samples themselves: perf has a branch of a call, if it comes after the one that entered and up to the one that left.
# A tail call returns for the call around it.
branch_ids() {
	[ "$(query 'SELECT count(*) FROM calls WHERE branch_count OR call_id OR return_id')" -eq 0 ] || return 1
	sqlite3 full.db "SELECT count(*) FROM calls c JOIN samples a ON a.id = call_id JOIN samples b ON b.id = return_id
		JOIN call_paths p ON p.id = c.call_path_id JOIN symbols s ON s.id = p.symbol_id
		WHERE a.thread_id != c.thread_id OR b.thread_id != c.thread_id OR a.id >= b.id
			OR (a.to_symbol_id != p.symbol_id AND s.name NOT LIKE '[%') OR (s.name NOT LIKE '[%' AND b.symbol_id != p.symbol_id
				AND c.id NOT IN (SELECT parent_id FROM calls WHERE flags & 4))
			OR branch_count != (SELECT count(*) FROM samples x WHERE x.thread_id = c.thread_id AND x.id > call_id AND x.id <= return_id)" >ours
	[ "$(cat ours)" -eq 0 ] && [ "$(sqlite3 full.db "SELECT count(*) FROM calls
		WHERE id > 0 AND ((call_id > 0) = (flags & 1) OR (return_id > 0) = (flags >> 1 & 1 AND NOT flags & 4))")" -eq 0 ]
}
tap_check "calls have the ids of the branches that enter and leave them, with --args=full" branch_ids
chosen_ids() {
	"$program" -q --args=full --symbol=work threads -o chosen.db || return 1
	for database in full chosen; do
		sqlite3 $database.db "SELECT tid, call_time, call_id, return_id, branch_count FROM calls_view WHERE symbol = 'work' ORDER BY tid, call_time, call_id" >$database.ids
	done
	diff full.ids chosen.ids && [ "$(wc -l <chosen.ids)" -gt 100 ] && [ "$(sqlite3 chosen.db "SELECT count(*) FROM calls WHERE id > 0 AND
		branch_count > (SELECT max(branch_count) FROM calls_view WHERE symbol = 'work')")" -eq 0 ]
}
tap_check "also of chosen calls, whose callers have the branches of these" chosen_ids
# All code is in calls, so both have the instructions and cycles of each thread.
sample_costs() {
	for what in samples "calls WHERE calls.id > 0 AND parent_id NOT IN (SELECT id FROM calls WHERE id > 0)"; do
		sqlite3 full.db "SELECT thread_id, sum(insn_count), sum(cyc_count) FROM $what GROUP BY thread_id"
	done | sort | uniq -c >sums
	[ "$(grep -c '^ *2 .*[|][1-9][0-9]*[|][1-9]' sums)" -eq 5 ] && [ "$(wc -l <sums)" -eq 5 ] &&
		[ "$(sqlite3 full.db 'SELECT count(*) FROM samples_view WHERE insn_count > 0 AND IPC = 0')" -eq 0 ] || return 1
	"$ptsim" record --cpus=2 --seed=3 -o uncounted -- "$programs/threads" >/dev/null 2>messages && "$program" -q --args=full uncounted -o uncounted.db &&
		[ "$(sqlite3 uncounted.db 'SELECT sum(insn_count), max(cyc_count) FROM samples')" = \
			"$(sqlite3 uncounted.db 'SELECT sum(insn_count), 0 FROM calls WHERE id > 0 AND parent_id NOT IN (SELECT id FROM calls WHERE id > 0)')" ]
}
tap_check "branches have the instructions and cycles of their thread" sample_costs
# To a pipe and to standard output the same bytes; a database is built in a file that is not one of these.
elsewhere() {
	"$program" -q --demangle=none threads -o packed.sqlite.gz && gzip -dc packed.sqlite.gz | cmp - calls.db &&
		"$program" -q --demangle=none -f sqlite threads -o - | cmp - calls.db && "$program" -q --demangle=none -f sqlite threads -o - >file && cmp file calls.db
}
tap_check "the same compressed, through a pipe and to standard output" elsewhere
# What is there is a part of the whole; ids of branches that are left out are 0. The smallest database has 57 kB.
limited() { # OPTIONS...: of whole.db, 400 kB and more
	"$program" -q "$@" threads -o whole.db || return 1
	for size in 100 200 300; do
		"$program" --max-output=${size}kB "$@" threads -o part.db 2>messages
		[ $? -eq 2 ] && grep -q 'warning: the output has reached its limit: the rest is left out' messages &&
			[ "$(stat -c %s part.db)" -le $((size * 1000 + 65536)) ] && [ "$(stat -c %s part.db)" -ge $((size * 800)) ] &&
			[ "$(sqlite3 part.db "PRAGMA integrity_check; ATTACH 'whole.db' AS whole; SELECT count(*) > 100 FROM calls;
			SELECT count(*) FROM (SELECT * FROM samples EXCEPT SELECT * FROM whole.samples);
			SELECT count(*) FROM calls c LEFT JOIN whole.calls w ON w.id = c.id AND w.call_time = c.call_time AND w.return_time = c.return_time
				AND w.parent_id = c.parent_id AND w.thread_id = c.thread_id AND w.flags = c.flags WHERE w.id IS NULL
				OR c.call_id NOT IN (w.call_id, 0) OR c.return_id NOT IN (w.return_id, 0) OR c.branch_count NOT IN (w.branch_count, 0);
			SELECT count(*) FROM calls WHERE call_id NOT IN (SELECT id FROM samples) AND call_id OR return_id NOT IN (SELECT id FROM samples) AND return_id" |
				tr '\n' ' ')" = "ok 1 0 0 0 " ] || return 1
	done
}
tap_check "--max-output: calls up to the limit" limited
full_limited() {
	limited --args=full && [ "$(sqlite3 part.db 'SELECT count(*) > 100 FROM samples')" -eq 1 ]
}
tap_check "with --args=full as many bytes of branches as of calls" full_limited
no_space() {
	(ulimit -f 200; "$program" -q threads -o large.db 2>messages)
	[ $? -eq 1 ] && grep -q 'cannot make the database: File too large' messages && [ ! -e large.db ]
}
tap_check "a file that cannot grow has its reason" no_space
tap_done
