/* SPDX-License-Identifier: MIT */
/* The way of each thread of a recording, as hashes: for `ptrace2ftf diff --first`. */
#include "base/tables/id_index.h"
#include "decoder/branch_event.h"
#include "decoder/history.h"
#include "src/diff/diff.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/resolve/location.h"
#include "src/select/function_choice.h"
#include "symbols/dso/dso_store.h"

/* Limits of the hashes of a thread, of its open calls, and of calls that one return ends. */
#define HASHES_MOST  4096
#define FRAMES_MOST  65536
#define RETURNS_MOST 64

struct way {
	const struct thread *thread; /* borrowed; NULL: none yet */
	uint64_t count, hash;        /* of its branches so far */
	struct way_window window;
	uint64_t step, *hashes; /* owned: after each `step` branches of the window */
	size_t hash_count, hash_room;
	struct way_frame {
		uint64_t return_ip;
		struct location site; /* the call */
	} * frames;                   /* owned; open calls */
	size_t depth, frame_room;
	size_t inside; /* depth of the chosen call; 0: in none */
	uint64_t calls;
	bool lost;          /* trace is missing: nothing is compared after that */
	struct location at; /* where the last branch led */
	json_t *shown;      /* owned: the branch of the window's `show`; NULL: not seen */
};

struct ways_output {
	struct format_output output; /* first */
	const struct options *options;
	struct function_choice choice;
	struct way *ways; /* owned; by index of the thread */
	size_t room;
	const struct dso *dso; /* the last one, with its hash */
	uint64_t dso_hash;
};

static void open_ways(struct format_output *output, const struct format_request *request)
{
	struct ways_output *ways = (struct ways_output *)output;

	ways->options = request->options;
	ways->choice.selection = &request->options->select;
}

/* ---- Branches ------------------------------------------------------------ */

/* Returns the same for a location in all recordings of a file. */
static uint64_t location_hash(struct ways_output *ways, const struct location *location)
{
	const struct symbol *symbol = location->symbol;
	const struct name *name;

	if (!symbol)
		return 1;
	if (!symbol->dso)
		return location->offset + hash_bytes(symbol->name->text, symbol->name->length);
	if (symbol->dso != ways->dso) {
		name = symbol->dso->short_name;
		ways->dso = symbol->dso;
		ways->dso_hash = (uint64_t)hash_bytes(name->text, name->length) << 32;
	}
	return ways->dso_hash ^ (symbol->start + location->offset);
}

static json_t *place_json(const struct location *location)
{
	const struct symbol *symbol = location->symbol;
	struct source_line at = { 0 };

	if (!symbol)
		return json_null();
	if (symbol->dso)
		at = dso_line(symbol, location->offset);
	return json_pack("{so so sI so sI}", "function", json_name(symbol->name), "code",
			 json_name(symbol->dso ? symbol->dso->short_name : NULL), "offset",
			 json_value_of((symbol->dso ? symbol->start : 0) + location->offset),
			 "file", json_name(at.file), "line", (json_int_t)at.line);
}

/* Returns the branch (`from` NULL: none follows), with the place before, and the calls around. */
static json_t *branch_json(const struct way *way, const struct branch_event *event,
			   const struct location *from, const struct location *to)
{
	return json_pack("{so so sb so so sI sI}", "stack",
			 JSON_LIST(i, way->depth, place_json(&way->frames[i].site)), "at",
			 place_json(&way->at), "conditional", from && event->kind == BRANCH_COND,
			 "from", from ? place_json(from) : json_null(), "to",
			 from ? place_json(to) : json_null(), "ns",
			 json_value_of(from ? event->time : 0), "call", json_value_of(way->calls));
}

/* Count a branch. */
static void take(struct ways_output *ways, struct way *way, const struct branch_event *event,
		 const struct location *from, const struct location *to)
{
	const struct way_window *window = &way->window;

	if (way->count == window->show && !way->shown)
		way->shown = branch_json(way, event, from, to);
	way->hash = fibonacci_hash(way->hash ^ location_hash(ways, from), 64);
	if (event->kind != BRANCH_SYSCALL)
		way->hash = fibonacci_hash(way->hash ^ location_hash(ways, to), 64) + 1;
	way->count++;
	if (way->count <= window->from || way->count > window->to ||
	    (way->count - window->from) % way->step)
		return;
	if (way->hash_count == HASHES_MOST) {
		for (size_t i = 0; i < HASHES_MOST / 2; i++)
			way->hashes[i] = way->hashes[2 * i + 1];
		way->hash_count /= 2;
		way->step *= 2;
		if ((way->count - window->from) % way->step)
			return;
	}
	*ARRAY_ADD(way->hashes, way->hash_count, way->hash_room) = way->hash;
}

/* ---- Calls --------------------------------------------------------------- */

static void leave(struct way *way, const struct location *to)
{
	size_t depth = way->depth, least = depth > RETURNS_MOST ? depth - RETURNS_MOST : 0;

	while (depth > least && way->frames[depth - 1].return_ip != to->ip)
		depth--;
	if (depth > least)
		way->depth = depth - 1;
	else if (!location_is_entry(to))
		way->depth -= way->depth > 0;
	if (way->depth < way->inside)
		way->inside = 0;
}

static void see_gap(struct ways_output *ways, const struct thread *thread)
{
	for (size_t i = 0; i < ways->room; i++) {
		struct way *way = &ways->ways[i];

		if (!way->thread || (thread && way->thread != thread))
			continue;
		way->lost |= way->calls || !ways->options->select.symbols.count;
		way->depth = way->inside = 0;
	}
}

static void see_branch(struct format_output *output, const struct branch_event *event,
		       const struct location *from, const struct location *to)
{
	struct ways_output *ways = (struct ways_output *)output;
	struct way *way;
	const struct options *options;

	if (event->kind == BRANCH_GAP)
		see_gap(ways, event->thread);
	if (event->kind >= BRANCH_GAP || !event->thread)
		return;
	options = ways->options;
	ARRAY_GROW_ZEROED(ways->ways, ways->room, (size_t)event->thread->index + 1);
	way = &ways->ways[event->thread->index];
	if (!way->thread)
		*way = (struct way){
			.thread = event->thread,
			.window = event->thread->index < options->window_count
					  ? options->windows[event->thread->index]
					  : (struct way_window){ 0, UINT64_MAX, UINT64_MAX },
			.step = 1,
		};
	if (way->lost || ip_is_kernel(event->from))
		return;
	if (event->from && event->kind && event->kind != BRANCH_INTERRUPT &&
	    !(event->flags & BRANCH_ASYNC)) {
		if (way->inside || !ways->options->select.symbols.count)
			take(ways, way, event, from, to);
		if (event->kind == BRANCH_RETURN) {
			leave(way, to);
		} else if (event->kind == BRANCH_CALL || event->kind == BRANCH_JUMP) {
			bool call = event->kind == BRANCH_CALL;

			if (call || (!way->depth && location_is_entry(to))) {
				way->depth = way->depth == FRAMES_MOST ? 0 : way->depth;
				*ARRAY_ADD(way->frames, way->depth, way->frame_room) =
					(struct way_frame){ call ? event->from + event->from_length
								 : 0,
							    *from };
			}
			if (!way->inside && ways->options->select.symbols.count &&
			    location_is_entry(to) &&
			    function_choice_has(&ways->choice, to->symbol)) {
				way->inside = way->depth;
				way->calls++;
			}
		}
	}
	if (to->ip && !ip_is_kernel(to->ip))
		way->at = *to;
}

/* ---- The answer ---------------------------------------------------------- */

static json_t *way_json(const struct way *way)
{
	const char *name = thread_last_name(way->thread) ?: "";
	json_t *shown = json_incref(way->shown);

	if (!shown && way->window.show != UINT64_MAX)
		shown = branch_json(way, NULL, NULL, NULL);
	return json_pack("{sI so sI sI sI sb so sI so}", "index", (json_int_t)way->thread->index,
			 "thread", json_any_text(name, strlen(name)), "tid",
			 (json_int_t)way->thread->tid, "branches", json_value_of(way->count),
			 "step", json_value_of(way->step), "lost", (int)way->lost, "hashes",
			 JSON_LIST(i, way->hash_count, json_integer((json_int_t)way->hashes[i])),
			 "hash", (json_int_t)way->hash, "shown", shown ? shown : json_null());
}

static json_t *ways_answer(const struct format_output *output)
{
	const struct ways_output *ways = (const struct ways_output *)output;
	json_t *list = json_array();

	for (size_t i = 0; i < ways->room; i++)
		if (ways->ways[i].count)
			json_array_append_new(list, way_json(&ways->ways[i]));
	return list;
}

static void release_ways(struct format_output *output)
{
	struct ways_output *ways = (struct ways_output *)output;

	for (size_t i = 0; i < ways->room; i++) {
		json_decref(ways->ways[i].shown);
		free(ways->ways[i].hashes);
		free(ways->ways[i].frames);
	}
	free(ways->ways);
	function_choice_release(&ways->choice);
}

const struct output_format format_ways = {
	.name = "ways",
	.default_output = DEFAULT_NONE,
	.all_branches = true,
	.chooses_calls = true,
	.size = sizeof(struct ways_output),
	.open = open_ways,
	.branch = see_branch,
	.answer = ways_answer,
	.release = release_ways,
};
