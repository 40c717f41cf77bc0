-- SPDX-License-Identifier: MIT
INCLUDE PERFETTO MODULE ptrace2ftf.functions;

-- Calls that took ten times their function's median, of functions with at least a hundred calls.
CREATE PERFETTO VIEW ptrace2ftf_slow_call (
	-- slice.id.
	id LONG,
	ts TIMESTAMP,
	dur DURATION,
	name STRING,
	file STRING,
	utid LONG,
	upid LONG,
	-- The function's median.
	usual DOUBLE,
	whole BOOL
) AS
SELECT id, ts, dur, name, file, utid, upid, median AS usual, whole
FROM ptrace2ftf_call
JOIN ptrace2ftf_function USING (name, file)
WHERE calls >= 100 AND dur > 10 * median;
