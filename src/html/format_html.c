/* SPDX-License-Identifier: MIT */
/*
 * --format=html: a page with calls by time, a flame graph and the table of functions. It needs a
 * browser, but no network.
 *
 * Stacks are those of --format=folded, the table that of --format=functions; both count all slices.
 * The slices by time are limited by --fit, chosen as in ftf_fit.h. Comments here describe the
 * page's data; src/html/page.js reads it.
 */
#include "base/cursor.h"
#include "base/io/big_array.h"
#include "src/formats/ftf/fit_ranks.h"
#include "src/formats/ftf/ftf_fit.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"
#include "src/html/html_page.h"
#include "src/slices/call_tree.h"
#include "src/slices/slice_args.h"

/* Default of --fit: a browser draws a page with this many slices within a frame. */
#define FIT_DEFAULT_HTML 1000000

/* Stacks below this fraction (1/N) of the whole are left out of the flame graph: 0.1 pixels. */
#define FLAME_PARTS 20000

/* Lines of the table that are readable without a script, including the header. */
#define PLAIN_LINES 41

/* Low bits of a slice's first number; its depth is above. */
enum slice_bits {
	HAS_COSTS = 1,  /* instructions and cycles follow */
	HAS_FOLDED = 2, /* `folded` and `folded_time` follow */
	IS_INFERRED = 4,
	IS_UNCERTAIN = 8,
	IS_ESTIMATED = 16,
	IS_CUT = 32, /* its return was not seen */
	IS_MARK = 64,
	IS_TAIL_CALL = 128,
	DEPTH_BIT = 256,
};

/* Maximum bytes of a slice: eight numbers. */
#define SLICE_BYTES ((size_t)8 * 10)

/* Maximum characters of a slice on the page. */
#define SLICE_TEXT 128

/* Bytes of slices in memory; more are in a file. */
#define MEMORY_MOST ((size_t)4 << 20)

/* Blocks after which their memory is released, if they are in a file. */
#define STEP 256

/* A slice or mark that has ended. */
struct html_slice {
	uint64_t first, end; /* enum slice_bits and depth; end in ns */
	uint64_t duration;   /* ns */
	uint64_t number;     /* number of its symbol or text */
	struct slice_cost cost;
	struct html_folds {
		uint64_t folded, folded_time; /* slices in it that are not shown */
	} inside;
};

/* Ended slices and marks of a thread, in the page's numbers; times count from its first event. */
struct html_block {
	uint32_t next; /* 1 + index of the thread's next block; 0: no more */
	uint32_t used;
	uint8_t bytes[4096 - 2 * sizeof(uint32_t)];
};

struct html_output {
	struct format_output output; /* first */
	const char *input;           /* borrowed */
	struct output *file;         /* borrowed */
	struct name_table *names;    /* borrowed */
	uint64_t fit;                /* limit of slices; 0: no limit */
	bool by_insns, costs;
	struct big_array blocks; /* owned: struct html_block */
	uint32_t block_count;
	struct slice_sink kept; /* into `blocks` */
	uint64_t all;           /* slices and marks */
	uint64_t slices;        /* slices of calls */
	size_t call_tracks;     /* threads before those of `events` */
	struct page_events events;
	/* Owned: --format=folded and functions, whose text is `table`. */
	struct format_output *folded, *functions;
	FILE *table_text;
	char *table;
	size_t table_size;

	struct pair_table texts;       /* names: numbers on the page; of these, those that are */
	struct pair_table other, lost; /* slices without a function, and lost trace */
	struct pair_table symbols;     /* numbers of symbols */
	struct {
		const struct symbol *symbol;
		uint32_t number;
	} known[256]; /* a cache of `symbols` */

	bool ranked;            /* there are too many slices */
	struct fit_ranks roots; /* ranks of outermost slices, of all threads */
	struct html_thread {
		struct track *track;        /* borrowed; NULL: no events */
		struct fit_ranks ranks;     /* ranks of slices inside others */
		uint32_t first, last;       /* 1 + indexes of its blocks; 0: no block */
		uint64_t begin, end, ended; /* ns: of all its events; of the last end or mark */
		uint64_t begun;             /* slices and marks */
		uint64_t shown, marks;
		struct html_frame {
			const struct symbol *symbol;
			uint64_t begin;
			struct slice_cost cost; /* counters at its begin */
			unsigned flags;         /* flags of its begin */
		} * frames;                     /* owned; its open slices, innermost last */
		size_t depth, room;
	} * threads; /* owned; by index of the track */
	size_t thread_count, thread_room;
	struct html_folds *folds; /* owned; by depth: of the next slice to print */
	size_t fold_room;
	uint32_t free_id;      /* this id and higher ones are made up */
	uint64_t origin, last; /* ns: origin of times; last printed time */
	uint64_t room;         /* slices that fit into the output for sure */
	struct html_numbers data;
	struct fold_counts fold;
};

/* ---- In ------------------------------------------------------------------ */

/* Returns the number of a text in "texts". */
static uint32_t text_number(struct html_output *html, const struct name *name)
{
	return pair_table_find_pointer(&html->texts, name);
}

static uint32_t symbol_number(struct html_output *html, const struct symbol *symbol)
{
	size_t slot = ((uintptr_t)symbol >> 5) % (sizeof(html->known) / sizeof(html->known[0]));

	if (html->known[slot].symbol != symbol) {
		html->known[slot].symbol = symbol;
		html->known[slot].number = pair_table_find_pointer(&html->symbols, symbol);
	}
	return html->known[slot].number;
}

static struct html_block *block_at(const struct html_output *html, uint32_t index)
{
	return (struct html_block *)html->blocks.items + index;
}

/* Returns the thread's last block, with room for a slice. */
static struct html_block *block_with_room(struct html_output *html, struct html_thread *thread)
{
	struct html_block *block = thread->last ? block_at(html, thread->last - 1) : NULL;
	uint32_t index = html->block_count;

	if (block && block->used + SLICE_BYTES <= sizeof(block->bytes))
		return block;
	big_array_grow(&html->blocks, index + 1, sizeof(*block), MEMORY_MOST);
	*(thread->last ? &block_at(html, thread->last - 1)->next : &thread->first) = index + 1;
	thread->last = ++html->block_count;
	if (index % STEP == 0)
		big_array_rest(&html->blocks, 0, index, sizeof(*block));
	block = block_at(html, index);
	block->next = block->used = 0;
	return block;
}

/*
 * Write a slice, which is written at its end: its first number, ns since the `last` end or mark,
 * its duration in ns, the number of its symbol, and the values that its first number announces. A
 * mark has no duration, and the number of its text.
 */
static uint8_t *put_slice(uint8_t *at, const struct html_slice *slice, uint64_t last)
{
	at = html_number_put(at, slice->first);
	at = html_number_put(at, slice->end - last);
	if (!(slice->first & IS_MARK))
		at = html_number_put(at, slice->duration);
	at = html_number_put(at, slice->number);
	if (slice->first & HAS_COSTS) {
		at = html_number_put(at, slice->cost.insns);
		at = html_number_put(at, slice->cost.cycles);
	}
	if (slice->first & HAS_FOLDED) {
		at = html_number_put(at, slice->inside.folded);
		at = html_number_put(at, slice->inside.folded_time);
	}
	return at;
}

static void keep_slice(struct html_output *html, struct html_thread *thread,
		       const struct html_slice *slice)
{
	struct html_block *block = block_with_room(html, thread);
	uint8_t *at = block->bytes + block->used;

	block->used = (uint32_t)(put_slice(at, slice, thread->ended) - block->bytes);
	thread->ended = slice->end;
}

static void end_slice(struct html_output *html, struct html_thread *thread,
		      const struct slice_event *end, const struct slice_detail *detail)
{
	const struct html_frame *frame = &thread->frames[--thread->depth];
	/* The end of an event has all its arguments. */
	bool event = end->symbol && end->symbol->kind == SYMBOL_MARK;
	unsigned flags = frame->flags;
	struct html_slice slice = {
		.first = thread->depth * DEPTH_BIT,
		.end = end->time,
		.duration = end->time - frame->begin,
		.number = symbol_number(html, event ? end->symbol : frame->symbol),
		.cost = slice_cost_between(frame->cost, detail),
	};

	if (detail)
		slice.inside = (struct html_folds){ detail->folded, detail->folded_time };
	slice.first |= slice.cost.insns ? HAS_COSTS : 0;
	slice.first |= slice.inside.folded ? HAS_FOLDED : 0;
	slice.first |= flags & SLICE_INFERRED_START ? IS_INFERRED : 0;
	slice.first |= flags & SLICE_UNCERTAIN_LEVEL ? IS_UNCERTAIN : 0;
	slice.first |= flags & SLICE_ESTIMATED_TIME ? IS_ESTIMATED : 0;
	slice.first |= flags & SLICE_TAIL_CALLED ? IS_TAIL_CALL : 0;
	slice.first |= end->flags & SLICE_CUT ? IS_CUT : 0;
	keep_slice(html, thread, &slice);
	thread->shown++;
}

static void keep_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct html_output *html = sink->context;
	size_t index = ((struct track *)track)->index;
	struct html_thread *thread;

	ARRAY_GROW_ZEROED(html->threads, html->thread_room, index + 1);
	html->thread_count = MAX(html->thread_count, index + 1);
	thread = &html->threads[index];
	if (!thread->track)
		thread->begin = thread->ended = batch->events->time;
	thread->track = track;
	thread->end = batch->events[batch->count - 1].time;
	for (const struct slice_event *event = batch->events, *end = event + batch->count;
	     event < end; event++) {
		thread->begun += event->kind != SLICE_END;
		html->all += event->kind != SLICE_END;
		if (event->kind == SLICE_BEGIN) {
			const struct slice_detail *detail = slice_batch_detail(batch, event);
			struct html_frame *frame =
				ARRAY_ADD(thread->frames, thread->depth, thread->room);

			frame->symbol = event->symbol;
			frame->begin = event->time;
			frame->cost = detail ? (struct slice_cost){ detail->insns, detail->cycles }
					     : (struct slice_cost){ 0 };
			frame->flags = event->flags;
		} else if (event->kind == SLICE_INSTANT) {
			const struct name *text = name_intern_text(html->names, event->text);

			keep_slice(
				html, thread,
				&(struct html_slice){ .first = IS_MARK | thread->depth * DEPTH_BIT,
						      .end = event->time,
						      .number = text_number(html, text) });
			thread->marks++;
		} else if (thread->depth) {
			end_slice(html, thread, event, slice_batch_detail(batch, event));
		}
	}
}

static void take_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct html_output *html = sink->context;

	keep_events(&html->kept, track, batch);
	html->slices = html->all;
	html->folded->sink.events(&html->folded->sink, track, batch);
	html->functions->sink.events(&html->functions->sink, track, batch);
}

static void open_html(struct format_output *output, const struct format_request *request)
{
	const struct options *options = request->options;
	struct html_output *html = (struct html_output *)output;
	struct format_request inner = *request;

	html->names = request->names;
	html->input = options->input;
	html->file = request->output;
	html->fit = options->select.fit ? selection_fit_limit(&options->select) : FIT_DEFAULT_HTML;
	html->by_insns = request->facts.by_insns;
	html->costs = html->by_insns || options->args != OPTION_ARGS_NONE;
	html->table_text = ALLOC_CHECKED(open_memstream(&html->table, &html->table_size));
	inner.text = html->table_text;
	html->folded = output_format_open(&format_folded, &inner);
	html->functions = output_format_open(&format_functions, &inner);
	html->kept = (struct slice_sink){
		.events = keep_events,
		.context = html,
		.details = html->costs,
		.folded = true,
	};
	html->free_id = request->facts.free_id;
	event_store_init(&html->events.store, request->names, html->free_id);
	html->events.store.shows_switches = true;
	html->events.args = options->args != OPTION_ARGS_NONE;
	output->events = &html->events.store.sink;
	output->slices = &html->slices;
	output->sink = html->kept;
	output->sink.events = take_events;
}

/* ---- Texts and functions ------------------------------------------------- */

/* Returns the number in "texts" of what the page prints for a symbol, whose kind sets the colour.
 */
static uint32_t label_number(struct html_output *html, const struct symbol *symbol)
{
	uint32_t text = text_number(html, format_folded_label(html->folded, symbol));

	if (symbol->kind == SYMBOL_FILE || symbol->kind == SYMBOL_SPECIAL)
		pair_table_find(symbol->special == SPECIAL_GAP ? &html->lost : &html->other, 0,
				text);
	return text;
}

static void print_numbers(const char *key, const struct pair_table *numbers, FILE *out)
{
	fprintf(out, ",\n\"%s\":[", key);
	for (size_t i = 0; i < numbers->count; i++)
		fprintf(out, "%s%" PRIu32, i ? "," : "", pair_table_pair(numbers, i).second);
	putc(']', out);
}

static void print_texts(const struct html_output *html)
{
	FILE *out = html->output.text;

	print_numbers("other", &html->other, out);
	print_numbers("lost", &html->lost, out);

	fputs(",\n\"texts\":[", out);
	for (size_t i = 0; i < html->texts.count; i++) {
		const struct name *name = pair_table_pointer(&html->texts, i);

		fputs(i ? ",\n" : "\n", out);
		html_json_print(json_name(name), out);
	}
	putc(']', out);
}

/* ---- Slices in order of time --------------------------------------------- */

/* A position in a thread's slices. */
struct html_cursor {
	struct cursor bytes; /* the rest of a block */
	uint32_t next;       /* 1 + index of the next block; 0: no more */
	uint64_t time;       /* ns: end of the slice before */
};

/* Go to the next block. Returns false at the end. */
static bool next_block(const struct html_output *html, struct html_cursor *cursor)
{
	const struct html_block *block;

	if (!cursor->next)
		return false;
	block = block_at(html, cursor->next - 1);
	if (cursor->next % STEP == 0)
		big_array_rest(&html->blocks, 0, html->block_count, sizeof(*block));
	cursor->bytes = cursor_over(block->bytes, block->used);
	cursor->next = block->next;
	return true;
}

static struct html_cursor slices_of(const struct html_thread *thread)
{
	return (struct html_cursor){ .next = thread->first, .time = thread->begin };
}

/* Take the next slice or mark. Returns false at the end. */
static bool take_slice(const struct html_output *html, struct html_cursor *cursor,
		       struct html_slice *slice)
{
	struct cursor *bytes = &cursor->bytes;

	if (!cursor_left(bytes) && !next_block(html, cursor))
		return false;
	*slice = (struct html_slice){ .first = cursor_uleb128(bytes) };
	slice->end = cursor->time += cursor_uleb128(bytes);
	if (!(slice->first & IS_MARK))
		slice->duration = cursor_uleb128(bytes);
	slice->number = cursor_uleb128(bytes);
	if (slice->first & HAS_COSTS) {
		slice->cost.insns = cursor_uleb128(bytes);
		slice->cost.cycles = cursor_uleb128(bytes);
	}
	if (slice->first & HAS_FOLDED) {
		slice->inside.folded = cursor_uleb128(bytes);
		slice->inside.folded_time = cursor_uleb128(bytes);
	}
	return true;
}

/* Rank a slice. Returns whether it stays. */
static bool rank_slice(struct html_output *html, struct html_thread *thread,
		       const struct html_slice *slice)
{
	uint64_t depth = slice->first / DEPTH_BIT;
	struct fit_ranks *ranks = depth ? &thread->ranks : &html->roots;

	return !html->ranked || fit_ranks_add(ranks, slice->duration, depth) >= ranks->least;
}

/* Leave a slice out: count it and its inner slices in the enclosing slice. */
static void fold_slice(struct html_output *html, const struct html_slice *slice)
{
	uint64_t depth = slice->first / DEPTH_BIT;

	if (!depth) {
		html->fold.left_out++;
		return;
	}
	html->fold.folded++;
	html->folds[depth - 1].folded += 1 + slice->inside.folded;
	html->folds[depth - 1].folded_time += slice->duration;
}

/*
 * Returns whether the output has room for the slice. At its limit, the slices that are open end at
 * the last printed time, and later ones are left out.
 */
static bool fits_output(struct html_output *html, struct html_slice *slice)
{
	uint64_t begin = slice->end - slice->duration;

	if (!html->room && !html->file->cut)
		html->room = output_room(html->file) / SLICE_TEXT;
	html->file->cut |= !html->room;
	if (html->room) {
		html->room--;
		return true;
	}
	if (slice->first & IS_MARK || begin >= html->last)
		return false;
	slice->end = html->last;
	slice->duration = slice->end - begin;
	return true;
}

/* Print the slices and marks that stay and fit. */
static void print_chosen(struct html_output *html, struct html_thread *thread)
{
	struct html_cursor cursor = slices_of(thread);
	struct html_slice slice;

	thread->shown = thread->marks = 0;
	while (take_slice(html, &cursor, &slice)) {
		uint64_t depth = slice.first / DEPTH_BIT;
		bool mark = slice.first & IS_MARK;
		struct html_folds *folds;
		uint8_t bytes[SLICE_BYTES];

		ARRAY_GROW_ZEROED(html->folds, html->fold_room, depth + 1);
		folds = &html->folds[depth];
		if (!mark) {
			bool stays = rank_slice(html, thread, &slice);

			slice.inside.folded += folds->folded;
			slice.inside.folded_time += folds->folded_time;
			*folds = (struct html_folds){ 0 };
			slice.first |= slice.inside.folded ? HAS_FOLDED : 0;
			if (!stays) {
				fold_slice(html, &slice);
				continue;
			}
		}
		if (!fits_output(html, &slice))
			continue;
		html_numbers_copy(&html->data, bytes,
				  (size_t)(put_slice(bytes, &slice, html->last) - bytes));
		html->last = slice.end;
		thread->shown += !mark;
		thread->marks += mark;
	}
}

static void print_html_thread(struct html_output *html, struct html_thread *thread)
{
	const struct track *track = thread->track;
	const char *name = track->thread_name ? track->thread_name : "thread";
	FILE *out = html->output.text;

	html->last = html->origin;
	fputs("{\"name\":", out);
	html_json_print(json_any_text(name, strlen(name)), out);
	fprintf(out, ",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"data\":", track->pid, track->tid);
	html_numbers_begin(&html->data, out);
	if (html->ranked || html->file->cut ||
	    output_room(html->file) / SLICE_TEXT < thread->shown + thread->marks) {
		print_chosen(html, thread);
	} else {
		struct html_cursor cursor = slices_of(thread);

		/* Copy all numbers, except for the first time. */
		if (next_block(html, &cursor)) {
			html_numbers_print(&html->data, cursor_uleb128(&cursor.bytes));
			html_numbers_print(&html->data, thread->begin - html->origin +
								cursor_uleb128(&cursor.bytes));
			do
				html_numbers_copy(&html->data, cursor.bytes.at,
						  cursor_left(&cursor.bytes));
			while (next_block(html, &cursor));
		}
	}
	html_numbers_end(&html->data);
	fprintf(out, ",\"slices\":%" PRIu64 ",\"marks\":%" PRIu64 "}", thread->shown,
		thread->marks);
}

/* Print as `key` the tracks [begin, end) that have slices or marks. */
static void print_page_tracks(struct html_output *html, const char *key, size_t begin, size_t end)
{
	const char *between = "\n";

	fprintf(html->output.text, ",\n\"%s\":[", key);
	for (size_t i = begin; i < end; i++)
		if (html->threads[i].track) {
			fputs(between, html->output.text);
			print_html_thread(html, &html->threads[i]);
			between = ",\n";
		}
	putc(']', html->output.text);
}

/* ---- Stacks -------------------------------------------------------------- */

/*
 * "stacks": each after its caller, as the caller's number (0 for threads), its text, its ns or
 * instructions including callees, and its calls. The first one has number 1. "stacks_left_out": the
 * number of stacks that are too small.
 */
static void print_stacks(struct html_output *html, const struct call_tree *tree)
{
	uint64_t *weights = alloc_zeroed(tree->count, sizeof(*weights));
	uint32_t *numbers = alloc_zeroed(tree->count, sizeof(*numbers)), count = 0, left_out = 0;
	FILE *out = html->output.text;

	for (size_t i = tree->count; i-- > 1;) {
		const struct call_costs *own = &tree->nodes[i].own;

		weights[i] += html->by_insns ? own->insns : own->ns;
		weights[tree->nodes[i].caller] += weights[i];
	}
	fputs(",\n\"stacks\":[", out);
	for (size_t i = 1; i < tree->count; i++) {
		const struct call_node *node = &tree->nodes[i];

		if (weights[i] <= weights[NODE_NONE] / FLAME_PARTS) {
			left_out++;
			continue;
		}
		fprintf(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu64 "]",
			count ? "," : "", numbers[node->caller],
			node->caller == NODE_NONE
				? text_number(html, node->name)
				: label_number(html, format_folded_symbol(html->folded, node)),
			weights[i], node->calls);
		numbers[i] = ++count;
	}
	fprintf(out, "],\"stacks_left_out\":%" PRIu32, left_out);
	free(weights);
	free(numbers);
}

/* ---- The page ------------------------------------------------------------ */

/* Returns the number of threads with slices; sets the time range of all that the page shows. */
static size_t measure(struct html_output *html, uint64_t *end)
{
	size_t count = 0;

	html->origin = html->events.begin;
	*end = html->events.end;
	for (size_t i = 0; i < html->thread_count; i++) {
		const struct html_thread *thread = &html->threads[i];

		if (!thread->track)
			continue;
		count += thread->begun && i < html->call_tracks;
		html->origin = MIN(thread->begin, html->origin);
		*end = thread->end > *end ? thread->end : *end;
	}
	html->origin = *end ? html->origin : 0;
	return count;
}

/* Print the summary and, for browsers without scripts, the first lines of the table. */
static void print_summary(const struct html_output *html, size_t threads, uint64_t end)
{
	const char *line = html->table;
	const char *unit = digits_work_unit();
	FILE *out = html->output.text;

	fprintf(out, "<p>%s%s%s from %s%s, threads: %zu, slices: %" PRIu64 "; ",
		short_time(end - html->origin).text, unit ? " " : "", unit ?: "",
		moment_text(html->origin).text, unit ? "" : " s", threads, html->slices);
	if (threads)
		time_note_print(html->output.machine, out);
	fputs("</p>\n<noscript><pre>", out);
	for (int i = 0; i < PLAIN_LINES && *line; i++)
		line = strchrnul(line, '\n') + 1;
	html_text_print(html->table, (size_t)(line - html->table), out);
	fputs("</pre></noscript>\n", out);
}

static void print_data(struct html_output *html, uint64_t end)
{
	FILE *out = html->output.text;
	const char *axis = digits_work_unit() ?: "ns";
	json_t *functions = format_functions.answer(html->functions);

	/* A time of perf's clock may exceed JavaScript's numbers. */
	fprintf(out,
		"{\"axis\":\"%s\",\"unit\":\"%s\",\"ids\":%" PRIu32 ",\"origin\":\"%" PRIu64
		"\",\"duration\":%" PRIu64,
		axis, html->by_insns ? "insns" : axis, html->free_id, html->origin,
		end - html->origin);
	print_page_tracks(html, "threads", 0, html->call_tracks);
	print_page_tracks(html, "events", html->call_tracks, html->thread_count);
	page_events_print_counters(&html->events, html->origin, html->file, out);
	fprintf(out, ",\n\"folded\":%" PRIu64 ",\"left_out\":%" PRIu64, html->fold.folded,
		html->fold.left_out);
	print_stacks(html, format_folded_tree(html->folded));
	fputs(",\n\"functions\":", out);
	html_json_print(json_incref(json_object_get(functions, "functions")), out);
	json_decref(functions);
	/*
	 * "symbols": for each its text, 1 + the texts of its source file and of its own file,
	 * and its line; for an event's slice, its arguments instead of the source file.
	 */
	fputs(",\n\"symbols\":[", out);
	for (size_t i = 0; i < html->symbols.count; i++) {
		const struct symbol *symbol = pair_table_pointer(&html->symbols, i);
		struct source_line line = slice_source_line(symbol);
		const struct name *file = slice_category(symbol);

		if (symbol->kind == SYMBOL_MARK && symbol->linkage != symbol->name)
			line.file = symbol->linkage;

		fprintf(out, "%s[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", i ? "," : "",
			label_number(html, symbol),
			line.file ? 1 + text_number(html, line.file) : 0,
			file ? 1 + text_number(html, file) : 0, line.line);
	}
	putc(']', out);
	print_texts(html);
	fputs("}\n", out);
}

static void print_html(struct format_output *output)
{
	struct html_output *html = (struct html_output *)output;
	const char *title = html->input ? html->input : "ptrace2ftf", *const * line;
	size_t threads;
	uint64_t end;

	html->folded->machine = html->functions->machine = output->machine;
	format_functions.finish(html->functions);
	fflush(html->table_text);
	html->call_tracks = html->thread_count;
	page_events_show(&html->events, &html->kept, (uint32_t)html->call_tracks);
	threads = measure(html, &end);
	if (html->fit && html->all > html->fit) {
		size_t count = html->thread_count;
		struct fit_ranks **ranks = alloc_zeroed(count + 1, sizeof(struct fit_ranks *));
		uint64_t marks = 0;

		/* Choose the slices to show. */
		html->ranked = true;
		for (size_t i = 0; i < count; i++) {
			struct html_thread *thread = &html->threads[i];
			struct html_cursor cursor = slices_of(thread);
			struct html_slice slice;

			thread->ranks.number = (uint32_t)i;
			ranks[i] = &thread->ranks;
			while (take_slice(html, &cursor, &slice))
				if (!(slice.first & IS_MARK))
					rank_slice(html, thread, &slice);
			marks += thread->marks;
		}
		html->fold.shortest =
			fit_ranks_choose_all(&html->roots, ranks, count, html->fit, marks);
		ranks[count] = &html->roots;
		for (size_t i = 0; i <= count; i++) {
			uint32_t least = ranks[i]->least;

			fit_ranks_release(ranks[i]); /* all are counted again when printed */
			ranks[i]->least = least;
		}
		free(ranks);
	}
	line = html_page_print(NULL, title, output->text);
	print_summary(html, threads, end);
	line = html_page_print(line, title, output->text);
	print_data(html, end);
	html_page_print(line, title, output->text);
	output->fold = html->ranked ? &html->fold : NULL;
}

static void release_html(struct format_output *output)
{
	struct html_output *html = (struct html_output *)output;

	output_format_close(&format_folded, html->folded);
	output_format_close(&format_functions, html->functions);
	if (html->table_text)
		alloc_close_text(html->table_text, &html->table);
	free(html->table);
	for (size_t i = 0; i < html->thread_count; i++) {
		fit_ranks_release(&html->threads[i].ranks);
		free(html->threads[i].frames);
	}
	fit_ranks_release(&html->roots);
	page_events_release(&html->events);
	big_array_release(&html->blocks);
	pair_table_release(&html->texts);
	pair_table_release(&html->other);
	pair_table_release(&html->lost);
	pair_table_release(&html->symbols);
	free(html->threads);
	free(html->folds);
}

const struct output_format format_html = {
	.name = "html",
	.for_programs = true,
	.slices = SLICES_SORTED,
	.overlays = OVERLAYS_AS_SLICES,
	.queued = true,
	.cpu_events = true,
	.size = sizeof(struct html_output),
	.open = open_html,
	.finish = print_html,
	.release = release_html,
};
