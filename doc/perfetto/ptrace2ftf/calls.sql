-- SPDX-License-Identifier: MIT
-- The calls of a trace of ptrace2ftf(1).

-- Time in the calls within each slice.
CREATE PERFETTO TABLE _ptrace2ftf_callees AS
SELECT parent_id AS id, sum(dur) AS dur
FROM slice
WHERE parent_id IS NOT NULL
GROUP BY parent_id;

-- The end of each track's last slice.
CREATE PERFETTO TABLE _ptrace2ftf_end AS
SELECT track_id, max(ts + dur) AS ts
FROM slice
GROUP BY track_id;

-- One row for each call, system call and time in untraced code.  Times are in ns.
CREATE PERFETTO VIEW ptrace2ftf_call (
	-- slice.id.
	id LONG,
	ts TIMESTAMP,
	dur DURATION,
	-- Duration without the calls within.
	self_dur LONG,
	-- The function.
	name STRING,
	-- Base name of the file of its code; empty if it has none.
	file STRING,
	-- FILE:LINE of the function's first instruction, or NULL.
	loc STRING,
	-- Number of enclosing calls.
	depth LONG,
	-- The caller, or NULL.
	parent_id LONG,
	utid LONG,
	upid LONG,
	-- Whether begin and end are in the trace.  A call that ends with its thread's last one may go on.
	whole BOOL,
	-- Whether it may have another caller, or calls within it may be missing.
	uncertain BOOL
) AS
SELECT
	c.id, c.ts, c.dur, c.dur - coalesce(within.dur, 0) AS self_dur, c.name,
	coalesce(c.category, '') AS file, extract_arg(c.arg_set_id, 'loc') AS loc, c.depth, c.parent_id,
	utid, upid, extract_arg(c.arg_set_id, 'inferred_start_time') IS NULL AND c.ts + c.dur < e.ts AS whole,
	extract_arg(c.arg_set_id, 'uncertain_level') IS NOT NULL AS uncertain
FROM slice c
JOIN thread_track t ON t.id = c.track_id
JOIN thread USING (utid)
LEFT JOIN process USING (upid)
JOIN _ptrace2ftf_end e ON e.track_id = c.track_id
LEFT JOIN _ptrace2ftf_callees within ON within.id = c.id
-- CPUs' events are in a process of their own.  Of the slices without a file, those in brackets are calls, except two
-- kinds of instants.
WHERE process.name IS NOT 'CPUs'
	AND (c.category != '' OR c.name GLOB '[[]*' AND c.name NOT GLOB '[[]lost: *' AND c.name != '[transaction aborted]');
