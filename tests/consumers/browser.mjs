// SPDX-License-Identifier: MIT
// Drives Chromium by the DevTools protocol, through pipes: messages of JSON, each with a 0 behind it.
import { spawn } from 'child_process';
import fs from 'fs';
import os from 'os';
import path from 'path';

const UNTIL_MS = 120000;
const KEYS = { Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Escape: 27, Backspace: 8 };
const MODIFIERS = { alt: 1, ctrl: 2, meta: 4, shift: 8 };

// A page of the browser.  `errors` has what its console said as an error, and exceptions.
class Page {
	errors = [];

	constructor(call) {
		this.call = call;
	}

	noteEvent(method, params) {
		if (method === 'Runtime.exceptionThrown')
			this.errors.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
		else if (method === 'Runtime.consoleAPICalled' && ['error', 'assert'].includes(params.type))
			this.errors.push(params.args.map((one) => one.description ?? one.value).join(' '));
		else if (method === 'Log.entryAdded' && params.entry.level === 'error')
			this.errors.push(`${params.entry.text} ${params.entry.url || ''}`);
	}

	// Returns the value of an expression in the page.
	async value(expression) {
		const { result, exceptionDetails } = await this.call('Runtime.evaluate',
			{ expression, awaitPromise: true, returnByValue: true });
		if (exceptionDetails)
			throw new Error(`${expression}: ${exceptionDetails.exception?.description || exceptionDetails.text}`);
		return result.value;
	}

	// Waits for an expression to be true, frame after frame, and returns its value.
	until(expression) {
		return this.value(`new Promise((done, failed) => {
			const begin = performance.now(), look = () => {
				let value;
				try { value = (${expression}); } catch (error) { return failed(error); }
				if (value) return done(value);
				if (performance.now() - begin > ${UNTIL_MS}) return failed(new Error('never true'));
				setTimeout(look, 16);
			};
			look();
		})`);
	}

	frame() {
		return this.value('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))');
	}

	async open(url) {
		await this.call('Page.navigate', { url });
		await this.until('location.href !== "about:blank" && document.readyState === "complete"');
		await this.frame();
	}

	// `held`: "shift", "ctrl".
	async mouse(type, x, y, held, more) {
		await this.call('Input.dispatchMouseEvent', { type, x, y, modifiers: MODIFIERS[held] || 0, button: 'none', ...more });
	}

	move(x, y) {
		return this.mouse('mouseMoved', x, y);
	}

	async click(x, y, count = 1) {
		await this.mouse('mouseMoved', x, y);
		for (let i = 1; i <= count; i++)
			for (const type of ['mousePressed', 'mouseReleased'])
				await this.mouse(type, x, y, '', { button: 'left', clickCount: i });
		await this.frame();
	}

	async drag(from, to, y, held) {
		await this.mouse('mouseMoved', from, y, held);
		await this.mouse('mousePressed', from, y, held, { button: 'left', buttons: 1, clickCount: 1 });
		for (const x of [(from + to) / 2, to])
			await this.mouse('mouseMoved', x, y, held, { button: 'left', buttons: 1 });
		await this.mouse('mouseReleased', to, y, held, { button: 'left', clickCount: 1 });
		await this.frame();
	}

	async wheel(x, y, down, held) {
		await this.mouse('mouseWheel', x, y, held, { deltaX: 0, deltaY: down });
		await this.frame();
	}

	// Fingers: lists of places, each a step of all fingers.
	async touch(...steps) {
		const points = (places) => ({ touchPoints: places.map(([x, y], id) => ({ x, y, id })) });
		for (const [i, places] of steps.entries())
			await this.call('Input.dispatchTouchEvent', { type: i ? 'touchMove' : 'touchStart', ...points(places) });
		await this.call('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
		await this.frame();
	}

	async key(key, held) {
		const text = key === 'Enter' ? '\r' : key.length === 1 ? key : undefined;
		const code = { key, modifiers: MODIFIERS[held] || 0, windowsVirtualKeyCode: KEYS[key] || key.toUpperCase().charCodeAt(0) };

		await this.call('Input.dispatchKeyEvent', { type: 'keyDown', text, ...code });
		await this.call('Input.dispatchKeyEvent', { type: 'keyUp', ...code });
		await this.frame();
	}

	async type(text) {
		await this.call('Input.insertText', { text });
		await this.frame();
	}

	// Returns the middle of the first element, inside of the window.
	async place(selector, text) {
		return this.value(`(() => {
			const one = [...document.querySelectorAll(${JSON.stringify(selector)})].find((one) =>
				${text === undefined} || one.textContent.trim() === ${JSON.stringify(text ?? '')});
			if (!one) throw new Error('not in the page');
			one.scrollIntoView({ block: 'center' });
			const box = one.getBoundingClientRect();
			return [box.left + box.width / 2, box.top + box.height / 2];
		})()`);
	}

	async press(selector, text) {
		await this.click(...await this.place(selector, text));
	}

	close() {
		return this.call('Page.close');
	}

	async picture(file, format = 'png') {
		const { data } = await this.call('Page.captureScreenshot', { format, quality: format === 'png' ? undefined : 80 });
		fs.writeFileSync(file, Buffer.from(data, 'base64'));
	}
}

// Does a job, and prints "STATUS SENTENCE", with the reason of a failure.
export async function tell(sentence, job) {
	let wrong = [];

	try {
		await job();
	} catch (error) {
		wrong = error.stack.split('\n');
	}
	console.log(wrong.length ? 1 : 0, sentence);
	wrong.forEach((line) => console.log('#', line));
}

// Calls job(newPage), where newPage({ width, height, touch }) makes a page, and ends the browser.
export async function browse(job) {
	const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'browser-'));
	const browser = spawn(process.env.CHROMIUM || 'chromium', ['--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
		'--disable-background-networking', '--force-device-scale-factor=1', '--hide-scrollbars', `--user-data-dir=${folder}`, '--remote-debugging-pipe', 'about:blank'],
		{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
	const [, , , input, output] = browser.stdio, waiting = new Map(), pages = new Map();
	const ended = new Promise((done) => browser.once('close', done));
	let last = 0, rest = Buffer.alloc(0);

	const fail = () => {
		for (const { failed } of waiting.values())
			failed(new Error('the browser ended'));
		waiting.clear();
	};
	browser.once('error', fail);
	browser.once('close', fail);
	input.on('error', fail);
	output.on('data', (bytes) => {
		rest = Buffer.concat([rest, bytes]);
		for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
			const { id, method, params, result, error, sessionId } = JSON.parse(rest.subarray(0, end));
			const { done, failed } = waiting.get(id) || {};

			if (method)
				pages.get(sessionId)?.noteEvent(method, params);
			else if (error)
				failed?.(new Error(error.message));
			else
				done?.(result);
			waiting.delete(id);
		}
	});
	const call = (sessionId, method, params = {}) => new Promise((done, failed) => {
		waiting.set(++last, { done, failed });
		input.write(`${JSON.stringify({ id: last, method, params, sessionId })}\0`);
	});
	const newPage = async ({ width = 1200, height = 800, touch = false } = {}) => {
		const { targetId } = await call(undefined, 'Target.createTarget', { url: 'about:blank' });
		const { sessionId } = await call(undefined, 'Target.attachToTarget', { targetId, flatten: true });
		const page = new Page((method, params) => call(sessionId, method, params));

		pages.set(sessionId, page);
		for (const domain of ['Page', 'Runtime', 'Log'])
			await page.call(`${domain}.enable`);
		await page.call('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: touch });
		await page.call('Emulation.setTouchEmulationEnabled', { enabled: touch, maxTouchPoints: 2 });
		return page;
	};

	try {
		await job(newPage);
	} finally {
		browser.kill();
		await ended;
		fs.rmSync(folder, { recursive: true, force: true });
	}
}
