// SPDX-License-Identifier: MIT
/* Shows the charts of src/html/charts.js in a canvas, and the functions in a table. */
"use strict";

const ROW = 17, HEAD = 22, AXIS = 22, LABEL = 30, HUES = 24, OTHER = HUES, LOST = HUES + 1;
const TABLE_ROWS = 1000, COUNTER_ROWS = 2;

const element = (id) => document.getElementById(id);
const canvas = element("canvas"), context = canvas.getContext("2d");
const helper = new OffscreenCanvas(1, 1).getContext("2d");
const dark = matchMedia("(prefers-color-scheme: dark)");

const charts = { calls: makeCalls(), stacks: makeStacks() };
let chart = charts.calls;

for (const one of Object.values(charts))
	Object.assign(one, { top: 0, chosen: null });

/* ---- Colours ------------------------------------------------------------- */

let palette, match = null; /* by text: whether its name is searched; null: no search */

/* Each function has one colour; other slices are grey, and lost trace is red. */
const hues = Uint8Array.from(texts, (text) => {
	let hash = 2166136261;

	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
	return (hash >>> 16) % HUES;
});
data.other.forEach((text) => hues[text] = OTHER);
data.lost.forEach((text) => hues[text] = LOST);

function readColours() {
	const style = getComputedStyle(document.documentElement);
	const colour = (name) => style.getPropertyValue(`--${name}`).trim();
	const hue = (i) => `hsl(${i * 360 / HUES} ${dark.matches ? "32% 36%" : "62% 79%"})`;
	const strip = new OffscreenCanvas(HUES + 2, 1).getContext("2d");

	palette = { text: colour("text"), quiet: colour("quiet"), line: colour("line"),
		    head: colour("head"), back: colour("back"), chosen: colour("chosen"),
		    boxes: [...Array.from({ length: HUES }, (_, i) => hue(i)), colour("other"), colour("lost")] };
	palette.boxes.forEach((box, i) => {
		strip.fillStyle = box;
		strip.fillRect(i, 0, 1, 1);
	});
	palette.pixels = new Uint32Array(strip.getImageData(0, 0, HUES + 2, 1).data.buffer);
}

/* ---- Draw ---------------------------------------------------------------- */

const headOf = (lane) => lane.title ? HEAD : 4;
const rowsOf = (lane) => lane.values ? COUNTER_ROWS : lane.rows.length;
const heightOf = (lane) => headOf(lane) + (lane.open ? rowsOf(lane) * ROW + 6 : 0);
const scale = () => canvas.clientWidth / (chart.end - chart.begin);

/* Returns the first index of a row, not before `from`, whose box ends after `value`. */
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

function drawLabel(text, x, y, room) {
	const most = Math.floor(room / palette.character);

	context.fillStyle = palette.text;
	context.fillText(text.length > most ? `${text.slice(0, most - 1)}\u2026` : text, x, y);
}

/* Draw the visible part of a row.  Boxes that end within a pixel are one column of pixels. */
function drawRow(lane, row, y, height) {
	const perPixel = 1 / scale(), width = canvas.clientWidth;
	const line = new ImageData(width, 1), pixels = new Uint32Array(line.data.buffer);
	const matches = (from, to) => !match || row.subarray(from, to).some((box) => match[lane.text[box]]);
	let next, columns = false;

	for (let at = firstAfter(lane, row, chart.begin, 0); at < row.length; at = next) {
		const box = row[at], hue = hues[lane.text[box]];
		const left = (lane.begin[box] - chart.begin) / perPixel, x = Math.max(left, 0);
		const right = (lane.end[box] - chart.begin) / perPixel, size = Math.min(right, width) - x;

		if (left >= width)
			break;
		next = at + 1;
		if (right - left < 1) {
			const column = Math.floor(x);

			next = Math.max(firstAfter(lane, row, chart.begin + (column + 1) * perPixel, next), next);
			pixels[column] = matches(at, next) ? palette.pixels[hue] : palette.pixels[hue] & 0x40ffffff;
			columns = true;
			continue;
		}
		context.globalAlpha = matches(at, next) ? 1 : 0.25;
		context.fillStyle = palette.boxes[hue];
		context.fillRect(x, y, size > 3 ? size - 0.5 : size, height - 1);
		if (size > LABEL && height === ROW)
			drawLabel(texts[lane.text[box]], x + 3, y + 12, size - 6);
	}
	context.globalAlpha = 1;
	if (!columns)
		return;
	helper.canvas.width = width;
	helper.putImageData(line, 0, 0);
	context.drawImage(helper.canvas, 0, 0, width, 1, 0, y, width, height - 1);
}

/* Returns the index of a counter's last value at or before a time; -1: no value. */
function valueAt(lane, time) {
	let low = 0, high = lane.times.length;

	while (low < high) {
		const middle = (low + high) >> 1;

		if (lane.times[middle] > time)
			high = middle;
		else
			low = middle + 1;
	}
	return low - 1;
}

/* A column for each pixel, as high as the largest value in it. */
function drawCounter(lane, y, height) {
	const unit = height / (lane.most - lane.least || 1), zero = y + lane.most * unit;

	context.fillStyle = palette.boxes[OTHER];
	for (let x = 0, i = valueAt(lane, chart.begin); x < canvas.clientWidth; x++) {
		let most = i < 0 ? 0 : lane.values[i];

		for (const end = chart.begin + (x + 1) / scale(); lane.times[i + 1] <= end;)
			most = Math.max(most, lane.values[++i]);
		context.fillRect(x, Math.min(zero - most * unit, zero), 1, Math.abs(most * unit));
	}
}

/* A frame around the chosen box, and a triangle for each mark. */
function drawMarks(lane, y) {
	const { lane: chosen, box } = chart.chosen || {}, x = (value) => (value - chart.begin) * scale();
	let last = -1;

	if (chosen === lane && lane.open) {
		context.strokeStyle = palette.chosen;
		context.strokeRect(x(lane.begin[box]), y + lane.depth[box] * ROW,
				   Math.max(x(lane.end[box]) - x(lane.begin[box]), 2), ROW - 1);
	}
	context.fillStyle = palette.boxes[LOST];
	for (const mark of lane.marks) {
		const at = Math.round(x(mark.time));

		if (at < 0 || at > canvas.clientWidth || at === last)
			continue;
		last = at;
		context.fillRect(at - 1, y - 8, 3, 8);
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
		if (!lane.open && lane.rows.length)
			drawRow(lane, lane.rows[0], y + HEAD - 6, 6);
		else if (!lane.open && lane.values)
			drawCounter(lane, y + HEAD - 7, 6);
		context.fillStyle = palette.text;
		context.fillText(`${lane.open ? "\u25be" : "\u25b8"} ${lane.title}`, 6, y + 14);
	}
	y += headOf(lane);
	if (lane.open && lane.values)
		drawCounter(lane, y, COUNTER_ROWS * ROW);
	for (let depth = Math.max(Math.floor((AXIS - y) / ROW), 0); lane.open &&
	     depth < lane.rows.length && y + depth * ROW < height; depth++)
		drawRow(lane, lane.rows[depth], y + depth * ROW, ROW);
	drawMarks(lane, y);
}

/* Call see(lane, y) for each lane, with its top in the canvas.  Returns the bottom of the last. */
function eachLane(see = () => {}) {
	let y = AXIS - chart.top;

	for (const lane of chart.lanes) {
		see(lane, y);
		y += heightOf(lane);
	}
	return y;
}

function draw() {
	const ratio = devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
	const room = eachLane() + chart.top;

	chart.top = Math.max(Math.min(chart.top, room - height), 0);
	canvas.width = Math.round(width * ratio);
	canvas.height = Math.round(height * ratio);
	context.setTransform(ratio, 0, 0, ratio, 0, 0);
	context.imageSmoothingEnabled = false;
	context.font = "11px monospace";
	context.lineWidth = 2;
	palette.character = context.measureText("m").width;
	eachLane((lane, y) => {
		if (y < height && y + heightOf(lane) > 0)
			drawLane(lane, y, height);
	});
	context.fillStyle = palette.back;
	context.fillRect(0, 0, width, AXIS);
	context.globalAlpha = 0.6;
	drawAxis(height);
	context.fillStyle = palette.quiet;
	if (room > height)
		context.fillRect(width - 5, chart.top / room * height, 4, height * height / room);
	context.globalAlpha = 1;
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

/* By pixels. */
function pan(right, down = 0) {
	chart.top += down;
	show(chart.begin + right / scale(), chart.end + right / scale());
}

/* Returns the items at a point of the canvas: a lane, and perhaps a box, its head, or a mark. */
function find(x, y) {
	const value = chart.begin + x / scale(), near = 0.5 / scale();
	let found = {};

	eachLane((lane, top) => {
		const row = lane.rows[Math.floor((y - top - headOf(lane)) / ROW)];
		const at = row && lane.open ? firstAfter(lane, row, value - near, 0) : 0;

		if (y < Math.max(top, AXIS) || y >= top + heightOf(lane))
			return;
		found = { lane, head: lane.title && y < top + HEAD,
			  mark: lane.marks.find((mark) => Math.abs(mark.time - value) < 4 * near),
			  value: lane.values && valueAt(lane, value) };
		if (!lane.open || !row || at >= row.length || lane.begin[row[at]] > value + near)
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
	const size = lane.end[box] - lane.begin[box];

	lane.open = true;
	eachLane((one, y) => {
		const top = y + headOf(lane) + lane.depth[box] * ROW;

		if (one === lane && (top < AXIS + HEAD || top + 2 * ROW > canvas.clientHeight))
			chart.top += top - canvas.clientHeight / 3;
	});
	choose(lane, box);
	if (size * scale() < 40 || lane.begin[box] < chart.begin || lane.end[box] > chart.end)
		show(lane.begin[box] - 2 * size - 2, lane.end[box] + 2 * size + 2);
}

/* ---- Search -------------------------------------------------------------- */

function search() {
	const query = element("query").value, [, pattern] = query.match(/^\/(.+)\/$/) || [];
	let count = 0;

	try {
		const expression = new RegExp(pattern || query.replace(/[^\w\s]/g, "\\$&"), pattern ? "" : "i");

		match = query ? texts.map((text) => expression.test(text)) : null;
	} catch {
		match = texts.map(() => false);
	}
	for (const lane of match ? chart.lanes : [])
		for (const text of lane.text)
			count += match[text] ? 1 : 0;
	element("found").textContent = match ? `${count.toLocaleString("en")} found` : "";
	showTable();
	redraw();
}

/* Reveal the next or previous box that is found, in order of time. */
function step(sign) {
	const order = (a, b) => sign * (a.lane.begin[a.box] - b.lane.begin[b.box] ||
		chart.lanes.indexOf(a.lane) - chart.lanes.indexOf(b.lane) || a.lane.depth[a.box] - b.lane.depth[b.box]);
	let best = null;

	for (const lane of match ? chart.lanes : [])
		lane.text.forEach((text, box) => {
			if (match[text] && (!chart.chosen || order({ lane, box }, chart.chosen) > 0) &&
			    (!best || order({ lane, box }, best) < 0))
				best = { lane, box };
		});
	if (best)
		reveal(best.lane, best.box);
}

/* ---- The table ----------------------------------------------------------- */

const unit = `_${data.unit}`;
const columns = ["calls", "total", "self", "share", "min", "median", "p99", "max", "function"];
const allSelf = data.functions.reduce((sum, row) => sum + row[`self${unit}`], 0) || 1;
let sorted = "self";

const valueOf = (row, name) => row[name === "calls" || name === "function" ? name :
	(name === "share" ? "self" : name) + unit];

function cellOf(row, name) {
	const value = valueOf(row, name);

	if (name === "share")
		return `${(100 * value / allSelf).toFixed(1)}%`;
	return name === "function" ? value : name === "calls" ? value.toLocaleString("en") : amount(value);
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

	rows.sort((a, b) => {
		const [x, y] = [valueOf(a, sorted), valueOf(b, sorted)];

		return ((x > y) - (x < y)) * (sorted === "function" ? 1 : -1);
	});
	head.children[columns.indexOf(sorted)].className = "chosen";
	head.lastChild.textContent += data.unit === "ns" ? "" : ` (all in${nouns[data.unit]})`;
	head.onclick = (event) => {
		sorted = columns[event.target.cellIndex];
		showTable();
	};
	for (const row of rows.slice(0, TABLE_ROWS))
		addCells(body, "td", columns.map((name) => cellOf(row, name))).onclick = () => {
			element("query").value = row.function;
			location.hash = "#calls";
			search();
			step(1);
		};
	if (rows.length > TABLE_ROWS)
		addCells(body, "td", [...Array(columns.length - 1), `${rows.length - TABLE_ROWS} more`]);
	element("table").replaceChildren(table);
}

/* ---- Events -------------------------------------------------------------- */

function showTab() {
	const tab = ["#stacks", "#functions"].find((hash) => hash === location.hash) || "#calls";
	const left_out = tab === "#stacks" ? data.stacks_left_out : data.folded + data.left_out;
	const why = tab === "#stacks" ? "which are too small" : "the shortest, which those around them count (--fit)";

	for (const link of document.querySelectorAll("nav a"))
		link.className = link.hash === tab ? "chosen" : "";
	canvas.hidden = element("details").hidden = tab === "#functions";
	element("table").hidden = !canvas.hidden;
	chart = charts[tab.slice(1)] || charts.calls;
	element("details").textContent = "Drag or A, D: move. Ctrl and wheel or W, S: zoom. " +
		"Click: choose. Double click: zoom to it. Click a thread's name: fold it." +
		(left_out ? `\nNot shown: ${left_out.toLocaleString("en")}, ${why}.` : "");
	if (chart.chosen)
		choose(chart.chosen.lane, chart.chosen.box);
	search();
}

function showTip(event) {
	const tip = element("tip"), found = find(event.offsetX, event.offsetY), { lane, box, mark, value } = found;

	tip.hidden = box === undefined && !mark && !(value >= 0);
	if (tip.hidden)
		return;
	if (value >= 0)
		tip.textContent = `${lane.name}\n${lane.values[value].toLocaleString("en")} from ${clock(lane.times[value])}`;
	else if (box === undefined)
		tip.textContent = `${texts[mark.text]}\nat ${clock(mark.time)}`;
	else
		tip.textContent = found.count > 1 ? `${found.count} here; zoom in` : chart.describe(lane, box);
	tip.style.left = `${Math.max(Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8), 0)}px`;
	tip.style.top = `${Math.max(Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8), 0)}px`;
}

let drag = null, moved = false;

canvas.onpointerdown = (event) => {
	[drag, moved] = [event, false];
	canvas.setPointerCapture(event.pointerId);
};
canvas.onpointermove = (event) => {
	if (!drag)
		return showTip(event);
	const right = drag.clientX - event.clientX, down = drag.clientY - event.clientY;

	moved = moved || Math.hypot(right, down) >= 4;
	if (moved)
		pan(right, down);
	drag = moved ? event : drag;
};
canvas.onpointerup = (event) => {
	const { lane, box, head } = drag && !moved ? find(event.offsetX, event.offsetY) : {};

	drag = null;
	if (head)
		lane.open = !lane.open;
	else if (box !== undefined)
		choose(lane, box);
	redraw();
};
canvas.onpointerleave = () => {
	element("tip").hidden = true;
};
canvas.ondblclick = (event) => {
	const { lane, box } = find(event.offsetX, event.offsetY);

	if (box !== undefined)
		show(lane.begin[box], lane.end[box]);
};
canvas.addEventListener("wheel", (event) => {
	event.preventDefault();
	if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY))
		pan(event.deltaX || event.deltaY);
	else if (event.ctrlKey || event.metaKey || eachLane() + chart.top <= canvas.clientHeight)
		zoom(1.002 ** event.deltaY, event.offsetX);
	else
		pan(0, event.deltaY);
}, { passive: false });

const keys = {
	w: () => zoom(0.7, canvas.clientWidth / 2), s: () => zoom(1.4, canvas.clientWidth / 2),
	a: () => pan(-100), d: () => pan(100), 0: () => show(0, chart.total),
	ArrowLeft: () => pan(-100), ArrowRight: () => pan(100),
	ArrowUp: () => pan(0, -3 * ROW), ArrowDown: () => pan(0, 3 * ROW),
	Enter: (event) => step(event.shiftKey ? -1 : 1), "/": () => element("query").focus(),
};

document.onkeydown = (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey || !keys[event.key] ||
	    (event.target.id === "query" && event.key !== "Enter"))
		return;
	event.preventDefault();
	keys[event.key](event);
};
element("query").oninput = search;
element("next").onclick = () => step(1);
element("previous").onclick = () => step(-1);
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
