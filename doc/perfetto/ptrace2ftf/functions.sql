-- SPDX-License-Identifier: MIT
INCLUDE PERFETTO MODULE ptrace2ftf.calls;

-- One row for each function, by name and file.  Times are in ns; quantiles are interpolated.
CREATE PERFETTO TABLE ptrace2ftf_function (
	name STRING,
	file STRING,
	calls LONG,
	-- Sum of all calls, of recursive ones again.
	total LONG,
	-- Without the callees' time.
	self LONG,
	median DOUBLE,
	p99 DOUBLE,
	longest LONG
) AS
SELECT name, file, count(*) AS calls, sum(dur) AS total, sum(self_dur) AS self,
	percentile(dur, 50) AS median, percentile(dur, 99) AS p99, max(dur) AS longest
FROM ptrace2ftf_call
GROUP BY name, file;
