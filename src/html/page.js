// SPDX-License-Identifier: MIT
/*
 * Shows the data of the page, which src/html/format_html.c documents, in a canvas and a table.
 * Nothing is counted here: numbers are those of the data.
 *
 * The canvas shows a chart.  A chart has lanes, a lane has a row for each depth, and a row has
 * boxes in order.  A box is an index into the arrays of its lane: `begin`, `end`, `text`, `depth`.
 * Calls have a lane for each thread, in ns; stacks are one lane, in ns or instructions.
 */
"use strict";

const ROW = 17, HEAD = 22, AXIS = 22, LABEL = 30, HUES = 24, OTHER = HUES, LOST = HUES + 1;
const COSTS = 1, FOLDED = 2, INFERRED = 4, UNCERTAIN = 8, ESTIMATED = 16, CUT = 32, MARK = 64;
const TABLE_ROWS = 1000, OPEN_LANES = 6;

const element = (id) => document.getElementById(id);
const data = JSON.parse(element("data").textContent);
const texts = data.texts, canvas = element("canvas"), context = canvas.getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");

/* ---- Text ---------------------------------------------------------------- */

const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function time(ns) {
	const units = [[60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "us"]];
	const unit = units.find(([size]) => Math.abs(ns) >= size) || [1, "ns"];

	return `${+(ns / unit[0]).toFixed(3)}${unit[1]}`;
}

const amount = (value) => data.by_insns ? value.toLocaleString("en") : time(value);

/* The origin and a time from it may have more digits than a number holds. */
function clock(ns) {
	const digits = String(BigInt(data.origin) + BigInt(ns)).padStart(10, "0");

	return `${digits.slice(0, -9)}.${digits.slice(-9)} s`;
}

/* ---- Charts -------------------------------------------------------------- */

/* Give a lane the rows of its boxes: of each depth those of `order`, or all in their order. */
function makeRows(lane, order) {
	const sizes = [];

	for (const depth of lane.depth)
		sizes[depth] = (sizes[depth] || 0) + 1;
	lane.rows = Array.from(sizes, (size) => new Uint32Array(size || 0));
	sizes.fill(0);
	for (let i = 0; i < lane.depth.length; i++) {
		const box = order ? order[i] : i, depth = lane.depth[box];

		lane.rows[depth][sizes[depth]++] = box;
	}
	return lane;
}

function makeLane(count, more) {
	return { begin: new Float64Array(count), end: new Float64Array(count),
		 text: new Uint32Array(count), depth: new Uint32Array(count), marks: [], ...more };
}

function readThread(thread) {
	const bytes = atob(thread.data), count = thread.slices;
	const title = `${thread.name} (process ${thread.pid}, thread ${thread.tid})`;
	const lane = makeLane(count, { title: `${title}: ${plural(count, "slice")}`, folded: new Map(),
		symbol: new Uint32Array(count), bits: new Uint8Array(count),
		insns: new Float64Array(count), cycles: new Float64Array(count) });
	let at = 0, now = 0, i = 0;
	const number = () => {
		let value = 0, scale = 1, byte;

		do {
			byte = bytes.charCodeAt(at++);
			value += (byte & 127) * scale;
			scale *= 128;
		} while (byte > 127);
		return value;
	};

	while (at < bytes.length) {
		const first = number(), bits = first % 128;

		now += number();
		if (bits & MARK) {
			lane.marks.push({ time: now, text: number() });
			continue;
		}
		lane.bits[i] = bits;
		lane.depth[i] = (first - bits) / 128;
		lane.end[i] = now;
		lane.begin[i] = now - number();
		lane.symbol[i] = number();
		lane.text[i] = data.symbols[lane.symbol[i]][0];
		if (bits & COSTS) {
			lane.insns[i] = number();
			lane.cycles[i] = number();
		}
		if (bits & FOLDED)
			lane.folded.set(i, { count: number(), time: number() });
		i++;
	}
	thread.data = null;
	return makeRows(lane);
}

function describeSlice(lane, i) {
	const [, file, object, line] = data.symbols[lane.symbol[i]], bits = lane.bits[i];
	const lines = [texts[lane.text[i]]], folded = lane.folded.get(i), places = [];
	const insns = lane.insns[i], cycles = lane.cycles[i];

	lines.push(`${time(lane.end[i] - lane.begin[i])} from ${time(lane.begin[i])}, ` +
		   `at ${clock(lane.begin[i])}`);
	if (bits & COSTS)
		lines.push(plural(insns, "instruction") + (cycles ?
			`, ${plural(cycles, "cycle")}, ${(insns / cycles).toFixed(2)} a cycle` : ""));
	if (file)
		places.push(texts[file - 1] + (line ? `:${line}` : ""));
	if (object)
		places.push(texts[object - 1]);
	if (places.length)
		lines.push(places.join(", "));
	if (folded)
		lines.push(`${plural(folded.count, "shorter slice")} in it, ` +
			   `${time(folded.time)} together, not shown`);
	for (const [bit, text] of [[INFERRED, "the call was not seen"], [CUT, "the return was not seen"],
				   [UNCERTAIN, "calls may be missing in it"],
				   [ESTIMATED, "its times are estimates"]])
		if (bits & bit)
			lines.push(text);
	return lines.join("\n");
}

function makeCalls() {
	const lanes = data.threads.map(readThread);
	const sizes = lanes.map((lane) => lane.end.length).sort((a, b) => b - a);
	const least = sizes[Math.min(OPEN_LANES, sizes.length) - 1];

	for (const lane of lanes)
		lane.open = lane.end.length >= least;
	return { lanes, total: data.duration || 1, format: time, describe: describeSlice };
}

/* The larger stack of a caller is left of the smaller one. */
function makeStacks() {
	const count = data.stacks.length, callees = Array.from({ length: count + 1 }, () => []);
	const lane = makeLane(count, { open: true }), order = [], work = [];
	let total = 0;

	data.stacks.forEach(([caller, text, weight], i) => {
		callees[caller].push(i);
		lane.text[i] = text;
		lane.depth[i] = caller ? lane.depth[caller - 1] + 1 : 0;
		total += caller ? 0 : weight;
	});
	work.push([0, 0]);
	while (work.length) {
		const [number, begin] = work.pop();
		let at = begin;

		callees[number].sort((a, b) => data.stacks[b][2] - data.stacks[a][2]);
		for (const i of callees[number]) {
			lane.begin[i] = at;
			at = lane.end[i] = at + data.stacks[i][2];
			order.push(i);
			work.push([i + 1, lane.begin[i]]);
		}
	}
	order.sort((a, b) => lane.begin[a] - lane.begin[b]);
	return { lanes: count ? [makeRows(lane, order)] : [], total: total || 1, format: amount,
		 describe: (_, i) => `${texts[lane.text[i]]}\n${amount(data.stacks[i][2])}` +
			`${data.by_insns ? " instructions" : ""}, ` +
			`${(100 * data.stacks[i][2] / total).toFixed(2)}% of all, ` +
			`${lane.depth[i] ? plural(data.stacks[i][3], "call") : "the thread"}` };
}

const charts = { calls: makeCalls(), stacks: makeStacks() };
let chart = charts.calls;

for (const one of Object.values(charts))
	Object.assign(one, { begin: 0, end: one.total, top: 0, chosen: null });

/* ---- Colours ------------------------------------------------------------- */

let palette, match = null; /* by text: whether its name is searched; null: no search */

/* A function has one colour; what is no function is grey, and what was lost red. */
const hues = Uint8Array.from(texts, (text) => {
	let hash = 2166136261;

	if (text.startsWith("["))
		return text.startsWith("[lost") ? LOST : OTHER;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash >>> 16) % HUES;
});

function readColours() {
	const style = getComputedStyle(document.documentElement);
	const colour = (name) => style.getPropertyValue(`--${name}`).trim();

	palette = { boxes: [], text: colour("text"), quiet: colour("quiet"), line: colour("line"),
		    head: colour("head"), back: colour("back"), chosen: colour("chosen") };
	for (let i = 0; i < HUES; i++)
		palette.boxes.push(`hsl(${i * 360 / HUES} ${dark.matches ? "32% 36%" : "62% 79%"})`);
	palette.boxes.push(colour("other"), colour("lost"));
}

/* ---- Draw ---------------------------------------------------------------- */

const heightOf = (lane) => lane.open ? lane.rows.length * ROW + 6 : 0;
const headOf = (lane) => lane.title ? HEAD : 4;
const scale = () => canvas.clientWidth / (chart.end - chart.begin);

/* Returns the first place of a row, from `from` on, whose box ends after `value`. */
function firstAfter(lane, row, value, from) {
	let low = from, high = row.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (lane.end[row[middle]] > value)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

function anyMatches(lane, row, from, to) {
	for (let i = from; i < to; i++)
		if (match[lane.text[row[i]]])
			return true;
	return false;
}

/* Draw what is seen of a row.  Boxes that end within a pixel are drawn together. */
function drawRow(lane, row, y, height) {
	const perPixel = 1 / scale(), width = canvas.clientWidth, chosen = chart.chosen;
	let next;

	for (let at = firstAfter(lane, row, chart.begin, 0); at < row.length; at = next) {
		const box = row[at], left = (lane.begin[box] - chart.begin) / perPixel;
		let right = (lane.end[box] - chart.begin) / perPixel;

		if (left >= width)
			break;
		next = at + 1;
		if (right - left < 1) {
			right = Math.max(Math.floor(left), 0) + 1;
			next = Math.max(firstAfter(lane, row, chart.begin + right * perPixel, next), next);
		}
		const x = Math.max(left, 0), size = Math.max(Math.min(right, width) - x, 0.6);

		context.globalAlpha = !match || anyMatches(lane, row, at, next) ? 1 : 0.25;
		context.fillStyle = palette.boxes[hues[lane.text[box]]];
		context.fillRect(x, y, size > 3 ? size - 0.5 : size, height - 1);
		if (size > LABEL && height === ROW)
			drawLabel(texts[lane.text[box]], x + 3, y + 12, size - 6);
		if (chosen && chosen.lane === lane && chosen.box === box) {
			context.strokeStyle = palette.chosen;
			context.lineWidth = 2;
			context.strokeRect(x + 1, y + 1, Math.max(size - 2, 1), height - 3);
		}
	}
	context.globalAlpha = 1;
}

function drawLabel(text, x, y, room) {
	const most = Math.floor(room / palette.character);

	context.fillStyle = palette.text;
	if (most > 1)
		context.fillText(text.length > most ? text.slice(0, most - 1) + "\u2026" : text, x, y);
}

function drawMarks(lane, y) {
	let last = -1;

	context.fillStyle = palette.boxes[LOST];
	for (const mark of lane.marks) {
		const x = Math.round((mark.time - chart.begin) * scale());

		if (x < 0 || x > canvas.clientWidth || x === last)
			continue;
		last = x;
		context.beginPath();
		context.moveTo(x, y);
		context.lineTo(x + 4, y - 7);
		context.lineTo(x - 4, y - 7);
		context.fill();
	}
}

/* Lines at 1, 2 or 5 times a power of ten, about a hundred pixels apart. */
function drawAxis(height) {
	const rough = 100 / scale(), power = 10 ** Math.floor(Math.log10(rough));
	const step = Math.max([1, 2, 5, 10].find((factor) => factor * power >= rough) * power, 1);

	for (let at = Math.ceil(chart.begin / step) * step; at < chart.end; at += step) {
		const x = (at - chart.begin) * scale();

		context.fillStyle = palette.line;
		context.fillRect(x, AXIS - 6, 1, height);
		context.fillStyle = palette.quiet;
		context.fillText(chart.format(at), x + 3, AXIS - 8);
	}
}

function drawLane(lane, y, height) {
	if (lane.title) {
		context.fillStyle = palette.head;
		context.fillRect(0, y, canvas.clientWidth, HEAD - 1);
		if (!lane.open)
			drawRow(lane, lane.rows[0] || [], y + HEAD - 6, 6);
		context.fillStyle = palette.text;
		context.fillText(`${lane.open ? "\u25be" : "\u25b8"} ${lane.title}`, 6, y + 14);
	}
	y += headOf(lane);
	for (let depth = Math.max(Math.floor((AXIS - y) / ROW), 0); lane.open &&
	     depth < lane.rows.length && y + depth * ROW < height; depth++)
		drawRow(lane, lane.rows[depth], y + depth * ROW, ROW);
	drawMarks(lane, y);
}

/* Call see(lane, y) for each lane, with its top in the canvas.  Returns the bottom of the last. */
function eachLane(see) {
	let y = AXIS - chart.top;

	for (const lane of chart.lanes) {
		see(lane, y);
		y += headOf(lane) + heightOf(lane);
	}
	return y;
}

function draw() {
	const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	const room = eachLane(() => {}) + chart.top;

	chart.top = Math.max(Math.min(chart.top, room - height), 0);
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.font = "11px monospace";
	palette.character = context.measureText("m").width;
	eachLane((lane, y) => {
		if (y < height && y + headOf(lane) + heightOf(lane) > 0)
			drawLane(lane, y, height);
	});
	context.fillStyle = palette.back;
	context.fillRect(0, 0, width, AXIS);
	context.globalAlpha = 0.6;
	drawAxis(height);
	context.globalAlpha = 1;
	if (room > height) {
		context.fillStyle = palette.quiet;
		context.fillRect(width - 5, chart.top / room * height, 4, height * height / room);
	}
}

let waits = false;

function redraw() {
	if (!waits)
		requestAnimationFrame(() => {
			waits = false;
			draw();
		});
	waits = true;
}

/* ---- Move ---------------------------------------------------------------- */

function show(begin, end) {
	const size = Math.min(Math.max(end - begin, 10), chart.total);

	chart.begin = Math.min(Math.max(begin, 0), chart.total - size);
	chart.end = chart.begin + size;
	redraw();
}

function zoom(factor, x) {
	const at = chart.begin + x / scale();

	show(at - (at - chart.begin) * factor, at + (chart.end - at) * factor);
}

function pan(pixels) {
	show(chart.begin + pixels / scale(), chart.end + pixels / scale());
}

/* Returns what is at a point of the canvas: a lane, and a box or a mark perhaps. */
function find(x, y) {
	const value = chart.begin + x / scale();
	let found = null;

	eachLane((lane, top) => {
		const depth = Math.floor((y - top - headOf(lane)) / ROW);
		const row = lane.open && lane.rows[depth];

		if (y < Math.max(top, AXIS) || y >= top + headOf(lane) + heightOf(lane))
			return;
		found = { lane, head: y < top + headOf(lane) };
		found.mark = lane.marks.find((mark) => Math.abs(mark.time - value) * scale() < 4);
		if (!row || !row.length)
			return;
		const near = 0.5 / scale(), at = firstAfter(lane, row, value - near, 0);

		if (at >= row.length || lane.begin[row[at]] > value + near)
			return;
		found.box = row[at];
		found.count = Math.max(firstAfter(lane, row, value + near, at) - at, 1);
	});
	return found;
}

function choose(lane, box) {
	chart.chosen = { lane, box };
	element("details").textContent = chart.describe(lane, box);
	redraw();
}

/* Choose a box, and move so that it is seen. */
function reveal(lane, box) {
	const size = lane.end[box] - lane.begin[box], seen = size * scale();

	lane.open = true;
	eachLane((one, y) => {
		const top = y + headOf(lane) + lane.depth[box] * ROW;

		if (one === lane && (top < AXIS + HEAD || top + 2 * ROW > canvas.clientHeight))
			chart.top += top - canvas.clientHeight / 3;
	});
	choose(lane, box);
	if (seen < 40 || lane.end[box] < chart.begin || lane.begin[box] > chart.end)
		show(lane.begin[box] - 2 * size - 2, lane.end[box] + 2 * size + 2);
}

/* ---- Search -------------------------------------------------------------- */

function search() {
	const query = element("query").value, pattern = query.match(/^\/(.+)\/$/);
	let test = (text) => text.toLowerCase().includes(query.toLowerCase()), count = 0;

	try {
		const expression = pattern && new RegExp(pattern[1]);

		if (expression)
			test = (text) => expression.test(text);
		match = query ? texts.map(test) : null;
	} catch {
		match = [];
	}
	for (const lane of match ? chart.lanes : [])
		for (const text of lane.text)
			count += match[text] ? 1 : 0;
	element("found").textContent = match ? plural(count, "match").replace("matchs", "matches") : "";
	if (location.hash === "#functions")
		showTable();
	redraw();
}

/* Reveal the next match in order of time, or the one before. */
function step(forward) {
	const { lane: lane0, box: box0 } = chart.chosen || {};
	let best = null;
	const compare = (a, ai, an, b, bi, bn) => a.begin[ai] - b.begin[bi] || an - bn ||
		a.depth[ai] - b.depth[bi] || ai - bi;
	const number0 = chart.lanes.indexOf(lane0);

	if (!match)
		return;
	chart.lanes.forEach((lane, number) => {
		for (let i = 0; i < lane.text.length; i++) {
			const sign = forward ? 1 : -1;

			if (!match[lane.text[i]] ||
			    (lane0 && sign * compare(lane, i, number, lane0, box0, number0) <= 0))
				continue;
			if (!best || sign * compare(lane, i, number, best.lane, best.i, best.number) < 0)
				best = { lane, i, number };
		}
	});
	if (best)
		reveal(best.lane, best.i);
}

/* ---- The table ----------------------------------------------------------- */

const unit = data.by_insns ? "_insns" : "_ns";
const selfOfAll = data.functions.reduce((sum, row) => sum + row[`self${unit}`], 0);
const columns = ["calls", "total", "self", "share", "min", "median", "p99", "max", "function"];
let sorted = "self";

function valueOf(row, column) {
	if (column === "calls" || column === "function")
		return row[column];
	return row[(column === "share" ? "self" : column) + unit];
}

function cellOf(row, column) {
	if (column === "share")
		return `${(100 * valueOf(row, column) / (selfOfAll || 1)).toFixed(1)}%`;
	return column === "calls" || column === "function" ? String(row[column]) : amount(valueOf(row, column));
}

function addCells(parent, kind, list) {
	const line = parent.appendChild(document.createElement("tr"));

	for (const text of list)
		line.appendChild(document.createElement(kind)).textContent = text;
	return line;
}

function showTable() {
	const table = document.createElement("table");
	const names = match && new Set(texts.filter((_, i) => match[i]));
	const rows = data.functions.filter((row) => !names || names.has(row.function));
	const head = addCells(table.createTHead(), "th", columns), body = table.createTBody();

	rows.sort((a, b) => sorted === "function" ? (a.function < b.function ? -1 : 1)
						  : valueOf(b, sorted) - valueOf(a, sorted));
	head.children[columns.indexOf(sorted)].className = "chosen";
	head.onclick = (event) => {
		sorted = event.target.textContent;
		showTable();
	};
	for (const row of rows.slice(0, TABLE_ROWS))
		addCells(body, "td", columns.map((column) => cellOf(row, column))).onclick = () => {
			element("query").value = row.function;
			location.hash = "#calls";
			search();
			step(true);
		};
	if (rows.length > TABLE_ROWS)
		addCells(body, "td", [...columns.slice(1).map(() => ""),
				      `${rows.length - TABLE_ROWS} more: search, or sort otherwise`]);
	element("table").replaceChildren(table);
}

/* ---- Events -------------------------------------------------------------- */

function showTab() {
	const tab = location.hash.slice(1) in charts || location.hash === "#functions" ?
		location.hash.slice(1) : "calls";
	const help = "Drag or A, D: move. Ctrl and wheel or W, S: zoom. Click: choose. " +
		"Double click: zoom to it. Click a thread's name: fold it.";
	const folded = data.folded + data.left_out;
	const missing = { calls: folded ? `\n${plural(folded, "short slice")} not shown, to fit (--fit): ` +
				"those around them count them." : "",
			  stacks: data.stacks_left_out ?
				`\n${plural(data.stacks_left_out, "small stack")} not shown.` : "" };

	for (const link of document.querySelectorAll("nav a"))
		link.className = link.hash === `#${tab}` ? "chosen" : "";
	canvas.hidden = tab === "functions";
	element("table").hidden = element("details").hidden = tab === "functions";
	element("table").hidden = !canvas.hidden;
	if (tab === "functions") {
		showTable();
		return;
	}
	chart = charts[tab];
	element("details").textContent = chart.chosen ?
		chart.describe(chart.chosen.lane, chart.chosen.box) : help + missing[tab];
	if (match)
		search();
	redraw();
}

let drag = null;

canvas.onpointerdown = (event) => {
	drag = { x: event.clientX, y: event.clientY, moved: false };
	canvas.setPointerCapture(event.pointerId);
};
canvas.onpointerup = (event) => {
	const found = drag && !drag.moved && find(event.offsetX, event.offsetY);

	drag = null;
	if (found && found.head && found.lane.title)
		found.lane.open = !found.lane.open;
	else if (found && found.box !== undefined)
		choose(found.lane, found.box);
	redraw();
};
canvas.onpointermove = (event) => {
	const tip = element("tip"), found = !drag && find(event.offsetX, event.offsetY);

	if (drag && (drag.moved || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 3)) {
		pan(drag.x - event.clientX);
		chart.top += drag.y - event.clientY;
		drag = { x: event.clientX, y: event.clientY, moved: true };
	}
	tip.hidden = !found || (found.box === undefined && !found.mark);
	if (tip.hidden)
		return;
	if (found.box === undefined)
		tip.textContent = `${texts[found.mark.text]}\nat ${clock(found.mark.time)}`;
	else if (found.count > 1)
		tip.textContent = `${found.count} here; zoom in`;
	else
		tip.textContent = chart.describe(found.lane, found.box);
	tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
	tip.style.top = `${Math.max(Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8), 0)}px`;
};
canvas.onpointerleave = () => {
	element("tip").hidden = true;
};
canvas.ondblclick = (event) => {
	const found = find(event.offsetX, event.offsetY);

	if (found && found.box !== undefined)
		show(found.lane.begin[found.box], found.lane.end[found.box]);
};
canvas.addEventListener("wheel", (event) => {
	const fits = eachLane(() => {}) + chart.top <= canvas.clientHeight;

	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		pan(event.deltaX || event.deltaY);
	else if (event.ctrlKey || event.metaKey || fits)
		zoom(1.002 ** event.deltaY, event.offsetX);
	else
		chart.top += event.deltaY;
	redraw();
}, { passive: false });

const keys = {
	w: () => zoom(0.7, canvas.clientWidth / 2), s: () => zoom(1.4, canvas.clientWidth / 2),
	a: () => pan(-100), d: () => pan(100), ArrowLeft: () => pan(-100), ArrowRight: () => pan(100),
	ArrowUp: () => { chart.top -= 3 * ROW; redraw(); },
	ArrowDown: () => { chart.top += 3 * ROW; redraw(); },
	0: () => show(0, chart.total), Escape: () => show(0, chart.total),
	Enter: (event) => step(!event.shiftKey), "/": () => element("query").focus(),
};

document.onkeydown = (event) => {
	const typing = event.target.id === "query";

	if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key] ||
	    (typing && event.key !== "Enter"))
		return;
	event.preventDefault();
	keys[event.key](event);
};
element("query").oninput = search;
element("next").onclick = () => step(true);
element("previous").onclick = () => step(false);
element("all").onclick = () => show(0, chart.total);
dark.onchange = () => {
	readColours();
	redraw();
};
onresize = redraw;
onhashchange = showTab;

element("bar").hidden = false;
readColours();
showTab();
