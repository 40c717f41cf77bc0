/* SPDX-License-Identifier: MIT */
/*
 * --format=html: a page with calls by time, a flame graph and the table of functions. It needs a
 * browser, but no network.
 *
 * Stacks are those of --format=folded, the table that of --format=functions; both count all slices.
 * The slices by time are limited by --fit, chosen as in ftf_fit.h. Comments here describe the
 * page's data; src/html/page.js reads it.
 */
#include "src/formats/ftf/fit_ranks.h"
#include "src/formats/ftf/ftf_fit.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/time_note.h"
#include "src/html/html_page.h"
#include "src/slices/call_tree.h"
#include "src/slices/slice_args.h"
#include "src/slices/slice_store.h"

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

struct html_output {
	struct format_output output; /* first */
	const char *input;           /* borrowed */
	struct output *file;         /* borrowed */
	uint64_t fit;                /* limit of slices; 0: no limit */
	bool by_insns, costs;
	struct slice_store store;
	struct slice_sink kept; /* into `store` */
	uint64_t slices;        /* slices of calls */
	size_t call_tracks;     /* tracks of the store before those of `events` */
	struct page_events events;
	/* Owned: --format=folded and functions, whose text is `table`. */
	struct format_output *folded, *functions;
	FILE *table_text;
	char *table;
	size_t table_size;

	struct pair_table texts;       /* names: numbers on the page; of these, those that are */
	struct pair_table other, lost; /* slices without a function, and lost trace */
	struct pair_table symbols;     /* numbers of symbols */

	bool ranked;            /* there are too many slices */
	bool prints;            /* printing slices; otherwise ranking them */
	struct fit_ranks roots; /* ranks of outermost slices, of all threads */
	struct html_thread {
		struct fit_ranks ranks; /* ranks of slices inside others */
		uint64_t shown, marks;
	} * threads;                /* owned; by index of the track */
	struct html_thread *thread; /* the thread of the events */
	struct html_frame {
		const struct symbol *symbol;
		uint64_t begin;
		uint64_t folded, folded_time; /* slices in it that are not shown */
		unsigned flags;               /* flags of its begin */
	} * frames;                           /* owned; its open slices, innermost last */
	size_t depth, room;
	uint64_t origin, last; /* ns: origin of times; last printed time */
	struct html_numbers data;
	struct fold_counts fold;
};

/* ---- In ------------------------------------------------------------------ */

static void take_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct html_output *html = sink->context;

	html->kept.events(&html->kept, track, batch);
	html->slices = html->store.slices;
	html->folded->sink.events(&html->folded->sink, track, batch);
	html->functions->sink.events(&html->functions->sink, track, batch);
}

static void open_html(struct format_output *output, const struct format_request *request)
{
	const struct options *options = request->options;
	struct html_output *html = (struct html_output *)output;
	struct format_request inner = *request;

	html->store.names = request->names;
	html->input = options->input;
	html->file = request->output;
	html->fit = options->select.fit ? selection_fit_limit(&options->select) : FIT_DEFAULT_HTML;
	html->by_insns = request->facts.by_insns;
	html->costs = html->by_insns || options->args != OPTION_ARGS_NONE;
	html->table_text = ALLOC_CHECKED(open_memstream(&html->table, &html->table_size));
	inner.text = html->table_text;
	html->folded = output_format_open(&format_folded, &inner);
	html->functions = output_format_open(&format_functions, &inner);
	html->kept = slice_store_sink(&html->store, html->costs, true);
	ftf_side_init(&html->events.side, request->names, &request->facts);
	html->events.args = options->args != OPTION_ARGS_NONE;
	output->writer = html->events.side.writer;
	output->slices = &html->slices;
	output->sink = html->kept;
	output->sink.events = take_events;
	output->sink.context = html;
}

/* ---- Texts and functions ------------------------------------------------- */

/* Returns the number of a text in "texts". */
static uint32_t text_number(struct html_output *html, const struct name *name)
{
	return pair_table_find_pointer(&html->texts, name);
}

/* Returns the same for what the page prints for a symbol, whose kind sets the colour. */
static uint32_t label_number(struct html_output *html, const struct symbol *symbol)
{
	uint32_t text = text_number(html, format_folded_label(html->folded, symbol));

	if (symbol->kind == SYMBOL_FILE || symbol->kind == SYMBOL_SPECIAL)
		pair_table_find(symbol->special == SPECIAL_GAP ? &html->lost : &html->other, 0,
				text);
	return text;
}

/*
 * "symbols": for each its text, 1 + the texts of its source file and of its own file, and its line;
 * for an event's slice, its arguments instead of the source file.
 */
static void print_symbols(struct html_output *html)
{
	FILE *out = html->output.text;

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

static void print_end_time(struct html_output *html, uint64_t time)
{
	html_numbers_print(&html->data, time - html->last);
	html->last = time;
}

/* A mark: its first number, ns since the last end or mark, and its text. */
static void print_mark(struct html_output *html, const struct slice_event *event)
{
	const struct name *text = name_intern_text(html->store.names, event->text);

	html_numbers_print(&html->data, IS_MARK | html->depth * DEPTH_BIT);
	print_end_time(html, event->time);
	html_numbers_print(&html->data, text_number(html, text));
	html->thread->marks++;
}

/*
 * A slice, printed at its end: its first number, ns since the last end or mark, its duration in ns,
 * the number of its symbol, and the values that its first number announces.
 */
static void print_slice(struct html_output *html, const struct html_frame *frame,
			const struct slice_event *end, struct slice_cost cost)
{
	unsigned flags = frame->flags;
	uint64_t first = html->depth * DEPTH_BIT;

	first |= cost.insns ? HAS_COSTS : 0;
	first |= frame->folded ? HAS_FOLDED : 0;
	first |= flags & SLICE_INFERRED_START ? IS_INFERRED : 0;
	first |= flags & SLICE_UNCERTAIN_LEVEL ? IS_UNCERTAIN : 0;
	first |= flags & SLICE_ESTIMATED_TIME ? IS_ESTIMATED : 0;
	first |= flags & SLICE_TAIL_CALLED ? IS_TAIL_CALL : 0;
	first |= end->flags & SLICE_CUT ? IS_CUT : 0;
	html_numbers_print(&html->data, first);
	print_end_time(html, end->time);
	html_numbers_print(&html->data, end->time - frame->begin);
	html_numbers_print(&html->data, pair_table_find_pointer(&html->symbols, frame->symbol));
	if (first & HAS_COSTS) {
		html_numbers_print(&html->data, cost.insns);
		html_numbers_print(&html->data, cost.cycles);
	}
	if (first & HAS_FOLDED) {
		html_numbers_print(&html->data, frame->folded);
		html_numbers_print(&html->data, frame->folded_time);
	}
	html->thread->shown++;
}

/* Leave a slice out: count it and its inner slices in the enclosing slice. */
static void fold_slice(struct html_output *html, uint64_t duration, uint64_t inside)
{
	if (!html->depth) {
		html->fold.left_out++;
		return;
	}
	html->fold.folded++;
	html->frames[html->depth - 1].folded += 1 + inside;
	html->frames[html->depth - 1].folded_time += duration;
}

static void end_slice(struct html_output *html, struct track *track,
		      const struct slice_event *event, const struct slice_detail *detail)
{
	struct html_frame *frame;
	struct slice_cost cost = { 0 };
	struct fit_ranks *ranks;
	uint64_t duration;
	bool stays;

	if (!html->depth)
		return;
	frame = &html->frames[--html->depth];
	duration = event->time - frame->begin;
	ranks = html->depth ? &html->thread->ranks : &html->roots;
	stays = !html->ranked || fit_ranks_add(ranks, duration, html->depth) >= ranks->least;
	if (!html->prints)
		return;
	cost = track_cost_end(track, detail);
	if (!stays) {
		fold_slice(html, duration, frame->folded + (detail ? detail->folded : 0));
		return;
	}
	if (detail) {
		frame->folded += detail->folded;
		frame->folded_time += detail->folded_time;
	}
	if (event->symbol && event->symbol->kind == SYMBOL_MARK)
		frame->symbol = event->symbol; /* an event: with all its arguments */
	print_slice(html, frame, event, cost);
}

static void show_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	struct html_output *html = sink->context;

	for (const struct slice_event *event = batch->events, *end = event + batch->count;
	     event < end; event++) {
		const struct slice_detail *detail = slice_batch_detail(batch, event);

		if (event->kind == SLICE_END) {
			end_slice(html, track, event, detail);
		} else if (event->kind == SLICE_BEGIN) {
			*ARRAY_ADD(html->frames, html->depth, html->room) =
				(struct html_frame){ event->symbol, event->time, 0, 0,
						     event->flags };
			if (html->prints)
				track_cost_begin(track, detail);
		} else if (html->prints) {
			print_mark(html, event);
		} else {
			html->thread->marks++;
		}
	}
}

/* Choose the slices to show. */
static void choose_slices(struct html_output *html)
{
	size_t count = html->store.track_count;
	const struct slice_sink sink = { .events = show_events, .context = html };
	struct fit_ranks **ranks = alloc_zeroed(count + 1, sizeof(struct fit_ranks *));
	uint64_t marks = 0;

	html->ranked = true;
	for (size_t i = 0; i < count; i++) {
		html->thread = &html->threads[i];
		html->thread->ranks.number = (uint32_t)i;
		ranks[i] = &html->thread->ranks;
		html->depth = 0;
		slice_store_replay_track(&html->store, i, &sink);
		marks += html->thread->marks;
		html->thread->marks = 0;
	}
	html->fold.shortest = fit_ranks_choose_all(&html->roots, ranks, count, html->fit, marks);
	ranks[count] = &html->roots;
	for (size_t i = 0; i <= count; i++) {
		uint32_t least = ranks[i]->least;

		fit_ranks_release(ranks[i]); /* all are counted again when printed */
		ranks[i]->least = least;
	}
	free(ranks);
}

static void print_html_thread(struct html_output *html, size_t index)
{
	struct track *track = html->store.tracks[index].track;
	const struct slice_sink sink = { .events = show_events, .context = html };
	const char *name = track->thread_name ? track->thread_name : "thread";
	FILE *out = html->output.text;
	struct slice_limit limit;

	html->thread = &html->threads[index];
	html->depth = 0;
	html->last = html->origin;
	fputs("{\"name\":", out);
	html_json_print(json_any_text(name, strlen(name)), out);
	fprintf(out, ",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"data\":", track->pid, track->tid);
	html_numbers_begin(&html->data, out);
	slice_limit_init(&limit, &sink, html->file);
	slice_store_replay_track(&html->store, index, &limit.sink);
	html_numbers_end(&html->data);
	fprintf(out, ",\"slices\":%" PRIu64 ",\"marks\":%" PRIu64 "}", html->thread->shown,
		html->thread->marks);
}

/* Print as `key` the tracks [begin, end) that have slices or marks. */
static void print_page_tracks(struct html_output *html, const char *key, size_t begin, size_t end)
{
	const char *between = "\n";

	fprintf(html->output.text, ",\n\"%s\":[", key);
	html->prints = true;
	for (size_t i = begin; i < end; i++)
		if (html->store.tracks[i].track) {
			fputs(between, html->output.text);
			print_html_thread(html, i);
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
	for (size_t i = 0; i < html->store.track_count; i++) {
		const struct store_track *track = &html->store.tracks[i];

		if (!track->track)
			continue;
		count += track->slices && i < html->call_tracks;
		html->origin = MIN(track->begin, html->origin);
		*end = track->end > *end ? track->end : *end;
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
		"{\"axis\":\"%s\",\"unit\":\"%s\",\"origin\":\"%" PRIu64 "\",\"duration\":%" PRIu64,
		axis, html->by_insns ? "insns" : axis, html->origin, end - html->origin);
	print_page_tracks(html, "threads", 0, html->call_tracks);
	print_page_tracks(html, "events", html->call_tracks, html->store.track_count);
	page_events_print_counters(&html->events, html->origin, html->file, out);
	fprintf(out, ",\n\"folded\":%" PRIu64 ",\"left_out\":%" PRIu64, html->fold.folded,
		html->fold.left_out);
	print_stacks(html, format_folded_tree(html->folded));
	fputs(",\n\"functions\":", out);
	html_json_print(json_incref(json_object_get(functions, "functions")), out);
	json_decref(functions);
	print_symbols(html);
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
	html->call_tracks = html->store.track_count;
	if (page_events_read(&html->events, &html->kept, (uint32_t)html->call_tracks,
			     &output->err) < 0)
		return;
	threads = measure(html, &end);
	html->threads = alloc_zeroed(html->store.track_count + 1, sizeof(*html->threads));
	if (html->fit && html->store.slices > html->fit)
		choose_slices(html);
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
	for (size_t i = 0; html->threads && i < html->store.track_count; i++)
		fit_ranks_release(&html->threads[i].ranks);
	fit_ranks_release(&html->roots);
	page_events_release(&html->events);
	slice_store_release(&html->store);
	pair_table_release(&html->texts);
	pair_table_release(&html->other);
	pair_table_release(&html->lost);
	pair_table_release(&html->symbols);
	free(html->threads);
	free(html->frames);
}

const struct output_format format_html = {
	.name = "html",
	.for_programs = true,
	.slices = SLICES_SORTED,
	.overlays = OVERLAYS_AS_SLICES,
	.cpu_events = true,
	.size = sizeof(struct html_output),
	.open = open_html,
	.finish = print_html,
	.release = release_html,
};
