/* SPDX-License-Identifier: MIT */
/*
 * Lists the slowest calls of the functions of --symbol and --dso (--slowest, --slow) in a table. If
 * each call gets its own trace (src/slow/slow_traces.c), only the report has them. If times are
 * estimated by instructions, calls with more instructions are slower.
 *
 * Keeps only the slowest calls, and a histogram of all durations. Without --symbol and --dso,
 * leaves out the calls that enclose the program.
 */

#include "base/tables/heap.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/chosen_calls.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/time_note.h"
#include "src/options/options.h"
#include "src/slices/durations.h"
#include "symbols/dso/dso_store.h"

#define OUTER_MOST  32 /* limit of the depth of calls that may enclose the program */
#define INNER_LEAST 10 /* calls that must be left without them */

struct slowest_output {
	struct format_output output; /* first */
	struct chosen_calls chosen;
	struct slow_choice choice;
	struct durations durations; /* durations of all calls */
	uint64_t longer;            /* calls above choice.longer */
	uint64_t longest_cut;       /* ns: of calls whose duration is a lower bound */
	/* Owned. A heap with the fastest call on top; sorted, slowest first, after finish(). */
	struct chosen_call *calls;
	size_t count, room;
	/* Without --symbol and --dso, by index of the track: calls that may enclose the others. */
	struct outer_calls {
		struct chosen_call longest[OUTER_MOST], main; /* longest: by depth */
		size_t main_depth;
		uint64_t begin, end; /* ns: of the thread's calls */
	} * threads;                 /* owned */
	size_t thread_room;
	uint32_t *times_called; /* owned; by `pair` */
	size_t pair_room;
	struct chosen_call *left_out; /* owned: those that do */
	size_t left_out_count, left_out_room;
	/* After finish(): */
	uint64_t bound;  /* ns: of --slow; 0: not given */
	json_t *answer;  /* owned */
	uint64_t slower; /* calls above it; for a percentile, accurate to 1/128 of a duration */
};

/* ---- Calls --------------------------------------------------------------- */

/*
 * The slowest first.  Equal durations are in the order of time, then of threads; a caller is before
 * its callees.
 */
COMPARE_WITHIN(compare_slow, struct chosen_call, bool,
	       (*context ? COMPARE(b->insns, a->insns) : 0) ?: COMPARE(b->duration, a->duration) ?:
	       COMPARE(a->begin, b->begin) ?: COMPARE(a->track->index, b->track->index) ?:
	       COMPARE(b->number, a->number))

static bool is_faster(const bool *by_insns, const struct chosen_call *a,
		      const struct chosen_call *b)
{
	return compare_slow(a, b, (bool *)by_insns) > 0;
}

HEAP_DEFINE(calls, struct chosen_call, bool, is_faster)

static void keep_if_slow(void *context, const struct chosen_call *call)
{
	struct slowest_output *calls = context;
	const struct slow_choice *choice = &calls->choice;
	bool by_insns = calls->output.machine->by_insns;

	durations_add(&calls->durations, call->duration);
	if (!call->begin_seen || !call->end_seen)
		calls->longest_cut = MAX(call->duration, calls->longest_cut);
	calls->longer += call->duration > choice->longer;
	if (choice->has_bound && !choice->percentile && call->duration <= choice->longer)
		return;
	if (calls->count < (choice->most ? choice->most : SLOW_MOST_DEFAULT)) {
		ARRAY_GROW(calls->calls, calls->room, calls->count + 1);
		calls_push(&by_insns, calls->calls, calls->count++, call);
	} else if (is_faster(&by_insns, &calls->calls[0], call)) {
		calls->calls[0] = *call;
		calls_sift_down(&by_insns, calls->calls, calls->count, 0);
	}
}

/* ---- Calls around the program --------------------------------------------- */

/* Returns whether a call is that of main(), or encloses it. */
static bool encloses_main(const struct outer_calls *thread, const struct chosen_call *call,
			  size_t depth)
{
	const struct chosen_call *main = &thread->main;

	return main->symbol && depth <= thread->main_depth && call->begin <= main->begin &&
	       call->begin + call->duration >= main->begin + main->duration;
}

/* Hold back the longest call of each depth, or those around main(). */
static void note_call(void *context, const struct chosen_call *call)
{
	struct slowest_output *calls = context;
	size_t depth = call_thread_depth(call->thread);
	struct chosen_call next = *call, *held;
	struct outer_calls *thread;

	ARRAY_GROW_ZEROED(calls->threads, calls->thread_room, (size_t)call->track->index + 1);
	ARRAY_GROW_ZEROED(calls->times_called, calls->pair_room, (size_t)call->pair + 1);
	thread = &calls->threads[call->track->index];
	thread->begin = call->thread->open->begin.ns;
	thread->end = MAX(thread->end, call->begin + call->duration);
	if (!calls->times_called[call->pair]++ && !thread->main.symbol &&
	    (strcmp(call->symbol->linkage->text, "main") == 0 ||
	     starts_with(call->symbol->linkage->text, "__libc_start_main"))) {
		thread->main = *call;
		thread->main_depth = depth;
	}
	held = &thread->longest[MIN(depth, OUTER_MOST - 1)];
	if (depth < OUTER_MOST &&
	    (encloses_main(thread, call, depth) ||
	     (!encloses_main(thread, held, depth) && call->duration >= held->duration))) {
		next = *held;
		*held = *call;
	}
	if (next.symbol)
		keep_if_slow(calls, &next);
}

static void leave_out_outer(struct slowest_output *calls)
{
	for (size_t i = 0; i < calls->thread_room; i++) {
		uint64_t begin = calls->threads[i].begin, end = calls->threads[i].end, insns = 0;
		bool inner = false;

		/*
		 * Find the calls that enclose a thread's others: main() and its callers; and from
		 * the outermost call on each that is its function's only one in the thread, and has
		 * nine tenths of the time of the one around it, and half of the instructions, as it
		 * does not just wait.
		 */
		for (size_t depth = 0; depth < OUTER_MOST; depth++) {
			const struct chosen_call *call = &calls->threads[i].longest[depth];
			uint64_t call_end = call->begin + call->duration;

			if (!call->symbol)
				continue;
			inner |= !encloses_main(&calls->threads[i], call, depth) &&
				 (call->begin < begin || call_end > end ||
				  calls->times_called[call->pair] > 1 || call->insns < insns / 2 ||
				  call->duration < end - begin - (end - begin) / 10);
			if (inner) {
				keep_if_slow(calls, call);
				continue;
			}
			begin = call->begin;
			end = call_end;
			insns = call->insns;
			*ARRAY_ADD(calls->left_out, calls->left_out_count, calls->left_out_room) =
				*call;
		}
	}
	if (calls->durations.count >= INNER_LEAST)
		return;
	for (size_t i = 0; i < calls->left_out_count; i++)
		keep_if_slow(calls, &calls->left_out[i]);
	calls->left_out_count = 0;
}

/* ---- The answer ---------------------------------------------------------- */

static void apply_bound(struct slowest_output *calls)
{
	const struct slow_choice *choice = &calls->choice;
	size_t slow = 0;

	if (!choice->has_bound)
		return;
	calls->bound = choice->longer;
	calls->slower = calls->longer;
	if (!choice->percentile)
		return;
	calls->bound = durations_quantile(&calls->durations, choice->percentile);
	for (size_t i = 0; i < calls->count; i++) {
		if (calls->calls[i].duration > calls->bound)
			calls->calls[slow++] = calls->calls[i];
	}
	calls->slower = durations_longer(&calls->durations, calls->bound);
	if (slow < calls->count || calls->slower < slow)
		calls->slower = slow;
	calls->count = slow;
}

static void open_slowest(struct format_output *output, const struct format_request *request)
{
	struct slowest_output *slowest = (struct slowest_output *)output;

	chosen_calls_init(&slowest->chosen, &request->options->select,
			  request->options->slow.of_all ? note_call : keep_if_slow, slowest);
	slowest->choice = request->options->slow;
	slowest->chosen.names = request->names;
	output->slices = &slowest->chosen.tree.slices;
	output->sink = slowest->chosen.sink;
}

static const char *thread_name(const struct chosen_call *call)
{
	return call->track->thread_name ? call->track->thread_name : "";
}

static json_t *call_json(const struct chosen_call *call)
{
	const struct symbol *symbol = call->symbol;
	const struct track *track = call->track;

	return json_pack("{so so so so si si sI sI sI sI sb sb}", "function",
			 json_text_or_null(symbol->name->text), "dso",
			 json_text_or_null(symbol->dso ? symbol->dso->path : NULL), "process",
			 json_text_or_null(track->process_name), "thread",
			 json_text_or_null(track->thread_name), "pid", (int)track->pid, "tid",
			 (int)track->tid, "begin_ns", json_value_of(call->begin), "duration_ns",
			 json_value_of(call->duration), "insns", json_value_of(call->insns),
			 "untraced_ns", json_value_of(call->untraced), "begin_seen",
			 (int)call->begin_seen, "end_seen", (int)call->end_seen);
}

/* Returns null without --slow. */
static json_t *of_bound(const struct slowest_output *calls, uint64_t value)
{
	return calls->choice.has_bound ? json_integer(json_value_of(value)) : json_null();
}

static void make_answer(struct slowest_output *calls)
{
	const struct callstack_machine *machine = calls->output.machine;
	const struct durations *all = &calls->durations;

	calls->answer = json_pack(
		"{ss ss sI sI sI sI so}", "format", "slowest", "ranked_by",
		machine->by_insns ? "instructions" : "time", "calls", json_value_of(all->count),
		"median_ns", json_value_of(durations_percentile(all, 50)), "p99_ns",
		json_value_of(durations_percentile(all, 99)), "longest_ns", json_value_of(all->max),
		"list", JSON_LIST(i, calls->count, call_json(&calls->calls[i])));
	json_object_set_new(calls->answer, "left_out",
			    JSON_LIST(i, calls->left_out_count, call_json(&calls->left_out[i])));
	time_note_add(calls->answer, machine);
	json_object_set_new(calls->answer, "bound_ns", of_bound(calls, calls->bound));
	json_object_set_new(calls->answer, "slower", of_bound(calls, calls->slower));
}

/* Returns the calls that were cut. */
static size_t print_table(struct slowest_output *calls, FILE *out)
{
	static const char columns[] = "{time=duration:>10a} {begin:15m} {insns:10} {untraced:9a}  ";
	const json_t *list = json_object_get(calls->answer, "list");
	int width = (int)strlen("thread");
	size_t cut = 0;

	for (size_t i = 0; i < calls->count; i++) {
		const struct chosen_call *call = &calls->calls[i];
		int used = (int)strlen(thread_name(call)) +
			   snprintf(NULL, 0, "/%" PRId32, call->track->tid);

		width = MAX(used, width);
		cut += !call->begin_seen || !call->end_seen;
	}
	fputs("rank ", out);
	json_print(out, NULL, 0, columns);
	fprintf(out, "%-*s  function\n", width, "thread");
	for (size_t i = 0; i < calls->count; i++) {
		const struct chosen_call *call = &calls->calls[i];

		fprintf(out, "%4zu ", i + 1);
		json_print(out, json_array_get(list, i), 0, columns);
		escaped_printf(out, "%s/%-*" PRId32 "  %s\n", thread_name(call),
			       width - (int)strlen(thread_name(call)) - 1, call->track->tid,
			       chosen_calls_label(&calls->chosen, call->function)->text);
	}
	return cut;
}

static void print_totals(const struct slowest_output *calls, FILE *out)
{
	uint64_t longest = calls->durations.max;

	json_print(out, calls->answer, 0, "\n{calls} calls: median {median:a}, p99 {p99:a}, ");
	fprintf(out, "longest %s%s\n", calls->longest_cut == longest && longest ? ">" : "",
		short_time(longest).text);
	if (!calls->choice.has_bound)
		return;
	json_print(out, calls->answer, 0, "{slower} took longer than {bound:a}");
	fputs(calls->slower > calls->count ? "; these are the slowest: --slowest=N shows more\n"
					   : "\n",
	      out);
}

static void print_slowest(struct format_output *output)
{
	struct slowest_output *calls = (struct slowest_output *)output;
	bool by_insns = output->machine->by_insns;
	const struct pattern_list *symbols = &calls->chosen.choice.selection->symbols;
	FILE *out = output->text;
	size_t cut;
	bool *named;

	leave_out_outer(calls);
	SORT_WITHIN(calls->calls, calls->count, compare_slow, &by_insns);
	apply_bound(calls);
	function_choice_warn(&calls->chosen.choice, calls->chosen.count, output->machine->diag);
	make_answer(calls);
	if (!out)
		return;
	cut = print_table(calls, out);
	if (!calls->durations.count)
		return;
	print_totals(calls, out);
	if (cut)
		fputs("> the start or the return was not traced: it took at least this long\n",
		      out);
	time_note_print(output->machine, out);
	/* Print each function of these calls once. */
	named = alloc_zeroed(calls->chosen.functions.count + 1, sizeof(*named));
	for (size_t i = 0; i < calls->left_out_count; i++) {
		const struct chosen_call *call = &calls->left_out[i];

		if (!named[call->function])
			escaped_printf(out, "%s %s",
				       i ? "," : "left out, as they enclose the program:",
				       chosen_calls_label(&calls->chosen, call->function)->text);
		named[call->function] = true;
	}
	fputs(calls->left_out_count ? "; --symbol='*' lists them, too\n" : "", out);
	free(named);
	if (symbols->count && strcmp(symbols->patterns[0], "*") == 0)
		fputs("callers take longer than their callees: choose functions by --symbol; "
		      "`ptrace2ftf why` finds those with slow calls\n",
		      out);
}

static json_t *answer_slowest(const struct format_output *output)
{
	return json_incref(((const struct slowest_output *)output)->answer);
}

static void release_slowest(struct format_output *output)
{
	struct slowest_output *calls = (struct slowest_output *)output;

	free(calls->threads);
	free(calls->times_called);
	free(calls->left_out);
	free(calls->calls);
	json_decref(calls->answer);
	durations_release(&calls->durations);
	chosen_calls_release(&calls->chosen);
}

const struct output_format format_slowest = {
	.name = "slowest",
	.suffix = "txt",
	.lines = true,
	.slices = SLICES_SORTED,
	.chooses_calls = true,
	.size = sizeof(struct slowest_output),
	.open = open_slowest,
	.finish = print_slowest,
	.answer = answer_slowest,
	.release = release_slowest,
};
