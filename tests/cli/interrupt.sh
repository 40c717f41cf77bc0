#!/bin/sh
# SPDX-License-Identifier: MIT
# SIGINT while the trace is decoded: the output is completed; a second SIGINT leaves no output.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
"$top_builddir/tests/support/make-sample" .
"$program" -q --symfs=. --format=branches perf.data >branches

command -v python3 >/dev/null || tap_skip_all "no Python to start programs that SIGINT reaches"
cat >driver.py <<'END'
import os, select, signal, subprocess, sys, time

def start(*args, **more):
    "Whoever runs the tests may have SIGINT ignored: shells do for what runs in background."
    return subprocess.Popen(args, stderr=subprocess.PIPE,
                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)

def until(condition):
    for _ in range(60000):
        if condition():
            return
        time.sleep(0.01)
    sys.exit('nothing happened for 10 minutes')

def state(process):
    return open('/proc/%d/stat' % process.pid).read().rsplit(')', 1)[1].split()[0]

def temporary(name):
    return [f for f in os.listdir('.') if f.startswith(name) and f.endswith('.tmp')]

def is_over(process):
    return process.poll() is not None

def interrupted(process):
    "Wait for the message of the signal handler; False: the process ended without it."
    return any(b'interrupted' in line for line in iter(process.stderr.readline, b''))
END

# Text that arrives slowly: the program has read it, and waits for more.
waiting_for_text() {
	python3 - "$program" <<-'END'
	import sys; sys.path.insert(0, '.')
	from driver import *
	process = start(sys.argv[1], '--input=perf-script', '-', '-o', 'text.ftf', stdin=subprocess.PIPE)
	process.stdin.write(open('branches', 'rb').read())
	process.stdin.flush()
	until(lambda: temporary('text.ftf') and state(process) == 'S')
	assert not os.path.exists('text.ftf')
	process.send_signal(signal.SIGINT)
	assert interrupted(process)
	assert process.wait() == 130, process.returncode
	assert b'interrupted: the rest of the input is left out' in process.stderr.read()
	assert not temporary('text.ftf')
	END
	[ $? -eq 0 ] && "$top_builddir/ftfdump" --check text.ftf >/dev/null &&
		[ "$("$top_builddir/ftfdump" text.ftf | grep -cE ' (begin|complete) ')" -eq 10 ]
}
tap_check "an interrupted run gives what is decoded, says so, and exits with 130" waiting_for_text

# The signal reaches all processes of the run while the file is begun and the program waits for text.
leaves_nothing() { # SIGNALS OPTIONS...
	rm -f ended.ftf*
	python3 - "$program" "$@" <<-'END'
	import sys; sys.path.insert(0, '.')
	from driver import *
	for name in sys.argv[2].split():
	    number = getattr(signal, 'SIG' + name)
	    process = start(sys.argv[1], '--input=perf-script', *sys.argv[3:], '-', '-o', 'ended.ftf',
	                    stdin=subprocess.PIPE, start_new_session=True)
	    process.stdin.write(open('branches', 'rb').read())
	    process.stdin.flush()
	    until(lambda: temporary('ended.ftf') and state(process) == 'S')
	    os.killpg(process.pid, number)
	    assert process.wait() == -number, (name, process.returncode)
	    # After SIGKILL another process removes the file.
	    for _ in range(1000 if number == signal.SIGKILL else 0):
	        if temporary('ended.ftf'):
	            time.sleep(0.01)
	    assert not temporary('ended.ftf') and not os.path.exists('ended.ftf'), name
	END
}
ending='HUP QUIT USR1 USR2 ALRM TERM VTALRM PROF XCPU'
tap_check "each signal that ends a process leaves no file" leaves_nothing "$ending"
tap_check "without the sandbox, too" leaves_nothing "$ending" --sandbox=off
if [ "$P2F_SANITIZED" = yes ]; then
	tap_skip "SIGKILL leaves none either" "sanitizers prevent the sandbox, whose second process removes them"
else
	tap_check "SIGKILL leaves none either" leaves_nothing KILL
fi

"$top_builddir/tests/ptsim/ptsim" record --per-thread --repeat=16777216 -o large.data -- \
	"$top_builddir/tests/programs/static/indirect" >/dev/null 2>messages || {
	tap_skip "interrupted decoding" "programs cannot be traced here: $(cat messages)"
	tap_done
}
while_decoding() { # OUTPUT OPTIONS...
	python3 - "$program" "$@" <<-'END'
	import sys; sys.path.insert(0, '.')
	from driver import *
	import json
	program, output = sys.argv[1:3]
	for attempt in range(20): # later each time, until the signal comes while it decodes
	    process = start(program, *sys.argv[3:], '--json=large.json', 'large.data', '-o', output)
	    until(lambda: is_over(process) or temporary(output))
	    time.sleep(0.01 * 1.5 ** attempt)
	    process.send_signal(signal.SIGINT)
	    words = process.communicate()[1]
	    if process.returncode == -signal.SIGINT: # nothing was decoded yet
	        assert not temporary(output)
	        continue
	    one = json.load(open('large.json'))
	    trace = one['trace']
	    assert one['status'] == process.returncode
	    if process.returncode == 130:
	        assert b'interrupted' in words and one['interrupted']
	        if 0 < trace['bytes_decoded'] < trace['bytes_total'] and one['slices'] > 1000:
	            sys.exit(0)
	sys.exit('it was never interrupted while it decoded')
	END
	[ $? -eq 0 ] && "$top_builddir/ftfdump" --check "$1" >/dev/null
}
tap_check "also in the middle of decoding" while_decoding large.ftf
tap_check "also if the output is compressed" while_decoding large.ftf.gz

# Slices of text are sorted and written at the end: the program is stopped there, and gets
# the second signal. If the program ended before, try again.
twice() {
	python3 - "$program" <<-'END'
	import sys; sys.path.insert(0, '.')
	from driver import *
	for attempt in range(20):
	    process = start(sys.argv[1], '--format=slices', 'large.data', '-o', 'twice')
	    until(lambda: is_over(process) or temporary('twice'))
	    time.sleep(0.01 * (20 - attempt)) # some slices to sort, the fewer the later
	    process.send_signal(signal.SIGINT)
	    if not interrupted(process): # it was faster, or had not begun yet
	        process.communicate()
	        continue
	    process.send_signal(signal.SIGSTOP)
	    until(lambda: state(process) in 'TZ')
	    stopped = state(process) == 'T' and temporary('twice')
	    process.send_signal(signal.SIGINT)
	    process.send_signal(signal.SIGCONT)
	    process.communicate()
	    if stopped:
	        assert process.returncode == -signal.SIGINT, process.returncode
	        assert not temporary('twice') and not os.path.exists('twice')
	        sys.exit(0)
	sys.exit('it was always too fast')
	END
}
tap_check "a second SIGINT stops at once and leaves no file" twice
tap_done
