#!/bin/sh
# SPDX-License-Identifier: MIT
# Chromium opens a page of ours, which asks for the trace as Perfetto's page does
# (ui/src/frontend/trace_url_handler.ts, ui/src/trace_processor/http_rpc_engine.ts).
if [ -z "$P2F_PRIVATE" ]; then
	export P2F_PRIVATE=yes
	exec "$top_builddir/tests/support/private-network" sh "$0"
fi
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
for tool in chromium python3; do
	command -v $tool >/dev/null || tap_skip_all "no $tool"
done
work=$(mktemp -d)
trap 'kill $page 2>/dev/null; rm -rf "$work"' EXIT
"$top_builddir/tests/support/make-sample" "$work"
cd "$work" || exit 1
timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
	--dump-dom 'data:text/html,works' 2>/dev/null | grep -q works || tap_skip_all "chromium does not run here"
"$program" open nothing 2>&1 | grep -q 'this build has no server' && tap_skip_all "this build has no server"

cat >page.py <<'END'
import http.server, os, threading
PAGE = b"""<!doctype html><script>
const ask = async () => {
  try {
    return '' + (await fetch('http://127.0.0.1:9001/status', {method: 'post', cache: 'no-cache'})).status;
  } catch (error) {
    return 'nobody';
  }
};
(async () => {
  let text = '';
  try {
    const args = new URLSearchParams(location.hash.slice(location.hash.indexOf('?') + 1));
    const before = await ask(), answer = await fetch(args.get('url'));
    const bytes = new Uint8Array(await (await answer.blob()).arrayBuffer());
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
    text = [before, answer.status, args.get('referrer'), JSON.parse(args.get('startupCommands')).length,
      Array.from(digest, byte => byte.toString(16).padStart(2, '0')).join(''), await ask()].join(' ');
  } catch (error) {
    text = '' + error;
  }
  await fetch('/result', {method: 'post', body: text});
})();
</script>"""
class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write(PAGE)
    def do_POST(self):
        with open('result.part', 'wb') as out:
            out.write(self.rfile.read(int(self.headers['Content-Length'])))
        os.rename('result.part', 'result')
        self.send_response(200)
        self.end_headers()
    def log_message(self, *words):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.1', 8123), Page)
open('ready', 'w').close()
server.serve_forever()
END
python3 page.py &
page=$!
there() { # FILE: waits for it
	tries=0
	until [ -e "$1" ] || [ $tries -ge 1200 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	[ -e "$1" ]
}
cat >browser <<END
#!/bin/sh
chromium --headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking \\
	--disable-dev-shm-usage --user-data-dir="$work/profile" "\$1" >chromium.log 2>&1 &
echo \$! >browser.pid
END
chmod +x browser
in_chromium() { # WANTED-PATTERN UI: sets pid, of the program
	rm -rf result profile
	BROWSER=./browser "$program" open --ui="$2" --symfs=. perf.data 2>messages >address &
	pid=$!
	there result
	kill "$(cat browser.pid)"
	tries=0
	while kill -0 "$(cat browser.pid)" 2>/dev/null && [ $tries -lt 100 ]; do
		sleep 0.1
		tries=$((tries + 1))
	done
	grep -qxE "$1" result && return 0
	kill $pid 2>/dev/null
	cat messages result chromium.log
	return 1
}
there ready || tap_skip_all "port 8123 of an own network is taken"
"$program" -q --symfs=. perf.data -o wanted.ftf
sum=$(sha256sum wanted.ftf | cut -d' ' -f1)
gets_it() {
	in_chromium "404 200 ptrace2ftf 1 $sum (404|nobody)" http://127.0.0.1:8123 && wait $pid
}
tap_check "the page gets the whole trace, and the server ends" gets_it
refused_to_others() {
	# Its origin is http://127.0.0.1:8123, the one allowed another.
	sed -i 's/"\$1"/"$(echo "$1" | sed s,localhost,127.0.0.1,)"/' browser
	in_chromium '.*Failed to fetch.*' http://localhost:8123 && kill $pid
}
tap_check "a page that is not the one allowed does not" refused_to_others
tap_done
