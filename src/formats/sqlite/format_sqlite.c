/* SPDX-License-Identifier: MIT */
/*
 * --format=sqlite: a database of all calls, with the tables of perf's export-to-sqlite.py "branches
 * calls", for exported-sql-viewer.py and the user's queries.
 *
 * In each table, id 0 is for unknown items; call path 1 is the root. Times have the unit in the
 * table `clock`, which perf lacks: ns of perf's clock, or --clock.
 * `samples` contains all branches with --args=full; otherwise it is empty. Of other events, perf
 * has only context_switches; `events` is our own. Both are absent if they would be empty.
 *
 * The database is built in the output's temporary file, or in an unnamed file if the output is a
 * pipe or compressed. Rows come in the order of their ids, so SQLite needs few pages in memory; it
 * sorts indexes in unnamed files.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include "base/io/temp_file.h"
#include "decoder/branch_event.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/formats/slice_list.h"
#include "src/formats/text/digits.h"
#include "src/formats/text/event_text.h"
#include "src/resolve/location.h"
#include "src/select/function_labels.h"
#include "src/slices/track.h"
#include "symbols/dso/dso_store.h"

/*
 * The library's functions, by their names without "sqlite3_". The library is loaded only for this
 * format, because it has two thirds of the symbols that the loader would look up at each start.
 */
#define FUNCTIONS(X)                                                                               \
	X(bind_int64)                                                                              \
	X(bind_text)                                                                               \
	X(close)                                                                                   \
	X(column_int64)                                                                            \
	X(config)                                                                                  \
	X(errstr)                                                                                  \
	X(exec)                                                                                    \
	X(finalize)                                                                                \
	X(open_v2)                                                                                 \
	X(prepare_v2)                                                                              \
	X(reset)                                                                                   \
	X(step)                                                                                    \
	X(vfs_find)

#define FIELD(name) __typeof__(sqlite3_##name) *name;

static struct {
	FUNCTIONS(FIELD)
} library;

static int load_sqlite(struct error *err)
{
	void *handle = dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL);
	bool whole = handle;

#define FIND(name) whole = whole && (*(void **)&library.name = dlsym(handle, "sqlite3_" #name));
	FUNCTIONS(FIND)
	if (whole)
		return 0;
	return error_set(err, ERROR_LIBRARY,
			 "cannot write --format=sqlite: %s; install Debian's libsqlite3-0",
			 dlerror());
}

/* Bits of calls.flags: perf's tools/perf/util/thread-stack.h. */
#define NO_CALL   1
#define NO_RETURN 2
#define JUMP      6 /* a tail call: the enclosing call returns */

#define ROOT_PATH 1

#define SAMPLES_IN_MEMORY ((size_t)8 << 20) /* bytes */

/* Statements, which the build makes of the files *.sql. */
static const char tables[] = {
#include "src/formats/sqlite/calls.inc"
};

static const char branch_tables[] = {
#include "src/formats/sqlite/branches.inc"
};

static const char event_tables[] = {
#include "src/formats/sqlite/events.inc"
};

static const char no_switches[] = "DROP VIEW context_switches_view; DROP TABLE context_switches";

static const char ending[] = {
#include "src/formats/sqlite/ending.inc"
};

/* Kinds of rows, and a query, in the order of `statements`. */
enum row {
	ROW_THREAD,
	ROW_COMM,
	ROW_DSO,
	ROW_SYMBOL,
	ROW_PATH,
	ROW_CALL,
	ROW_SAMPLE,
	ROW_LABEL,
	ROW_PAIR,
	BYTES,
	STATEMENTS,
	/* If there are events: */
	ROW_EVENT = STATEMENTS,
	ROW_EVENT_END,
	ROW_SWITCH,
	ROW_NO_CALLS,
	ROWS
};

static const char *const statements[ROWS] = {
	"INSERT INTO threads VALUES (?, 1, ?, ?, ?)",
	"INSERT INTO comms (id, c_thread_id, comm, c_time, exec_flag, has_calls)"
	" VALUES (?, ?, ?, 0, 0, 1)",
	"INSERT INTO dsos VALUES (?, 1, ?, ?, ?)",
	"INSERT INTO symbols VALUES (?, ?, ?, ?, ?, ?)",
	"INSERT INTO call_paths VALUES (?, ?, ?, 0)",
	"INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"INSERT INTO samples VALUES (?, 1, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?, ?)",
	"UPDATE symbols SET name = ?2 WHERE id = ?1",
	"INSERT INTO comm_threads (comm_id, thread_id) VALUES (?, ?)",
	"SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
	"INSERT INTO events (id, time, pid, tid, event_id, kind, track, category, name, args)"
	" VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
	"UPDATE events SET end_time = ?2, end_args = ?3 WHERE id = ?1",
	"INSERT INTO context_switches VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?)",
	/* Names of threads that only switch. */
	"UPDATE comms SET has_calls = NULL WHERE id NOT IN (SELECT comm_id FROM comm_threads)",
};

struct sample {
	uint32_t thread, number; /* among the thread's, from 1 */
};

struct sqlite_output {
	struct slice_list list;  /* first */
	struct temp_file copied; /* owned: the database of an output that is no temporary file */
	sqlite3 *database;
	sqlite3_stmt *rows[ROWS];
	int status;                      /* SQLite's first failure, or SQLITE_OK */
	struct function_table functions; /* ids are numbers + 1 */
	struct pair_table dsos, paths;   /* the same; ids of paths are numbers + 2 */
	struct pair_table threads;       /* the same, by pid and tid */
	struct pair_table comms;         /* the same, by main thread's id and name */
	struct pair_table pairs;         /* ids of comms and threads with calls or samples */
	struct open_row {
		uint64_t call;
		uint32_t path;
	} * open; /* owned: by depth, the slices around the next one */
	size_t room;
	const void *last;         /* track or thread of `thread` and `comm`, or NULL */
	uint32_t thread, comm;    /* ids */
	struct big_array samples; /* owned: struct sample, by id - 1 */
	size_t sample_count;
	bool full; /* the other branches are left out, to leave room for calls */
	uint64_t event_count, switch_count; /* rows up to now */
	FILE *args; /* owned: into `args_text`, arguments of an event; NULL: no events */
	char *args_text;
	size_t args_size;
	struct thread_samples {
		size_t last;            /* the id; 0: no sample */
		uint64_t insns, cycles; /* for the next sample */
	} * of_threads;                 /* owned: by thread */
	size_t thread_room;
};

/* For SQLite's open(), which has no context. */
static struct {
	int fd;
	struct error *err;
} storage; /* borrowed */

/* No system has this file, nor journals beside it. */
#define DATABASE "/proc/ptrace2ftf.db"

/* The sandbox opens no file: files are open already, or the keeper opens them. */
static int open_storage(const char *path, int flags, int mode)
{
	struct temp_file file;

	if (!(flags & O_CREAT))
		return open(path, flags, mode);
	if (strcmp(path, DATABASE) == 0)
		return dup(storage.fd);
	return temp_file_open(&file, storage.err) < 0 ? -1 : file.fd;
}

/* Files have their permissions already. */
static int keep_mode(int fd, mode_t mode)
{
	(void)fd;
	(void)mode;
	return 0;
}

/* Open the database in a VFS without locks whose files are ours. Returns SQLite's status. */
static int open_database(struct sqlite_output *sqlite)
{
	const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
	bool direct = output_is_readable(sqlite->list.file);
	sqlite3_vfs *vfs;

	storage.err = &sqlite->list.output.err;
	if (!direct && temp_file_open(&sqlite->copied, storage.err) < 0)
		return SQLITE_CANTOPEN;
	storage.fd = direct ? sqlite->list.file->fd : sqlite->copied.fd;
	library.config(SQLITE_CONFIG_MEMSTATUS, 0);
	vfs = library.vfs_find("unix-none");
	if (!vfs || vfs->iVersion < 3 ||
	    vfs->xSetSystemCall(vfs, "open", (sqlite3_syscall_ptr)open_storage) != SQLITE_OK ||
	    vfs->xSetSystemCall(vfs, "fchmod", (sqlite3_syscall_ptr)keep_mode) != SQLITE_OK)
		return SQLITE_CANTOPEN;
	return library.open_v2(DATABASE, &sqlite->database, flags, vfs->zName);
}

/* Keep the first failure. */
static void check(struct sqlite_output *sqlite, int status)
{
	if (sqlite->status != SQLITE_OK || status == SQLITE_DONE)
		return;
	sqlite->status = status;
	if (status == SQLITE_IOERR)
		error_set_system(&sqlite->list.output.err, errno, "cannot make the database");
}

/* Run statements, unless there was a failure. */
static void run(struct sqlite_output *sqlite, const char *text)
{
	if (sqlite->status == SQLITE_OK)
		check(sqlite, library.exec(sqlite->database, text, NULL, NULL, NULL));
}

/* Bind a text to a column (from 1). The text must live until the row is added. */
static void bind_view(struct sqlite_output *sqlite, enum row row, int column, struct text_view text)
{
	check(sqlite, library.bind_text(sqlite->rows[row], column, text.length ? text.at : "",
					(int)text.length, SQLITE_STATIC));
}

static void bind_text(struct sqlite_output *sqlite, enum row row, int column,
		      const struct name *text)
{
	bind_view(sqlite, row, column, name_view(text));
}

/* Add a row that starts with the numbers. */
static void add_numbers(struct sqlite_output *sqlite, enum row row, const uint64_t *numbers,
			int count)
{
	sqlite3_stmt *statement = sqlite->rows[row];

	if (sqlite->status != SQLITE_OK)
		return;
	for (int i = 0; i < count; i++)
		check(sqlite, library.bind_int64(statement, i + 1, (sqlite3_int64)numbers[i]));
	check(sqlite, library.step(statement));
	check(sqlite, library.reset(statement));
}

/* Bytes of a call in the indexes, which are made at the end: at most, up to 2^31 calls. */
#define INDEX_BYTES 28

/*
 * Every few rows, count the bytes up to now for the limit, and release the memory of samples that
 * are in a file.
 */
static void count_bytes(struct sqlite_output *sqlite, uint64_t rows, uint64_t calls)
{
	sqlite3_stmt *statement = sqlite->rows[BYTES];

	if (rows % 4096 == 0)
		big_array_rest(&sqlite->samples, 0, sqlite->sample_count, sizeof(struct sample));
	if (rows % 64)
		return;
	if (library.step(statement) == SQLITE_ROW)
		sqlite->list.file->elsewhere =
			(uint64_t)library.column_int64(statement, 0) + calls * INDEX_BYTES;
	check(sqlite, library.reset(statement));
}

#define ADD_ROW(sqlite, row, ...)                                                                  \
	add_numbers(sqlite, row, (const uint64_t[]){ __VA_ARGS__ },                                \
		    (int)(sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t)))

static uint32_t thread_id(struct sqlite_output *sqlite, int32_t pid, int32_t tid)
{
	return 1 + pair_table_find(&sqlite->threads, (uint32_t)pid, (uint32_t)tid);
}

/* Set the thread of the next rows. */
static void set_thread(struct sqlite_output *sqlite, int32_t pid, int32_t tid, const char *text)
{
	const struct name *name =
		name_intern_text(sqlite->list.sites.names, text ? text : "unknown");
	uint32_t process = thread_id(sqlite, pid, pid);
	size_t known = sqlite->comms.count;

	sqlite->thread = thread_id(sqlite, pid, tid);
	sqlite->comm = 1 + pair_table_find(&sqlite->comms, process, name->id);
	if (sqlite->comms.count > known) {
		bind_text(sqlite, ROW_COMM, 3, name);
		ADD_ROW(sqlite, ROW_COMM, sqlite->comm, process);
	}
}

/* Returns the id of a file; 0: NULL. */
static uint32_t dso_id(struct sqlite_output *sqlite, const struct dso *dso)
{
	struct name_table *names = sqlite->list.sites.names;
	size_t known = sqlite->dsos.count;
	uint32_t id;

	if (!dso)
		return 0;
	id = 1 + pair_table_find_pointer(&sqlite->dsos, dso);
	if (sqlite->dsos.count > known) {
		bind_text(sqlite, ROW_DSO, 2, dso->short_name);
		bind_text(sqlite, ROW_DSO, 3, name_intern_text(names, dso->path));
		bind_text(sqlite, ROW_DSO, 4, dso_build_id_name(dso, names));
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
	uint32_t id = symbol ? 1 + function_table_find(&sqlite->functions, symbol) : 0;

	if (sqlite->functions.count > known) {
		bind_text(sqlite, ROW_SYMBOL, 6, symbol->name);
		ADD_ROW(sqlite, ROW_SYMBOL, id, dso_id(sqlite, symbol->dso), symbol->start,
			symbol->start + symbol->size, bindings[symbol->binding]);
	}
	return id;
}

static struct sample *sample_at(const struct sqlite_output *sqlite, uint64_t id)
{
	return (struct sample *)sqlite->samples.items + id - 1;
}

/* Returns the id of a sample if it belongs to the current thread, else 0. */
static uint64_t own_sample(const struct sqlite_output *sqlite, uint64_t id)
{
	return id && sample_at(sqlite, id)->thread == sqlite->thread ? id : 0;
}

/* Returns the number of the current thread's samples up to this one. */
static uint64_t samples_up_to(const struct sqlite_output *sqlite, uint64_t id)
{
	return id ? sample_at(sqlite, id)->number : 0;
}

/* ---- Other events ---------------------------------------------------------- */

static void prepare(struct sqlite_output *sqlite, int first, int end)
{
	for (int i = first; i < end && sqlite->status == SQLITE_OK; i++)
		check(sqlite, library.prepare_v2(sqlite->database, statements[i], -1,
						 &sqlite->rows[i], NULL));
}

/* Make the tables before the first row. */
static void prepare_events(struct sqlite_output *sqlite)
{
	if (sqlite->args)
		return;
	sqlite->args = ALLOC_CHECKED(open_memstream(&sqlite->args_text, &sqlite->args_size));
	run(sqlite, event_tables);
	prepare(sqlite, STATEMENTS, ROWS);
}

/* Returns what was written to the arguments, borrowed until the next rewind(). */
static struct text_view args_text(struct sqlite_output *sqlite)
{
	fflush(sqlite->args);
	return (struct text_view){ sqlite->args_text, (size_t)ftello(sqlite->args) };
}

/* Returns the arguments as JSON, borrowed until the next call; empty without arguments. */
static struct text_view args_of(struct sqlite_output *sqlite, const struct track_event *event)
{
	rewind(sqlite->args);
	if (event->arg_count)
		event_args_print(event, true, sqlite->args);
	return args_text(sqlite);
}

/* Add a row; the texts of `event`, and its arguments in JSON. */
static void add_event_row(struct sqlite_output *sqlite, const struct track_event *event,
			  const char *kind, struct text_view track, struct text_view args)
{
	uint64_t id = ++sqlite->event_count;

	bind_view(sqlite, ROW_EVENT, 6, text_view_of(kind));
	bind_view(sqlite, ROW_EVENT, 7, track);
	bind_view(sqlite, ROW_EVENT, 8, event->category);
	bind_view(sqlite, ROW_EVENT, 9, event->name);
	bind_view(sqlite, ROW_EVENT, 10, args);
	ADD_ROW(sqlite, ROW_EVENT, id, event->time, event->track.pid, event->track.tid, event->id);
	count_bytes(sqlite, id, sqlite->list.count);
}

static void set_switch_thread(struct sqlite_output *sqlite, struct event_track ids)
{
	const struct name *name = event_store_track(&sqlite->list.events, ids)->name;
	const char *known = name ? name->text : NULL;

	set_thread(sqlite, (int32_t)ids.pid, (int32_t)ids.tid, ids.tid ? known : "swapper");
}

static void add_event(struct slice_list *list, const struct track_event *event)
{
	static const char *const kinds[TRACK_EVENT_KINDS] = {
		[TRACK_INSTANT] = "instant",     [TRACK_COUNTER] = "counter",
		[TRACK_BEGIN] = "slice",         [TRACK_ASYNC_BEGIN] = "async begin",
		[TRACK_ASYNC_END] = "async end", [TRACK_FLOW_BEGIN] = "flow begin",
		[TRACK_FLOW_STEP] = "flow step", [TRACK_FLOW_END] = "flow end",
	};
	struct sqlite_output *sqlite = (struct sqlite_output *)list;
	struct stored_track *track = event_store_track(&list->events, event->track);

	if (event->kind == TRACK_SWITCH) {
		uint64_t out = event->change.state == EVENT_THREAD_PREEMPTED ? 3 : 1;
		uint32_t thread, comm;

		/* As perf, which has a record for each side of a switch: add its rows. */
		prepare_events(sqlite);
		set_switch_thread(sqlite, event->change.other);
		thread = sqlite->thread;
		comm = sqlite->comm;
		set_switch_thread(sqlite, event->track);
		for (int in = 0; in < 2; in++)
			ADD_ROW(sqlite, ROW_SWITCH, ++sqlite->switch_count, event->time, event->cpu,
				thread, comm, sqlite->thread, sqlite->comm, in ? 0 : out);
		count_bytes(sqlite, sqlite->switch_count, sqlite->list.count);
	} else if (event->kind == TRACK_END) {
		if (track->depth) {
			bind_view(sqlite, ROW_EVENT_END, 3, args_of(sqlite, event));
			ADD_ROW(sqlite, ROW_EVENT_END, track->open[--track->depth].number,
				event->time);
		}
	} else {
		prepare_events(sqlite);
		add_event_row(sqlite, event, kinds[event->kind], name_view(track->name),
			      args_of(sqlite, event));
		if (event->kind == TRACK_BEGIN)
			ARRAY_ADD(track->open, track->depth, track->room)->number =
				sqlite->event_count;
	}
}

/* Add a value of the program among its calls, which is not a call. */
static void add_mark(struct sqlite_output *sqlite, const struct track *track,
		     const struct listed_slice *slice)
{
	const struct track_event event = {
		.time = slice->begin,
		.track = { (uint64_t)track->pid, (uint64_t)track->tid },
		.name = name_view(slice->symbol->name),
	};
	const size_t key = strlen(",\"args\":");
	struct line line;
	struct text_view args;

	prepare_events(sqlite);
	rewind(sqlite->args);
	line.out = sqlite->args;
	line_end(&line, slice_list_args(&sqlite->list, slice, &line, line.text, true));
	args = args_text(sqlite);
	add_event_row(sqlite, &event, "mark", text_view_of(track->thread_name),
		      args.length > key ? (struct text_view){ args.at + key, args.length - key }
					: (struct text_view){ NULL, 0 });
}

static void add_call(struct slice_list *list, struct track *track, const struct listed_slice *slice,
		     uint64_t number)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)list;
	struct open_row around = { 0, ROOT_PATH }, *own;
	size_t known = sqlite->paths.count;
	uint32_t symbol;
	uint64_t from;
	uint64_t to;
	bool no_call, no_return;
	uint64_t count = 0;

	if (!slice->symbol || sqlite->status != SQLITE_OK)
		return; /* an instant is not a call */
	if (slice->symbol->kind == SYMBOL_MARK) {
		add_mark(sqlite, track, slice);
		return;
	}
	if (sqlite->last != track)
		set_thread(sqlite, track->pid, track->tid, track->thread_name);
	sqlite->last = track;
	if (slice->depth)
		around = sqlite->open[slice->depth - 1];
	ARRAY_GROW(sqlite->open, sqlite->room, (size_t)slice->depth + 1);
	own = &sqlite->open[slice->depth];
	symbol = symbol_id(sqlite, slice->symbol);
	own->call = number + 1;
	own->path = ROOT_PATH + 1 + pair_table_find(&sqlite->paths, around.path, symbol);
	if (sqlite->paths.count > known)
		ADD_ROW(sqlite, ROW_PATH, own->path, around.path, symbol);
	/*
	 * Add a call of the current thread. The branch count follows perf (thread-stack.c): it
	 * excludes the branch that entered the call and includes the branch that left it.
	 */
	from = own_sample(sqlite, slice->branches[0]);
	to = own_sample(sqlite, slice->branches[1]);
	no_call = slice->flags & SLICE_INFERRED_START;
	no_return = slice->cut;
	pair_table_find(&sqlite->pairs, sqlite->comm, sqlite->thread);
	if (no_return && !to && !sqlite->full && sqlite->thread < sqlite->thread_room)
		to = sqlite->of_threads[sqlite->thread].last;
	if (to && (from || no_call))
		count = samples_up_to(sqlite, to) - samples_up_to(sqlite, from);
	ADD_ROW(sqlite, ROW_CALL, own->call, sqlite->thread, sqlite->comm, own->path, slice->begin,
		slice->end, count, no_call ? 0 : from, no_return ? 0 : to, around.path,
		(no_call ? NO_CALL : 0) | (no_return ? NO_RETURN : 0) |
			(slice->flags & SLICE_TAIL_CALLED ? JUMP : 0),
		around.call, slice->cost.insns, slice->cost.cycles);
	count_bytes(sqlite, number, number);
}

/* Add the counts of an event for the next sample of its thread, which is the current one then. */
static struct thread_samples *count_event(struct sqlite_output *sqlite,
					  const struct branch_event *event)
{
	const struct thread *thread = event->thread;
	struct thread_samples *own;

	if (!thread)
		sqlite->thread = sqlite->comm = 0;
	else if (sqlite->last != thread)
		set_thread(sqlite, thread->pid, thread->tid, thread_last_name(thread));
	sqlite->last = thread;
	ARRAY_GROW_ZEROED(sqlite->of_threads, sqlite->thread_room, (size_t)sqlite->thread + 1);
	own = &sqlite->of_threads[sqlite->thread];
	own->insns += event->insns;
	return own;
}

static void add_counts(struct format_output *output, const struct branch_event *event)
{
	count_event((struct sqlite_output *)output, event)->cycles += event->cycles;
}

static void add_sample(struct format_output *output, const struct branch_event *event,
		       const struct location *from, const struct location *to)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;
	bool in_tx = event->flags & BRANCH_IN_TX, complete;
	struct thread_samples *own;
	uint32_t type;
	static const uint8_t types[] = {
		[BRANCH_NONE] = 1,       [BRANCH_CALL] = 3,      [BRANCH_RETURN] = 5,
		[BRANCH_JUMP] = 1,       [BRANCH_COND] = 9,      [BRANCH_SYSCALL] = 19,
		[BRANCH_SYSRET] = 21,    [BRANCH_SOFTINT] = 67,  [BRANCH_IRET] = 69,
		[BRANCH_INTERRUPT] = 99, [BRANCH_TX_ABORT] = 129
	};
	bool async;
	uint64_t id;
	uint32_t number;

	if (sqlite->status != SQLITE_OK)
		return;
	own = count_event(sqlite, event);
	output->machine->branch = sqlite->full ? 0 : own->last;
	if (event->kind >= BRANCH_GAP || sqlite->full)
		return;
	if (sqlite->thread)
		pair_table_find(&sqlite->pairs, sqlite->comm, sqlite->thread);
	/* Note a sample of the current thread after sample `last`. */
	id = ++sqlite->sample_count;
	number = (uint32_t)samples_up_to(sqlite, own->last) + 1;
	big_array_grow(&sqlite->samples, id, sizeof(struct sample), SAMPLES_IN_MEMORY);
	*sample_at(sqlite, id) = (struct sample){ sqlite->thread, number };
	own->last = id;
	output->machine->branch = own->last;
	async = event->kind == BRANCH_NONE && event->flags & BRANCH_ASYNC;
	type = types[event->kind] | (async ? 32 : 0) | (event->flags & BRANCH_TRACE_ON ? 256 : 0) |
	       (event->flags & BRANCH_TRACE_OFF ? 512 : 0);
	/* As perf, which has instructions where it has cycles: of the same time. */
	complete = own->cycles || !output->machine->has_cycles;
	ADD_ROW(sqlite, ROW_SAMPLE, sqlite->sample_count, sqlite->thread, sqlite->comm,
		dso_id(sqlite, from->symbol ? from->symbol->dso : NULL),
		symbol_id(sqlite, from->symbol), from->offset, from->ip, event->time,
		(uint64_t)event->cpu, dso_id(sqlite, to->symbol ? to->symbol->dso : NULL),
		symbol_id(sqlite, to->symbol), to->offset, to->ip, type, in_tx,
		complete ? own->insns : 0, own->cycles, type | (in_tx ? 1024 : 0));
	if (complete)
		own->insns = own->cycles = 0;
	own->cycles += event->cycles; /* up to after it */
	count_bytes(sqlite, sqlite->sample_count, 0);
	sqlite->full = output_room(sqlite->list.file) < sqlite->list.file->limit / 2;
}

static void open_sqlite(struct format_output *output, const struct format_request *request)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;
	char *clock = alloc_text("CREATE TABLE clock (unit); INSERT INTO clock VALUES ('%s')",
				 digits_work_unit() ?: "ns");

	slice_list_open(output, request);
	slice_list_take_events(output, request);
	sqlite->list.events.shows_switches = false;
	check(sqlite, open_database(sqlite));
	run(sqlite, tables);
	run(sqlite, clock);
	free(clock);
	if (sqlite->list.level == OPTION_ARGS_FULL)
		run(sqlite, branch_tables);
	prepare(sqlite, 0, STATEMENTS);
	sqlite->list.level = OPTION_ARGS_FULL;
	output->sink.details = true;
}

/* Copy the database, unless it is in the output already. */
static void write_database(struct sqlite_output *sqlite)
{
	struct output *output = sqlite->list.file;
	static uint8_t chunk[1 << 16];
	ssize_t count = 0;

	output->elsewhere = 0;
	if (!sqlite->copied.open) {
		output->written = (uint64_t)lseek(output->fd, 0, SEEK_END);
		return;
	}
	lseek(sqlite->copied.fd, 0, SEEK_SET);
	do {
		output_write(output, chunk, (size_t)count);
		count = read(sqlite->copied.fd, chunk, sizeof(chunk));
	} while (count > 0);
	if (count < 0)
		error_set_system(&sqlite->list.output.err, errno, "cannot read the database");
}

COMPARE_WITH(compare_keys, uint64_t, COMPARE(*a, *b))

static void finish_sqlite(struct format_output *output)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;

	sqlite->last = NULL;
	slice_list_print(&sqlite->list, add_call);
	slice_list_sort_events(&sqlite->list);
	slice_list_print_events(&sqlite->list, add_event);
	sqlite->list.file->cut |= sqlite->full;
	if (sqlite->status == SQLITE_OK) {
		struct function_labels labels = { 0 };

		/*
		 * Add the tables that are complete only at the end: all threads with rows, of
		 * which a process's first one is its main thread.
		 */
		for (uint32_t i = 0; i < sqlite->threads.count; i++) {
			struct pair ids = pair_table_pair(&sqlite->threads, i);
			int32_t pid = (int32_t)ids.first;

			ADD_ROW(sqlite, ROW_THREAD, i + 1, thread_id(sqlite, pid, pid),
				(uint64_t)pid, (uint64_t)(int32_t)ids.second);
		}
		/* Rename the symbols that share a name. */
		function_labels_make(&labels, &sqlite->functions, sqlite->list.sites.names);
		for (size_t i = 0; i < labels.count; i++) {
			const struct symbol *symbol = sqlite->functions.functions[i].symbol;
			const struct name *label = function_label(&labels, symbol);

			if (label == symbol->name)
				continue;
			bind_text(sqlite, ROW_LABEL, 2, label);
			ADD_ROW(sqlite, ROW_LABEL, i + 1);
		}
		function_labels_release(&labels);
		SORT(sqlite->pairs.keys, sqlite->pairs.count, compare_keys);
		for (size_t i = 0; i < sqlite->pairs.count; i++) {
			struct pair pair = pair_table_pair(&sqlite->pairs, i);

			ADD_ROW(sqlite, ROW_PAIR, pair.first, pair.second);
		}
		if (sqlite->switch_count)
			add_numbers(sqlite, ROW_NO_CALLS, NULL, 0);
		else if (sqlite->args)
			run(sqlite, no_switches);
		run(sqlite, ending);
	}
	if (sqlite->status == SQLITE_OK)
		write_database(sqlite);
	if (sqlite->status != SQLITE_OK)
		error_set(&output->err, ERROR_LIMIT, "cannot make the database: %s",
			  library.errstr(sqlite->status));
}

static void release_sqlite(struct format_output *output)
{
	struct sqlite_output *sqlite = (struct sqlite_output *)output;

	for (int i = 0; i < ROWS; i++)
		library.finalize(sqlite->rows[i]);
	library.close(sqlite->database);
	if (sqlite->args)
		alloc_close_text(sqlite->args, &sqlite->args_text);
	free(sqlite->args_text);
	function_table_release(&sqlite->functions);
	pair_table_release(&sqlite->paths);
	pair_table_release(&sqlite->dsos);
	pair_table_release(&sqlite->threads);
	pair_table_release(&sqlite->comms);
	pair_table_release(&sqlite->pairs);
	free(sqlite->open);
	big_array_release(&sqlite->samples);
	temp_file_close(&sqlite->copied);
	free(sqlite->of_threads);
	slice_list_release(output);
}

#define CALLS_DATABASE                                                                             \
	.name = "sqlite", .suffix = "db", .default_output = DEFAULT_FILE, .slices = SLICES_SORTED, \
	.cpu_events = true, .load = load_sqlite, .size = sizeof(struct sqlite_output),             \
	.open = open_sqlite, .finish = finish_sqlite, .release = release_sqlite

static const struct output_format with_branches = { CALLS_DATABASE, .all_branches = true,
						    .branch = add_sample, .counts = add_counts };
const struct output_format format_sqlite = { CALLS_DATABASE, .full = &with_branches };
