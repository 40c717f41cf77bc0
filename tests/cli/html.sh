#!/bin/sh
# SPDX-License-Identifier: MIT
# --format=html: the page has the data of other formats, a name may have any bytes, and a browser
# shows the page without a network.
. "$top_srcdir/tests/support/tap.sh"
program=$top_builddir/ptrace2ftf
ftfdump=$top_builddir/ftfdump
ptsim=$top_builddir/tests/ptsim/ptsim
programs=$top_builddir/tests/programs/static
command -v python3 >/dev/null || tap_skip_all "no python3"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$top_srcdir/tests/cli/html_page.py" "$work"
cd "$work" || exit 1

"$ptsim" record --cyc --cpus=2 --seed=3 -o threads -- "$programs/threads" >/dev/null 2>messages ||
	tap_skip_all "programs cannot be traced here: $(cat messages)"
# Linkage names: as tables, pages distinguish clones (f.part.0), and slices of other formats do not.
"$program" -q --demangle=none -o threads.html threads
held() { # WHAT [PAGE [FILE]]
	python3 html_page.py "$1" "${2:-threads.html}" ${3+"$3"}
}

same_slices() {
	"$program" -q --demangle=none --format=slices --args=none threads | sort >wanted
	held slices | sort | diff wanted - && [ "$(wc -l <wanted)" -gt 1000 ]
}
tap_check "the slices are those of --format=slices" same_slices
same_costs() {
	"$program" -q --demangle=none -f chrome --args=full -o threads.json threads
	python3 - <<'END' | sort >wanted
import json
trace = json.load(open("threads.json"))
first = int(trace["otherData"]["first_ns"])
for event in trace["traceEvents"]:
    if event["ph"] == "X":
        args = event["args"]
        begin = first + int(event["ts"] * 1000)
        line = "%s:%d" % (args["file"], args["line"]) if "line" in args else "-"
        print(event["name"], begin, begin + int(event["dur"] * 1000), args.get("insns", 0), args.get("cycles", 0),
              args.get("folded", 0), line)
END
	held costs | sort | diff wanted - && grep -q ' [1-9][0-9]* [1-9][0-9]* 0 .*threads.c:[1-9]' wanted
}
# A lane for each CPU, with a slice for each time on it.
same_switches() {
	python3 - <<'END' | sort >wanted
import json
trace = json.load(open("threads.json"))
first = int(trace["otherData"]["first_ns"])
begun = {}
for e in trace["traceEvents"]:
    if e["ph"] == "B" and e["cat"] == "sched":
        begun[e["tid"]] = e
    elif e["ph"] == "E" and e["tid"] in begun:
        begin = begun.pop(e["tid"])
        print(first + round(begin["ts"] * 1000), first + round(e["ts"] * 1000), begin["name"])
END
	held events | cut -d' ' -f3-5 | sort | diff wanted - && [ "$(wc -l <wanted)" -gt 5 ]
}
tap_check "instructions, cycles and lines are those of --format=chrome" same_costs
same_stacks() {
	"$program" -q --demangle=none -f folded threads >wanted && held folded threads.html wanted
}
tap_check "switches are slices of CPUs, as in --format=chrome" same_switches
tap_check "the flame graph is that of --format=folded" same_stacks
same_functions() {
	"$program" -q --demangle=none -f functions --json=answer.json threads >table
	python3 -c 'import json, sys
json.dump(json.load(open("answer.json"))["answer"]["functions"], sys.stdout, indent=1, sort_keys=True)' >wanted
	held functions >ours && diff wanted ours && [ -s wanted ] || return 1
	# Without scripts, the page shows the first rows of the table.
	held pre >ours && head -n 20 table >wanted && head -n 20 ours | diff wanted -
}
tap_check "the functions are those of --format=functions" same_functions
selected() {
	"$program" -q --symbol='work*' --min-duration=100ns -o part.html threads
	"$program" -q --symbol='work*' --min-duration=100ns -f slices --args=none threads | sort >wanted
	held slices part.html | sort | diff wanted - && [ -s wanted ]
}
tap_check "a selection applies" selected

# The slices of an FTF are folded by other code.
fits() {
	for most in 1000 300 20; do
		"$program" -q --fit=$most -o fit.html --json=fit.json threads
		# CPUs have slices instead of records of switches.
		cpus=$(held events fit.html | wc -l)
		"$program" -q --fit=$((most - cpus)) -o fit.ftf threads
		"$ftfdump" --slices fit.ftf | awk '{ print $1, $2, $3, $4 }' | sort >wanted
		held slices fit.html | awk '{ print $1, $2, $3, $4 }' | sort >ours
		[ $cpus -gt 2 ] && [ "$(wc -l <ours)" -le $((most - cpus)) ] && diff wanted ours || { echo "--fit=$most"; return 1; }
		all=$(held costs fit.html | awk '{ sum += 1 + $(NF - 1) } END { print sum }')
		[ "$all" -eq "$(held slices | wc -l)" ] || { echo "$all slices"; return 1; }
		grep -q "\"slices\": $(wc -l <ours)," fit.json || { grep '"slices' fit.json; return 1; }
	done
}
tap_check "--fit leaves the slices that an FTF has, and all are counted" fits
limited() {
	"$program" -q --max-output=50k -o cut.html threads 2>messages
	[ $? -eq 2 ] && held slices cut.html >ours && [ -s ours ] && [ "$(wc -l <ours)" -lt "$(held slices | wc -l)" ] || return 1
	# Open slices end where the page does.
	awk '{ if ($4 > last[$1]) last[$1] = $4; if ($2 == 0) outer[$1] = $4 } END { for (thread in last) bad += outer[thread] != last[thread]; exit bad > 0 }' ours
}
tap_check "at the limit of the output slices are left out, and the page is whole" limited

# ---- Events beside the calls ----
for i in $(seq 40); do
	printf '0 %d begin 11 0\n0 %d begin 4 0\n0 %d end 4 0\n' ${i}0000 ${i}0100 ${i}0500
	printf '0 %d counter %d %d\n0 %d end 11 0\n0 %d user 3 %d\n' ${i}0800 $((i % 7)) $((i * i)) ${i}0900 ${i}0960 $i
done | "$top_builddir/tests/support/make-ring" 1 65536 4711.events
beside="--runtime-events=4711.events,pid=4711,ocaml=5.3 --clock-sync=mono=0"
# Perfetto has an FTF's; instants are marks.
same_events() {
	"$program" -q $beside "$@" -o beside.ftf 2>>messages
	"$program" -q $beside "$@" -o beside.html 2>messages
	[ $? -eq $status ] || { cat messages; return 1; }
	held events beside.html | sed -n 's#^4711/[0-9]* ##p' | sort >ours && "$ftfdump" --slices beside.ftf | sed -n 's#^4711/[0-9]* ##p' | sort | diff - ours && [ "$(wc -l <ours)" -gt 70 ] || return 1
	held counters beside.html | sort >ours && "$ftfdump" beside.ftf |
		sed -n 's/.* counter \([0-9]*\)\/[0-9]* \([0-9]*\) "\([^"]*\)" .*id [0-9]* /\2 \1 \3 /p' | sort | diff - ours && [ "$(wc -l <ours)" -ge 40 ] &&
		[ "$(held marks beside.html)" -eq "$("$ftfdump" beside.ftf | grep -c ' instant ')" ]
}
status=0
tap_check "overlays alone: slices, arguments, counters and instants are those of an FTF" same_events
status=2 # 4711 is not in the recording
tap_check "beside a recording, too" same_events threads

# ---- Names of any bytes ----
"$ptsim" record --seed=3 -o recursion -- "$programs/recursion" >/dev/null 2>&1
hostile() {
	"$program" -q -f branches recursion >branches
	name='<\/script><script>document.title=1<\/script><!--"'"'"'\\\\\&amp;'
	LC_ALL=C sed "s/fibonacci/$name$(printf '\001\377\342\200\250')/g" branches >'<b>&"x'
	"$program" -q --input=perf-script -o evil.html '<b>&"x' && "$program" -q --input=perf-script -o good.html branches &&
		held texts evil.html >ours || return 1
	grep -qF '</script><script>document.title=1</script><!--"' ours && grep -qF '\x01\ufffd\ufffd' ours || { cat ours; return 1; }
	# The name adds no tag, and a parser finds no tag in the data.
	held tags good.html >wanted && held tags evil.html | diff wanted - || return 1
	held title evil.html | grep -qxF '<b>&"x' && ! LC_ALL=C grep -q "$(printf '\001')" evil.html
}
tap_check "a name is text, whatever it holds" hostile
empty() {
	"$program" -q --symbol=nothing_has_this_name -o empty.html threads 2>messages
	[ -s empty.html ] && [ -z "$(held slices empty.html)" ]
}
tap_check "a page without slices is one" empty
no_network() {
	# Data in base64 may have any letters after a slash.
	! sed 's|[A-Za-z0-9+/]\{60,\}=*||g' threads.html | grep -nE "https?:|//[a-z]|@import|url\(" && grep -q "default-src 'none'" threads.html
}
tap_check "a page names nothing of the network, and forbids it" no_network

# ---- In a browser ----
command -v chromium >/dev/null || {
	tap_skip "a browser shows it" "no chromium"
	tap_done
}
dom() { # PAGE
	timeout 300 chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
		--window-size=1200,800 --dump-dom "$1" 2>/dev/null
}
dom 'data:text/html,works' | grep -q works || {
	tap_skip "a browser shows it" "chromium does not run here"
	tap_done
}
# Adds a script at the end of the page; prints what it puts into `out`.
runs() { # SCRIPT [PAGE [TAB]]
	{
		sed '/^<\/body>/,$d' "${2:-threads.html}"
		printf '%s\n' "<script>const out = []; try { $1 } catch (error) { out.push(error); }
			document.body.innerHTML = '<pre id=out></pre>'; element('out').textContent = out.join('\\n');</script></body></html>"
	} >run.html
	dom "file://$work/run.html${3-}" | awk 'sub(/.*<pre id="out">/, "") { on = 1 }
		on { last = sub(/<\/pre>.*/, ""); print; if (last) exit }'
}
# A browser takes a second to start: the scripts of three tests run in one page, and print
# lines 1, 2 to 4, and 5 to 7.
runs 'let n = 0, roots = 0; for (const lane of charts.calls.lanes) { n += lane.end.length; roots += lane.rows.length && lane.rows[0].length; } out.push(n + " " + roots);
	'"$(cat <<'END'
for (const lane of charts.calls.lanes) lane.end.forEach((_, box) => { let inside = 0;
			const row = lane.rows[lane.depth[box] + 1] || [];
			for (let at = firstAfter(lane, row, lane.begin[box], 0); at < row.length && lane.end[row[at]] <= lane.end[box]; at++)
				if (lane.begin[row[at]] >= lane.begin[box]) inside += lane.end[row[at]] - lane.begin[row[at]];
			if (lane.self[box] !== lane.end[box] - lane.begin[box] - inside) out.push(lane.title, box, lane.self[box], inside); });
		const stacks = charts.stacks.lanes[0]; let all = 0; for (const self of stacks.self) all += self;
		out.push(all === charts.stacks.total, Math.min(...stacks.self) >= 0, / self /.test(charts.stacks.describe(stacks, 1)));
	let wrong = 0, seen = 0; drawAxis = () => {}; for (const lane of chart.lanes) for (let box = 7; box < lane.end.length; box += 31) {
		if (lane.end[box] - lane.begin[box] < 20) continue;
		reveal(lane, box); chart.chosen = null; draw();
		const x = ((lane.begin[box] + lane.end[box]) / 2 - chart.begin) * scale(); let y = 0;
		eachLane((one, top) => { if (one === lane) y = top + headOf(lane) + lane.depth[box] * ROW + 1; });
		const found = find(x, y), pixel = new Uint32Array(context.getImageData(x, y, 1, 1).data.buffer)[0];
		seen++; if (found.box !== box) wrong++; if (pixel !== palette.pixels[hues[lane.text[box]]]) wrong++; }
		show(0, chart.total); draw(); out.push(seen > 20, wrong, find(600, 700).lane === undefined);
END
)" >printed
browsed() {
	{ held slices; held events; } | awk '{ n++; if ($2 == 0) roots++ } END { print n, roots }' >wanted
	head -n 1 printed | diff wanted -
}
tap_check "a browser reads all slices" browsed
# The self time of a slice, and of a stack, is without the slices that are one deeper and in it.
self_times() {
	printf 'true\ntrue\ntrue\n' >wanted && sed -n 2,4p printed | diff wanted -
}
tap_check "a tooltip has the time of a call without its callees" self_times
# At a slice the page has the slice's colour, and the pointer finds the slice.
drawn() {
	printf 'true\n0\ntrue\n' >wanted && sed 1,4d printed | diff wanted -
}
tap_check "a slice is drawn and found where it belongs, at any zoom" drawn
seen_first() {
	held slices beside.html | awk 'NR == 1 || $3 < begin { begin = $3 } $4 > end { end = $4 } END { print begin, end }' >wanted
	runs 'out.push([chart.begin, chart.end].map((time) => time + Number(data.origin)).join(" "), chart.total > 2 * (chart.end - chart.begin));' beside.html >got
	echo true | cat wanted - | diff - got
}
tap_check "the calls are seen first, where events are of other times" seen_first
# Threads of one name have ids, CPUs have no process; the ids are those of the recording.
named() {
	"$program" -q --counters=100us threads -o counters.html
	runs 'out.push(...chart.lanes.filter((one) => one.values).map((one) => one.title.replace(/, .*/, "")));' counters.html >ours
	"$program" -q -f slices threads | sed 's/ .*//' | sort -u >ids
	sed -n 's/.* \([0-9]*\): insns.s (threads \([0-9]*\))$/\2\/\1/p' ours | sort | diff ids - &&
		grep -qx 'CPU 0: ipc' ours && grep -qx 'CPU 1: ipc' ours && [ "$(sort ours | uniq -d | wc -l)" -eq 0 ]
}
tap_check "each counter has the name of its thread or CPU" named
# A counter is as high as its largest value in a pixel; its tooltip has the last one.
counted() {
	"$program" -q $beside -o beside.html; held counters beside.html >ours &&
		runs 'const lane = chart.lanes.find((one) => one.values); lane.open = true; drawAxis = () => {}; draw(); let y = 0; eachLane((one, top) => { if (one === lane) y = top + HEAD; });
		const grey = palette.pixels[OTHER]; let wrong = 0;
		for (let x = 0; x < canvas.clientWidth; x++) {
			const column = new Uint32Array(context.getImageData(x, y, 1, COUNTER_ROWS * ROW).data.buffer);
			const found = find(x, y + 1).value, value = found < 0 ? 0 : lane.values[found];
			if (Math.abs(column.filter((pixel) => pixel === grey).length - value / lane.most * COUNTER_ROWS * ROW) > 1.5) wrong++; }
		out.push(lane.name.replace(/ domain.*:/, ":"), lane.values.length, lane.most, wrong < 12);' beside.html >got
	name=$(awk 'NR == 1 { sub(/=.*/, "", $4); print $3 ": " $4 }' ours)
	awk -v name="$name" '{ split($4, v, "="); if ($3 ": " v[1] == name) { n++; if (v[2] > most) most = v[2] } } END { print name; print n; print most; print "true" }' ours | diff - got
}
tap_check "a counter is drawn" counted
searched() {
	runs 'element("query").value = "/^work$/"; search(); out.push(element("found").textContent);
		const names = []; for (let i = 0; i < 3; i++) { step(1); const { lane, box } = chart.chosen; names.push(lane.begin[box] + Number(data.origin)); }
		step(-1); out.push(...names, chart.chosen.lane.begin[chart.chosen.box] + Number(data.origin));
		out.push(element("details").textContent);' >ours
	awk '$5 == "work"' threads.slices | sort -n -k 3 >found
	{ echo "$(wc -l <found) found"; awk 'NR < 4 { print $3 } NR == 2 { second = $3 } END { print second }' found; } >wanted
	head -n 5 ours | tr -d , | diff wanted - && sed -n 6p ours | grep -q '^work' && sed -n 7,8p ours | grep -q '[0-9] instructions'
}
"$program" -q --format=slices --args=none threads >threads.slices
tap_check "a search counts, and steps in order of time" searched
# Ticks that are nanoseconds apart differ; the label at the edge is where they count from.
ruled() {
	runs 'draw(); const drawn = []; context.fillText = (text) => drawn.push(text); show(58201, 58241); drawAxis(99); out.push(...drawn);
		drawn.length = 0; show(0, 40); drawAxis(99); out.push(drawn[0]);' >ours
	printf '%s\n' +205ns +210ns +215ns +220ns +225ns +230ns +235ns +240ns 58.000us 0ns | diff - ours
}
tap_check "the ruler's digits are those of its ticks" ruled
# `fib` is in other names, too; a row of the table selects its function only.
exact() {
	awk '{ n[$5]++ } END { for (name in n) print n[name], name }' threads.slices | sort -n >names
	runs 'const click = (name) => [...document.querySelectorAll("td button")].find((one) => one.textContent === name).click();
		click("main"); out.push(element("found").textContent, texts[chart.chosen.lane.text[chart.chosen.box]]);
		element("query").value = "main"; search(); out.push(element("found").textContent); chart.chosen = null;
		step(1); out.push(texts[chart.chosen.lane.text[chart.chosen.box]]); step(1); out.push(element("found").textContent);' >ours
	all=$(awk '/main/ { sum += $1 } END { print sum }' names)
	[ "$all" -gt 1 ] && printf '%s\n' '1 of 1 found' main "$all found" main "2 of $all found" | diff - ours
}
tap_check "a row selects its function, and whole names are found first" exact
# The share of a thread's whole stack, and of a function that calls itself, counted once.
shared() {
	runs 'element("query").value = "/^main$/"; search(); out.push(element("found").textContent);' threads.html '#stacks' >ours
	awk '{ cost = $NF; sub(/ [0-9]+$/, ""); all += cost; if (";" $0 ";" ~ /;main;/) part += cost }
		END { printf ", %.1f%% of all\n", 100 * part / all }' threads.folded >wanted
	grep -qF "$(cat wanted)" ours || { cat ours wanted; return 1; }
}
"$program" -q -f folded threads >threads.folded
tap_check "the flame graph has the share of what is found" shared
# A link to a call, a measured time, and two fingers.
handled() {
	runs 'out.push(chart.chosen.box, location.hash); show(0, 1200 * 10); const at = (id, x, more) => ({ pointerId: id, offsetX: x, offsetY: 300, clientX: x, clientY: 300, ...more });
		canvas.setPointerCapture = () => {}; const ends = [100, 250].map((x) => x / scale());
		canvas.onpointerdown(at(1, 100, { shiftKey: true })); canvas.onpointermove(at(1, 250)); canvas.onpointerup(at(1, 250));
		out.push(measured.every((end, i) => Math.abs(end - ends[i]) < 1e-6));
		const before = chart.end - chart.begin;
		canvas.onpointerdown(at(1, 100)); canvas.onpointerdown(at(2, 200)); canvas.onpointermove(at(2, 300));
		out.push(((chart.end - chart.begin) / before).toFixed(3), measured);' threads.html '#calls=1.20' >ours
	printf '20\n#calls=1.20\ntrue\n0.500\n\n' | diff - ours
}
tap_check "a link chooses a call, a time is measured, and two fingers zoom" handled
# The clock is exact to 1 ns, also beyond the integers that JavaScript's numbers hold.
tabled() {
	runs 'data.origin = "18014398509481985"; out.push(clock(2)); const rows = [...document.querySelectorAll("tbody tr")];
		out.push(...rows.map((row) => row.lastChild.textContent + " " + row.firstChild.textContent.replace(/,/g, "")));' threads.html '#functions' >ours
	{ echo '18014398.509481987 s'; awk 'NR > 1 { name = $0; sub(/^ *[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+ +[^ ]+  /, "", name); print name, $1 }' table | grep -v '^times'; } >wanted
	head -n 10 ours >first && head -n 10 wanted | diff - first && [ "$(wc -l <ours)" -ge 20 ]
}
tap_check "the table has the rows of --format=functions in their order" tabled
harmless() {
	runs 'element("query").value = "script"; search(); step(1); out.push(document.title, element("details").textContent, document.scripts.length);' evil.html >ours
	sed -n 1p ours | grep -qF '&lt;b&gt;&amp;"x' && grep -qF '&lt;/script&gt;&lt;script&gt;document.title=1&lt;/script&gt;&lt;!--"' ours && [ "$(tail -n 1 ours)" = 3 ]
}
tap_check "a hostile name is shown, and does nothing" harmless
tap_done
