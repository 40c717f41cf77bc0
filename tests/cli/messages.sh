#!/bin/sh
# SPDX-License-Identifier: MIT
# Errors and warnings are coloured on terminals; a reader that closes its pipe ends the program.
. "$top_srcdir/tests/support/tap.sh"
program=$(realpath "$top_builddir/ptrace2ftf")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v python3 >/dev/null || tap_skip_all "no Python to make a terminal"
mkdir "$work/sample"
"$top_builddir/tests/support/make-sample" "$work/sample"
cd "$work" || exit 1

# Print the output to a terminal on stderr, with that on stdout if it is whole; or, if stdout is a pipe without a reader, the signal.
cat >run.py <<'END'
import os, pty, subprocess, sys

if sys.argv[1] == 'closed':
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(sys.argv[2:], stdout=writer, stderr=subprocess.PIPE)
    sys.exit(f'ended with {done.returncode}, {done.stderr}')
master, slave = pty.openpty()
process = subprocess.Popen(sys.argv[2:], stderr=slave, stdout=slave if sys.argv[1] == 'whole' else None)
os.close(slave)
text = b''
try:
    while data := os.read(master, 4096):
        text += data
except OSError:
    pass  # the end of a terminal
process.wait()
sys.stdout.write(text.decode().replace('\r\n', '\n').replace('\033', '<').replace('<[0m', '>'))
END
on_terminal() {
	TERM=xterm python3 run.py terminal "$@" >screen
}
error='<[1;31mptrace2ftf:> missing: cannot open: No such file or directory'
coloured() { # TEXT COMMAND...
	text=$1
	shift
	on_terminal "$@"
	cat screen
	grep -qF -- "$text" screen
}
plain() { # COMMAND...
	on_terminal "$@"
	cat screen
	grep -q '^ptrace2ftf: ' screen && ! grep -q '<' screen
}
tap_terminal "an error is red on a terminal" coloured "$error" "$program" missing
tap_terminal "so is wrong usage" coloured '<[1;31mptrace2ftf:> unknown --format' "$program" -f no
tap_terminal "a warning is magenta" coloured 'ptrace2ftf: <[1;35mwarning:> ' \
	"$program" sample/perf.data --tid=1 -f none
only_text() {
	for form in ftf sqlite pprof html chrome speedscope; do
		python3 run.py whole "$program" -q -f $form -o - sample/perf.data >screen
		grep -qx "<\[1;31mptrace2ftf:> cannot write --format=$form to a terminal; name a file with -o" screen || { echo $form; cat screen; return 1; }
	done
	python3 run.py whole "$program" -q -f html sample/perf.data | grep -q 'cannot write --format=html to a terminal' &&
		python3 run.py whole "$program" -q -f slices --args=none sample/perf.data >screen && "$program" -q -f slices --args=none sample/perf.data | diff - screen
}
tap_terminal "a terminal gets only text for people" only_text
mkdir one two
cp sample/perf.data one/a.data && cp sample/perf.data two/b.data
tap_terminal "of a batch, too, with the input in front" coloured '<[1;31mptrace2ftf:> ' \
	"$program" one/a.data missing -o out/
tap_terminal "NO_COLOR keeps colours away" plain env NO_COLOR=1 "$program" missing
tap_terminal "an empty NO_COLOR does not" coloured "$error" env NO_COLOR= "$program" missing
tap_terminal "nor has a terminal that is dumb any" plain env TERM=dumb "$program" missing
tap_terminal "nor --color=never" plain "$program" --color=never missing
always() {
	"$program" --color missing 2>&1 | tr '\033' '<' >messages
	"$program" missing 2>&1 | tr '\033' '<' >none
	NO_COLOR=1 "$program" --color=always missing 2>&1 | tr '\033' '<' | cmp - messages &&
		grep -q '^<\[1;31mptrace2ftf:<\[0m missing' messages && ! grep -q '<' none
}
tap_check "a file gets colours only from --color" always

closed() { # ARGUMENTS...
	python3 run.py closed "$program" "$@" 2>result
	cat result
	grep -q "^ended with -13, b''" result && [ "$(find out -type f | wc -l)" -eq 0 ]
}
rm -rf out && mkdir out
tap_check "a pipe without a reader ends it silently, by SIGPIPE" \
	closed -f slices sample/perf.data --symfs=sample
tap_check "and leaves no other output" \
	closed -f slices sample/perf.data --symfs=sample --json=out/summary.json
tap_check "of any format" closed sample/perf.data --symfs=sample -f ftf -o /dev/stdout
tap_check "also the summary alone" closed -q -f none sample/perf.data --symfs=sample --json
tap_check "and the table of two recordings" closed diff -q sample/perf.data sample/perf.data

# A socket of datagrams keeps the bytes of a write apart.
cat >writes.py <<'END'
import socket, subprocess, sys

reader, writer = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
subprocess.run(sys.argv[1:], stderr=writer)
reader.setblocking(False)
lines = 0
try:
    while text := reader.recv(4096).decode():
        lines += 1
        if text.count('\n') != 1 or not text.endswith('\n'):
            sys.exit(f'a write of {text!r}')
except BlockingIOError:
    pass
sys.exit(lines < 3)
END
tap_check "each line of messages is one write" python3 writes.py "$program" -f none sample/perf.data -o out/none
tap_done
