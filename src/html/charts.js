// SPDX-License-Identifier: MIT
/*
 * Reads the data of the page, which src/html/format_html.c documents, into charts.
 * It computes only self times: all other numbers come from the data.
 *
 * A chart has lanes, a lane has a row for each depth, and a row has boxes in order.  A box is an
 * index into the arrays of its lane: `begin`, `end`, `self`, `text`, `depth`.  Calls have a lane
 * for each thread, for each track of events, and for each counter, in `data.axis`; stacks are one
 * lane, in `data.unit`: ns, insns or cycles.  A counter has no rows: its `values` are from one of `times` to the next.
 */
"use strict";

const COSTS = 1, FOLDED = 2, INFERRED = 4, UNCERTAIN = 8, ESTIMATED = 16, CUT = 32, MARK = 64, TAIL_CALL = 128;
const OPEN_LANES = 6;

const data = JSON.parse(document.getElementById("data").textContent);
const texts = data.texts;

/* ---- Text ---------------------------------------------------------------- */

const grouped = (value) => value.toLocaleString("en");
const plural = (count, noun) => `${grouped(count)} ${noun}${count === 1 ? "" : "s"}`;

const nouns = { ns: "", insns: " instructions", cycles: " cycles" };

function time(ns) {
	if (data.axis !== "ns")
		return grouped(ns);
	const [size, unit] = [[60e9, "min"], [1e9, "s"], [1e6, "ms"], [1e3, "us"]]
		.find(([least]) => Math.abs(ns) >= least) || [1, "ns"];

	return `${+(ns / size).toFixed(3)}${unit}`;
}

/* A tick of the ruler: the digits are those of the distance of ticks. */
function label(value, unit, step) {
	if (unit !== "ns")
		return `${value.toLocaleString("en", { notation: "compact", maximumFractionDigits: 6 })} ${unit}`;
	const [size, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "us"]].find(([least]) => value >= least) || [1, "ns"];

	return `${(value / size).toFixed(Math.max(Math.ceil(Math.log10(size / step)), 0))}${name}`;
}

const amount = (value) => data.unit === "ns" ? time(value) : grouped(value);

/* The origin and a time from it may have more digits than a number holds. */
function clock(ns) {
	if (data.axis !== "ns")
		return grouped(Number(data.origin) + ns) + nouns[data.axis];
	const digits = String(BigInt(data.origin) + BigInt(ns)).padStart(10, "0");

	return `${digits.slice(0, -9)}.${digits.slice(-9)} s`;
}

/* ---- Charts -------------------------------------------------------------- */

/* Give a lane the rows of its boxes, which are in order. */
function makeRows(lane) {
	const sizes = [];

	for (const depth of lane.depth)
		sizes[depth] = (sizes[depth] || 0) + 1;
	lane.rows = Array.from(sizes, (size) => new Uint32Array(size || 0));
	sizes.fill(0);
	lane.depth.forEach((depth, box) => {
		lane.rows[depth][sizes[depth]++] = box;
	});
	return lane;
}

function makeLane(count, more) {
	return { begin: new Float64Array(count), end: new Float64Array(count), self: new Float64Array(count),
		 text: new Uint32Array(count), depth: new Uint32Array(count), marks: [], ...more };
}

function readThread(thread) {
	const bytes = atob(thread.data), count = thread.slices;
	const title = thread.tid >= data.ids ? thread.name : `${thread.name} (process ${thread.pid}, thread ${thread.tid})`;
	const shown = count || !thread.marks ? plural(count, "slice") : plural(thread.marks, "mark");
	const lane = makeLane(count, { title: `${title}: ${shown}`, pid: thread.pid, folded: new Map(),
		symbol: new Uint32Array(count), bits: new Uint8Array(count),
		insns: new Float64Array(count), cycles: new Float64Array(count) });
	const inside = []; /* by depth: the time of slices there, whose caller is still to come */
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
		const first = number(), bits = first % 256, depth = (first - bits) / 256;

		now += number();
		if (bits & MARK) {
			lane.marks.push({ time: now, text: number() });
			continue;
		}
		lane.bits[i] = bits;
		lane.depth[i] = depth;
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
		lane.self[i] = now - lane.begin[i] - (inside[depth + 1] || 0) - (lane.folded.get(i)?.time || 0);
		inside[depth + 1] = 0;
		inside[depth] = (inside[depth] || 0) + now - lane.begin[i];
		i++;
	}
	thread.data = null;
	return makeRows(lane);
}

function describeSlice(lane, i) {
	const [, file, object, line] = data.symbols[lane.symbol[i]], bits = lane.bits[i];
	const lines = [texts[lane.text[i]]], folded = lane.folded.get(i), places = [];
	const insns = lane.insns[i], cycles = lane.cycles[i];

	lines.push(`${time(lane.end[i] - lane.begin[i])}${nouns[data.axis]}, self ${time(lane.self[i])}, ` +
		   `from ${time(lane.begin[i])}, at ${clock(lane.begin[i])}`);
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
				   [TAIL_CALL, "by a tail call"],
				   [ESTIMATED, "its times are estimates"]])
		if (bits & bit)
			lines.push(text);
	return lines.join("\n");
}

/* A counter of a thread has its id, any other the name of its track; ids from `data.ids` are made up. */
function readCounter({ process, pid, tid, track, begin, name, unit, points }) {
	const owner = [name, track === name ? "" : track, tid >= data.ids ? "" : tid].filter((word) => word).join(" ");
	const group = pid >= data.ids ? "" : ` (${process} ${pid})`;
	const times = points.filter((_, i) => i % 2 === 0), values = points.filter((_, i) => i % 2);

	times[0] = begin;
	for (let i = 1; i < times.length; i++)
		times[i] += times[i - 1];
	const least = values.reduce((a, b) => Math.min(a, b), 0), most = values.reduce((a, b) => Math.max(a, b), 0);
	return makeRows(makeLane(0, { title: `${owner}: ${unit}${group}, ${least.toLocaleString("en")} to ` +
		most.toLocaleString("en"), name: `${owner}: ${unit}`, pid, times, values, least, most }));
}

/* A process's threads, then its other tracks and counters.  The calls are seen first. */
function makeCalls() {
	const pids = new Map(), threads = data.threads.map(readThread), total = data.duration || 1;
	const ends = threads.flatMap(({ begin, end, rows: [row] }) =>
		row ? [begin[row[0]], end[end.length - 1]] : []);
	const lanes = [...threads, ...data.events.map(readThread), ...data.counters.map(readCounter)];
	for (const { pid } of lanes)
		pids.set(pid, pids.get(pid) ?? pids.size);
	lanes.sort((a, b) => pids.get(a.pid) - pids.get(b.pid));
	const sizes = lanes.map((lane) => lane.end.length).sort((a, b) => b - a);
	const least = sizes[Math.min(OPEN_LANES, sizes.length) - 1];

	for (const lane of lanes)
		lane.open = lane.values ? data.counters.length <= OPEN_LANES : lane.end.length >= least;
	return { lanes, total, begin: ends.length ? Math.min(...ends) : 0,
		 end: ends.length ? Math.max(...ends) : total, format: (at, step) => label(at, data.axis, step),
		 describe: describeSlice };
}

/* The larger stack of a caller is left of the smaller one: a box for each, outer ones first. */
function makeStacks() {
	const { stacks } = data, callees = [[], ...stacks.map(() => [])], order = [];
	const lane = makeLane(stacks.length, { open: true }), work = [[-1, 0, 0]];
	const total = stacks.reduce((sum, [caller, , weight]) => sum + (caller ? 0 : weight), 0);

	stacks.forEach(([caller], i) => callees[caller].push(i));
	while (work.length) {
		const [stack, begin, depth] = work.pop(), parts = [];
		let at = begin;
		for (const i of callees[stack + 1].sort((a, b) => stacks[b][2] - stacks[a][2])) {
			parts.push([i, at, depth + 1]);
			at += stacks[i][2];
		}
		work.push(...parts.reverse());
		if (stack < 0)
			continue;
		const box = order.push(stack) - 1, [, text, weight] = stacks[stack];

		[lane.begin[box], lane.end[box], lane.self[box]] = [begin, begin + weight, begin + weight - at];
		[lane.text[box], lane.depth[box]] = [text, depth - 1];
	}
	return { lanes: [makeRows(lane)], total: total || 1, begin: 0, end: total || 1, format: (at, step) => label(at, data.unit, step),
		 describe: (_, box) => {
		const [, text, weight, calls] = stacks[order[box]];

		return `${texts[text]}\n${amount(weight)}${nouns[data.unit]}, ` +
			`self ${amount(lane.self[box])}, ${(100 * weight / total).toFixed(2)}% of all, ` +
			(lane.depth[box] ? plural(calls, "call") : "a thread");
	} };
}
