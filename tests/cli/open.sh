#!/bin/sh
# SPDX-License-Identifier: MIT
# `ptrace2ftf open` and --open: served files, allowed clients, and the end of the server.
if [ -z "$P2F_PRIVATE" ]; then
	export P2F_PRIVATE=yes
	exec "$top_builddir/tests/support/private-network" sh "$0"
fi
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
bare=$top_builddir/tests/support/ptrace2ftf-without-server
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/sample" "$work/temporary"
"$top_builddir/tests/support/make-sample" "$work/sample"
cd "$work" || exit 1
data=sample/perf.data symfs=--symfs=sample

# ---- Without a server ----
says_what_it_lacks() {
	"$bare" open $symfs $data >address 2>messages
	[ $? -eq 1 ] && [ ! -s address ] &&
		grep -q 'this build has no server.*libmicrohttpd-dev' messages && return 0
	cat messages
	return 1
}
tap_check "a build without libmicrohttpd says so" says_what_it_lacks
converts_all_the_same() {
	"$bare" -q $symfs $data -o bare.ftf && "$program" -q $symfs $data -o full.ftf && cmp bare.ftf full.ftf
}
tap_check "it converts as any other" converts_all_the_same
needs_no_library() {
	! ldd "$bare" "$program" | grep microhttpd
}
tap_check "no build is linked with the library, which only this command needs" needs_no_library

unset BROWSER DISPLAY WAYLAND_DISPLAY SSH_CONNECTION
export TMPDIR="$work/temporary"
if "$program" open nothing 2>&1 | grep -q 'this build has no server'; then
	tap_skip "what is served" "this build has no server"
	tap_done
fi
command -v curl >/dev/null || {
	tap_skip "what is served" "no curl"
	tap_done
}
get() {
	curl -s --noproxy '*' --max-time 600 "$@"
}
address_of() { # FILE: prints the trace's address
	sed 's/.*[?&]url=\([^&]*\).*/\1/; s/%3A/:/g; s/%2F/\//g' "$1"
}
until_so() { # COMMAND...: until it succeeds, for ten minutes, or the program has ended
	tries=0
	until "$@"; do
		kill -0 $pid 2>/dev/null && [ $tries -lt 6000 ] || return 1
		sleep 0.1
		tries=$((tries + 1))
	done
}
has_lines() { # COUNT PATTERN FILE
	[ "$(grep -c "$2" "$3" 2>/dev/null)" = "$1" ]
}
show() { # WORDS...: starts the program with them; sets pid and url
	: >address
	"$program" "$@" >address 2>messages &
	pid=$!
	until_so [ -s address ] || { cat messages; return 1; }
	url=$(address_of address)
}
ended() { # STATUS
	wait $pid
	status=$?
	[ $status -eq "$1" ] && return 0
	echo "status $status"
	cat messages
	return 1
}
fetched() { # FILE [STATUS]: the rest of a run that serves the bytes of FILE
	get -o got "$url" && cmp got "$1" && ended "${2:-0}"
}
"$program" -q $symfs $data -o wanted.ftf
head -c 8000000 /dev/zero | tr '\0' x >body
{ head -c 8 wanted.ftf; cat body; } >large.ftf

# ---- What is shown ----
recording() {
	show open $symfs $data && fetched wanted.ftf && [ -z "$(ls temporary)" ] && ! ls sample | grep ftf
}
# seeds.md: -serve shows the trace in a browser
tap_check "a recording is converted and served, and nothing is left of it" recording
packed_recording() {
	gzip -c $data >packed.data.gz
	show open $symfs packed.data.gz && fetched wanted.ftf
}
tap_check "so is a packed recording" packed_recording
piped() {
	: >address
	"$program" open $symfs - <$data >address 2>messages &
	pid=$!
	until_so [ -s address ] && url=$(address_of address) && [ "${url##*/}" = trace.ftf ] && fetched wanted.ftf
}
tap_check "so is one from a pipe" piped
kept() {
	show open $symfs $data -o kept.ftf && [ "${url##*/}" = kept.ftf ] && fetched wanted.ftf && cmp kept.ftf wanted.ftf &&
		show --open $symfs $data -o kept.ftf.gz && gzip -dc kept.ftf.gz | cmp - wanted.ftf && fetched kept.ftf.gz
}
tap_check "a named output is kept" kept
options_apply() {
	"$program" -q $symfs $data --depth=1 -o other.ftf
	show open $symfs --depth=1 $data && fetched other.ftf && ! cmp -s other.ftf wanted.ftf
}
tap_check "options of a conversion apply" options_apply
gaps() {
	mkdir -p empty
	"$program" -q --symfs=empty $data -o gaps.ftf
	[ $? -eq 2 ] && show open --symfs=empty $data && fetched gaps.ftf 2
}
tap_check "the status is the conversion's" gaps
no_recording() {
	echo noise >noise
	"$program" open noise >address 2>messages
	[ $? -eq 1 ] && [ ! -s address ] && grep -q '^ptrace2ftf: noise: ' messages
}
tap_check "what is neither recording nor trace is an error" no_recording
as_it_is() {
	printf '[{"name":"a","ph":"X","ts":1,"dur":2}]' >chrome.json
	gzip -c wanted.ftf >packed
	for file in wanted.ftf chrome.json packed; do
		show open $file && fetched $file || { echo $file; return 1; }
	done
	cp wanted.ftf "a b%20ü.ftf"
	show --open "a b%20ü.ftf" && [ "${url##*/}" = a_b_20__.ftf ] && fetched wanted.ftf
}
# seeds.md: a command shows or serves the written trace (tool_output)
tap_check "a trace is served as it is" as_it_is
nothing_to_convert() {
	for word in --time=,1 --output=x.ftf wanted.ftf; do
		"$program" open wanted.ftf $word 2>messages
		[ $? -eq 64 ] && grep -q 'is a trace already, and shown as it is; leave out' messages || return 1
	done
	! ls | grep '^x'
}
tap_check "it takes no options of a conversion" nothing_to_convert
named_open() {
	cp $data open
	"$program" -q $symfs ./open -o by_path.ftf && "$program" -q $symfs -o by_order.ftf open &&
		cmp by_path.ftf wanted.ftf && cmp by_order.ftf wanted.ftf && show open $symfs open && fetched wanted.ftf
}
tap_check "a file named open is an input after ./, or after another word" named_open
wrong() { # PATTERN WORDS...
	pattern=$1
	shift
	"$program" "$@" 2>messages >address
	[ $? -eq 64 ] && [ ! -s address ] && grep -q -- "$pattern" messages && return 0
	cat messages
	return 1
}
usage() {
	wrong 'no input' open && wrong 'cannot show the outputs of a batch' open $data -o ./ &&
		wrong 'cannot show several files or text' open --format=slices $data && wrong 'takes no --split' open --split=5 $data &&
		wrong 'cannot show standard output' open $data -o - && wrong 'has other content' open --json $data &&
		wrong '--ui needs' --ui=https://a.example $data && wrong "invalid --ui 'x'; expected an address" open --ui=x $data
}
tap_check "what cannot be shown is wrong usage" usage

# ---- To whom ----
answers() { # STATUS CURL-WORDS...
	wanted=$1
	shift
	got=$(get -o body.got -D headers -w '%{http_code}' "$@")
	[ "$got" = "$wanted" ] && return 0
	echo "$got for $*"
	return 1
}
header() { # NAME VALUE
	tr -d '\r' <headers | grep -qix -- "$1: $2" && return 0
	echo "no $1: $2 in:"
	cat headers
	return 1
}
origin=https://ui.perfetto.dev
each_answer() {
	show open large.ftf || return 1
	answers 404 -X POST http://127.0.0.1:9001/status && header access-control-allow-origin $origin &&
		answers 404 -d body http://127.0.0.1:9001/status && answers 404 --data-binary @large.ftf "$url" &&
		answers 404 http://127.0.0.1:9001/large.ftf && answers 404 "${url}x" && answers 404 "${url%/*}/" &&
		answers 404 -X PUT "$url" && answers 404 -X DELETE "$url" && answers 404 -X OPTIONS http://127.0.0.1:9001/ &&
		answers 200 -I "$url" && header content-length "$(wc -c <large.ftf)" &&
		answers 204 -X OPTIONS -H "Origin: $origin" -H 'Access-Control-Request-Method: GET' \
			-H 'Access-Control-Request-Private-Network: true' "$url" &&
		header access-control-allow-origin $origin && header access-control-allow-methods 'GET, POST' &&
		header access-control-allow-private-network true &&
		answers 204 -X OPTIONS -H "Origin: $origin" http://127.0.0.1:9001/status || { kill $pid; return 1; }
	answers 200 -r 5-9 -H "Origin: $origin" "$url" && header access-control-allow-origin $origin &&
		header content-length "$(wc -c <large.ftf)" && header cache-control no-cache &&
		header accept-ranges none && cmp body.got large.ftf && ended 0
}
tap_check "each request has its answer, and a range is the whole file" each_answer
strangers() {
	show open wanted.ftf || return 1
	for host in evil.example evil.example:9001 localhost:9001 127.0.0.1 127.0.0.1:80 ''; do
		answers 403 -H "Host: $host" "$url" || answers 400 -H "Host: $host" "$url" || return 1
		! grep -qi access-control headers && ! cmp -s body.got wanted.ftf || return 1
	done
	answers 403 --http1.0 -H Host: "$url" && answers 403 -H 'Origin: https://evil.example' "$url" &&
		answers 403 -H 'Origin: null' -X OPTIONS "$url" && answers 403 -H "Origin: $origin.evil.example" "$url" &&
		! grep -qi access-control headers || return 1
	for other in 127.0.0.2 '[::1]'; do
		! get "http://$other:9001/" || { echo "$other answers"; return 1; }
	done
	fetched wanted.ftf
}
tap_check "another name, page or address of this host gets nothing" strangers
own_page() {
	show open --ui=HTTP://Perf.example:80/ui/ wanted.ftf && grep -q '^HTTP://Perf.example:80/ui/#!/?url=' address &&
		answers 403 -H "Origin: $origin" "$url" && answers 200 -H "Origin: http://perf.example" "$url" &&
		header access-control-allow-origin http://perf.example && cmp body.got wanted.ftf && ended 0
}
tap_check "with --ui that page is the one allowed" own_page
unlike() {
	show open wanted.ftf && first=$url && fetched wanted.ftf && show open wanted.ftf && fetched wanted.ftf &&
		[ "$first" != "$url" ] && echo "$url" | grep -qxE 'http://127\.0\.0\.1:9001/[0-9a-f]{32}/wanted\.ftf'
}
tap_check "the address cannot be guessed" unlike
in_the_sandbox() {
	show open -v $symfs $data && until_so has_lines 2 '^sandbox: files and system calls$' messages && fetched wanted.ftf
}
if [ "$P2F_SANITIZED" != yes ] && "$program" -q --sandbox=on $symfs --format=none $data; then
	tap_check "the conversion and the server are in a sandbox each" in_the_sandbox
else
	tap_skip "the conversion and the server are in a sandbox each" "no Landlock or no seccomp here"
fi

# ---- How long ----
# As the page does: the second request uses the first one's connection.
one_connection() {
	show open wanted.ftf && get -X POST http://127.0.0.1:9001/status --next -s --noproxy '*' -o got -w 'connections: %{num_connects}\n' "$url" >trace &&
		cmp got wanted.ftf && grep -qx 'connections: 0' trace && ended 0
}
tap_check "requests share a connection" one_connection
given_up() {
	show open large.ftf || return 1
	curl -s --noproxy '*' --limit-rate 20K -o part "$url" &
	until_so [ -s part ] && kill $! && [ "$(wc -c <part)" -lt 8000000 ] && fetched large.ftf
}
tap_check "a fetch that is given up can be repeated" given_up
# A process connects, sends nothing and closes nothing.
idle() { # COUNT COMMAND...: what gets the trace
	show open large.ftf || return 1
	rm -f connected
	python3 -c 'if True:
		import socket, sys, time
		idle = [socket.create_connection(("127.0.0.1", 9001)) for _ in range(int(sys.argv[1]))]
		open("connected", "w").write("all")
		time.sleep(600)' "$1" &
	idle=$!
	shift
	until_so [ -s connected ] && "$@" get -o got "$url" && cmp got large.ftf && kill -0 $idle && ended 0
	result=$?
	kill $idle $pid 2>/dev/null
	return $result
}
# Longer than the limit of idle connections, with a small buffer for unread data.
stalled() {
	show open large.ftf || return 1
	python3 - "$url" >got <<-'END'
	import socket, sys, time
	page = socket.socket()
	page.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
	page.connect(('127.0.0.1', 9001))
	page.sendall(b'GET /%s HTTP/1.1\r\nHost: 127.0.0.1:9001\r\n\r\n' % sys.argv[1].split('/', 3)[3].encode())
	time.sleep(8)
	answer = b''.join(iter(lambda: page.recv(65536), b''))
	sys.stdout.buffer.write(answer.split(b'\r\n\r\n', 1)[1])
	END
	cmp got large.ftf && ended 0
}
! command -v python3 >/dev/null || {
	tap_check "idle connections do not hinder the page" idle 40
	tap_check "more than the server takes do so for a short time" idle 600 until_so
	tap_check "a page that pauses gets all of it" stalled
}
slow() {
	show open large.ftf && get --limit-rate 8M -o got "$url" && cmp got large.ftf && ended 0
}
tap_check "a slow page gets all of it" slow
taken() {
	show open wanted.ftf || return 1
	first=$pid
	"$program" --open $symfs $data -o taken.ftf 2>messages >address.2
	[ $? -eq 1 ] && [ ! -s address.2 ] && ! [ -e taken.ftf ] &&
		grep -q 'cannot listen at 127.0.0.1:9001: another program listens there.*; end it' messages || return 1
	pid=$first
	fetched wanted.ftf && show open wanted.ftf && fetched wanted.ftf
}
tap_check "a port that is taken is an error before the conversion, and is free after a run" taken
if command -v python3 >/dev/null; then
	cat >driver.py <<-'END'
	import os, signal, subprocess, sys, time
	def start(*words, **more):
	    return subprocess.Popen([sys.argv[1], *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
	                            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL), **more)
	END
	while_serving() {
		python3 - "$program" <<-'END'
		import sys; sys.path.insert(0, '.')
		from driver import *
		for number in signal.SIGINT, signal.SIGTERM:
		    process = start('open', 'wanted.ftf')
		    assert process.stdout.readline().startswith(b'https://ui.perfetto.dev/#!/?url=')
		    process.send_signal(number)
		    assert process.wait() == -number, process.returncode
		END
	}
	tap_check "Ctrl-C ends it, which shells see as 130" while_serving
	while_converting() {
		"$program" -q $symfs --format=branches $data >branches
		python3 - "$program" "$@" <<-'END'
		import sys; sys.path.insert(0, '.')
		from driver import *
		process = start('open', '--input=perf-script', '-', *sys.argv[2:], stdin=subprocess.PIPE)
		process.stdin.write(open('branches', 'rb').read())
		process.stdin.flush()
		child = '/proc/%d/task/%d/children' % (process.pid, process.pid)
		for _ in range(60000): # until the conversion has read that and waits for more
		    time.sleep(0.01)
		    names = open(child).read().split()
		    if names and open('/proc/%s/stat' % names[0]).read().rsplit(')', 1)[1].split()[0] == 'S' and \
		            int(open('/proc/%s/io' % names[0]).read().split()[1]) > 1000:
		        break
		process.send_signal(signal.SIGINT)
		assert process.wait() == 130, process.returncode
		assert not process.stdout.read()
		assert b'interrupted' in process.stderr.read()
		END
	}
	tap_check "during the conversion, too: nothing is shown" while_converting
	and_keeps() {
		while_converting -o cut.ftf && "$top_builddir/ftfdump" --check cut.ftf >/dev/null
	}
	tap_check "a named output has what was converted until then" and_keeps
else
	tap_skip "Ctrl-C ends it" "no Python to start programs that SIGINT reaches"
fi

# ---- The address, and who opens it ----
decoded() { # PARAMETER
	sed "s/.*[?&]$1=\([^&]*\).*/\1/; s/%20/ /g; s/%22/\"/g; s/%24/$/g; s/%28/(/g; s/%29/)/g; s/%2A/*/g; s/%2B/+/g; s/%2C/,/g
		s/%3A/:/g; s/%3E/>/g; s/%5B/[/g; s/%5D/]/g; s/%5E/^/g; s/%7B/{/g; s/%7C/|/g; s/%7D/}/g" address
}
shown_part() {
	show open $symfs --time=20%,60% --tid=1234,7-8 $data && get -o got "$url" && ended 0 || return 1
	grep -q '&referrer=ptrace2ftf&visStart=' address || { cat address; return 1; }
	# Inside of the trace, or the page ignores it.
	"$top_builddir/ftfdump" got | sed -nE 's/^[^ ]* (begin|end|complete) [^ ]* ([0-9]+).*/\2/p' | sort -n >times
	begin=$(decoded visStart) end=$(decoded visEnd)
	[ "$begin" -ge "$(head -n 1 times)" ] && [ "$end" -le "$(tail -n 1 times)" ] && [ "$begin" -lt "$end" ] || return 1
	[ "$(decoded startupCommands)" = '[{"id":"dev.perfetto.ExpandTracksByRegex","args":[" [0-9]+$","name"]},{"id":"dev.perfetto.PinTracksByRegex","args":[" > [^>]* (1234|7|8)$","path"]}]' ] ||
		{ decoded startupCommands; return 1; }
	show open wanted.ftf && ! grep -E 'visStart|Pin' address && fetched wanted.ftf
}
tap_check "the address unfolds threads, and has the part of --time and the threads of --tid" shown_part
cat >noted <<'END'
#!/bin/sh
echo "$# $*" >>called
[ "${0##*/}" != fails ]
END
chmod +x noted
cp noted fails
mkdir bin
cp noted bin/xdg-open
by_variable() {
	rm -f called
	BROWSER='./nothing:./fails a:: ./noted  -x=%s:./noted' PATH=$work/bin:$PATH DISPLAY=:1 show open wanted.ftf &&
		until_so has_lines 2 . called && fetched wanted.ftf || return 1
	printf '2 a %s\n1 -x=%s\n' "$(cat address)" "$(cat address)" | diff - called
}
tap_check "the first command of BROWSER that succeeds gets the address" by_variable
by_desktop() {
	rm -f called
	PATH=$work/bin:$PATH DISPLAY=:1 show open wanted.ftf && until_so [ -s called ] &&
		[ "$(cat called)" = "1 $(cat address)" ] && ! grep 'open this address' messages && fetched wanted.ftf
}
tap_check "else xdg-open gets it" by_desktop
by_nobody() {
	rm -f called
	PATH=$work/bin:$PATH show open wanted.ftf && grep -q 'open this address in a browser' messages &&
		grep -q 'asks whether the page may access the local network.*allow it' messages && fetched wanted.ftf && ! [ -e called ]
}
tap_check "without a display the address is printed, and what the browser asks" by_nobody
none_starts() {
	BROWSER=./nothing:./fails show open wanted.ftf &&
		until_so grep -q 'no browser could be started' messages && fetched wanted.ftf
}
tap_check "that none can be started is said" none_starts
over_ssh() {
	rm -f called
	SSH_CONNECTION='1.2.3.4 5 6.7.8.9 22' PATH=$work/bin:$PATH DISPLAY=:1 show open wanted.ftf &&
		grep -q "ssh -N -L 9001:127.0.0.1:9001 $(uname -n)\$" messages && fetched wanted.ftf && ! [ -e called ] || return 1
	# Editors that work over ssh open the address on the user's own host.
	SSH_CONNECTION='1.2.3.4 5 6.7.8.9 22' BROWSER=./noted show open wanted.ftf && until_so [ -s called ] &&
		! grep 'ssh -N' messages && fetched wanted.ftf
}
tap_check "over ssh the port has to be forwarded, which is said" over_ssh

# ---- Without Perfetto's page ----
# In this network only the host itself can be reached.
offline() {
	rm -f called
	"$program" -q $symfs $data -o wanted.html
	BROWSER=./noted show open $symfs $data && until_so [ -s called ] && [ "$(cat called)" = "1 $(cat address)" ] || return 1
	case $url in http://127.0.0.1:9001/*/perf.html) ;; *) echo "$url"; return 1 ;; esac
	get -D headers -o got "$url" && cmp got wanted.html && grep -qi '^content-type: text/html' headers && ended 0 &&
		grep -q 'cannot reach https://ui.perfetto.dev: its name cannot be looked up; showing the page of' messages
}
tap_check "if Perfetto's page cannot be reached, an own page is shown, and that is said" offline
as_chosen() { # WHAT-IS-SERVED WORDS...
	file=$1
	shift
	BROWSER=./noted show open "$@" && [ -n "${url##*.html}" ] && fetched $file &&
		grep -q "cannot reach .*; the browser may have cached it; use" messages
}
choices_stay() {
	as_chosen wanted.ftf $symfs $data -o kept.ftf && as_chosen wanted.ftf --ui=http://127.0.0.1:9 $symfs $data &&
		grep -q 'cannot reach http://127.0.0.1:9: no connection' messages && as_chosen wanted.ftf wanted.ftf &&
		"$program" -q --counters=1us $symfs $data -o counted.ftf && as_chosen counted.ftf --counters=1us $symfs $data
}
tap_check "not instead of a named output, a named page, a trace or counters" choices_stay
who_knows() {
	https_proxy=http://proxy.example BROWSER=./noted show open $symfs $data && fetched wanted.ftf && ! grep 'cannot reach' messages &&
		SSH_CONNECTION='1.2.3.4 5 6.7.8.9 22' BROWSER=./noted show open $symfs $data && fetched wanted.ftf && ! grep 'cannot reach' messages &&
		show open $symfs $data && fetched wanted.ftf && ! grep 'cannot reach' messages
}
tap_check "nor if the browser is on another host, or uses a proxy" who_knows
own_format() {
	BROWSER=./noted show open -f html $symfs $data && fetched wanted.html && ! grep 'cannot reach' messages &&
		show open wanted.html && [ "${url##*/}" = wanted.html ] && fetched wanted.html &&
		"$program" why -q $symfs $data -o why.html && show open why.html && [ "${url##*/}" = why.html ] && fetched why.html &&
		show open $symfs $data -o kept.html && [ "${url##*/}" = kept.html ] && fetched wanted.html && cmp kept.html wanted.html &&
		wrong 'cannot show a compressed page' open $data -o kept.html.gz
}
tap_check "the own page can be asked for" own_format
quiet() {
	show open -q $symfs $data && fetched wanted.ftf && [ ! -s messages ] && [ "$(wc -l <address)" -eq 1 ]
}
tap_check "-q prints the address only" quiet
without_the_library() {
	mkdir -p broken
	: >broken/libmicrohttpd.so.12
	LD_LIBRARY_PATH=$work/broken "$program" open wanted.ftf >address 2>messages
	[ $? -eq 1 ] && [ ! -s address ] && grep -q 'cannot show a trace: .*; install Debian.s libmicrohttpd12' messages
}
tap_check "a system without the library is an error with what to install" without_the_library
tap_done
