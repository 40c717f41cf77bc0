/* SPDX-License-Identifier: MIT */
/*
 * --format=parquet: tables of calls, functions, context switches and waits, for engines that join
 * those of many recordings: DuckDB, ClickHouse, Spark.
 *
 * The output is the table `recordings`, of one row. The others are in folders beside it,
 * TABLE/date=DATE/host=HOST/build=BUILD/NAME.parquet, by which the engines leave files out. A table
 * without rows has no file. Columns that --format=sqlite has, too, have its names.
 */
#include <ctype.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/io/file_makers.h"
#include "base/io/output_path.h"
#include "config.h"
#include "decoder/perf_data/perf_record.h"
#include "src/formats/parquet/parquet_file.h"
#include "src/formats/slice_list.h"
#include "src/options/options.h"
#include "src/slices/call_tree.h"
#include "symbols/dso/dso_store.h"

/* Bits of `flags`, as those of --format=sqlite. */
enum { NO_CALL = 1, NO_RETURN = 2, TAIL_CALLED = 6 };

enum table { TABLE_RECORDINGS, TABLE_FUNCTIONS, TABLE_CALLS, TABLE_SWITCHES, TABLE_WAITS, TABLES };

static const struct {
	const char *name, *columns; /* columns: parquet_open() */
} tables[TABLES] = {
	{ "recordings", "recording$ input$ date$ host$ build$ program$ os_release$ cpu$ command$ "
			"version$ unit$ wall_base begin_time end_time calls" },
	{ "functions", "recording$ function_id# name$ linkage$ short_name$ long_name$ build_id$ "
		       "sym_start sym_end" },
	{ "calls", "recording$ id parent_id function_id# pid tid comm$ depth call_time "
		   "return_time insn_count cyc_count flags" },
	{ "switches",
	  "recording$ time cpu pid_out tid_out comm_out$ pid_in tid_in comm_in$ state$" },
	{ "waits", "recording$ pid tid comm$ begin_time end_time state$ waker_pid waker_tid" },
};

struct parquet_output {
	struct slice_list list;                             /* first */
	struct format_request request;                      /* for its options, path and facts */
	const struct name *recording, *date, *host, *build; /* borrowed */
	uint64_t end;                                       /* ns: of the last call or switch */
	struct open_table {
		struct output file;
		struct parquet_file rows;
		char *path; /* owned; NULL: not open */
	} tables[TABLES];   /* but recordings */
	struct function_table functions;
	uint64_t *ids; /* owned: of functions, by number */
	size_t id_room;
	uint64_t *open; /* owned: by depth, the ids of the calls around the next one */
	size_t open_room;
	const struct track *last; /* the track of `comm` */
	const struct name *comm;
};

#define VALUE(name) ((uint64_t)(uintptr_t)(name))

/* Returns the name with a text; NULL is empty. */
static const struct name *text(const struct parquet_output *parquet, const char *from)
{
	return name_intern_text(parquet->list.sites.names, from ? from : "");
}

/* ---- Files --------------------------------------------------------------- */

/* As in Hive: special characters become %XX, and an unknown value has a name. */
static char *make_path(const struct parquet_output *parquet, enum table number)
{
	static const char *const keys[] = { "date", "host", "build" };
	const struct name *values[] = { parquet->date, parquet->host, parquet->build };
	const char *path = parquet->request.path, *name = base_name(path);
	char *text;
	FILE *out = OPEN_TEXT(text);

	fprintf(out, "%.*s%s", (int)(name - path), path, tables[number].name);
	for (size_t i = 0; i < COUNT_OF(keys); i++) {
		fprintf(out, "/%s=%s", keys[i],
			values[i]->length ? "" : "__HIVE_DEFAULT_PARTITION__");
		for (int k = 0; k < MIN(values[i]->length, 64); k++) {
			uint8_t byte = (uint8_t)values[i]->text[k];

			fprintf(out, isalnum(byte) || strchr("._-", byte) ? "%c" : "%%%02X", byte);
		}
	}
	fprintf(out, "/%s", name);
	alloc_close_text(out, &text);
	return text;
}

/* Set the day, in UTC, on which the recording begins or, if unknown, its file was written. */
static void set_date(struct parquet_output *parquet)
{
	const struct trace_facts *facts = &parquet->request.facts;
	uint64_t ns = facts->wall_base + parquet->list.first;
	struct tm day;
	char date[40] = "";

	if (facts->wall_base == WALL_BASE_UNKNOWN)
		ns = facts->file ? facts->file->written_ns : 0;
	if (ns && gmtime_r(&(time_t){ (time_t)(ns / NS_PER_S) }, &day))
		strftime(date, sizeof(date), "%Y-%m-%d", &day);
	parquet->date = text(parquet, date);
}

/* Returns the table, or NULL after a failure. */
static struct open_table *open_table(struct parquet_output *parquet, enum table number)
{
	struct open_table *table = &parquet->tables[number];
	struct error *err = &parquet->list.output.err;
	char *path;

	if (table->path || err->kind != ERROR_NONE)
		return table->path ? table : NULL;
	path = make_path(parquet, number);
	if (!parquet->list.file->temporary)
		error_set(err, ERROR_SYSTEM, "%s: is no file with a folder for tables",
			  parquet->request.path);
	else if (file_make(FILE_FOLDERS, path, NULL) < 0 &&
		 (errno != EINVAL || output_path_make_parents(path, err) < 0))
		error_set_system(err, errno, "%s: cannot make its folders", path);
	else if (output_open(&table->file, path, err) == 0)
		table->path = path;
	if (!table->path) {
		free(path);
		return NULL;
	}
	parquet_open(&table->rows, &table->file, tables[number].columns);
	return table;
}

static void add_row(struct parquet_output *parquet, enum table number, const uint64_t *row)
{
	struct open_table *table = open_table(parquet, number);

	if (!table)
		return;
	parquet_add(&table->rows, row);
	if (table->rows.count)
		return;
	parquet->list.file->elsewhere = 0;
	for (int i = 0; i < TABLES; i++)
		parquet->list.file->elsewhere += output_size(&parquet->tables[i].file);
}

#define ADD_ROW(parquet, table, ...)                                                               \
	add_row(parquet, table, (const uint64_t[]){ VALUE((parquet)->recording), __VA_ARGS__ })

/* ---- Calls --------------------------------------------------------------- */

static uint64_t function_id(struct parquet_output *parquet, const struct symbol *symbol)
{
	size_t known = parquet->functions.count;
	uint32_t number = function_table_find(&parquet->functions, symbol);

	ARRAY_GROW(parquet->ids, parquet->id_room, (size_t)number + 1);
	if (parquet->functions.count > known) {
		struct name_table *names = parquet->list.sites.names;
		const struct dso *dso = symbol->dso;
		const struct name *build_id = dso ? dso_build_id_name(dso, names) : NULL;
		const struct name *path = dso ? name_intern_text(names, dso->path) : NULL;
		char *key = alloc_text("%s\n%" PRIx64 "\n%s", (build_id ?: path ?: symbol->name)->text,
				dso ? symbol->start : 0, symbol->linkage->text);
		uint64_t id = XXH3_64bits(key, strlen(key));

		ADD_ROW(parquet, TABLE_FUNCTIONS, id, VALUE(symbol->name), VALUE(symbol->linkage),
			VALUE(dso ? dso->short_name : NULL), VALUE(path), VALUE(build_id),
			symbol->start, symbol->start + symbol->size);
		free(key);
		parquet->ids[number] = id;
	}
	return parquet->ids[number];
}

static void add_listed(struct slice_list *list, struct track *track,
		       const struct listed_slice *slice, uint64_t number)
{
	struct parquet_output *parquet = (struct parquet_output *)list;

	parquet->end = MAX(parquet->end, slice->end);
	if (!slice->symbol || slice->symbol->kind == SYMBOL_MARK)
		return;
	if (parquet->last != track)
		parquet->comm = text(parquet, track->thread_name);
	parquet->last = track;
	ARRAY_GROW(parquet->open, parquet->open_room, (size_t)slice->depth + 1);
	parquet->open[slice->depth] = number + 1;
	ADD_ROW(parquet, TABLE_CALLS, number + 1,
		slice->depth ? parquet->open[slice->depth - 1] : 0,
		function_id(parquet, slice->symbol), (uint64_t)track->pid, (uint64_t)track->tid,
		VALUE(parquet->comm), slice->depth, slice->begin, slice->end, slice->cost.insns,
		slice->cost.cycles,
		(slice->flags & SLICE_INFERRED_START ? NO_CALL : 0) | (slice->cut ? NO_RETURN : 0) |
			(slice->flags & SLICE_TAIL_CALLED ? TAIL_CALLED : 0));
}

/* ---- Switches ------------------------------------------------------------ */

/* A thread that left its CPU, by index of the stored track. */
struct wait {
	uint64_t begin;           /* ns */
	const struct name *state; /* NULL: it runs, or is not known yet */
	struct event_track waker; /* tid 0: unknown */
};

static const struct name *switch_name(struct parquet_output *parquet, struct event_track ids)
{
	return ids.tid ? event_store_track(&parquet->list.events, ids)->name
		       : text(parquet, "swapper");
}

static void add_switch(struct parquet_output *parquet, const struct track_event *event,
		       struct wait *out, struct wait *in)
{
	static const char *const states[] = { [EVENT_THREAD_BLOCKED] = "blocked",
					      [EVENT_THREAD_PREEMPTED] = "preempted",
					      [EVENT_THREAD_DEAD] = "dead" };
	struct event_track from = event->change.other, to = event->track;
	const struct name *state = text(parquet, states[event->change.state]);

	parquet->end = MAX(parquet->end, event->time);
	ADD_ROW(parquet, TABLE_SWITCHES, event->time, event->cpu, from.pid, from.tid,
		VALUE(switch_name(parquet, from)), to.pid, to.tid, VALUE(switch_name(parquet, to)),
		VALUE(state));
	if (in->state && to.tid)
		ADD_ROW(parquet, TABLE_WAITS, to.pid, to.tid, VALUE(switch_name(parquet, to)),
			in->begin, event->time, VALUE(in->state), in->waker.pid, in->waker.tid);
	in->state = NULL;
	*out = (struct wait){ event->time, state, { 0, 0 } };
}

/* ---- The format ---------------------------------------------------------- */

static void open_parquet(struct format_output *output, const struct format_request *request)
{
	struct parquet_output *parquet = (struct parquet_output *)output;
	const struct dso *program = request->facts.program;
	const struct perf_file *file = request->facts.file;
	const char *name = base_name(request->path);

	slice_list_open(output, request);
	slice_list_take_events(output, request);
	parquet->list.events.shows_switches = parquet->list.events.shows_wakeups = false;
	parquet->request = *request;
	parquet->recording = name_intern(request->names, name,
					 strlen(name) - (ends_with(name, ".parquet") ? 8 : 0));
	parquet->host = text(parquet, file ? file->features.hostname : NULL);
	parquet->build = program ? dso_build_id_name(program, request->names) : NULL;
	parquet->build = parquet->build ?: text(parquet, NULL);
}

/* Write the table of the output itself: one row. */
static void write_recording(struct parquet_output *parquet)
{
	static const struct perf_features none;
	const struct trace_facts *facts = &parquet->request.facts;
	const struct perf_features *known = facts->file ? &facts->file->features : &none;
	struct open_table *table = &parquet->tables[TABLE_RECORDINGS];
	const char *program = facts->program ? facts->program->path : NULL;

	parquet_open(&table->rows, parquet->list.file, tables[TABLE_RECORDINGS].columns);
	table->path = alloc_text("%s", parquet->request.path);
	ADD_ROW(parquet, TABLE_RECORDINGS, VALUE(text(parquet, parquet->request.options->input)),
		VALUE(parquet->date), VALUE(parquet->host), VALUE(parquet->build),
		VALUE(text(parquet, program)), VALUE(text(parquet, known->os_release)),
		VALUE(text(parquet, known->cpu_description)),
		VALUE(text(parquet, known->command_line)), VALUE(text(parquet, PACKAGE_VERSION)),
		VALUE(text(parquet, digits_work_unit() ?: "ns")),
		facts->wall_base == WALL_BASE_UNKNOWN ? 0 : facts->wall_base, parquet->list.first,
		parquet->end, parquet->list.count);
	parquet_finish(&table->rows);
}

static void finish_parquet(struct format_output *output)
{
	struct parquet_output *parquet = (struct parquet_output *)output;
	struct event_store *store;
	struct wait *waits = NULL;
	size_t room = 0;

	slice_list_sort_events(&parquet->list);
	set_date(parquet);
	slice_list_print(&parquet->list, add_listed);
	store = &parquet->list.events;
	for (size_t i = 0; i < store->count; i++) {
		struct track_event event = event_store_at(store, i);
		uint32_t index = event_store_track(store, event.track)->index;
		uint32_t other = event_store_track(store, event.change.other)->index;

		ARRAY_GROW_ZEROED(waits, room, (size_t)MAX(index, other) + 1);
		if (event.kind == TRACK_SWITCH)
			add_switch(parquet, &event, &waits[other], &waits[index]);
		else if (event.kind == TRACK_WAKEUP && waits[index].state &&
			 !waits[index].waker.tid)
			waits[index].waker = event.change.other;
	}
	free(waits);
	for (struct open_table *at = parquet->tables; at < parquet->tables + TABLES; at++) {
		if (at->path)
			parquet_finish(&at->rows);
		if (at->path)
			output_close(&at->file, &output->err);
	}
	write_recording(parquet);
}

static void release_parquet(struct format_output *output)
{
	struct parquet_output *parquet = (struct parquet_output *)output;

	for (int i = 0; i < TABLES; i++) {
		output_abandon(&parquet->tables[i].file);
		parquet_release(&parquet->tables[i].rows);
		free(parquet->tables[i].path);
	}
	free(parquet->open);
	free(parquet->ids);
	function_table_release(&parquet->functions);
	slice_list_release(output);
}

const struct output_format format_parquet = {
	.name = "parquet",
	.default_output = DEFAULT_FILE,
	.slices = SLICES_SORTED,
	.tables = true,
	.size = sizeof(struct parquet_output),
	.open = open_parquet,
	.finish = finish_parquet,
	.release = release_parquet,
};
