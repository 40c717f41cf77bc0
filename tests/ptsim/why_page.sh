#!/bin/sh
# SPDX-License-Identifier: MIT
# ptrace2ftf why -o FILE.html: a valid page without scripts and network, whose charts a browser draws.
. "$top_srcdir/tests/support/tap.sh"
command -v python3 >/dev/null || tap_skip_all "no python3"
ptsim=$top_builddir/tests/ptsim/ptsim
program=$top_builddir/ptrace2ftf
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ptsim" record --cyc --interrupts=0 --cpus=2 -o "$work/perf.data" -- "$top_builddir/tests/programs/static/causes" callee 1 \
	>/dev/null 2>"$work/messages" || tap_skip_all "programs cannot be traced here: $(cat "$work/messages")"
"$program" why -q --symbol=request --slow=p99 -o "$work/page.html" "$work/perf.data"
"$program" why -q --symbol=request --slow=p99 "$work/perf.data" >"$work/text"
"$program" why -q --symbol=request --slow=p99 --json "$work/perf.data" >"$work/json"

# Elements are closed in order, and nothing is fetched or run.
is_valid() { # PAGE
	python3 - "$1" <<-'END'
		import html.parser, sys
		class Page(html.parser.HTMLParser):
		    open, ids, links, seen = [], [], [], set()
		    def handle_starttag(self, tag, attributes):
		        self.seen.add(tag)
		        names = [name for name, value in attributes]
		        assert len(set(names)) == len(names), (tag, attributes)
		        assert not set(names) & {"src", "onload", "onclick", "onerror"}, (tag, attributes)
		        self.ids += [value for name, value in attributes if name == "id"]
		        self.links += [value for name, value in attributes if name == "href"]
		        if tag not in ("meta", "br"):
		            self.open.append(tag)
		    def handle_startendtag(self, tag, attributes):
		        self.handle_starttag(tag, attributes)
		        self.open.pop()
		    def handle_endtag(self, tag):
		        assert self.open and self.open.pop() == tag, (tag, self.getpos())
		text = open(sys.argv[1], encoding="utf-8").read()
		page = Page(convert_charrefs=True)
		page.feed(text)
		page.close()
		assert not page.open and text.startswith("<!DOCTYPE html>\n"), page.open
		assert page.seen <= {"html", "head", "meta", "style", "title", "body", "h1", "h2", "h3", "p", "b", "ul", "li", "table", "tr",
		    "th", "td", "span", "svg", "g", "rect", "line", "text", "pre", "mark", "a", "br", "code", "ol"}, page.seen
		assert len(set(page.ids)) == len(page.ids) and set(page.links) <= {"#" + name for name in page.ids}, (page.ids, page.links)
		assert "http" not in text.replace("http-equiv", "") and "url(" not in text and len(text) < 2000000
	END
}
tap_check "the page is valid and needs no network" is_valid "$work/page.html"

has_the_answer() {
	python3 - "$work/page.html" "$work/text" "$work/json" <<-'END'
		import html, json, os, re, sys
		page, text = open(sys.argv[1]).read(), open(sys.argv[2]).read()
		cluster = json.load(open(sys.argv[3]))["functions"][0]["clusters"]
		plain = html.unescape(re.sub("<[^>]*>", "", page))
		assert text in plain and cluster[0]["words"] in plain and cluster[1]["words"] in plain
		# The verdict: what all clusters take more.
		extra = sum(c["calls"] * c["extra"] for c in cluster)
		said = re.search("%d of 1000 calls of <b>request</b> took ([0-9.]*)us more" % sum(c["calls"] for c in cluster), page)
		assert said and abs(float(said[1]) * 1000 - extra) < 1, (said, extra)
		# All calls are in a bar, and the slow ones in the colours of their clusters.
		bars = re.findall(r"<title>calls from [0-9.a-z]+ to below [0-9.a-z]+: (\d+)<", page)
		assert sum(map(int, bars)) == 1000, bars
		# The slowest call is as wide as the chart, and its extra is red.
		slow = page[page.index('class="icicle"'):]
		width = lambda name: float(re.search(name + r'" x="[0-9.]*" y="0" width="([0-9.]*)"', slow)[1])
		assert abs(width("usual") - 960) < 1 and abs(width("extra") - 960 * cluster[0]["extra"] / cluster[0]["slowest"]["duration_ns"]) < 2, slow[:400]
		if os.path.exists(cluster[0]["file"]):
		    line = open(cluster[0]["file"]).read().split("\n")[cluster[0]["line"] - 1]
		    assert html.escape(line, False) in re.search("<mark>.*</mark>", page)[0]
	END
}
tap_check "the page has the answer" has_the_answer

# Each panel has the command that shows its data; an inlined function has its code in another one.
commands_run() {
	"$ptsim" record --cyc --interrupts=0 --cpus=1 --seed=3 -o "$work/chain.data" -- "$top_builddir/tests/programs/static/hidden" chain 3 \
		>/dev/null 2>&1 && "$program" why -q --symbol=serve -o "$work/chain.html" "$work/chain.data" || return 1
	cat "$work/page.html" "$work/chain.html" | sed -n 's/ -o slow\// -o '"$(echo "$work/slow/" | sed 's,/,\\/,g')"'/
		s,^<p><code>\(ptrace2ftf .*\)</code></p>$,\1,p; s,^<li>\(ptrace2ftf .*annotate.*\)</li>$,\1,p' >"$work/commands"
	grep -q 'annotate find_key ' "$work/commands" || { cat "$work/commands"; return 1; }
	[ "$(wc -l <"$work/commands")" -ge 6 ] || { cat "$work/commands"; return 1; }
	while read -r command; do
		eval "$program ${command#ptrace2ftf } -q" >"$work/out" 2>"$work/messages" </dev/null && [ -s "$work/out" ] ||
			{ echo "$command"; cat "$work/messages"; return 1; }
	done <"$work/commands"
}
tap_check "the commands of the panels run" commands_run

# The extra time is that of more rounds of a loop, whose lines have it.
lines_have_costs() {
	"${CC:-cc}" -g -O1 -pthread -o "$work/causes" "$top_srcdir/tests/programs/causes.c" &&
		"$ptsim" record --cyc --interrupts=0 -o "$work/loop.data" -- "$work/causes" loop 1 >/dev/null 2>&1 &&
		"$program" why -q --symbol=request -o "$work/loop.html" "$work/loop.data" &&
		is_valid "$work/loop.html" || return 1
	python3 - "$work/loop.html" "$top_srcdir/tests/programs/causes.c" <<-'END'
		import html, re, sys
		page, source = open(sys.argv[1]).read(), open(sys.argv[2]).read().split("\n")
		excerpt = re.search('<pre class="source">(.*?)</pre>', page, re.S)[1]
		cost, first = {}, next(i for i, line in enumerate(source, 1) if "i < rounds" in line)
		for line in html.unescape(re.sub("<[^>]*>", "", excerpt)).splitlines():
		    extra, number, text = re.match(r" *(?:([0-9.]+)us|[0-9]+ns)? +(\d+)  (.*)", line).groups()
		    assert text == source[int(number) - 1], line
		    if extra:
		        cost[int(number)] = float(extra)
		extra = float(re.search(r"<td>([0-9.]+)us</td><td><b>", page)[1])
		assert cost and set(cost) <= {first, first + 1} and abs(sum(cost.values()) - extra) < extra / 20, (cost, extra)
	END
}
if command -v "${CC:-cc}" >/dev/null; then
	tap_check "lines of the source have their extra time" lines_have_costs
else
	tap_skip "lines of the source have their extra time" "no compiler"
fi

# The wait leads to the thread that held the lock, from the sentence and from the chart.
wait_is_linked() {
	"$ptsim" record --cyc --interrupts=0 --cpus=1 --seed=3 -o "$work/lock.data" -- "$top_builddir/tests/programs/static/hidden" hold 3 \
		>/dev/null 2>&1 && "$program" why -q --symbol=serve -o "$work/lock.html" "$work/lock.data" &&
		is_valid "$work/lock.html" || return 1
	python3 - "$work/lock.html" "$work/lock.data" <<-'END'
		import re, sys
		page = open(sys.argv[1]).read()
		panel = re.search('<h3 id="([^"]*)">likely waited for a lock of hidden/1002: [^<]*</h3>(.*?)</ol>', page, re.S)
		calls = re.findall("<li>([a-z_]*), ", panel[2])
		assert calls == ["dump_stats", "format_stats", "work"], calls
		links = re.findall('<a href="#%s">(.*?)</a>' % panel[1], page)
		assert links[0].startswith("likely waited for a lock of hidden/1002: ") and "<title>[syscall: futex]" in links[1] and len(links) == 2, links
	END
}
tap_check "a wait leads to what the other thread did" wait_is_linked

# A name may be anything.
hostile() {
	awk 'function branch(ns, kind, from, to) {
			time += ns
			printf "p 1/1 %.9f: %s %s => %s\n", 1 + time / 1e9, kind, from, to
		}
		BEGIN {
			for (i = 0; i < 200; i++) {
				branch(100, "call", "1010 main+0x10", "2000 <script>alert(1)</script>\"&+0x0")
				branch(i == 150 ? 100000 : 100, "call", "2010 <script>alert(1)</script>\"&+0x10", "3000 \047</title><b\377>+0x0")
				branch(100, "return", "3010 \047</title><b\377>+0x10", "2012 <script>alert(1)</script>\"&+0x12")
				branch(10, "return", "2030 <script>alert(1)</script>\"&+0x30", "1012 main+0x12")
			}
		}' >"$work/<b>text&"
	"$program" why -q --input=perf-script -o "$work/hostile.html" "$work/<b>text&" && is_valid "$work/hostile.html" &&
		grep -q '&lt;script&gt;alert(1)&lt;/script&gt;&quot;&amp;' "$work/hostile.html" || { head -c 600 "$work/hostile.html"; return 1; }
}
tap_check "names are escaped" hostile

# The line of the bound is in the chart, whatever --slow is.
bound_is_drawn() {
	for slow in 1ns 1s; do
		"$program" why -q --symbol=request --slow=$slow -o "$work/bound.html" "$work/perf.data" &&
			sed -n 's/.*class="bound" x1="\([0-9.]*\)".*/\1/p' "$work/bound.html" | awk '{ n++; exit !($1 <= 960) } END { exit !n }' || return 1
	done
}
tap_check "the bound is drawn within the chart" bound_is_drawn

refused() {
	"$program" why -o "$work/x.html" --json "$work/perf.data" 2>"$work/messages"
	[ $? = 64 ] && grep -q 'a page has no JSON' "$work/messages" && ! [ -e "$work/x.html" ]
}
tap_check "a page has no JSON" refused
merged() {
	cp "$work/perf.data" "$work/a&b.data"
	"$program" why -q -o "$work/merged.html" "$work/perf.data" "$work/a&b.data" 2>"$work/messages" &&
		grep -q '^<!DOCTYPE html>' "$work/merged.html" && grep -q '^2 recordings' "$work/merged.html" && grep -q '^</html>' "$work/merged.html" &&
		grep -q 'request: ' "$work/merged.html" && ! grep -q 'a&b' "$work/merged.html"
}
tap_check "several recordings have the merged answer as a page" merged

# ---- In a browser ----
browse() { # PAGE OPTION...
	timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1000,2600 --force-device-scale-factor=1 "$2" "$1" 2>"$work/messages"
}
browse 'data:text/html,works' --dump-dom | grep -q works || {
	tap_skip "a browser draws the charts" "no chromium that runs here"
	tap_done
}
# Pixels in the colours of the page: of clusters, calls and their extra.
drawn() {
	browse "file://$work/page.html" --screenshot="$work/page.png"
	[ -s "$work/page.png" ] || { cat "$work/messages"; return 1; }
	python3 - "$work/page.png" <<-'END'
		import collections, struct, sys, zlib
		data, at, bits = open(sys.argv[1], "rb").read(), 8, b""
		while at < len(data):
		    size, kind = struct.unpack(">I4s", data[at:at + 8])
		    if kind == b"IHDR":
		        width, height, depth, color = struct.unpack(">IIBB", data[at + 8:at + 18])
		    if kind == b"IDAT":
		        bits += data[at + 8:at + 8 + size]
		    at += size + 12
		bits, step, before, count = zlib.decompress(bits), 4 if color == 6 else 3, None, collections.Counter()
		stride = width * step
		before = bytearray(stride)
		for y in range(height):
		    kind, row = bits[y * (stride + 1)], bytearray(bits[y * (stride + 1) + 1:(y + 1) * (stride + 1)])
		    for i in range(stride):
		        a, b, c = row[i - step] if i >= step else 0, before[i], before[i - step] if i >= step else 0
		        p = a + b - c
		        paeth = a if abs(p - a) <= abs(p - b) and abs(p - a) <= abs(p - c) else b if abs(p - b) <= abs(p - c) else c
		        row[i] = row[i] + (0, a, b, (a + b) // 2, paeth)[kind] & 255
		    count.update(bytes(row[i:i + 3]) for i in range(0, stride, step))
		    before = row
		# A bar and a key of each cluster, and the red of three calls of 14us.
		assert count[b"\xdd\x33\x33"] > 300 and count[b"\x22\x77\xcc"] > 800, count.most_common(8)
		assert sum(n for (r, g, b), n in count.items() if r > 200 and 60 < g < 110 and 60 < b < 110) > 20000, count.most_common(8)
	END
}
tap_check "a browser draws the charts" drawn
tap_done
