// SPDX-License-Identifier: MIT
// node speedscope.js FOLDER FILE: what speedscope of npm (in FOLDER) reads in a file: a line for each
// profile, "NAME CALLS DEPTH WEIGHT".  Its importer is no module: it is found in the page's script by
// what it prints, and called among stand-ins for the browser.  Status 77: it is not found.
const fs = require('fs'), path = require('path'), vm = require('vm');
const [folder, file] = process.argv.slice(2);
const release = path.join(folder, 'node_modules/speedscope/dist/release');
const script = fs.readdirSync(release).find((name) => /^speedscope-.*\.js$/.test(name));
const source = script ? fs.readFileSync(path.join(release, script), 'utf8') : '';
const importer = /async function ([\w$]+)\([\w$]+\)\{(?:(?!async function)[^])*?Importing as protobuf encoded pprof/.exec(source);
const start = source.indexOf('{') + 1;
if (!importer || !start) {
	console.error('speedscope: no importer found in ' + release);
	process.exit(77);
}
const anything = new Proxy(function () {}, {
	get: (target, key) => key === Symbol.toPrimitive ? () => '' : key === Symbol.iterator ? function* () {} : anything,
	apply: () => anything,
	construct: () => anything,
	set: () => true,
});
const warnings = [];
const world = {
	console: { log() {}, warn: (text) => warnings.push(text), error() {} },
	TextDecoder, TextEncoder, URL, performance, setTimeout, clearTimeout, Promise, URLSearchParams,
	document: anything, window: anything, navigator: anything, location: anything, localStorage: anything,
	HTMLElement: function () {}, FileReader: anything, requestAnimationFrame: anything, fetch: anything,
};
world.self = world;
vm.createContext(world);
try {
	vm.runInContext(source.slice(0, start) + 'globalThis.importFile=' + importer[1] + ';' + source.slice(start), world);
} catch (error) {
	// The page itself cannot run here.
}
const bytes = fs.readFileSync(file);
const text = bytes.toString();
world.importFile({
	name: async () => path.basename(file),
	readAsArrayBuffer: async () => bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength),
	readAsText: async () => ({ parseAsJSON: () => JSON.parse(text), firstChunk: () => text, splitLines: () => text.split('\n'), splitLinesAsIterator: () => text.split('\n') }),
}).then((group) => {
	for (const profile of group.profiles) {
		let calls = 0, depth = 0, deepest = 0;
		profile.forEachCall(() => {
			calls++;
			deepest = Math.max(deepest, ++depth);
		}, () => depth--);
		console.log(profile.getName(), calls, deepest, Math.round(profile.getTotalWeight()));
	}
	for (const text of warnings.slice(0, 3))
		console.log('warning: ' + text);
}).catch((error) => {
	console.log('' + error.stack);
	process.exit(1);
});
