#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf record --slow='F>T'`: with the kernel's uprobes, and with a perf in PATH that takes
# ptsim's recording for a snapshot, or the real perf with a clock instead of the PMU.
. "$top_srcdir/tests/support/tap.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
slowly=$top_builddir/tests/programs/slowly
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
mkdir -p pmu/intel_pt/caps bin real
real=$(command -v perf)

# Without rights.
says() { # STATUS OUTPUT-PATTERN ARGUMENTS...
	expected=$1
	pattern=$2
	shift 2
	"$program" record "$@" >out 2>messages
	status=$?
	[ $status -eq "$expected" ] && cat out messages | grep -qE -e "$pattern" ||
		{ echo "status $status"; cat out messages; return 1; }
}
usage() {
	for text in 'f>' '>1parsec' 'f>p100' 'f>#1'; do
		says 64 "invalid --slow '$text'" --slow="$text" -- ./prog || return 1
	done
	for text in 0 forever,0 forever2 2,, -1 2,x ''; do
		says 64 "invalid --snapshots" --slow='f>1ms' --snapshots="$text" -- ./prog || return 1
	done
	"$program" watch --dry-run --slow='f>1ms' -p 12 >watched && "$program" record --dry-run --slow='f>1ms' --snapshots=forever -p 12 | sed 's/ptrace2ftf-[0-9]*/N/' >recorded &&
		sed 's/ptrace2ftf-[0-9]*/N/' watched | cmp - recorded || return 1
	"$program" watch -p 12 2>messages
	[ $? -eq 64 ] && grep -q "watch needs --slow='F>T'" messages && "$program" watch --help | grep -q "default: forever" && "$program" help watch | grep -q '^Usage: ptrace2ftf watch' || { cat messages; return 1; }
	says 64 "needs a program, or one process" --slow='f>1ms' -p 1,2 &&
		says 64 "--slow='>T' needs --between" --slow='>1ms' -- ./prog &&
		says 64 "cannot combine --slow='F>T' and --snapshot-at" --slow='f>1ms' --start-at=g -- ./prog &&
		says 64 "snapshots needs --slow='F>T'" --slow=1ms --snapshots=2 -- ./prog &&
		says 64 "name a directory, -o DIR/" --slow='f>1ms' -o x.ftf -- ./prog &&
		says 64 "invalid --slow 'f>1ms'" --slow='f>1ms' -- ./prog; [ $? -eq 1 ] &&
		! "$program" why --slow='f>1ms' "$0" 2>messages && grep -q "invalid --slow" messages
}
tap_check "wrong bounds and numbers are refused" usage

dry_run() {
	says 0 "perf record -o incidents/.ptrace2ftf-[0-9]*.data .* --snapshot --switch-output=signal --control=fd:255 -- ./prog$" \
		--dry-run --slow='f>1ms' -- ./prog &&
		says 0 "perf record -o d/.ptrace2ftf-[0-9]*.data .* -p 12 -- sleep infinity$" \
			--dry-run --slow='>1ms' --between=f,g -p 12 --snapshots=forever,3 -o d/ && [ ! -e d ] && [ ! -e incidents ]
}
tap_check "--dry-run prints perf's command" dry_run

# As perf: starts no other program before the workload.
cat >bin/perf <<END
#!/bin/sh
echo "\$@" >"$work/words"
while [ "\$1" != -- ]; do
	[ "\$1" != -o ] || output=\$2
	shift
done
shift
snapshot() {
	number=\$((\${number:-10} + 1))
	cp "$work/try" "\$output-new"
	mv "\$output-new" "\$output.20260101000000\$number"
}
trap snapshot USR2
trap 'got=1' INT
"\$@" <"\${STDIN:-/dev/null}" &
while [ -z "\$got" ] && kill -0 \$! 2>/dev/null; do wait \$!; done
snapshot
[ -z "\$got" ] || kill \$!
wait \$! 2>/dev/null
trap - INT
[ -z "\$got" ] || kill -INT \$\$
END
cat >real/perf <<END
#!/bin/sh
for word do
	shift
	case \$word in
	intel_pt/*) word=cpu-clock:u ;;
	--snapshot) continue ;;
	-m,*) word=-m16 ;;
	esac
	set -- "\$@" "\$word"
done
exec "$real" "\$@"
END
chmod +x bin/perf real/perf

# On a machine that has PT, and tracefs.
on() { # COMMAND...
	unshare -m sh -c 'mount --bind pmu /sys/bus/event_source/devices && mount -t tracefs nodev /sys/kernel/tracing 2>/dev/null && exec "$@"' sh "$@" >out 2>messages
	status=$?
}
without() { # COMMAND...
	unshare -m sh -c 'mount --bind pmu /sys/bus/event_source/devices && mount -t tmpfs nodev /sys/kernel/tracing && exec "$@"' sh "$@" >out 2>messages
	status=$?
}
PATH=$work/bin:$PATH
on sh -c "echo 'p:ptrace2ftf_try/try $slowly:0x1000' >>/sys/kernel/tracing/uprobe_events && cat /sys/kernel/tracing/events/ptrace2ftf_try/try/id && echo -:ptrace2ftf_try/try >>/sys/kernel/tracing/uprobe_events"
if [ $status -ne 0 ] || ! "$ptsim" record --cyc -o try -- "$slowly" 100 50 >/dev/null 2>&1; then
	tap_skip "slow calls" "no uprobes here, or no ptsim"
	tap_done
fi

# Numbers of "N of M calls were slow: K recorded".
numbers() {
	sed -n 's/.* \([0-9]*\) of \([0-9]*\) calls were slow: \([0-9]*\) recorded.*/found=\1 calls=\2 recorded=\3/p' messages
}
clean() {
	on cat /sys/kernel/tracing/uprobe_events
	[ ! -s out ] && [ -z "$(find . -name '.ptrace2ftf*')" ] || { cat out; find . -name '.ptrace2ftf*'; return 1; }
}
# A call's own clock is read around the probes, so the program finds at least as many slow calls.
counts() { # PLANTED MODE...
	planted=$1
	shift
	rm -rf incidents
	on "$program" record --slow='request>20us' --snapshots=forever -- "$slowly" 4000 100 "$@"
	cp messages all
	eval "$(numbers)"
	eval "$(sed -n 's/^\([0-9]*\) calls, \([0-9]*\) slow.*/truth=\1 clock=\2/p' out)"
	[ $status -eq 0 ] && [ "$calls" = "$truth" ] && [ "$found" -ge "$planted" ] && [ "$found" -le "$clock" ] ||
		{ echo "status $status"; cat out all; return 1; }
	clean
}
tap_check "each call is counted, each planted slow call found, and no other" counts 40
# Every seventh call is left: of these, five are planted.
tap_check "also beside calls that longjmp() leaves" counts 34 jump
tap_check "and in nested calls" counts 34 jump nest
tap_check "also in threads that the program starts" counts 40 thread
tap_check "also in a child" counts 40 child thread

# 100000s: ptsim's clock is another one.
records() {
	rm -rf incidents
	mkdir incidents
	echo old >incidents/slow-old.data
	on "$program" record --slow='request>20us' --context=100000s -- "$slowly" 4000 100
	[ $status -eq 0 ] && [ ! -e incidents/perf.data ] && [ "$(cat incidents/slow-old.data)" = old ] || { echo "status $status"; cat messages; return 1; }
	name=$(cd incidents && echo slow-2*.data)
	awk -F '\t' -v name="$name" '$1 ~ /^20[0-9]*T[0-9]*[.][0-9]*Z$/ && $2 == name && $3 ~ /^[0-9]+.[0-9]+$/ && $4 ~ /^[0-9.]+[mu]s$/ &&
		$5 ~ /^--time=0ns,[0-9]+ns$/ && $6 ~ /^1[.] spin .slowly.c:[0-9]+., [0-9]+ % of the extra time/ { lines++ }
		END { exit lines != 1 || NR != 1 }' incidents/incidents.log &&
		grep -q ' request: spin; worst at .* in incidents/slow-2' out && grep -q '^1 recording$' out &&
		grep -q 'request: spin; worst at' incidents/why.html && grep -q '^</html>' incidents/why.html || { cat incidents/incidents.log out; return 1; }
	# It is cut, and needs no files.
	mkdir nothing
	"$program" -f functions -q --symfs=nothing "incidents/$name" | grep -q ' spin$' && [ "$(ls incidents)" = "incidents.log
$name
slow-old.data
why.html
why.jsonl" ] || { ls incidents; return 1; }
	clean
}
tap_check "one recording, cut, its cause in a line, and a page" records

# As a pattern, the name is also that of spin(), and of functions of other files.
pattern() {
	rm -rf incidents
	mkdir -p renamed
	objcopy --redefine-sym 'request=s*' "$slowly" renamed/slowly && mv try tried &&
		"$ptsim" record --cyc -o try -- renamed/slowly 100 50 >/dev/null 2>&1 &&
		on "$program" record -q --slow='s*>20us' --context=100000s -- renamed/slowly 4000 100
	mv tried try
	[ "$(grep -o '"function":"[^"]*","symbol"' incidents/why.jsonl)" = '"function":"s*","symbol"' ] && grep -q ' s\*: spin; worst' out ||
		{ cat messages out incidents/why.jsonl; return 1; }
}
if command -v objcopy >/dev/null; then
	tap_check "a function whose name is a pattern of others has its own causes only" pattern
else
	tap_skip "a function whose name is a pattern of others" "no objcopy"
fi

keeps_whole() {
	rm -rf incidents
	mv try tried
	echo "no recording" >try
	on "$program" record -q --slow='request>20us' -- "$slowly" 4000 100
	cmp try incidents/slow-2*.data && [ -z "$(find incidents -name '*.code')" ] && grep -q 'is not a perf.data file' incidents/incidents.log
	same=$?
	mv tried try
	return $same
}
tap_check "a recording that cannot be cut is kept, without the probes as code, and the reason is in the line" keeps_whole

limits() {
	rm -rf incidents
	on "$program" record --slow='request>20us' --snapshots=forever,1 -- "$slowly" 4000 100
	eval "$(numbers)"
	[ $status -eq 0 ] && [ "$recorded" -eq 1 ] && [ "$found" -ge 40 ] && grep -q "1 recorded in incidents/, $((found - 1)) not" messages || { cat messages; return 1; }
	on "$program" record --slow='request>20us' --snapshots=forever,100000 --max-output=1kB -- "$slowly" 400000 100
	eval "$(numbers)"
	[ $status -eq 2 ] && [ "$recorded" -eq 1 ] && [ "$calls" -lt 400000 ] && grep -q 'warning: the recording ended at the bytes of --max-output' messages || { echo "status $status"; cat messages; return 1; }
	on "$program" record -q --slow='request>20us' --snapshots=2,100000 -o many/ -- "$slowly" 400000 100
	[ $status -eq 0 ] && [ "$(wc -l <many/incidents.log)" -eq 2 ] && grep -q '2 more could not be read' out || { echo "status $status"; cat out messages; return 1; }
	clean
}
tap_check "--snapshots and --max-output are limits, and say what was not recorded" limits

percentile() {
	rm -rf incidents
	on "$program" record --slow='request>p99' --snapshots=forever -- "$slowly" 20000 50
	eval "$(numbers)"
	[ $status -eq 0 ] && grep -q 'calls are slow from .* on, by the first 10000$' messages && [ "$found" -ge 10 ] && [ "$found" -le 1000 ] && [ "$calls" -eq 20000 ] || { cat messages; return 1; }
	on "$program" record --slow='request>p50' --snapshots=forever -- "$slowly" 999 10
	[ $status -eq 2 ] && grep -q 'warning: 999 calls are too few for a percentile' messages || { echo "status $status"; cat messages; return 1; }
}
tap_check "a percentile is learned from the first calls" percentile

between() {
	rm -rf incidents
	on "$program" record --slow='>20us' --between=usual,answer --snapshots=forever -- "$slowly" 4000 100
	eval "$(numbers)"
	[ $status -eq 0 ] && [ "$calls" -eq 4000 ] && [ "$found" -ge 40 ] && [ "$found" -lt 4000 ] || { cat messages; return 1; }
}
tap_check "--between: from a call of START to the next of STOP" between

of_a_process() {
	rm -rf incidents fifo
	mkfifo fifo
	"$slowly" 4000 100 line <fifo >truth &
	made=$!
	exec 3>fifo
	rm -f words
	( sleep 2; echo >&3; sleep 5; kill $made 2>/dev/null ) &
	on timeout 60 "$program" record --slow='request>20us' --snapshots=1 -p "$made"
	exec 3>&-
	wait "$made" 2>/dev/null
	[ $status -eq 0 ] && grep -q -- "-p $made -- sleep infinity" words && [ "$(wc -l <incidents/incidents.log)" -eq 1 ] &&
		grep -q "	$made/$made	" incidents/incidents.log || { echo "status $status"; cat words messages; return 1; }
	clean
}
tap_check "a running process, which runs on" of_a_process
interrupted() {
	rm -rf incidents
	"$slowly" 100000000 100 >truth &
	made=$!
	on timeout --preserve-status -s INT 4 "$program" record --slow='request>20us' --snapshots=forever,1 -p "$made"
	kill $made
	eval "$(numbers)"
	[ $status -eq 0 ] && [ "$recorded" -eq 1 ] && [ "$found" -gt 40 ] && grep -q '^0 recordings; 1 more could not be read' out || { echo "status $status"; cat out messages; return 1; }
	clean
}
tap_check "until Ctrl-C" interrupted
watches() {
	rm -rf incidents
	"$slowly" 100000000 100 >truth &
	made=$!
	on timeout --preserve-status -s INT 6 "$program" watch --slow='request>20us' --snapshots=forever,100000 --context=100000s -p "$made"
	kill $made
	eval "$(numbers)"
	[ $status -eq 0 ] && [ "$recorded" -gt 1 ] && [ "$(wc -l <incidents/incidents.log)" -eq "$recorded" ] && grep -q "^$recorded recordings$" out || { echo "status $status"; cat out messages; return 1; }
	clean
}
tap_check "\`watch\` keeps recordings until then" watches

prevented() {
	rm -f words
	without "$program" record --slow='request>20us' -- "$slowly" 4000 100
	[ $status -eq 1 ] && grep -q 'cannot record: .*/uprobe_events: .*; record as root.*mount -t tracefs' messages && [ ! -e words ] || { cat messages; return 1; }
	on "$program" record --slow='nothing>20us' -- "$slowly" 4000 100
	[ $status -eq 1 ] && grep -q "cannot watch calls for --slow: .* has no function 'nothing'" messages && [ ! -e words ] || { cat messages; return 1; }
}
tap_check "without uprobes, or without the function, perf does not run" prevented

# perf's own signals and files.
PATH=$work/real:$PATH
of_the_real_perf() {
	rm -rf incidents
	on timeout 60 "$program" record -q --slow='request>20us' --snapshots=3,100000 -- "$slowly" 400000 100
	[ $status -eq 0 ] && [ "$(grep -c 'holds no Intel PT' incidents/incidents.log)" -eq 3 ] && [ "$(find incidents -name 'slow-2*.data' | wc -l)" -eq 3 ] ||
		{ echo "status $status"; cat messages incidents/incidents.log; return 1; }
	for data in incidents/slow-2*.data; do
		"$real" report --header-only -i "$data" 2>&1 | grep -q "cpu-clock" || return 1
	done
	clean
}
if [ "$real" ] && "$real" record -q -o y.data -e cpu-clock:u true 2>/dev/null; then
	tap_check "the real perf takes each snapshot into a file of its own" of_the_real_perf
else
	tap_skip "the real perf takes each snapshot" "no perf, or no events here"
fi
tap_done
