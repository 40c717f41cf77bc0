/* SPDX-License-Identifier: MIT */
/* Find and print the first branch at which two recordings part. */
#include "src/diff/diff.h"

#include "base/printable.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/json_print.h"

/* Passes, at most: each narrows a window to a 2048th. */
#define PASSES_MOST 8

/* Threads of both sides. */
struct way_pair {
	const json_t *ways[SIDES]; /* borrowed: results of the last pass */
	uint64_t index[SIDES];     /* numbers of the threads */
	uint64_t from, to;         /* equal branches, and where they have parted; equal: known */
	uint64_t ns;               /* when they parted, in A */
	bool equal;
};

/* ---- Passes -------------------------------------------------------------- */

static const json_t *find_way(const json_t *ways, uint64_t index)
{
	for (size_t i = 0; i < json_array_size(ways); i++)
		if (json_value_count(json_array_get(ways, i), "index") == index)
			return json_array_get(ways, i);
	return NULL;
}

/* Returns the number of a pair's branches that are compared. */
static uint64_t count_both(const struct way_pair *pair)
{
	return MIN(json_value_count(pair->ways[SIDE_A], "branches"),
		   json_value_count(pair->ways[SIDE_B], "branches"));
}

/* Returns the hash after `count` branches of a window. */
static json_int_t hash_after(const json_t *way, uint64_t count)
{
	uint64_t at = count / json_value_count(way, "step");

	return json_integer_value(json_array_get(json_object_get(way, "hashes"), (size_t)at - 1));
}

/* Narrow the window of a pair to the step in which it parts. */
static void narrow(struct way_pair *pair)
{
	const json_t *a = pair->ways[SIDE_A], *b = pair->ways[SIDE_B];
	uint64_t step = MAX(json_value_count(a, "step"), json_value_count(b, "step"));
	uint64_t both = MIN(count_both(pair), pair->to), at = pair->from;

	pair->equal |= json_value_count(a, "branches") == json_value_count(b, "branches") &&
		       json_value_number(a, "hash") == json_value_number(b, "hash");
	while (at + step <= both &&
	       hash_after(a, at + step - pair->from) == hash_after(b, at + step - pair->from))
		at += step;
	pair->from = at;
	pair->to = MIN(at + step, both);
	if (step == 1 || at == both)
		pair->to = at;
}

/* Decode both sides again, with the windows of the pairs.  Returns false if one failed. */
static bool run_pass(const struct first_diff *diff, struct way_pair *pairs, size_t count, bool show)
{
	for (int side = 0; side < SIDES; side++) {
		struct way_window *windows = NULL;
		size_t room = 0;
		const json_t *ways;

		for (size_t i = 0; i < count; i++) {
			const struct way_pair *pair = &pairs[i];

			ARRAY_GROW_ZEROED(windows, room, (size_t)pair->index[side] + 1);
			windows[pair->index[side]] =
				(struct way_window){ pair->from, pair->to,
						     show ? pair->from : UINT64_MAX };
		}
		ways = diff->pass(diff->context, (enum diff_side)side, windows, room);
		free(windows);
		if (!ways)
			return false;
		for (size_t i = 0; i < count; i++)
			pairs[i].ways[side] = find_way(ways, pairs[i].index[side]);
	}
	return true;
}

/* Take the first way of side B with a name away from the list.  Returns NULL if there is none. */
static const json_t *take_partner(json_t *ways, const char *name)
{
	for (size_t i = 0; i < json_array_size(ways); i++) {
		const json_t *way = json_array_get(ways, i);

		if (strcmp(json_value_text(way, "thread"), name) == 0) {
			json_array_remove(ways, i);
			return way;
		}
	}
	return NULL;
}

/* ---- The answer ---------------------------------------------------------- */

static json_t *side_json(const json_t *way)
{
	const json_t *shown = json_object_get(way, "shown");

	return json_pack("{sO sO sO? sO sO? sO? sO?}", "tid", json_object_get(way, "tid"),
			 "branches", json_object_get(way, "branches"), "call",
			 json_object_get(shown, "call"), "lost", json_object_get(way, "lost"),
			 "from", json_object_get(shown, "from"), "to", json_object_get(shown, "to"),
			 "ns", json_object_get(shown, "ns"));
}

/* Returns the side that takes a conditional branch, which the other one passes; NULL: neither. */
static const char *taken_by(const json_t *a, const json_t *b)
{
	const json_t *froms[SIDES] = { json_object_get(a, "from"), json_object_get(b, "from") };
	uint64_t offsets[SIDES] = { json_value_count(froms[0], "offset"),
				    json_value_count(froms[1], "offset") };
	bool first = offsets[0] > offsets[1];

	if (!json_equal(json_object_get(froms[0], "code"), json_object_get(froms[1], "code")) ||
	    offsets[0] == offsets[1] ||
	    !json_is_true(json_object_get(first ? b : a, "conditional")))
		return NULL;
	return first ? "b" : "a";
}

static json_t *pair_json(const struct way_pair *pair)
{
	const json_t *ways[SIDES] = { pair->ways[SIDE_A], pair->ways[SIDE_B] };
	const json_t *shown[SIDES] = { json_object_get(ways[0], "shown"),
				       json_object_get(ways[1], "shown") };
	bool ends[SIDES], lost = false;

	for (int side = 0; side < SIDES; side++) {
		ends[side] = pair->equal || json_value_count(ways[side], "branches") <= pair->from;
		lost |= ends[side] && json_is_true(json_object_get(ways[side], "lost"));
	}
	return json_pack("{sO sI ss so so ss? sO? sO?}", "thread",
			 json_object_get(ways[SIDE_A], "thread"), "equal",
			 json_value_of(pair->equal ? count_both(pair) : pair->from), "end",
			 lost                 ? "lost"
			 : pair->equal        ? "equal"
			 : ends[0] || ends[1] ? "ended"
					      : "parts",
			 "a", side_json(ways[SIDE_A]), "b", side_json(ways[SIDE_B]), "taken",
			 ends[0] || ends[1] ? NULL : taken_by(shown[0], shown[1]), "at",
			 json_object_get(shown[ends[0]], "at"), "stack",
			 json_object_get(shown[ends[0]], "stack"));
}

COMPARE_WITH(compare_pairs, struct way_pair,
	     COMPARE(a->ns, b->ns) ?: COMPARE(a->index[SIDE_A], b->index[SIDE_A]))

/* Returns a thread that the other side lacks. */
static json_t *alone_json(const char *side, const json_t *way)
{
	return json_pack("{ss sO sO sO}", "side", side, "thread", json_object_get(way, "thread"),
			 "tid", json_object_get(way, "tid"), "branches",
			 json_object_get(way, "branches"));
}

json_t *first_diff_make(const struct first_diff *diff, char *const names[SIDES])
{
	const json_t *ways[SIDES];
	json_t *answer = NULL, *alone = json_array(), *left;
	struct way_pair *pairs = NULL;
	size_t count = 0, room = 0;
	bool open = true, done = true;

	for (int side = 0; side < SIDES; side++)
		if (!(ways[side] = diff->pass(diff->context, (enum diff_side)side, NULL, 0)))
			goto failed;
	left = json_copy((json_t *)ways[SIDE_B]);
	for (size_t i = 0; i < json_array_size(ways[SIDE_A]); i++) {
		const json_t *a = json_array_get(ways[SIDE_A], i);
		const json_t *b = take_partner(left, json_value_text(a, "thread"));

		if (b)
			*ARRAY_ADD(pairs, count, room) = (struct way_pair){
				.ways = { a, b },
				.index = { json_value_count(a, "index"),
					   json_value_count(b, "index") },
				.to = UINT64_MAX,
			};
		else
			json_array_append_new(alone, alone_json("a", a));
	}
	for (size_t i = 0; i < json_array_size(left); i++)
		json_array_append_new(alone, alone_json("b", json_array_get(left, i)));
	json_decref(left);
	for (int i = 0; open && done && i < PASSES_MOST; i++) {
		open = false;
		for (size_t j = 0; j < count; j++) {
			narrow(&pairs[j]);
			open |= !pairs[j].equal && pairs[j].to > pairs[j].from;
		}
		done = run_pass(diff, pairs, count, !open);
	}
	for (size_t i = 0; i < count && done; i++)
		pairs[i].ns =
			json_value_count(json_object_get(pairs[i].ways[SIDE_A], "shown"), "ns")
				?: UINT64_MAX;
	SORT(pairs, count, compare_pairs);
	if (done)
		answer = json_pack("{sI so so so sO}", "version", (json_int_t)1, "a",
				   json_text_or_null(names[SIDE_A]), "b",
				   json_text_or_null(names[SIDE_B]), "threads",
				   JSON_LIST(i, count, pair_json(&pairs[i])), "alone", alone);
failed:
	json_decref(alone);
	free(pairs);
	return answer;
}

/* ---- Text ---------------------------------------------------------------- */

/* Print "f (a.c:12, prog+0x1234)", and end the line. */
static void print_place(const json_t *place, FILE *out)
{
	const char *file = json_value_text(place, "file");

	if (!json_is_object(place)) {
		fputs("unknown code\n", out);
		return;
	}
	printable_printf(out, "%s (", json_value_text(place, "function"));
	if (*file)
		printable_printf(out, "%s:%" PRIu64 ", ", base_name(file),
				 json_value_count(place, "line"));
	printable_printf(out, "%s+0x%" PRIx64 ")\n", json_value_text(place, "code"),
			 json_value_count(place, "offset"));
}

static void print_thread(const json_t *thread, FILE *out)
{
	const char *end = json_value_text(thread, "end");
	const json_t *a = json_object_get(thread, "a"), *b = json_object_get(thread, "b");
	const json_t *stack = json_object_get(thread, "stack");
	uint64_t equal = json_value_count(thread, "equal");
	bool lost = strcmp(end, "lost") == 0;
	bool a_ends = json_value_count(a, "branches") == equal &&
		      (!lost || json_is_true(json_object_get(a, "lost")));

	printable_printf(out,
			 "%s (%" PRIu64 " and %" PRIu64 "): ", json_value_text(thread, "thread"),
			 json_value_count(a, "tid"), json_value_count(b, "tid"));
	if (strcmp(end, "equal") == 0) {
		fprintf(out, "all %" PRIu64 " branches are equal\n", equal);
		return;
	}
	fprintf(out, "the first %" PRIu64 " branches are equal", equal);
	if (json_value_count(a, "call"))
		fprintf(out, ", up to call %" PRIu64 " of A and %" PRIu64 " of B",
			json_value_count(a, "call"), json_value_count(b, "call"));
	putc('\n', out);
	if (lost) {
		fprintf(out, "  the comparison stops: trace of %c is lost\n", a_ends ? 'A' : 'B');
	} else if (strcmp(end, "ended") == 0) {
		fprintf(out, "  then %c ends\n", a_ends ? 'A' : 'B');
	} else {
		const json_t *sides[SIDES] = { json_object_get(thread, "a"),
					       json_object_get(thread, "b") };
		const char *taken = json_value_text(thread, "taken");
		int first = *taken == 'b';

		/* Print both ways. */
		fprintf(out, "  they part %s ", *taken ? "at" : "after");
		print_place(*taken ? json_object_get(sides[first], "from")
				   : json_object_get(thread, "at"),
			    out);
		for (int side = 0; side < SIDES; side++) {
			const json_t *from = json_object_get(sides[side], "from");
			bool passes = *taken && side != first;

			if (passes || !*taken) {
				fprintf(out,
					passes ? "  %c does not branch, up to "
					       : "  %c branches at ",
					'A' + side);
				print_place(from, out);
			}
			if (passes)
				continue;
			fprintf(out, *taken ? "  %c branches to " : "    to ", 'A' + side);
			print_place(json_object_get(sides[side], "to"), out);
		}
	}
	if (strcmp(end, "parts") != 0) {
		fputs("  at ", out);
		print_place(json_object_get(thread, "at"), out);
	}
	for (size_t i = json_array_size(stack); i-- > 0;) {
		fputs("    called by ", out);
		print_place(json_array_get(stack, i), out);
	}
}

void first_diff_print(const json_t *answer, FILE *out)
{
	const json_t *threads = json_object_get(answer, "threads");
	const json_t *alone = json_object_get(answer, "alone");

	for (size_t i = 0; i < json_array_size(threads); i++)
		print_thread(json_array_get(threads, i), out);
	for (size_t i = 0; i < json_array_size(alone); i++) {
		const json_t *thread = json_array_get(alone, i);

		json_print(out, thread, 0, "{thread} ({tid}): only in ");
		fprintf(out, "%c\n", *json_value_text(thread, "side") - 'a' + 'A');
	}
}
