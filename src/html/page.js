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
let found = null, searched = ""; /* found boxes in the order of steps; null: not listed yet */
let measured = null; /* the two ends of a measured time */

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

/*
 * Lines at 1, 2 or 5 times a power of ten, about a hundred pixels apart. If the ticks are close to
 * each other and far from 0, the left edge has an offset, and the ticks are counted from there.
 */
function drawAxis(height) {
	const rough = 100 / scale(), power = 10 ** Math.floor(Math.log10(rough));
	const step = Math.max([1, 2, 5, 10].find((factor) => factor * power >= rough) * power, 1);
	const offset = Math.floor(chart.begin / step / 100) * step * 100;
	const edge = offset ? chart.format(offset, step) : "", room = edge ? 10 + edge.length * palette.character : 0;

	for (let at = Math.ceil(chart.begin / step) * step; at < chart.end; at += step) {
		const x = (at - chart.begin) * scale();

		context.fillStyle = palette.line;
		context.fillRect(x, AXIS - 6, 1, height);
		context.fillStyle = palette.quiet;
		if (x >= room)
			context.fillText((offset ? "+" : "") + chart.format(at - offset, step), x + 3, AXIS - 8);
	}
	context.fillStyle = palette.text;
	context.fillText(edge, 3, AXIS - 8);
}

/* The measured time, from its begin to its end. */
function drawMeasured(height) {
	const [from, to] = measured, x = (from - chart.begin) * scale(), size = (to - from) * scale();
	const label = chart === charts.stacks ? amount(to - from) : time(to - from), left = Math.max(x, 0);

	context.globalAlpha = 0.2;
	context.fillStyle = palette.chosen;
	context.fillRect(x, AXIS, size, height);
	context.globalAlpha = 1;
	context.fillStyle = palette.back;
	context.fillRect(left, AXIS, label.length * palette.character + 6, ROW);
	context.fillStyle = palette.chosen;
	context.fillText(label, left + 3, AXIS + 12);
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
	if (measured)
		drawMeasured(height);
	context.globalAlpha = 0.6;
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

/* The address becomes a link to a chosen call. */
function choose(lane, box) {
	chart.chosen = { lane, box };
	element("details").textContent = chart.describe(lane, box);
	if (chart === charts.calls)
		history.replaceState(null, "", `#calls=${chart.lanes.indexOf(lane)}.${box}`);
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

/* Returns a test for names: "exactly this", a /pattern/, or a part in any case. */
function namesOf(query) {
	const [, exact] = query.match(/^"(.*)"$/) || [], [, pattern] = query.match(/^\/(.+)\/$/) || [];

	if (exact !== undefined)
		return (text) => text === exact;
	try {
		const expression = new RegExp(pattern || query.replace(/[^\w\s]/g, "\\$&"), pattern ? "" : "i");

		return (text) => expression.test(text);
	} catch {
		return () => false;
	}
}

/* Returns the share of the time that is inside of found stacks, each counted once. */
function foundShare({ text, begin, end }) {
	let until = 0, sum = 0;

	text.forEach((name, box) => {
		if (!match[name] || begin[box] < until)
			return;
		sum += end[box] - begin[box];
		until = end[box];
	});
	return sum / chart.total;
}

function tellFound(count, at) {
	const share = match && chart === charts.stacks ? `, ${(100 * foundShare(chart.lanes[0])).toFixed(1)}% of all` : "";

	element("found").textContent = match ? `${at ? `${grouped(at)} of ` : ""}${grouped(count)} found${share}` : "";
}

function search() {
	const query = element("query").value, state = `${location.hash.split("=")[0]} ${query}`;
	let count = 0;

	if (state === searched)
		return;
	[searched, found, match] = [state, null, query ? texts.map(namesOf(query)) : null];
	for (const lane of match ? chart.lanes : [])
		for (const text of lane.text)
			count += match[text] ? 1 : 0;
	tellFound(count, 0);
	showTable();
	redraw();
}

/* The found boxes: those whose whole name was typed first, then in order of time. */
function listFound() {
	const list = [], query = element("query").value.toLowerCase();
	const other = texts.map((text) => text.toLowerCase() === query ? 0 : 1);

	chart.lanes.forEach((lane, place) => lane.text.forEach((text, box) => {
		if (match[text])
			list.push({ lane, box, place });
	}));
	return list.sort((a, b) => other[a.lane.text[a.box]] - other[b.lane.text[b.box]] ||
		a.lane.begin[a.box] - b.lane.begin[b.box] || a.place - b.place || a.lane.depth[a.box] - b.lane.depth[b.box]);
}

/* Reveal the next or previous box that is found. */
function step(sign) {
	if (!match)
		return;
	found = found || listFound();
	const { lane, box } = chart.chosen || {}, count = found.length;
	const last = found.findIndex((one) => one.lane === lane && one.box === box);
	const at = last < 0 ? (sign < 0 ? count - 1 : 0) : (last + sign + count) % count;

	if (!count)
		return;
	reveal(found[at].lane, found[at].box);
	tellFound(count, at + 1);
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

function addButton(cell, act) {
	const button = document.createElement("button");

	button.append(...cell.childNodes);
	button.onclick = act;
	cell.append(button);
}

/* Returns the name in slices of a function: its label without the facts that tell it from others. */
function nameOf(label) {
	const begins = (text) => text && label.startsWith(text) && /\W/.test(label[text.length]);

	return texts.includes(label) ? label :
		texts.filter(begins).reduce((a, b) => b.length > a.length ? b : a, "") || label;
}

function showTable() {
	const table = document.createElement("table");
	const names = match && new Set(texts.filter((_, i) => match[i]));
	const rows = data.functions.filter((row) => !names || names.has(nameOf(row.function)));
	const head = addCells(table.createTHead(), "th", columns), body = table.createTBody();

	rows.sort((a, b) => {
		const [x, y] = [valueOf(a, sorted), valueOf(b, sorted)];

		return ((x > y) - (x < y)) * (sorted === "function" ? 1 : -1);
	});
	head.lastChild.textContent += data.unit === "ns" ? "" : ` (all in${nouns[data.unit]})`;
	columns.forEach((name, i) => {
		addButton(head.children[i], () => {
			sorted = name;
			showTable();
			element("table").querySelectorAll("th button")[i].focus();
		});
		if (name === sorted)
			head.children[i].ariaSort = name === "function" ? "ascending" : "descending";
	});
	for (const row of rows.slice(0, TABLE_ROWS))
		addButton(addCells(body, "td", columns.map((name) => cellOf(row, name))).lastChild, () => {
			element("query").value = `"${nameOf(row.function)}"`;
			location.hash = "#calls";
			showTab();
			step(1);
		});
	if (rows.length > TABLE_ROWS)
		addCells(body, "td", [...Array(columns.length - 1), `${rows.length - TABLE_ROWS} more`]);
	element("table").replaceChildren(table);
}

/* ---- Events -------------------------------------------------------------- */

/* Choose the call of a link, LANE.BOX. */
function follow(place) {
	const [at, box] = place.split(".").map(Number), lane = chart.lanes[at];

	if (box < lane?.end.length)
		reveal(lane, box);
}

function showTab() {
	const [hash, place] = location.hash.split("=");
	const tab = ["#stacks", "#functions"].find((one) => one === hash) || "#calls";
	const left_out = tab === "#stacks" ? data.stacks_left_out : data.folded + data.left_out;
	const why = tab === "#stacks" ? "which are too small" : "the shortest, which those around them count (--fit)";

	for (const link of document.querySelectorAll("nav a"))
		link.className = link.hash === tab ? "chosen" : "";
	canvas.hidden = element("details").hidden = tab === "#functions";
	element("table").hidden = !canvas.hidden;
	chart = charts[tab.slice(1)] || charts.calls;
	element("details").textContent = "Drag or A, D: move. Ctrl and wheel or W, S: zoom. " +
		"Shift and drag: measure. " +
		"Click: choose (the address links to it). Double click: zoom to it. Click a thread's name: fold it." +
		(left_out ? `\nNot shown: ${left_out.toLocaleString("en")}, ${why}.` : "");
	if (chart.chosen)
		choose(chart.chosen.lane, chart.chosen.box);
	else if (place && chart === charts.calls)
		follow(place);
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
const fingers = new Map(); /* pointers that touch the canvas, by id */

const timeAt = (event) => chart.begin + event.offsetX / scale();
const span = ([a, b]) => Math.hypot(a.offsetX - b.offsetX, a.offsetY - b.offsetY) || 1;
const middle = ([a, b]) => (a.offsetX + b.offsetX) / 2;

/* Two fingers move what is between them. */
function pinch(event) {
	const before = [...fingers.values()];

	fingers.set(event.pointerId, event);
	const after = [...fingers.values()];

	zoom(span(before) / span(after), middle(after));
	pan(middle(before) - middle(after));
	[drag, moved] = [null, true];
}

canvas.onpointerdown = (event) => {
	fingers.set(event.pointerId, event);
	[drag, moved] = [event, false];
	measured = event.shiftKey ? [timeAt(event), timeAt(event)] : null;
	canvas.setPointerCapture(event.pointerId);
};
canvas.onpointermove = (event) => {
	if (fingers.size === 2)
		return pinch(event);
	if (!drag)
		return showTip(event);
	if (measured) {
		measured = [timeAt(drag), timeAt(event)].sort((a, b) => a - b);
		moved = true;
		return redraw();
	}
	const right = drag.clientX - event.clientX, down = drag.clientY - event.clientY;

	moved = moved || Math.hypot(right, down) >= 4;
	if (moved)
		pan(right, down);
	drag = moved ? event : drag;
};
canvas.onpointercancel = (event) => {
	fingers.delete(event.pointerId);
	drag = null;
};
canvas.onpointerup = (event) => {
	fingers.delete(event.pointerId);
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
