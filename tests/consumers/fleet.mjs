// SPDX-License-Identifier: MIT
// fleet.mjs MODULES query FILE: run the statements of FILE in DuckDB, and print the rows of the last one, with tabs.
// fleet.mjs MODULES clickhouse FILE: print the rows of a statement in FILE by ClickHouse.
// fleet.mjs MODULES rows FILE COLUMN...: print columns of a Parquet file by hyparquet, another reader.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

const [modules, what, file, ...columns] = process.argv.slice(2);
const require = createRequire(modules + '/');

async function query() {
	const { DuckDBInstance } = require('@duckdb/node-api');
	const connection = await (await DuckDBInstance.create(':memory:')).connect();
	const result = await connection.runAndReadAll(readFileSync(file, 'utf8'));

	return result.getRows();
}

async function clickhouse() {
	const text = require('chdb').query(readFileSync(file, 'utf8'), 'TSVRaw').trim();

	return text.split('\n').map((line) => line.split('\t'));
}

async function rows() {
	const load = (path) => import(pathToFileURL(`${modules}/node_modules/${path}`));
	const { parquetReadObjects } = await load('hyparquet/src/index.js');
	const { compressors } = await load('hyparquet-compressors/src/index.js');
	const bytes = readFileSync(file);
	const buffer = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
	const found = await parquetReadObjects({ file: buffer, compressors });

	return found.map((row) => columns.map((column) => row[column]));
}

for (const row of await { query, clickhouse, rows }[what]())
	console.log(row.map(String).join('\t'));
