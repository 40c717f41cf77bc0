/* SPDX-License-Identifier: MIT */
/*
 * --format=divergence: where the slow calls of the functions of --symbol leave the common way: for
 * each the first step that nearly no other call makes, or a loop that it goes round more often
 * than any other.
 *
 * Others are those that are not slow, but for the slowest of them: what makes calls slow also
 * makes some of them slow that are not the slowest.
 */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/tables/compare.h"
#include "base/tables/lower_bound.h"
#include "base/tables/name.h"
#include "src/callstack/callstack.h"
#include "src/formats/answers/call_flow.h"
#include "src/formats/answers/call_paths.h"
#include "src/formats/answers/slow_classes.h"
#include "src/formats/call_sites.h"
#include "src/formats/output_format.h"
#include "src/formats/text/escaped_text.h"
#include "src/formats/text/json_any_text.h"
#include "src/formats/text/short_time.h"
#include "src/options/options.h"

/* One of so many calls are left out of the others: those next to the slow ones. */
#define NEAR_SLOW 50

/* A step is rare if fewer than one of so many others make it. */
#define RARE 50

/* Places that are listed for each function. */
#define PLACES_MOST 20

enum difference { DIFFERS_NOT, IS_INTERRUPTED, IS_RARE, IS_MORE };

/* What the other calls do. */
struct usual {
	uint64_t calls, sum; /* that make a step, and how often */
	uint32_t least, most;
};

/* The calls of one function. */
struct flow_group {
	uint32_t lowest, highest; /* class: of slow calls, and behind that of others */
	uint64_t slow, others, compared;
	struct flow_call typical;
};

/* Slow calls that leave the common way at one place. */
struct departure {
	enum difference kind;
	uint32_t step; /* its number; 0: DIFFERS_NOT */
	uint64_t calls;
	double duration, count; /* sums, ns */
};

struct divergence_output {
	struct format_output output; /* first */
	struct call_flow flow;
	struct slow_choice slow;
	struct call_sites sites;
	/* From finish() on: */
	struct usual *usual;       /* owned; by number of the step */
	struct flow_group *groups; /* owned; by number of the root */
	uint32_t *by_origin;       /* owned: numbers of steps, sorted by what is before them */
};

static void pass_over(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	(void)track;
	(void)batch;
}

static struct format_output *open_divergence(const struct format_request *request,
					     struct error *err)
{
	struct divergence_output *divergence = alloc_zeroed(1, sizeof(*divergence));

	(void)err;
	call_flow_init(&divergence->flow, &request->options->select);
	divergence->slow = request->options->slow;
	divergence->sites.names = request->names;
	divergence->output.text = request->text;
	divergence->output.sink.events = pass_over;
	return &divergence->output;
}

static size_t limit_events(struct format_output *output, struct resolver *resolver,
			   const struct branch_event *events, size_t count,
			   struct watched_frame *watched)
{
	return call_flow_limit(&((struct divergence_output *)output)->flow, resolver, events, count,
			       watched);
}

static void follow_events(struct format_output *output, struct resolver *resolver,
			  const struct branch_event *events, size_t count,
			  const struct callstack_top *top)
{
	call_flow_follow(&((struct divergence_output *)output)->flow, resolver, events, count,
			 *top);
}

/* ---- Slow calls and others ------------------------------------------------ */

/* Count the calls of a root by `count` classes, that of the longest calls first. */
static void find_group(struct divergence_output *divergence, uint32_t root,
		       struct class_count *classes, size_t count)
{
	struct flow_group *group = &divergence->groups[root];
	uint64_t near = 0, most = divergence->flow.roots[root].durations.count / NEAR_SLOW;

	group->lowest = group->highest = slow_classes_find(classes, count, &divergence->slow);
	for (size_t i = 0; i < count; i++) {
		if (classes[i].number >= group->lowest) {
			group->slow += classes[i].calls;
			continue;
		}
		group->others += classes[i].calls;
		near += classes[i].calls;
		if (near <= most)
			group->highest = classes[i].number;
		else
			group->compared += classes[i].calls;
	}
}

static void find_groups(struct divergence_output *divergence)
{
	const struct call_flow *flow = &divergence->flow;
	uint32_t *sorted = pair_table_sort(&flow->classes);
	struct class_count *classes = alloc_zeroed(flow->classes.count + 1, sizeof(*classes));
	size_t count;

	for (size_t i = 0; i < flow->classes.count; i += count) {
		uint32_t root = pair_table_pair(&flow->classes, sorted[i]).first;
		uint32_t median =
			call_paths_class(durations_percentile(&flow->roots[root].durations, 50));

		for (count = 0; i + count < flow->classes.count; count++) {
			uint32_t place = sorted[i + count];
			struct pair pair = pair_table_pair(&flow->classes, place);

			if (pair.first != root)
				break;
			classes[count] =
				(struct class_count){ pair.second, flow->call_counts[place] };
			if (pair.second == median)
				divergence->groups[root].typical = flow->calls[place];
		}
		find_group(divergence, root, classes, count);
	}
	free(classes);
	free(sorted);
}

static void find_usual(struct divergence_output *divergence)
{
	const struct call_flow *flow = &divergence->flow;

	divergence->usual = alloc_zeroed(flow->step_count + 1, sizeof(*divergence->usual));
	for (size_t i = 0; i < flow->counted.count; i++) {
		struct pair made = pair_table_pair(&flow->counted, i); /* step, class */
		struct usual *usual = &divergence->usual[made.first];
		const struct flow_count *count = &flow->counts[i];

		if (made.second >= divergence->groups[flow->steps[made.first - 1].root].highest)
			continue;
		if (!usual->calls || count->least < usual->least)
			usual->least = count->least;
		if (count->most > usual->most)
			usual->most = count->most;
		usual->calls += count->calls;
		usual->sum += count->sum;
	}
}

/* ---- Departures ----------------------------------------------------------- */

/* Returns whether a step is the end of a round of a loop. */
static bool is_loop(const struct flow_step *step)
{
	return (step->kind == BRANCH_COND || step->kind == BRANCH_JUMP) && step->from.symbol &&
	       step->from.symbol == step->to.symbol && step->to.offset <= step->from.offset;
}

static bool is_interrupt(const struct flow_step *step)
{
	return step->kind == BRANCH_INTERRUPT && !step->from.symbol && !step->from.offset;
}

/* The first of each kind in a call: its place among the steps; UINT64_MAX: there is none. */
struct found {
	uint64_t rare, loop, more;
	const struct flow_made *rare_step, *loop_step, *more_step, *interrupt;
};

static void look_at(const struct divergence_output *divergence, uint64_t compared,
		    const struct flow_made *made, struct found *found)
{
	const struct flow_step *step = &divergence->flow.steps[made->step - 1];
	const struct usual *usual = &divergence->usual[made->step];
	uint64_t allowed = (uint64_t)usual->most + usual->most / 8;
	/*
	 * Where it is made more often than that, at the latest: rounds may have other steps
	 * between them, which are taken for as many.
	 */
	uint64_t at = made->first +
		      (uint64_t)(2 * (double)(made->last - made->first) * (double)(allowed + 1) /
				 (made->count > 1 ? made->count - 1 : 1));

	if (is_interrupt(step)) {
		if (made->count > usual->most)
			found->interrupt = made;
	} else if (usual->calls * RARE < compared || !usual->calls) {
		if (made->first < found->rare) {
			found->rare = made->first;
			found->rare_step = made;
		}
	} else if (made->count <= allowed) {
		return;
	} else if (is_loop(step) && at < found->loop) {
		found->loop = at;
		found->loop_step = made;
	} else if (at < found->more) {
		found->more = at;
		found->more_step = made;
	}
}

static const struct flow_made *first_difference(const struct divergence_output *divergence,
						uint64_t compared, const struct flow_call *call,
						enum difference *kind)
{
	struct found found = { .rare = UINT64_MAX, .loop = UINT64_MAX, .more = UINT64_MAX };

	for (size_t i = 0; i < call->count; i++)
		look_at(divergence, compared, &call->made[i], &found);
	*kind = IS_MORE;
	if (found.loop_step && found.loop < found.rare)
		return found.loop_step;
	if (!found.loop_step && found.more_step && found.more < found.rare)
		return found.more_step;
	*kind = found.rare_step ? IS_RARE : found.interrupt ? IS_INTERRUPTED : DIFFERS_NOT;
	return found.rare_step ? found.rare_step : found.interrupt;
}

static int compare_departures(const void *left, const void *right)
{
	const struct departure *a = left, *b = right;

	if (a->duration != b->duration)
		return a->duration > b->duration ? -1 : 1;
	return a->step < b->step ? -1 : a->step > b->step;
}

/* Returns the places where slow calls leave, `*count` of them, owned by the caller. */
static struct departure *find_departures(const struct divergence_output *divergence, uint32_t root,
					 size_t *count)
{
	const struct flow_root *calls = &divergence->flow.roots[root];
	const struct flow_group *group = &divergence->groups[root];
	struct departure *list = alloc_zeroed(FLOW_CALLS_MOST + 1, sizeof(*list));

	*count = 0;
	for (size_t i = 0; i < calls->slow_count && group->compared; i++) {
		const struct flow_call *call = &calls->slowest[i];
		const struct flow_made *made;
		enum difference kind;
		size_t at = 0;

		if (call_paths_class(call->duration) < group->lowest || !call->made)
			continue;
		made = first_difference(divergence, group->compared, call, &kind);
		while (at < *count &&
		       (list[at].kind != kind || list[at].step != (made ? made->step : 0)))
			at++;
		*count += at == *count;
		list[at].kind = kind;
		list[at].step = made ? made->step : 0;
		list[at].calls++;
		list[at].duration += (double)call->duration - (double)group->typical.duration;
		list[at].count += made ? made->count : 0;
	}
	if (*count)
		qsort(list, *count, sizeof(*list), compare_departures);
	return list;
}

static int compare_origins(const struct flow_step *a, const struct flow_step *b)
{
	return COMPARE(a->root, b->root)
		       ?: COMPARE((uintptr_t)a->prev.symbol, (uintptr_t)b->prev.symbol)
		       ?: COMPARE(a->prev.offset, b->prev.offset);
}

static int compare_steps(const void *left, const void *right, void *steps)
{
	const struct flow_step *step = steps;

	return compare_origins(&step[*(const uint32_t *)left - 1],
			       &step[*(const uint32_t *)right - 1]);
}

/* Sort the steps by what is before them. */
static void sort_steps(struct divergence_output *divergence)
{
	const struct call_flow *flow = &divergence->flow;

	divergence->by_origin = alloc_zeroed(flow->step_count + 1, sizeof(*divergence->by_origin));
	for (size_t i = 0; i < flow->step_count; i++)
		divergence->by_origin[i] = (uint32_t)i + 1;
	if (flow->step_count)
		qsort_r(divergence->by_origin, flow->step_count, sizeof(*divergence->by_origin),
			compare_steps, flow->steps);
}

/* Returns the step that most others make where a rare one was made; NULL: there is none. */
static const struct flow_step *usual_step(const struct divergence_output *divergence,
					  const struct flow_step *rare)
{
	const struct call_flow *flow = &divergence->flow;
	const uint32_t *sorted = divergence->by_origin;
	size_t at = LOWER_BOUND(i, flow->step_count,
				compare_origins(&flow->steps[sorted[i] - 1], rare) < 0);
	uint32_t best = 0;

	for (; at < flow->step_count; at++) {
		const struct flow_step *step = &flow->steps[sorted[at] - 1];
		uint64_t calls = divergence->usual[sorted[at]].calls;

		if (compare_origins(step, rare) != 0)
			break;
		/* Of those that as many make, the one that was seen first. */
		if (!is_interrupt(step) &&
		    (calls > divergence->usual[best].calls ||
		     (best && calls == divergence->usual[best].calls && sorted[at] < best)))
			best = sorted[at];
	}
	return best ? &flow->steps[best - 1] : NULL;
}

/* ---- Words ---------------------------------------------------------------- */

/* Print "function (file.c:12)" of code, or "function+0x12". */
static void print_place(struct divergence_output *divergence, const struct flow_place *place,
			FILE *out)
{
	const struct name *line = call_sites_find(&divergence->sites, place->symbol, place->offset);

	if (!place->symbol) {
		fprintf(out, "0x%" PRIx64, place->offset);
		return;
	}
	escaped_text_print(place->symbol->name->text, place->symbol->name->length, out);
	if (line) {
		fputs(" (", out);
		escaped_text_print(line->text, line->length, out);
		putc(')', out);
	} else if (place->offset) {
		fprintf(out, "+0x%" PRIx64, place->offset);
	}
}

static bool is_nowhere(const struct flow_place *place)
{
	return !place->symbol && !place->offset;
}

static const char *verb_of(const struct flow_step *step)
{
	if (step->kind == BRANCH_CALL)
		return "calls";
	if (step->kind == BRANCH_RETURN)
		return "returns to";
	if (step->kind == BRANCH_INTERRUPT)
		return "is interrupted, and runs";
	return is_nowhere(&step->from) ? "continues at" : "jumps to";
}

static void print_target(struct divergence_output *divergence, const struct flow_step *step,
			 FILE *out)
{
	if (is_nowhere(&step->to)) {
		fputs(step->kind == BRANCH_SYSCALL ? "calls the kernel" : "leaves the trace", out);
		return;
	}
	fprintf(out, "%s ", verb_of(step));
	print_place(divergence, &step->to, out);
}

/*
 * Returns whether the usual step ends with a branch that the rare one passes over: then that is
 * where the ways part.
 */
static bool passes_over(const struct flow_step *rare, const struct flow_step *usual)
{
	return usual && usual->from.symbol == rare->from.symbol &&
	       usual->from.offset < rare->from.offset;
}

static void print_rare(struct divergence_output *divergence, const struct flow_step *step,
		       FILE *out)
{
	const struct flow_step *usual = usual_step(divergence, step);
	bool passes = passes_over(step, usual);
	const struct flow_place *place = passes ? &usual->from : &step->from;

	print_place(divergence, is_nowhere(place) ? &step->to : place, out);
	if (passes)
		fputs(": does not jump, then ", out);
	else
		fputs(": ", out);
	print_target(divergence, step, out);
	if (usual) {
		fputs("; usually ", out);
		print_target(divergence, usual, out);
	}
}

static void print_more(struct divergence_output *divergence, const struct departure *departure,
		       FILE *out)
{
	const struct flow_step *step = &divergence->flow.steps[departure->step - 1];
	const struct usual *usual = &divergence->usual[departure->step];

	if (departure->kind == IS_INTERRUPTED) {
		fputs("the same steps, but interrupted", out);
	} else {
		print_place(divergence, &step->from, out);
		fputs(": ", out);
		if (is_loop(step))
			fputs("the loop goes round", out);
		else
			print_target(divergence, step, out);
	}
	fprintf(out, " %.0f times, usually %.0f (%" PRIu32 " to %" PRIu32 ")",
		departure->count / (double)departure->calls,
		usual->calls ? (double)usual->sum / (double)usual->calls : 0, usual->least,
		usual->most);
}

static void print_departure(struct divergence_output *divergence, const struct flow_group *group,
			    const struct departure *departure, FILE *out)
{
	double later = departure->duration / (double)departure->calls;
	char text[SHORT_TIME_SIZE];

	short_time(text, (int64_t)(later < 0 ? later - 0.5 : later + 0.5));
	fprintf(out, "%6" PRIu64 " %11s", departure->calls, text);
	if (departure->kind == DIFFERS_NOT)
		fprintf(out, " %7s  ", "");
	else
		fprintf(out, " %6.1f%%  ",
			100 * (double)divergence->usual[departure->step].calls /
				(double)group->compared);
	if (departure->kind == DIFFERS_NOT)
		fputs("no difference in control flow: the same steps took longer", out);
	else if (departure->kind == IS_RARE)
		print_rare(divergence, &divergence->flow.steps[departure->step - 1], out);
	else
		print_more(divergence, departure, out);
	putc('\n', out);
}

/* ---- Text ----------------------------------------------------------------- */

static const char *plural(uint64_t count)
{
	return count == 1 ? "" : "s";
}

static void print_group_head(const struct flow_root *calls, const struct flow_group *group,
			     FILE *out)
{
	char bound[SHORT_TIME_SIZE], typical[SHORT_TIME_SIZE];

	escaped_text_print(calls->symbol->name->text, calls->symbol->name->length, out);
	if (!group->slow || !group->compared) {
		fprintf(out, ": %" PRIu64 " call%s, none to compare %s\n\n", calls->durations.count,
			plural(calls->durations.count), group->slow ? "with" : "as slow");
		return;
	}
	short_time(bound, (int64_t)call_paths_class_begin(group->lowest));
	short_time(typical, (int64_t)group->typical.duration);
	fprintf(out,
		": %" PRIu64 " slow call%s, of at least %s, and %" PRIu64
		" other%s\nthe typical call took %s, at %" PRIu64 ".%09" PRIu64
		" in thread %" PRId32 "\n\n",
		group->slow, plural(group->slow), bound, group->others, plural(group->others),
		typical, group->typical.begin / 1000000000, group->typical.begin % 1000000000,
		group->typical.tid);
	fprintf(out, "%6s %11s %7s  %s\n", "calls", "later", "others", "first difference");
}

static void print_root(struct divergence_output *divergence, uint32_t root, FILE *out)
{
	const struct flow_root *calls = &divergence->flow.roots[root];
	const struct flow_group *group = &divergence->groups[root];
	uint64_t shown = 0, listed = 0;
	size_t count;
	struct departure *list = find_departures(divergence, root, &count);

	print_group_head(calls, group, out);
	for (size_t i = 0; i < count; i++) {
		listed += list[i].calls;
		if (i >= PLACES_MOST)
			continue;
		print_departure(divergence, group, &list[i], out);
		shown += list[i].calls;
	}
	if (listed > shown)
		fprintf(out, "%6" PRIu64 " in %zu other places\n", listed - shown,
			count - PLACES_MOST);
	if (group->compared && group->slow > listed)
		fprintf(out, "%6" PRIu64 " less slow calls were not compared\n",
			group->slow - listed);
	if (count)
		putc('\n', out);
	free(list);
}

static int print_divergence(struct format_output *output, struct error *err)
{
	struct divergence_output *divergence = (struct divergence_output *)output;
	struct call_flow *flow = &divergence->flow;
	FILE *out = output->text;

	(void)err;
	call_flow_finish(flow);
	divergence->groups = alloc_zeroed(flow->root_ids.count + 1, sizeof(*divergence->groups));
	find_groups(divergence);
	find_usual(divergence);
	sort_steps(divergence);
	for (uint32_t i = 0; i < flow->root_ids.count; i++)
		print_root(divergence, i, out);
	if (flow->cut)
		fprintf(out, "left out: %" PRIu64 " call%s whose return was not traced\n",
			flow->cut, plural(flow->cut));
	function_choice_warn(&flow->choice, flow->number, output->machine->diag);
	return 0;
}

/* ---- JSON (doc/summary.schema.json) --------------------------------------- */

static json_t *name_value(const struct name *name)
{
	return name ? json_any_text(name->text, name->length) : json_null();
}

static json_t *place_json(struct divergence_output *divergence, const struct flow_place *place)
{
	const struct symbol *symbol = place->symbol;

	if (is_nowhere(place))
		return json_null();
	return json_pack("{so sI so}", "function", name_value(symbol ? symbol->name : NULL),
			 "offset", (json_int_t)place->offset, "line",
			 name_value(call_sites_find(&divergence->sites, symbol, place->offset)));
}

static json_t *departure_json(struct divergence_output *divergence,
			      const struct departure *departure)
{
	static const char *const words[] = { [DIFFERS_NOT] = "none",
					     [IS_INTERRUPTED] = "interrupted",
					     [IS_RARE] = "branch",
					     [IS_MORE] = "count" };
	const struct flow_step none = { 0 };
	const struct flow_step *step =
		departure->step ? &divergence->flow.steps[departure->step - 1] : &none;
	const struct usual *usual = &divergence->usual[departure->step];
	const struct flow_step *other =
		departure->kind == IS_RARE ? usual_step(divergence, step) : NULL;
	bool passes = other && passes_over(step, other);

	return json_pack("{ss sI sf so so so sb sI sf sf sI sI}", "kind", words[departure->kind],
			 "calls", (json_int_t)departure->calls, "later_ns",
			 departure->duration / (double)departure->calls, "place",
			 place_json(divergence, passes ? &other->from : &step->from), "target",
			 place_json(divergence, &step->to), "usual_target",
			 other ? place_json(divergence, &other->to) : json_null(), "not_taken",
			 (int)passes, "other_calls", (json_int_t)usual->calls, "count",
			 departure->count / (double)departure->calls, "usual_count",
			 usual->calls ? (double)usual->sum / (double)usual->calls : 0,
			 "usual_least", (json_int_t)usual->least, "usual_most",
			 (json_int_t)usual->most);
}

static json_t *root_json(struct divergence_output *divergence, uint32_t root)
{
	const struct flow_group *group = &divergence->groups[root];
	json_t *places = json_array();
	size_t count;
	struct departure *list = find_departures(divergence, root, &count);

	for (size_t i = 0; i < count && i < PLACES_MOST; i++)
		json_array_append_new(places, departure_json(divergence, &list[i]));
	free(list);
	return json_pack("{so sI sI sI sI sI si so}", "function",
			 name_value(divergence->flow.roots[root].symbol->name), "slow_calls",
			 (json_int_t)group->slow, "other_calls", (json_int_t)group->others,
			 "compared_calls", (json_int_t)group->compared, "typical_begin_ns",
			 (json_int_t)group->typical.begin, "typical_ns",
			 (json_int_t)group->typical.duration, "typical_tid",
			 (int)group->typical.tid, "places", places);
}

static json_t *answer_divergence(const struct format_output *output)
{
	struct divergence_output *divergence = (struct divergence_output *)(uintptr_t)output;
	json_t *list = json_array();

	for (uint32_t i = 0; i < divergence->flow.root_ids.count; i++)
		json_array_append_new(list, root_json(divergence, i));
	return json_pack("{ss so sI}", "format", "divergence", "functions", list, "left_out",
			 (json_int_t)divergence->flow.cut);
}

static void release_divergence(struct format_output *output)
{
	struct divergence_output *divergence = (struct divergence_output *)output;

	call_flow_release(&divergence->flow);
	call_sites_release(&divergence->sites);
	free(divergence->usual);
	free(divergence->groups);
	free(divergence->by_origin);
}

const struct output_format format_divergence = {
	.name = "divergence",
	.lines = true,
	.slices = SLICES_AS_FOUND,
	.chooses_calls = true,
	.open = open_divergence,
	.limit = limit_events,
	.followed = follow_events,
	.finish = print_divergence,
	.answer = answer_divergence,
	.release = release_divergence,
};
