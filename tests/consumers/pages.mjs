// SPDX-License-Identifier: MIT
// node pages.mjs FOLDER: uses the pages calls.html and why.html in FOLDER as a reader does, by mouse, keys and fingers, and
// compares what they show with functions.json, slices and why.json.  Prints "STATUS SENTENCE" for each job.
import assert from 'assert/strict';
import fs from 'fs';
import path from 'path';
import { browse, tell } from './browser.mjs';

const folder = path.resolve(process.argv[2]);
const address = (name) => `file://${folder}/${name}`;
const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
const { functions } = JSON.parse(read('functions.json'));
const why = JSON.parse(read('why.json')).functions[0];
const slices = read('slices').trimEnd().split('\n').map((line) => {
	const [, thread, depth, begin, end, name] = line.match(/^(\S+) (\d+) (\d+) (\d+) (.*)$/);
	return { thread, depth: +depth, begin: +begin, end: +end, name };
});
const first = Math.min(...slices.map((one) => one.begin)), last = Math.max(...slices.map((one) => one.end));
const named = (name) => slices.filter((one) => one.name === name).sort((a, b) => a.begin - b.begin);
const request = named('request').reduce((a, b) => b.end - b.begin > a.end - a.begin ? b : a);

// Returns ns of a time as pages show it, and half of its last digit.
function readTime(text) {
	const [, number, unit] = text.match(/^([0-9.]+)(ns|us|ms|s)$/), size = { ns: 1, us: 1e3, ms: 1e6, s: 1e9 }[unit];

	return [number * size, size / 2000];
}

function assertTime(text, wanted) {
	const [ns, most] = readTime(text);

	assert(Math.abs(ns - wanted) <= most + 1e-6, `${text} is not ${wanted}ns`);
}

let page;
const count = (text) => Number(text.replace(/,/g, ''));
const shown = (id) => page.value(`document.getElementById('${id}').textContent`);
const rows = () => page.value(`[...document.querySelectorAll('#table tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`);
const range = () => page.value('[chart.begin, chart.end]');

async function tipAt(x, y) {
	await page.move(x, y);
	return page.value(`document.getElementById('tip').hidden ? '' : document.getElementById('tip').textContent`);
}

// Finds a slice below the pointer, from the top of the chart down.  Returns its place.
async function find(slice) {
	const { left, top, width, height } = await page.value(`(({ left, top, width, height }) => ({ left, top, width, height }))(canvas.getBoundingClientRect())`);
	const [from, to] = await range();
	const x = left + ((slice.begin + slice.end) / 2 - first - from) / (to - from) * width;

	for (let y = top + 4; y < top + height; y += 8)
		if ((await tipAt(x, y)).split('\n')[0] === slice.name)
			return { x, y, left, width };
	throw new Error(`${slice.name} is at no row`);
}

async function searchFor(text) {
	await page.key('/');
	await page.value(`document.getElementById('query').select()`);
	await page.key('Backspace');
	await page.type(text);
}

let makePage;
const errors = [];

async function open(name, options) {
	page = await makePage(options);
	page.errors = errors;
	await page.open(address(name));
}

const jobs = {
	async 'the table shows each function of --format=functions, with its numbers'() {
		await page.press('nav a', 'Functions');
		const table = await rows(), all = functions.reduce((sum, one) => sum + one.self_ns, 0);
		assert.deepEqual(table.map((row) => row[8]), functions.map((one) => one.function));
		table.forEach(([calls, total, self, share, ...times], i) => {
			const one = functions[i];
			assert.equal(count(calls), one.calls);
			[total, self, ...times.slice(0, 4)].forEach((text, at) =>
				assertTime(text, one[['total_ns', 'self_ns', 'min_ns', 'median_ns', 'p99_ns', 'max_ns'][at]]));
			assert(Math.abs(parseFloat(share) - 100 * one.self_ns / all) <= 0.05 + 1e-9, `${share} of ${one.function}`);
		});
	},
	async 'a click on a title sorts the table'() {
		await page.press('nav a', 'Functions');
		for (const [title, key] of [['calls', 'calls'], ['max', 'max_ns'], ['total', 'total_ns']]) {
			await page.press('th button', title);
			const order = (await rows()).map((row) => functions.find((one) => one.function === row[8])[key]);
			assert.deepEqual(order, functions.map((one) => one[key]).sort((a, b) => b - a));
		}
		await page.press('th button', 'function');
		assert.deepEqual((await rows()).map((row) => row[8]), functions.map((one) => one.function).sort());
	},
	async 'a search leaves the functions with that name in any case'() {
		await page.press('nav a', 'Functions');
		await searchFor('LOCK');
		const wanted = functions.map((one) => one.function).filter((name) => name.includes('lock')).sort();
		assert.deepEqual((await rows()).map((row) => row[8]).sort(), wanted);
		assert(wanted.length > 3 && wanted.length < functions.length / 2);
	},
	// `main` is in `__libc_start_main_impl`, which begins earlier.
	async 'Enter goes to a slice of the whole name first'() {
		await searchFor('main');
		const all = slices.filter((one) => one.name.toLowerCase().includes('main')).length;
		assert(all > 1);
		assert.equal(await shown('found'), `${all} found`);
		await page.key('Enter');
		assert.equal(await shown('found'), `1 of ${all} found`);
		assert.equal((await shown('details')).split('\n')[0], 'main');
		await page.key('Enter', 'shift');
		assert.equal(await shown('found'), `${all} of ${all} found`);
	},
	// Above all where the name is a part of others.
	async 'a row of the table chooses the first call of exactly its function'() {
		const parts = functions.filter((one) => functions.some((other) => other !== one && other.function.includes(one.function)));
		assert(parts.some((one) => one.function === 'main'));
		for (const { function: name, calls } of [...parts.slice(0, 12), ...functions.slice(0, 6)]) {
			await page.press('nav a', 'Functions');
			await page.press('td button', name);
			const [title, times] = (await shown('details')).split('\n'), [one] = named(name);
			assert.equal(await shown('found'), `1 of ${calls.toLocaleString('en')} found`, name);
			assert.equal(title, name);
			assertTime(times.match(/^[^,]*/)[0], one.end - one.begin);
			assert(times.endsWith(` at ${Math.floor(one.begin / 1e9)}.${String(one.begin % 1e9).padStart(9, '0')} s`), times);
			await searchFor('');
		}
	},
	async 'the pointer reads a slice, a click chooses it, the address links to it'() {
		const { x, y } = await find(request), tip = await tipAt(x, y);
		assertTime(tip.split('\n')[1].match(/^[^,]*/)[0], request.end - request.begin);
		assert.equal(request.end - request.begin, functions.find((one) => one.function === 'request').max_ns);
		await page.click(x, y);
		assert.equal(await shown('details'), tip);
		const link = await page.value('location.hash');
		await open(`calls.html${link}`);
		assert.equal(await shown('details'), tip);
	},
	async 'a double click shows a slice from edge to edge'() {
		const { x, y, left, width } = await find(request);
		await page.click(x, y, 2);
		for (const at of [left + 2, left + width - 2])
			assert.equal((await tipAt(at, y)).split('\n')[0], 'request');
		const [begin, end] = await range();
		assert(Math.abs(end - begin - (request.end - request.begin)) < 1, [begin, end]);
	},
	async 'Shift and a drag measure a time'() {
		const before = await range();
		await page.drag(300, 600, 300, 'shift');
		const [from, to] = await page.value('measured'), unit = (before[1] - before[0]) / 1200;
		assert(Math.abs(to - from - 300 * unit) < 1e-6 * unit && Math.abs(from - before[0] - 300 * unit) < 1e-6 * unit);
		assert.deepEqual(await range(), before);
	},
	async 'a drag moves, Ctrl and the wheel zoom around the pointer'() {
		await page.wheel(600, 300, -800, 'ctrl');
		const [begin, end] = await range(), unit = (end - begin) / 1200;
		await page.drag(400, 300, 300);
		const [moved] = await range();
		assert(Math.abs(moved - begin - 100 * unit) < 0.01 * unit);
		await page.wheel(600, 300, -200, 'ctrl');
		const [left, right] = await range();
		assert(right - left < 0.9 * (end - begin));
		assert(Math.abs(left + (right - left) / 2 - moved - 600 * unit) < 0.01 * unit);
	},
	async 'keys move and zoom, 0 shows everything'() {
		const size = async () => { const [begin, end] = await range(); return end - begin; };
		const before = await size();
		await page.key('w');
		await page.key('w');
		const near = await size();
		assert(near < 0.7 * before);
		await page.key('s');
		assert(await size() > near && await size() < before);
		const [begin] = await range();
		await page.key('d');
		const [right] = await range();
		await page.key('ArrowLeft');
		const [left] = await range();
		assert(right > begin && left < right, [begin, right, left]);
		await page.key('0');
		const [from, to] = await range(); /* to the last switch of a CPU */
		assert(from === 0 && to >= last - first && to < 1.1 * (last - first), [from, to]);
	},
	async 'a click on the name of a thread folds it, another unfolds it'() {
		const { x, y } = await find(request), head = 10 + await page.value('canvas.getBoundingClientRect().top + AXIS');
		await page.click(20, head);
		assert.notEqual((await tipAt(x, y)).split('\n')[0], 'request');
		await page.click(20, head);
		assert.equal((await tipAt(x, y)).split('\n')[0], 'request');
	},
	async 'the flame graph has the time of all calls of a function'() {
		await page.press('nav a', 'Flame graph');
		const { left, top, height } = await page.value('(({ left, top, height }) => ({ left, top, height }))(canvas.getBoundingClientRect())');
		const tips = [];
		for (let y = top + 4; y < top + height; y += 8)
			tips.push(await tipAt(left + 2, y));
		const [, line] = tips.find((tip) => tip.startsWith('request\n')).split('\n'), one = functions.find(({ function: name }) => name === 'request');
		assertTime(line.match(/^[^,]*/)[0], one.total_ns);
		assertTime(line.match(/self ([^,]*)/)[1], one.self_ns);
		assert.equal(line.match(/([0-9,]+) calls$/)[1], one.calls.toLocaleString('en'));
	},
	async 'it fits a phone: a finger moves, two zoom, a tap chooses'() {
		await open('calls.html', { width: 390, height: 844, touch: true });
		assert.deepEqual(await page.value('[document.documentElement.scrollWidth, visualViewport.scale]'), [390, 1]);
		const [begin, end] = await range(), { x, y } = await find(request);
		await page.touch([[x, y]]);
		assert.equal((await shown('details')).split('\n')[0], 'request');
		await page.touch([[150, y], [250, y]], [[100, y], [300, y]]);
		const [left, right] = await range(), unit = (right - left) / 390;
		assert(Math.abs((right - left) / (end - begin) - 0.5) < 0.01, [left, right]);
		await page.touch([[200, y]], [[180, y]], [[100, y]]);
		const [moved] = await range();
		assert(Math.abs(moved - left - 100 * unit) < 25 * unit, [left, moved, unit]);
		assert.equal((await shown('details')).split('\n')[0], 'request');
	},
	async 'why: the page has the numbers of why --json, and links to the other thread'() {
		const text = await page.value('document.body.innerText'), [slowest] = why.clusters;
		assert(text.includes(`${why.clusters.reduce((sum, one) => sum + one.calls, 0)} of ${why.calls} calls of request took `), text.slice(0, 300));
		for (const { words, calls, extra } of why.clusters) {
			const row = await page.value(`[...document.querySelectorAll('tr')].map((row) => row.innerText).find((text) => text.includes(${JSON.stringify(words)}))`);
			const [number, time] = row.trim().split(/\s+/);
			assert.equal(+number, calls);
			assertTime(time, extra);
		}
		assertTime(text.match(/The slowest call: (\S+)/)[1], slowest.slowest.duration_ns);
		await page.press('td a');
		const seen = await page.value(`(({ top }) => top >= 0 && top < innerHeight)(document.querySelector(location.hash).getBoundingClientRect())`);
		assert(seen);
		assert((await page.value('document.querySelector(location.hash).innerText')).startsWith('waited for causes/1002'));
	},
	async 'why: the chart of the slowest call has its callees, as wide as they took time'() {
		const sums = new Map(), path = [];
		for (const one of slices.filter(({ thread, depth, begin, end }) => thread === request.thread && depth >= request.depth &&
			begin >= request.begin && end <= request.end).sort((a, b) => a.begin - b.begin || a.depth - b.depth)) {
			path.splice(one.depth - request.depth, path.length, one.name);
			sums.set(path.join('\0'), (sums.get(path.join('\0')) || 0) + one.end - one.begin);
		}
		const boxes = await page.value(`[...document.querySelector('svg.icicle').querySelectorAll('g')].map((box) =>
			[box.querySelector('title').textContent, box.querySelector('rect').getBoundingClientRect().width])`);
		const calls = [...sums].map(([names, ns]) => ({ name: names.split('\0').pop(), ns })), all = request.end - request.begin;
		for (const [title, width] of boxes) {
			const [, name, time] = title.match(/^(.*): (\S+), usually \S+$/), [ns, most] = readTime(time);
			const at = calls.findIndex((one) => one.name === name && Math.abs(one.ns - ns) <= most);
			assert(at >= 0, title);
			assert(Math.abs(width / boxes[0][1] - calls[at].ns / all) < 0.001, `${title}: ${width} of ${boxes[0][1]}`);
			calls.splice(at, 1);
		}
		assert.deepEqual(calls.filter(({ ns }) => ns > all / 100), []);
	},
};

await browse(async (newPage) => {
	makePage = newPage;
	for (const [sentence, job] of Object.entries(jobs)) {
		await tell(sentence, async () => {
			await open(sentence.startsWith('why:') ? 'why.html' : 'calls.html');
			await job();
		});
		// PICTURES: a folder for what a job saw last.
		if (process.env.PICTURES)
			await page.picture(path.join(process.env.PICTURES, `${sentence.replace(/\W+/g, '-').slice(0, 40)}.png`));
		await page.close();
	}
	await tell('the console of no page has an error', () => assert.deepEqual(errors, []));
});
