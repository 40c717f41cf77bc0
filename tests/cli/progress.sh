#!/bin/sh
# SPDX-License-Identifier: MIT
# The bar is shown on terminals only. The test stops the run to make it last more than a
# second.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
command -v python3 >/dev/null || tap_skip_all "no Python to make a terminal"
"$top_builddir/tests/ptsim/ptsim" record --per-thread --repeat=16777216 -o large.data -- \
	"$top_builddir/tests/programs/static/indirect" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"

# Write the output to a terminal of N columns into `screen`; 0 columns: a pipe. Stop the run
# $delay seconds after it has made its output.
delay=0.1
export delay
cat >run.py <<'END'
import fcntl, glob, os, pty, signal, struct, subprocess, sys, termios, threading, time

columns, command = int(sys.argv[1]), sys.argv[2:]
master, slave = pty.openpty() if columns else os.pipe()
if columns:
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
begin = time.monotonic()
process = subprocess.Popen(command, stderr=slave, env={**os.environ, 'TERM': 'xterm'})
os.close(slave)

def stop():
    while not glob.glob('large.ftf.*.tmp') and process.returncode is None:
        time.sleep(0.01)
    time.sleep(float(os.environ['delay']))
    process.send_signal(signal.SIGSTOP)
    time.sleep(1.3)
    process.send_signal(signal.SIGCONT)

threading.Thread(target=stop).start()
screen = b''
while True:
    try:
        part = os.read(master, 65536)
    except OSError:
        break
    if not part:
        break
    screen += part
open('screen', 'wb').write(screen)
open('seconds', 'w').write(str(time.monotonic() - begin))
sys.exit(process.wait())
END

# A fast run may end before the stop, and a slow one may not decode yet: try again.
draws_a_bar() { # COLUMNS
	for delay in 0.05 0.1 0.02 0.2 0.4 0.8 1.6 3.2; do
		export delay
		shows_a_bar "$1"
		status=$?
		[ $status -eq 3 ] || return $status
	done
	return $status
}

shows_a_bar() { # COLUMNS: 3 if there was no bar
	python3 run.py "$1" "$program" --no-warn large.data -o large.ftf && python3 - "$1" <<-'END'
	import re, sys
	screen = open('screen', newline='').read()
	lines = screen.split('\r\x1b[K')
	bars, rest = lines[1:-1], lines[-1]
	if len(lines) < 3:
	    sys.exit(3)
	assert lines[0] == '', lines
	percents = []
	for bar in bars:
	    assert len(bar) < int(sys.argv[1]), bar
	    found = re.fullmatch(r'\[(#*)( *)\] +(\d+)%, \d+ slices, [\d.]+ MiB/s, [\d:]+ (s|min|h) left', bar)
	    assert found, bar
	    full, empty = (len(part) for part in found.groups()[:2])
	    assert abs(100 * full / (full + empty) - int(found[3])) <= 100 / (full + empty) + 1, bar
	    percents.append(int(found[3]))
	assert percents == sorted(percents) and percents[-1] <= 100
	assert len(bars) <= 10 * (float(open('seconds').read()) - 1) + 1, len(bars)
	assert rest.startswith('ptrace2ftf: ') and '%' not in rest.split('\r\n')[0], rest
	END
}
tap_terminal "a terminal shows a bar after a second, at most ten times a second, and it is erased" draws_a_bar 100
tap_terminal "the bar fits into a narrow terminal" draws_a_bar 60
nothing_on_a_pipe() {
	python3 run.py 0 "$program" --no-warn large.data -o large.ftf && grep -q ' slices on ' screen &&
		! grep -q 'left$\|\[#' screen
}
tap_check "a pipe gets no bar" nothing_on_a_pipe
nothing_if_quiet() {
	python3 run.py 100 "$program" -q --no-warn large.data -o large.ftf && [ ! -s screen ]
}
tap_terminal "-q shows no bar" nothing_if_quiet
tap_done
