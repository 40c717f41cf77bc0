/* SPDX-License-Identifier: MIT */
/*
 * --format=sqlite: a database of all calls, in the tables that perf's export-to-sqlite.py makes
 * with "branches calls", for exported-sql-viewer.py and queries of one's own.
 *
 * Id 0 is of what is unknown, in each table; call path 1 is the root of all.  Times are ns of
 * perf's clock.  `samples` is empty: the format has no branches.  The database is made in memory,
 * as the sandbox opens no file for it.
 */

#include <sqlite3.h>

#include "base/io/output.h"
#include "src/formats/slice_list.h"
#include "src/slices/call_tree.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"

/* Bits of calls.flags: perf's tools/perf/util/thread-stack.h. */
#define NO_CALL   1
#define NO_RETURN 2

#define ROOT_PATH 1

static const char tables[] =
	"PRAGMA journal_mode = OFF; PRAGMA temp_store = MEMORY; BEGIN;"
	"CREATE TABLE selected_events (id INTEGER PRIMARY KEY, name);"
	"CREATE TABLE machines (id INTEGER PRIMARY KEY, pid INTEGER, root_dir);"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, machine_id, process_id, pid, tid);"
	"CREATE TABLE comms (id INTEGER PRIMARY KEY, comm, c_thread_id, c_time, exec_flag,"
	" has_calls);"
	"CREATE TABLE comm_threads (id INTEGER PRIMARY KEY, comm_id, thread_id);"
	"CREATE TABLE dsos (id INTEGER PRIMARY KEY, machine_id, short_name, long_name, build_id);"
	"CREATE TABLE symbols (id INTEGER PRIMARY KEY, dso_id, sym_start, sym_end, binding, name);"
	"CREATE TABLE branch_types (id INTEGER PRIMARY KEY, name);"
	"CREATE TABLE samples (id INTEGER PRIMARY KEY, evsel_id, machine_id, thread_id, comm_id,"
	" dso_id, symbol_id, sym_offset, ip, time, cpu, to_dso_id, to_symbol_id, to_sym_offset,"
	" to_ip, branch_type, in_tx, call_path_id, insn_count, cyc_count, flags);"
	"CREATE TABLE call_paths (id INTEGER PRIMARY KEY, parent_id, symbol_id, ip);"
	"CREATE TABLE calls (id INTEGER PRIMARY KEY, thread_id, comm_id, call_path_id, call_time,"
	" return_time, branch_count, call_id, return_id, parent_call_path_id, flags, parent_id,"
	" insn_count, cyc_count);"
	"INSERT INTO selected_events VALUES (0, 'unknown');"
	"INSERT INTO machines VALUES (0, 0, 'unknown'), (1, -1, '');"
	"INSERT INTO threads VALUES (0, 0, 0, -1, -1);"
	"INSERT INTO comms VALUES (0, 'unknown', 0, 0, 0, NULL);"
	"INSERT INTO dsos VALUES (0, 0, 'unknown', 'unknown', '');"
	"INSERT INTO symbols VALUES (0, 0, 0, 0, 0, 'unknown');"
	"INSERT INTO call_paths VALUES (0, 0, 0, 0), (1, 0, 0, 0);"
	"INSERT INTO calls VALUES (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);"
	"CREATE VIEW calls_view AS SELECT c.id, c.thread_id, t.pid, t.tid, m.comm AS command,"
	" c.call_path_id, printf('%x', p.ip) AS ip, p.symbol_id, s.name AS symbol, c.call_time,"
	" c.return_time, c.return_time - c.call_time AS elapsed_time, c.branch_count, c.insn_count,"
	" c.cyc_count, CASE WHEN c.cyc_count = 0 THEN 0.0"
	" ELSE round(c.insn_count * 1.0 / c.cyc_count, 2) END AS IPC, c.call_id, c.return_id,"
	" CASE c.flags WHEN 0 THEN '' WHEN 1 THEN 'no call' WHEN 2 THEN 'no return'"
	" WHEN 3 THEN 'no call/return' ELSE c.flags END AS flags, c.parent_call_path_id, c.parent_id"
	" FROM calls c JOIN call_paths p ON p.id = c.call_path_id JOIN symbols s ON s.id = p.symbol_id"
	" JOIN threads t ON t.id = c.thread_id JOIN comms m ON m.id = c.comm_id;";

/* Where parents are looked up in: what the viewer opens a level with. */
static const char indexes[] = "CREATE INDEX pcpid_idx ON calls (parent_call_path_id);"
			      "CREATE INDEX pid_idx ON calls (parent_id); COMMIT;";

/* Rows that are added, in the order of `inserts`. */
enum row { ROW_THREAD, ROW_COMM, ROW_COMM_THREAD, ROW_DSO, ROW_SYMBOL, ROW_PATH, ROW_CALL, ROWS };

static const char *const inserts[ROWS] = {
	"INSERT INTO threads VALUES (?, 1, ?, ?, ?)",
	"INSERT INTO comms (id, c_thread_id, comm, c_time, exec_flag, has_calls)"
	" VALUES (?, ?, ?, 0, 0, 1)",
	"INSERT INTO comm_threads VALUES (?, ?, ?)",
	"INSERT INTO dsos VALUES (?, 1, ?, ?, ?)",
	"INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?)",
	"INSERT INTO call_paths VALUES (?, ?, ?, 0)",
	"INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, 0, 0, 0, ?, ?, ?, ?, ?)",
};

struct sqlite_output {
	struct slice_list list; /* first */
	sqlite3 *database;
	sqlite3_stmt *rows[ROWS];
	int status;                           /* the first failure of SQLite; SQLITE_OK */
	struct function_table functions;      /* their ids are one more than the numbers */
	struct pair_table paths, dsos, comms; /* the same of dsos and comms; paths: two more */
	struct open_row {
		uint64_t call;
		uint32_t path;
	} * open; /* owned: by depth, the slices around the next one */
	size_t room;
	struct track *track;            /* of the last slice; NULL: none, and its ids: */
	uint32_t thread, process, comm; /* `process` is the process's first thread */
};

/* Keep the first failure. */
static void check(struct sqlite_output *sqlite, int status)
{
	if (sqlite->status == SQLITE_OK && status != SQLITE_DONE)
		sqlite->status = status;
}

/* Bind a text to a column, from 1 on; it must live until the row is added. */
static void bind_text(struct sqlite_output *sqlite, enum row row, int column,
		      const struct name *text)
{
	check(sqlite, sqlite3_bind_text(sqlite->rows[row], column, text ? text->text : "",
					text ? (int)text->length : 0, SQLITE_STATIC));
}

/* Add a row, whose first columns are the numbers. */
static void add_numbers(struct sqlite_output *sqlite, enum row row, const uint64_t *numbers,
			int count)
{
	sqlite3_stmt *statement = sqlite->rows[row];

	for (int i = 0; i < count; i++)
		check(sqlite, sqlite3_bind_int64(statement, i + 1, (sqlite3_int64)numbers[i]));
	check(sqlite, sqlite3_step(statement));
	check(sqlite, sqlite3_reset(statement));
}

#define ADD_ROW(sqlite, row, ...)                                                                  \
	add_numbers(sqlite, row, (const uint64_t[]){ __VA_ARGS__ },                                \
		    (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)))

/* Threads come sorted by pid and tid.  Those of a process with one name have one comm. */
static void begin_thread(struct sqlite_output *sqlite, struct track *track)
{
	const char *text = track->thread_name ? track->thread_name : track->ids;
	const struct name *name = name_intern_text(sqlite->list.sites.names, text);
	size_t known = sqlite->comms.count;

	sqlite->thread++;
	if (!sqlite->track || sqlite->track->pid != track->pid)
		sqlite->process = sqlite->thread;
	sqlite->track = track;
	ADD_ROW(sqlite, ROW_THREAD, sqlite->thread, sqlite->process, (uint64_t)track->pid,
		(uint64_t)track->tid);
	sqlite->comm = 1 + pair_table_find(&sqlite->comms, sqlite->process, name->id);
	if (sqlite->comms.count > known) {
		bind_text(sqlite, ROW_COMM, 3, name);
		ADD_ROW(sqlite, ROW_COMM, sqlite->comm, sqlite->process);
	}
	ADD_ROW(sqlite, ROW_COMM_THREAD, sqlite->thread, sqlite->comm, sqlite->thread);
}

/* Returns the id of a file; 0: NULL. */
static uint32_t dso_id(struct sqlite_output *sqlite, const struct dso *dso)
{
	size_t known = sqlite->dsos.count;
	const struct name *path, *build_id;
	uint32_t id;

	if (!dso)
		return 0;
	id = 1 + pair_table_find_pointer(&sqlite->dsos, dso);
	if (sqlite->dsos.count > known) {
		dso_names_shown(dso, &path, &build_id);
		bind_text(sqlite, ROW_DSO, 2, dso_short_name(dso));
		bind_text(sqlite, ROW_DSO, 3, path);
		bind_text(sqlite, ROW_DSO, 4, build_id);
		ADD_ROW(sqlite, ROW_DSO, id);
	}
	return id;
}

/* perf's bindings: STB_LOCAL, STB_GLOBAL, STB_WEAK of elf.h. */
static uint32_t symbol_id(struct sqlite_output *sqlite, const struct symbol *symbol)
{
	static const uint8_t bindings[] = {
		[SYMBOL_LOCAL] = 0, [SYMBOL_GLOBAL] = 1, [SYMBOL_WEAK] = 2
	};
	size_t known = sqlite->functions.count;
	uint32_t id = 1 + function_table_find(&sqlite->functions, symbol);

	if (sqlite->functions.count > known) {
		bind_text(sqlite, ROW_SYMBOL, 6, symbol->name);
		ADD_ROW(sqlite, ROW_SYMBOL, id, dso_id(sqlite, symbol->dso), symbol->start,
			symbol->start + symbol->size, bindings[symbol->binding]);
	}
	return id;
}

static void add_call(struct slice_list *list, struct track *track, const struct listed_slice *slice,
		     uint64_t number)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)list;
	struct open_row around = { 0, ROOT_PATH }, *own;
	size_t known = sqlite->paths.count;
	uint32_t symbol;
	unsigned flags;

	if (!slice->symbol || sqlite->status != SQLITE_OK)
		return; /* an instant is no call */
	if (sqlite->track != track)
		begin_thread(sqlite, track);
	if (slice->depth)
		around = sqlite->open[slice->depth - 1];
	sqlite->open = alloc_grow(sqlite->open, &sqlite->room, (size_t)slice->depth + 1,
				  sizeof(*sqlite->open));
	own = &sqlite->open[slice->depth];
	symbol = symbol_id(sqlite, slice->symbol);
	own->call = number + 1;
	own->path = ROOT_PATH + 1 + pair_table_find(&sqlite->paths, around.path, symbol);
	if (sqlite->paths.count > known)
		ADD_ROW(sqlite, ROW_PATH, own->path, around.path, symbol);
	flags = (slice->flags & SLICE_INFERRED_START ? NO_CALL : 0) | (slice->cut ? NO_RETURN : 0);
	ADD_ROW(sqlite, ROW_CALL, own->call, sqlite->thread, sqlite->comm, own->path, slice->begin,
		slice->end, around.path, flags, around.call, slice->cost.insns, slice->cost.cycles);
}

static struct format_output *open_sqlite(const struct format_request *request, struct error *err)
{
	struct format_output *output = slice_list_open(request, sizeof(struct sqlite_output));
	struct sqlite_output *sqlite = (struct sqlite_output *)output;

	(void)err;
	sqlite->list.print = add_call;
	sqlite->list.level = OPTION_ARGS_FULL;
	output->sink.details = true;
	return output;
}

/* Write the database, which is one piece of memory. */
static void write_database(struct sqlite_output *sqlite)
{
	sqlite3_int64 size = 0;
	const void *bytes =
		sqlite3_serialize(sqlite->database, "main", &size, SQLITE_SERIALIZE_NOCOPY);

	if (bytes)
		output_write(sqlite->list.file, bytes, (size_t)size);
	else
		check(sqlite, SQLITE_NOMEM);
}

static int finish_sqlite(struct format_output *output, struct error *err)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;

	sqlite3_config(SQLITE_CONFIG_MEMDB_MAXSIZE, INT64_MAX);
	check(sqlite, sqlite3_open_v2("file:calls?vfs=memdb", &sqlite->database, flags, NULL));
	check(sqlite, sqlite3_exec(sqlite->database, tables, NULL, NULL, NULL));
	for (int i = 0; i < ROWS && sqlite->status == SQLITE_OK; i++)
		check(sqlite,
		      sqlite3_prepare_v2(sqlite->database, inserts[i], -1, &sqlite->rows[i], NULL));
	if (sqlite->status == SQLITE_OK)
		slice_list_print(output, err);
	if (sqlite->status == SQLITE_OK)
		check(sqlite, sqlite3_exec(sqlite->database, indexes, NULL, NULL, NULL));
	if (sqlite->status == SQLITE_OK)
		write_database(sqlite);
	if (sqlite->status != SQLITE_OK)
		return error_set(err, ERROR_LIMIT, "cannot make the database: %s",
				 sqlite3_errstr(sqlite->status));
	return 0;
}

static void release_sqlite(struct format_output *output)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;

	for (int i = 0; i < ROWS; i++)
		sqlite3_finalize(sqlite->rows[i]);
	sqlite3_close(sqlite->database);
	function_table_release(&sqlite->functions);
	pair_table_release(&sqlite->paths);
	pair_table_release(&sqlite->dsos);
	pair_table_release(&sqlite->comms);
	free(sqlite->open);
	slice_list_release(output);
}

const struct output_format format_sqlite = {
	.name = "sqlite",
	.suffix = "db",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.open = open_sqlite,
	.finish = finish_sqlite,
	.release = release_sqlite,
};
