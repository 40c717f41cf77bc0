#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf record`: with a perf in PATH that writes ptsim's recording, on a machine that mounts
# pretend to be.
. "$top_srcdir/tests/support/tap.sh"
. "$top_srcdir/tests/support/breakpoints.sh"
ptsim=$top_builddir/tests/ptsim/ptsim
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
program=$top_builddir/ptrace2ftf
mkdir bin empty pmu pmu/intel_pt pmu/intel_pt/caps
echo 1 >pmu/intel_pt/caps/psb_cyc
echo 1 >pmu/intel_pt/caps/ip_filtering
cat >bin/perf <<END
#!/bin/sh
echo "\$@" >"$work/words"
[ ! -e "$work/fails" ] || exit 129
while [ "\$1" != -- ]; do
	[ "\$1" != -o ] || output=\$2
	shift
done
shift
"$ptsim" record -o "\$output" -- "\$@" >/dev/null 2>&1
[ ! -e "$work/status" ] || exit \$(cat "$work/status")
END
chmod +x bin/perf
cp "$top_builddir/tests/programs/static/tail" prog

# Without rights, no file of the machine is needed.
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
	says 64 'nothing to record' &&
		says 64 'needs a program, or one process' -a --start-at=main &&
		says 64 'snapshot-at needs a program, or one process' -p 1,2 --snapshot-at=main &&
		says 64 "invalid --attach 'sh'; expected process ids" -p sh &&
		says 64 'one recording' -o "$work/" -- ./prog && says 64 'takes no --jobs' --jobs=2 -- ./prog
	status=$?
	"$program" --snapshot prog 2>messages
	[ $? -eq 64 ] && grep -q -- '--snapshot needs .ptrace2ftf record' messages && [ $status -eq 0 ]
}
tap_check "wrong usage says what is missing" usage

dry_run() {
	says 0 "^perf record -o perf.data .*-e intel_pt/[^/]*/u -- ./prog 'a b' '' 'it'.''s'$" --dry-run -- ./prog "a b" "" "it's" &&
		[ ! -s messages ] && [ "$(wc -l <out)" -eq 1 ] &&
		says 0 "intel_pt/[^/]*/ .*-a$" --dry-run --all-cpus --mode=both &&
		says 0 "--filter 'start main @ $(command -v env)' -- env true$" --dry-run --start-at=main -- env true &&
		says 0 "/u --filter 'start main @ /proc/12/exe' --snapshot=e -p 12$" --dry-run --attach=12 --start-at=main --snapshot &&
		says 0 " --snapshot=e -p 12 -- sleep infinity$" --dry-run -p 12 --snapshot-at=main &&
		{ [ "$(id -u)" -ne 0 ] || says 0 " -m,8M .* --snapshot=e -- ./prog$" --dry-run --snapshot=8MiB -- ./prog; } &&
		[ ! -e words ]
}
# seeds.md: attach records a running process
# seeds.md: snapshots of -snapshot-size on Ctrl-C
# seeds.md: -full-execution and -multi-thread record everything
tap_check "--dry-run prints the command as a shell takes it, and does nothing" dry_run

check_in() { # PATH STATE FOUND: the row of perf, in text and JSON
	PATH=$1 "$program" record --check >out 2>messages
	[ $? -eq 1 ] && grep -qE "^perf +$2 +$3\$" out || { cat out messages; return 1; }
	PATH=$1 "$program" record --check --json >out 2>messages
	grep -A 2 '"need": "perf"' out | tr -d '\n' | grep -qE "\"state\": \"$2\", *\"found\": \"$3\""
}
check_perf() {
	check_in "$work/empty" missing 'perf is not in PATH' && grep -q '"remedy": "install it' out &&
		check_in "$work/bin" ok "$work/bin/perf"
}
[ -e /sys/bus/event_source/devices/intel_pt ] ||
	tap_check "--check says that perf is missing, and what to do" check_perf

# What the machine is: its devices, and a file over one of /proc.
on() { # DEVICES [PATH FILE]... -- COMMAND...
	mounts="mount --bind '$1' /sys/bus/event_source/devices"
	shift
	while [ "$1" != -- ]; do
		mounts="$mounts && mount --bind '$2' '$1'"
		shift 2
	done
	shift
	unshare -m $own_user sh -c "$mounts"' && exec "$@"' sh "$@" >out 2>messages
	status=$?
}
own_user=
[ "$(id -u)" -eq 0 ] || own_user=-r
on pmu -- true
if [ $status -ne 0 ] || [ ! -x "$ptsim" ]; then
	tap_skip "recording" "no mount namespaces, or no ptsim"
	tap_done
fi
check_pt() {
	on pmu -- "$program" record --check
	grep -qE '^Intel PT +ok +yes, cycles, address filters$' out &&
		on empty -- "$program" record --check && [ $status -eq 1 ] && grep -qE '^Intel PT +missing +(the|this) .* has ' out || return 1
	echo 2 >paranoid
	[ "$(id -u)" -eq 0 ] || on pmu /proc/sys/kernel/perf_event_paranoid paranoid -- "$program" record --check &&
		{ [ "$(id -u)" -eq 0 ] || grep -A 1 -E '^rights +limited +user code of your processes$' out | grep -q 'perf_event_paranoid=1$'; }
}
tap_check "--check says what the processor traces" check_pt
real=$(command -v perf)
PATH=$work/bin:$PATH

records() {
	rm -f perf.data* fails status
	# ptsim changes the code, and gives the process another number.
	on pmu -- "$program" record --no-code -o x.ftf -- ./prog
	[ $status -eq 0 ] || { echo "status $status"; cat messages; return 1; }
	"$top_builddir/ftfdump" --check x.ftf >/dev/null && [ -e perf.data ] &&
		grep -q '^ptrace2ftf: perf record -o perf.data -m,64M -e intel_pt/cyc=1/u -- ./prog$' messages &&
		grep -q 'branches, ' messages
}
if "$ptsim" record -o try -- ./prog >/dev/null 2>&1; then
	# seeds.md: run records a program with perf
	tap_check "the command is shown and run, and its recording converted" records
	program_status() {
		echo 7 >status
		on pmu -- "$program" record -q -o x.ftf -- ./prog
		[ $status -eq 7 ] && [ ! -s messages ] || { echo "status $status"; cat messages; return 1; }
	}
	tap_check "the status is the program's" program_status
else
	tap_skip "recordings are converted" "programs cannot be traced here"
fi

# Generated code is saved at the end of the program, or of an attach.
mkdir plain ring
cat >plain/perf <<END
#!/bin/sh
while [ \$# -gt 0 ] && [ "\$1" != -- ]; do
	[ "\$1" != -o ] || cp "$work/try" "\$2"
	shift
done
[ \$# -eq 0 ] || "\$2"
exit 0
END
chmod +x plain/perf
saves() { # ARGUMENTS...
	rm -f perf.data*
	PATH=$work/plain:$PATH on pmu -- "$program" record -q -o x.ftf "$@"
	[ -e perf.data.code ] && od -An -v -tx1 perf.data.code | tr -d ' \n' | grep -q 8d4702c3
}
of_a_program() {
	saves -- "$top_builddir/tests/programs/jit" && [ $status -eq 0 ] && [ ! -s messages ] &&
		! saves --no-code -- "$top_builddir/tests/programs/jit" && [ ! -e perf.data.code ] &&
		! saves -- ./prog && [ ! -e perf.data.code ]
}
# perf gives the recording that was there a new name, unless it fails.
renames_pair() {
	printf '#!/bin/sh\n[ ! -e fails ] || exit 129\n[ ! -e perf.data ] || mv perf.data perf.data.old\n. "%s"\n' \
		"$work/plain/perf" >ring/perf
	chmod +x ring/perf
	rm -f perf.data*
	cp plain/perf perf.data
	echo "earlier code" >perf.data.code
	: >fails
	PATH=$work/ring:$PATH on pmu -- "$program" record -q -o x.ftf -- "$top_builddir/tests/programs/jit"
	rm fails
	cmp plain/perf perf.data && grep -q "earlier code" perf.data.code && [ ! -e perf.data.old.code ] || return 1
	for code in "" --no-code; do
		PATH=$work/ring:$PATH on pmu -- "$program" record -q $code -o x.ftf -- "$top_builddir/tests/programs/jit"
		cmp try perf.data && cmp plain/perf perf.data.old && grep -q "earlier code" perf.data.old.code || return 1
		[ -z "$code" ] && [ -s perf.data.code ] || [ ! -e perf.data.code ] || return 1
		cp plain/perf perf.data
		echo "earlier code" >perf.data.code
	done
}
cat >made.py <<END
import mmap, sys, time
memory = mmap.mmap(-1, 4096, prot=7)
memory.write(bytes([0x8d, 0x47, 2, 0xc3]))
open("ready", "w")
time.sleep(float(sys.argv[1]))
memory.close()
END
of_a_process() {
	python3 made.py 60 &
	made=$!
	until [ -e ready ] || ! kill -0 $made 2>/dev/null; do sleep 0.05; done
	saves -p "$made"
	status=$?
	kill $made
	return $status
}
# The parent ends before the child.
of_a_child() {
	printf '#!/bin/sh\npython3 made.py 1\n:\n' >parent
	chmod +x parent
	saves -- ./parent
}
if [ -e try ]; then
	tap_check "the code that a program made is saved at its end" of_a_program
	tap_check "an earlier recording and its code are renamed together, or stay" renames_pair
	if python3 -c 0 2>/dev/null; then
		tap_check "the code that a process made is saved at the end of an attach" of_a_process
		tap_check "code that a child of the program makes, and removes, is saved" of_a_child
	fi
fi

# The snapshot at a function's call, by a script that ends as the real perf does.
cat >ring/perf <<END
#!/bin/sh
echo "\$@" >"$work/words"
while [ "\$1" != -- ]; do
	[ "\$1" != -o ] || output=\$2
	shift
done
shift
trap 'got=1' INT
"\$@" <"$work/line" &
echo \$! >"$work/workload"
# As perf, start no other program before the workload, which may be over already.
while kill -0 \$! && ! { read -r name <"/proc/\$!/comm" && [ "\$name" = "\${1##*/}" ]; }; do :; done 2>/dev/null
# The signal may come before wait().
while [ -z "\$got" ] && kill -0 \$! 2>/dev/null; do sleep 0.02; done
cp "$work/try" "\$output"
[ -z "\$got" ] || kill \$!
wait \$! 2>/dev/null
trap - INT
[ -z "\$got" ] || kill -INT \$\$
END
chmod +x ring/perf
echo >line
called=$top_builddir/tests/programs/called
snapshot() { # ARGUMENTS...
	rm -f perf.data* words workload
	PATH=$work/ring:$PATH on pmu -- timeout 20 "$program" record -q -o x.ftf "$@"
}
ends_at_a_call() {
	snapshot --snapshot=4MiB --snapshot-at=late -- "$called" &&
		[ $status -eq 0 ] && [ ! -s messages ] && [ -s x.ftf ] &&
		grep -q -- "-m,4M .*--snapshot=e -- $called$" words || { echo "status $status"; cat messages words; return 1; }
	! kill -0 "$(cat workload)" 2>/dev/null
}
without_a_call() {
	snapshot --snapshot-at=never -- "$called" ends
	[ $status -eq 2 ] && grep -q "warning: 'never' was not called; the snapshot was taken at the end" messages ||
		{ echo "status $status"; cat messages; return 1; }
}
ends_at_a_call_of_a_process() {
	mkfifo fifo
	"$called" <fifo &
	made=$!
	exec 3>fifo
	rm -f workload
	until grep -qs '^Name:.sleep' "/proc/$(cat workload 2>/dev/null)/status" &&
		grep -qs '^State:.S' "/proc/$(cat workload)/status"; do sleep 0.05; done && echo >&3 &
	feeder=$!
	snapshot -p "$made" --snapshot-at=late --no-code
	kill $feeder $made 2>/dev/null
	exec 3>&-
	[ $status -eq 0 ] && [ ! -s messages ] && grep -q -- "--snapshot=e -p $made -- sleep infinity$" words ||
		{ echo "status $status"; cat messages words; return 1; }
}
unwatched() {
	snapshot --snapshot-at=nothing -- "$called"
	[ $status -eq 1 ] && [ ! -e words ] && grep -q "cannot watch calls .*no function 'nothing'; leave it out" messages
}
# The real perf, with a clock instead of the PMU, for its signals and its program's start.
mkdir real
cat >real/perf <<END
#!/bin/sh
for word do
	shift
	case \$word in
	intel_pt/*) word=cpu-clock:u ;;
	--snapshot=e) continue ;;
	-m,*) word=-m16 ;;
	esac
	set -- "\$@" "\$word"
done
exec "$real" "\$@"
END
chmod +x real/perf
ends_a_real_perf() {
	rm -f perf.data
	PATH=$work/real:$PATH on pmu -- timeout 20 "$program" record -q -o x.ftf --snapshot-at=late -- "$called" <line
	[ $status -eq 1 ] && grep -q 'perf.data: holds no Intel PT' messages || { echo "status $status"; cat messages; return 1; }
}
if [ -e try ]; then
	snapshot --snapshot-at=late -- "$called"
	if grep -q 'cannot watch calls' messages; then
		tap_skip "the snapshot at a call" "$(cat messages)"
	elif recording=hits.data text=hits.text && [ -n "$real" ] && ! record_hits "$real"; then
		tap_skip "the snapshot at a call" "no breakpoints here"
	else
		# seeds.md: -trigger takes the snapshot at a function's call
		tap_check "--snapshot-at ends the recording, and the program, when the function is called" ends_at_a_call
		tap_check "also a process's, in a thread that was there before" ends_at_a_call_of_a_process
		if "${real:-false}" record -q -o y.data -e cpu-clock:u true 2>/dev/null; then
			tap_check "perf itself ends so" ends_a_real_perf
		else
			tap_skip "perf itself ends so" "no perf, or no events here"
		fi
		tap_check "without a call it is of the end, with a warning" without_a_call
	fi
	tap_check "a function that is not there is named before perf runs" unwatched
fi

no_recording() {
	touch fails
	: >perf.data
	on pmu -- "$program" record -q -o y.ftf -- ./prog
	rm fails
	[ $status -eq 129 ] && grep -q 'perf did not write perf.data' messages && [ ! -e y.ftf ] || { echo "status $status"; cat messages; return 1; }
}
tap_check "an older recording is not converted when perf fails" no_recording

prevented() { # PATTERN DEVICES [PATH FILE]... -- ARGUMENTS...
	pattern=$1
	shift
	rm -f words
	on "$@"
	[ $status -eq 1 ] && grep -qE "cannot record: $pattern" messages && [ ! -e words ] ||
		{ echo "status $status"; cat messages; return 1; }
}
printf 'vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor sse\n\n' >virtual
printf 'vendor_id\t: GenuineIntel\nflags\t\t: fpu sse\n\n' >intel
printf 'vendor_id\t: AuthenticAMD\nflags\t\t: fpu sse\n\n' >amd
tap_check "a virtual machine without PT is named" prevented "this virtual machine has no Intel PT" \
	empty /proc/cpuinfo "$work/virtual" -- "$program" record -- ./prog
tap_check "so is another make of processor" prevented "the processor is not Intel's" \
	empty /proc/cpuinfo "$work/amd" -- "$program" record -- ./prog
tap_check "and an old one" prevented "the kernel has no intel_pt" \
	empty /proc/cpuinfo "$work/intel" -- "$program" record -- ./prog
tap_check "and a machine without perf" prevented "perf is not in PATH; install it" \
	pmu -- env PATH=/nonexistent "$program" record -- ./prog
filters() {
	echo 0 >pmu/intel_pt/caps/ip_filtering
	prevented "this processor has no address filters" pmu -- "$program" record --start-at=main -- ./prog
	filtered=$?
	echo 1 >pmu/intel_pt/caps/ip_filtering
	return $filtered
}
# seeds.md: perf is asked for its capabilities
tap_check "and one without address filters for --start-at" filters

# As somebody without rights.
chmod 755 "$work"
if [ -n "$own_user" ] || ! setpriv --reuid=65534 --regid=65534 --clear-groups test -x "$work" 2>/dev/null; then
	tap_skip "rights" "only root can become somebody else, who needs access to temporary files"
else
	# Others may have no way to the build.
	cp "$program" "$work/program"
	program=$work/program
	user="setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all"
	echo 3 >strict
	echo 1 >lax
	echo 516 >little
	# shellcheck disable=SC2086 # words
	forbidden() {
		paranoid=/proc/sys/kernel/perf_event_paranoid
		on pmu $paranoid "$work/strict" -- $user "$program" record -- ./prog
		[ $status -eq 1 ] && grep -q 'kernel.perf_event_paranoid is 3; run .sysctl kernel.perf_event_paranoid=2. as root' messages || { cat messages; return 1; }
		on pmu $paranoid "$work/lax" -- $user "$program" record -a
		[ $status -eq 1 ] && grep -q 'cannot record all CPUs: .* is 1; run .sysctl kernel.perf_event_paranoid=0. as root' messages || { cat messages; return 1; }
		on pmu $paranoid "$work/lax" /proc/sys/kernel/perf_event_mlock_kb "$work/little" -- \
			$user sh -c 'ulimit -l 64; exec "$@"' sh "$program" record -- ./prog
		grep -q 'warning: perf may lock only 580 KiB' messages || { cat messages; return 1; }
	}
	tap_check "perf_event_paranoid and the limit of locked memory are named with their cure" forbidden
fi
tap_done
