// SPDX-License-Identifier: MIT
// node perfetto.mjs PAGE PROGRAM RECORDING: `ptrace2ftf open` shows a recording in Perfetto's user interface, which is in the folder
// PAGE; compares what it shows with the files slices (of ftfdump) and functions.json.  Prints "STATUS SENTENCE" for each job.
// PICTURE: a file for the picture of the slowest request.
import assert from 'assert/strict';
import fs from 'fs';
import http from 'http';
import path from 'path';
import { spawn } from 'child_process';
import { browse, tell } from './browser.mjs';

const [folder, program, recording] = process.argv.slice(2);
const TYPES = { html: 'text/html', css: 'text/css', js: 'application/javascript', wasm: 'application/wasm', json: 'application/json' };
const { functions } = JSON.parse(fs.readFileSync('functions.json'));
const slices = fs.readFileSync('slices', 'utf8').trimEnd().split('\n').map((line) => {
	const [, pid, tid, depth, begin, end, name, args] = line.match(/^(\d+)\/(\d+) (\d+) (\d+) (\d+) (.*?)((?: \w+=\S+)*)$/);
	return { pid: +pid, tid: +tid, depth: +depth, begin: +begin, end: +end, name, args: args.trim() };
});
const requests = slices.filter((one) => one.name === 'request');
const slowest = requests.reduce((a, b) => b.end - b.begin > a.end - a.begin ? b : a);

const server = http.createServer((request, response) => {
	const name = path.join(folder, request.url.split('?')[0].replace(/\/$/, '/index.html'));

	response.setHeader('Content-Type', TYPES[name.split('.').pop()] || 'application/octet-stream');
	response.statusCode = fs.existsSync(name) ? 200 : 404;
	response.end(fs.existsSync(name) ? fs.readFileSync(name) : '');
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const home = `http://127.0.0.1:${server.address().port}`;

const errors = [];
let page, newPage;

async function idle() {
	await page.until('self.app?.trace && !app.isLoadingTrace');
	await page.value('waitForPerfettoIdle()');
}

// Opens a recording as a user does, but for the browser, which gets the printed address.  ?testing: no analytics.
async function open(...words) {
	const child = spawn(program, ['open', '-q', `--ui=${home}/?testing=1`, ...words, recording],
		{ stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, BROWSER: 'true %s' } });
	const ended = new Promise((done) => child.once('close', done));
	let text = '';
	const address = await new Promise((done, failed) => {
		const see = (bytes) => {
			text += bytes;
			if (/(http:\S+)\n/.test(text))
				done(text.match(/(http:\S+)\n/)[1]);
		};
		child.stdout.on('data', see);
		child.stderr.on('data', see);
		ended.then(() => failed(new Error(text)));
	});

	await page?.close();
	page = await newPage({ width: 1400, height: 900 });
	page.errors = errors;
	await page.call('Page.addScriptToEvaluateOnNewDocument', { source: `for (const name of ['cookieAck', 'dismissedPanningHint'])
		localStorage.setItem(name, 'true');` });
	await page.open(address);
	await idle();
	return ended;
}

// The rectangle of a thread's slices: the last track of its name, as the first one has its states.
function track(tid, part = '') {
	return page.value(`(({ left, top, width, height }) => ({ left, top, width, height }))(
		[...document.querySelectorAll('.pf-track')].filter((one) => / ${tid}$/.test(one.getAttribute('ref'))).pop()
			.querySelector('.pf-track__${part}').getBoundingClientRect())`);
}

const names = () => page.value(`[...document.querySelectorAll('.pf-track')].map((one) => one.getAttribute('ref').split('/').pop())`);
const visible = () => page.value(`[app.trace.timeline.visibleWindow.start, app.trace.timeline.visibleWindow.end].map((time) => time.toNumber())`);
const lines = () => page.value(`document.querySelector('.pf-details-shell').innerText.split('\\n')`);

// Chooses a slice by clicks below each other, at its middle.
async function clickOn(slice) {
	const { left, top, width, height } = await track(slice.tid, 'canvas'), [from, to] = await visible();
	const x = left + ((slice.begin + slice.end) / 2 - from) / (to - from) * width;

	for (let y = top + 9; y < top + height; y += 18) {
		await page.click(x, y);
		await idle();
		const shown = await lines();
		if (shown[shown.indexOf('Name') + 1] === slice.name)
			return shown;
	}
	throw new Error(`${slice.name} is at no row`);
}

const UNITS = { ns: 1, us: 1e3, '\u00b5s': 1e3, '\u03bcs': 1e3, ms: 1e6, s: 1e9 };

// Returns ns of "96us 926ns".
const readTime = (text) => text.split(' ').map((part) => part.match(/^(\d+)(\D+)$/)).reduce((sum, [, number, unit]) =>
	sum + number * UNITS[unit], 0);

// Returns ns of "461.5us", and half of its last digit.
function readShort(text) {
	const [, number, unit] = text.match(/^([\d.]+)(\D+)$/), digits = (number.split('.')[1] || '').length;

	return [number * UNITS[unit], UNITS[unit] / 10 ** digits / 2 + 1e-6];
}

const jobs = {
	async 'the page reads the trace without errors'() {
		assert.equal(await open(), 0);
		assert.equal(await page.value('app.trace.traceInfo.importErrors'), 0);
	},
	async 'it has the slices of ftfdump'() {
		const sql = `select printf('%d %d %d %d %s', tid, depth, ts, ts + dur, slice.name) as line
			from slice join thread_track on track_id = thread_track.id join thread using (utid)`;
		const got = await page.value(`app.trace.engine.query(${JSON.stringify(sql)}).then((answer) => {
			const all = [];
			for (const row = answer.iter({ line: 'str' }); row.valid(); row.next())
				all.push(row.line);
			return all;
		})`);
		assert.deepEqual(got.sort(), slices.map((one) => `${one.tid} ${one.depth} ${one.begin} ${one.end} ${one.name}`).sort());
	},
	async 'the threads are unfolded; a click folds them, another unfolds them'() {
		const threads = async () => (await names()).filter((name) => /^causes 100[12]$/.test(name)).length;
		assert.equal(await threads(), 5);
		const [x, y] = await page.place('.pf-track__title', 'causes 1001');
		await page.click(x, y);
		await idle();
		assert.equal(await threads(), 1);
		await page.click(x, y);
		await idle();
		assert.equal(await threads(), 5);
	},
	async 'a click shows name, begin, length, thread and arguments of a slice'() {
		const shown = await clickOn(slowest), after = (title) => shown[shown.indexOf(title) + 1];
		assert.equal(readTime(after('Duration')), slowest.end - slowest.begin);
		const [, seconds, ns] = after('Start time').match(/^00:00:(\d\d)\.(\d{9})$/);
		assert.equal(Number(await page.value('String(app.trace.traceInfo.start)')) + seconds * 1e9 + +ns, slowest.begin);
		assert.equal(after('Thread'), `causes [${slowest.tid}]`);
		assert.equal(after('Process'), `causes [${slowest.pid}]`);
		const [, name, value] = slowest.args.match(/^(\w+)=(\S+)$/);
		assert(after('Arguments').startsWith(name));
		assert.equal(shown[shown.indexOf(after('Arguments')) + 1], value);
	},
	async 'F shows the selected slice'() {
		await page.key('f');
		await idle();
		const [from, to] = await visible();
		assert(from <= slowest.begin && to >= slowest.end && to - from < 3 * (slowest.end - slowest.begin), [from, to]);
	},
	async 'a search finds all slices of a function'() {
		await page.press('input[ref=omnibox]');
		await page.type('request');
		await idle();
		await page.key('Enter');
		await idle();
		const [, at, all] = (await page.value(`document.querySelector('.pf-omnibox').innerText`)).match(/(\d+) \/ (\d+)/);
		const shown = await lines(), one = requests.sort((a, b) => a.begin - b.begin)[at - 1];
		assert.equal(+all, requests.length);
		assert.equal(readTime(shown[shown.indexOf('Duration') + 1]), one.end - one.begin);
	},
	async 'the table of all slices has calls and times of --format=functions'() {
		await page.key('Escape');
		await page.value(`document.activeElement.blur()`);
		await page.value(`app.commands.runCommand('dev.perfetto.SelectAll')`);
		await idle();
		await page.press('.pf-details-shell button', 'Slices');
		await idle();
		const rows = await page.value(`[...document.querySelectorAll('.pf-details-shell .pf-grid__row')].map((row) =>
			[...row.querySelectorAll('.pf-grid-cell__content')].map((cell) => cell.textContent))`);
		const table = rows.filter(([name]) => functions.some((one) => one.function === name));
		assert(table.length > 20, table.join('\n'));
		for (const [name, count, wall, self] of table) {
			const one = functions.find((other) => other.function === name);
			assert.equal(+count, one.calls, name);
			for (const [text, ns] of [[wall, one.total_ns], [self, one.self_ns]]) {
				const [time, most] = readShort(text);
				assert(Math.abs(time - ns) <= most, `${name}: ${text} is not ${ns}ns`);
			}
		}
	},
	async '--tid pins threads, --time is what is visible'() {
		const part = [slowest.begin - 1000, slowest.end + 1000];
		assert.equal(await open('--tid=1001,1002', `--time=${part.map((ns) => `${Math.floor(ns / 1e9)}.${String(ns % 1e9).padStart(9, '0')}`)}`), 0);
		const [from, to] = await visible();
		assert(from >= part[0] && from <= slowest.begin && to >= slowest.end && to <= part[1], [from, to]);
		// Perfetto 55 to 57 pins the thread's group, which is empty (github.com/google/perfetto/issues/6253).
		const pinned = await page.value('app.trace.currentWorkspace.pinnedTracks.map((one) => one.name)');
		assert.deepEqual([...new Set(pinned)].sort(), ['causes 1001', 'causes 1002']);
	},
};

// The slowest request, from edge to edge, beside the other thread.
async function takePicture(file) {
	await open();
	await page.call('Emulation.setDeviceMetricsOverride', { width: 1200, height: 1000, deviceScaleFactor: 1, mobile: false });
	await page.value(`app.commands.runCommand('dev.perfetto.ToggleLeftSidebar')`);
	await idle();
	await clickOn(slowest);
	await page.key('f');
	await idle();
	// Past the tracks of CPUs.
	await page.wheel(700, 400, 96);
	await page.move(5, 5);
	await idle();
	await page.picture(file);
}

await browse(async (make) => {
	newPage = make;
	for (const [sentence, job] of Object.entries(jobs))
		await tell(sentence, job);
	if (process.env.PICTURE)
		await tell('the picture is taken', () => takePicture(process.env.PICTURE));
	// Other hosts are not reached, and `ptrace2ftf open` is no trace_processor.
	const known = /^Failed to load resource: .* (https:|http:..127\.0\.0\.1:9001\/status)/;
	await tell('the console has no error', () => assert.deepEqual(errors.filter((one) => !known.test(one)), []));
});
server.close();
