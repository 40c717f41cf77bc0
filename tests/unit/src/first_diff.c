/* SPDX-License-Identifier: MIT */
/* The first branch at which two recordings part: which branches count, and the search. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder/branch_event.h"
#include "decoder/history.h"
#include "src/diff/diff.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/resolve/location.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

/* ---- Ways ---------------------------------------------------------------- */

#define KERNEL UINT64_C(0xffffffff81000000)

static struct name_table names;
static struct symbol symbols[8];
static size_t symbol_count;
static struct dso program;
static struct options options;
static const struct thread_name comm = { .text = "p" };
static const struct thread thread = { .tid = 7,
				      .names = (struct thread_name *)&comm,
				      .name_count = 1 };
static uint64_t bias; /* of all addresses in memory */

static void setup(void)
{
	name_table_init(&names);
	symbol_count = 0;
	bias = 0;
	options = (struct options){ 0 };
	program.short_name = name_intern_text(&names, "prog");
}

static void teardown(void)
{
	free(options.select.symbols.patterns);
	name_table_release(&names);
}

/* No code has a line here. */
struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset);
struct source_line __wrap_dso_line(const struct symbol *symbol, uint64_t offset)
{
	(void)symbol;
	(void)offset;
	return (struct source_line){ 0 };
}

/* "f+5": bytes from the start of a function; "": not traced; "k": in the kernel. */
static struct location place(const char *text)
{
	const struct name *name;
	char function[32];
	unsigned offset = 0;
	size_t i = 0;

	if (!*text)
		return (struct location){ 0 };
	if (strcmp(text, "k") == 0) {
		struct location entry = place("entry");

		entry.ip = KERNEL;
		return entry;
	}
	sscanf(text, "%31[^+]+%u", function, &offset);
	name = name_intern_text(&names, function);
	while (i < symbol_count && symbols[i].name != name)
		i++;
	if (i == symbol_count)
		symbols[symbol_count++] = (struct symbol){
			.name = name, .linkage = name, .dso = &program, .start = 0x1000 * (i + 1)
		};
	return (struct location){ bias + symbols[i].start + offset, &symbols[i], offset };
}

/*
 * Returns the answer about "FROM KIND TO, ...": a call (>), return (<), jump (-), conditional jump
 * (?), system call (!), resumption (.), interrupt (*) or gap (#).
 */
static json_t *follow(const char *text)
{
	static const char kinds[] = "><-?!.*#";
	static const enum branch_kind of[] = { BRANCH_CALL,      BRANCH_RETURN,  BRANCH_JUMP,
					       BRANCH_COND,      BRANCH_SYSCALL, BRANCH_NONE,
					       BRANCH_INTERRUPT, BRANCH_GAP };
	const struct format_request request = { .options = &options, .names = &names };
	struct format_output *output = output_format_open(&format_ways, &request);
	char *copy = strdup(text), *rest;
	json_t *answer;

	for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		char from[32] = "", to[32] = "", kind[2] = "";
		struct location ends[2];
		struct branch_event event = { .thread = &thread, .from_length = 5 };

		word += strspn(word, " ");
		if (strchr(".#", *word))
			sscanf(word, "%1s %31s", kind, to);
		else
			sscanf(word, "%31s %1s %31s", from, kind, to);
		ends[0] = place(from);
		ends[1] = place(to);
		event.kind = (uint8_t)of[strchr(kinds, *kind) - kinds];
		event.from = ends[0].ip;
		event.to = ends[1].ip;
		format_ways.branch(output, &event, &ends[0], &ends[1]);
	}
	answer = format_ways.answer(output);
	output_format_close(&format_ways, output);
	free(copy);
	return answer;
}

static const json_t *way_of(const json_t *answer)
{
	return json_array_get(answer, 0);
}

static const struct {
	const char *symbol, *a, *b;
	bool equal;
	int branches; /* of B */
} ways[] = {
	{ NULL, "m+1 > f, f+2 ? f+9", "m+1 > f, f+2 ? f+9", true, 2 },
	{ NULL, "m+1 > f, f+2 ? f+9", "m+1 > f, f+2 ? f+8", false, 2 },
	{ NULL, "m+1 > f, f+2 ? f+9", "m+1 > f, f+3 ? f+9", false, 2 },
	{ NULL, "m+1 > f, f+2 ? f+9", "f+2 ? f+9, m+1 > f", false, 2 },
	/* Interrupts, what the kernel does, and where a system call leads do not count. */
	{ NULL, "m+1 > f", "m * k, k < m, . m, m+1 > f", true, 1 },
	{ NULL, "m ! , . m+2", "m ! k, k > k, k < m+2", true, 1 },
	{ NULL, "m ! , . m+2", "m+2 ! , . m+4", false, 1 },
	/* Calls of f only, with callees, to its return; a jump to it is a call. */
	{ "f", "m+1 > f, f+2 ? f+9, f+9 < m+6, m+7 ? m", "m+7 ? m+2, m+1 > f, f+2 ? f+9, f+9 < m+6",
	  true, 2 },
	{ "f", "m+1 > f, f+2 > g, g+1 < f+7, f+9 < m+6", "m+1 > f, f+2 > g, g+1 < f+7, f+9 < m+6",
	  true, 3 },
	{ "f", "m+1 > f, f+2 > g, g+1 < f+7", "m+1 > f, f+2 > g, g+1 < f+7, f+7 ? f", false, 3 },
	{ "f", "m+1 > g, g+1 - f, f+9 < m+6", "m+1 > f, f+9 < m+6, m+7 ? m", true, 1 },
	/* Nothing counts after a gap; with --symbol, one before the first call is no matter. */
	{ NULL, "m+1 > f", "m+1 > f, # m, f+2 ? f+9", true, 1 },
	{ "f", "m+1 > f, f+9 < m+6", "# m, m+1 > f, f+9 < m+6", true, 1 },
	{ "f", "m+1 > f, f+9 < m+6", "m+1 > f, f+9 < m+6, # m, m+1 > f, f+9 < m+6", true, 1 },
};

START_TEST(branches_of_user_code_count)
{
	json_t *a, *b;

	if (ways[_i].symbol)
		pattern_list_add(&options.select.symbols, ways[_i].symbol);
	a = follow(ways[_i].a);
	bias = 0x7f0000000000; /* the same code elsewhere in memory */
	b = follow(ways[_i].b);
	ck_assert_int_eq(json_value_number(way_of(b), "branches"), ways[_i].branches);
	ck_assert_int_eq(json_value_number(way_of(a), "hash") ==
				 json_value_number(way_of(b), "hash"),
			 ways[_i].equal);
	ck_assert_int_eq(json_is_true(json_object_get(way_of(b), "lost")),
			 strstr(ways[_i].b, ", #") != NULL);
	json_decref(a);
	json_decref(b);
}
END_TEST

/* Branch 3 of "main calls f, f calls g, ...". */
START_TEST(the_branch_has_the_calls_around_it)
{
	const struct way_window window = { 0, UINT64_MAX, 3 };
	char text[200] = "";
	const json_t *branch, *stack;
	json_t *answer;

	options.windows = &window;
	options.window_count = 1;
	answer = follow("main+1 > f, f+2 > g, g+3 < f+7, f+8 ? f+9");
	branch = json_object_get(way_of(answer), "shown");
	stack = json_object_get(branch, "stack");
	for (size_t i = 0; i < json_array_size(stack); i++)
		sprintf(text + strlen(text), "%s ",
			json_value_text(json_array_get(stack, i), "function"));
	ck_assert_str_eq(text, "main ");
	ck_assert_int_eq(json_value_number(json_object_get(branch, "from"), "offset"), 0x2008);
	ck_assert_int_eq(json_value_number(json_object_get(branch, "to"), "offset"), 0x2009);
	ck_assert_int_eq(json_value_number(json_object_get(branch, "at"), "offset"), 0x2007);
	json_decref(answer);
}
END_TEST

/* ---- The search ---------------------------------------------------------- */

/* Ways of one thread that part: as first_ways.c makes them, but not by it. */
static const struct search {
	int64_t branches[SIDES], parted; /* -1: they do not */
	bool lost;                       /* A ends by lost trace */
	const char *end;
	int64_t equal;
	int passes; /* over both sides: the first, one for each narrower window, the last */
} searches[] = {
	{ { 5, 5 }, -1, false, "equal", 5, 4 },
	{ { 100000, 100000 }, -1, false, "equal", 100000, 4 },
	{ { 5, 5 }, 0, false, "parts", 0, 4 },
	{ { 5, 5 }, 4, false, "parts", 4, 4 },
	{ { 4096, 4096 }, 4095, false, "parts", 4095, 4 },
	{ { 4097, 4096 }, 4095, false, "parts", 4095, 6 },
	{ { 4096, 4097 }, 4095, false, "parts", 4095, 6 },
	{ { 4097, 4096 }, -1, false, "ended", 4096, 4 },
	{ { 100000, 90000 }, 0, false, "parts", 0, 6 },
	{ { 100000, 90000 }, 4096, false, "parts", 4096, 6 },
	{ { 100000, 90000 }, 89999, false, "parts", 89999, 6 },
	{ { 100000, 90000 }, -1, false, "ended", 90000, 6 },
	/* Hashes of every 32 branches and of each one. */
	{ { 100000, 4000 }, 3999, false, "parts", 3999, 6 },
	{ { 4000, 100000 }, 3999, false, "parts", 3999, 6 },
	{ { 4000, 100000 }, 31, false, "parts", 31, 6 },
	{ { 4000, 100000 }, 32, false, "parts", 32, 6 },
	{ { 100000, 3968 }, -1, false, "ended", 3968, 4 },
	{ { 10, 90000 }, -1, false, "ended", 10, 6 },
	{ { 10, 90000 }, -1, true, "lost", 10, 6 },
	{ { 10, 90000 }, 7, true, "parts", 7, 6 },
	{ { 3000000000, 2999999999 }, 2718281828, false, "parts", 2718281828, 8 },
	{ { 3000000000, 3000000000 }, 1, false, "parts", 1, 8 },
};

struct passes {
	const struct search *search;
	json_t *answers[SIDES];
	int count;
};

/* Equal before the branch at which both part, and then never again. */
static json_int_t hash_of(const struct search *search, int side, uint64_t count)
{
	bool parted = search->parted >= 0 && count > (uint64_t)search->parted;

	return (json_int_t)(count + (parted && side ? UINT64_C(1) << 40 : 0));
}

static const json_t *search_pass(void *context, enum diff_side side,
				 const struct way_window *windows, size_t count)
{
	struct passes *passes = context;
	const struct search *search = passes->search;
	const struct way_window window =
		count ? windows[0] : (struct way_window){ 0, UINT64_MAX, UINT64_MAX };
	uint64_t branches = (uint64_t)search->branches[side], to = MIN(branches, window.to),
		 step = 1;
	json_t *hashes = json_array(), *shown = json_null();
	bool ends = window.show >= branches;

	passes->count++;
	while (to > window.from && (to - window.from) / step > 4096)
		step *= 2;
	for (uint64_t at = window.from + step; at <= to; at += step)
		json_array_append_new(hashes, json_integer(hash_of(search, (int)side, at)));
	if (window.show != UINT64_MAX)
		shown = json_pack(
			"{s[], sn, sb, so, sn, sI, sI}", "stack", "at", "conditional", 0, "from",
			ends ? json_null() : json_pack("{s:I}", "offset", (json_int_t)window.show),
			"to", "ns", (json_int_t)1, "call", (json_int_t)0);
	json_decref(passes->answers[side]);
	passes->answers[side] =
		json_pack("[{sI ss sI sI sI sb so sI so}]", "index", (json_int_t)0, "thread", "p",
			  "tid", (json_int_t)1, "branches", (json_int_t)branches, "step",
			  (json_int_t)step, "lost", (int)(search->lost && side == SIDE_A), "hashes",
			  hashes, "hash", hash_of(search, (int)side, branches), "shown", shown);
	return passes->answers[side];
}

START_TEST(the_first_branch_is_found_in_a_few_passes)
{
	static char a[] = "a", b[] = "b";
	struct passes passes = { .search = &searches[_i] };
	const struct first_diff diff = { .pass = search_pass, .context = &passes };
	json_t *answer = first_diff_make(&diff, (char *const[]){ a, b });
	const json_t *found = json_array_get(json_object_get(answer, "threads"), 0);

	ck_assert_str_eq(json_value_text(found, "end"), searches[_i].end);
	ck_assert_int_eq(json_value_number(found, "equal"), searches[_i].equal);
	if (strcmp(searches[_i].end, "parts") == 0)
		ck_assert_int_eq(
			json_value_number(json_object_get(json_object_get(found, "b"), "from"),
					  "offset"),
			searches[_i].parted);
	ck_assert_int_eq(passes.count, searches[_i].passes);
	for (int side = 0; side < SIDES; side++)
		json_decref(passes.answers[side]);
	json_decref(answer);
}
END_TEST

/* ---- Text ----------------------------------------------------------------- */

#define PLACE(function, line)                                                                      \
	"{'function':'" function "','code':'prog','offset':18,'file':'/s/a.c','line':" #line "}"

/* Answers, with apostrophes as quotes. */
static const struct {
	const char *json, *text;
} printed[] = {
	{ "{'threads':[{'thread':'p','end':'equal','equal':5,'a':{'tid':1},'b':{'tid':2}}]}",
	  "p (1 and 2): all 5 branches are equal\n" },
	/* Both branch elsewhere, at one place; with the calls around it. */
	{ "{'threads':[{'thread':'p','end':'parts','equal':5,'taken':null,'at':" PLACE(
		  "m",
		  3) ","
		     "'stack':[" PLACE("s", 1) "," PLACE(
			     "t",
			     2) "],"
				"'a':{'tid':1,'branches':9,'from':" PLACE("f", 4) ",'to':" PLACE(
					"g", 5) "},"
						"'b':{'tid':2,'branches':9,'from':" PLACE(
							"h", 6) ",'to':null}}]}",
	  "p (1 and 2): the first 5 branches are equal\n"
	  "  they part after m (a.c:3, prog+0x12)\n"
	  "  A branches at f (a.c:4, prog+0x12)\n    to g (a.c:5, prog+0x12)\n"
	  "  B branches at h (a.c:6, prog+0x12)\n    to unknown code\n"
	  "    called by t (a.c:2, prog+0x12)\n    called by s (a.c:1, prog+0x12)\n" },
	/* One side takes a branch, and the other one passes it. */
	{ "{'threads':[{'thread':'p','end':'parts','equal':5,'taken':'b','at':" PLACE(
		  "m", 3) ","
			  "'stack':[],"
			  "'a':{'tid':1,'branches':9,'call':7,'from':" PLACE("f", 4) ",'to':" PLACE(
				  "g", 5) "},"
					  "'b':{'tid':2,'branches':9,'call':8,'from':" PLACE(
						  "h", 6) ",'to':" PLACE("i", 7) "}}]}",
	  "p (1 and 2): the first 5 branches are equal, up to call 7 of A and 8 of B\n"
	  "  they part at h (a.c:6, prog+0x12)\n"
	  "  A does not branch, up to f (a.c:4, prog+0x12)\n"
	  "  B branches to i (a.c:7, prog+0x12)\n" },
	{ "{'threads':[{'thread':'p','end':'parts','equal':5,'taken':'a','at':" PLACE(
		  "m", 3) ","
			  "'stack':[],"
			  "'a':{'tid':1,'branches':9,'from':" PLACE("f", 4) ",'to':" PLACE(
				  "g", 5) "},"
					  "'b':{'tid':2,'branches':9,'from':" PLACE(
						  "h", 6) ",'to':" PLACE("i", 7) "}}]}",
	  "p (1 and 2): the first 5 branches are equal\n"
	  "  they part at f (a.c:4, prog+0x12)\n"
	  "  A branches to g (a.c:5, prog+0x12)\n"
	  "  B does not branch, up to h (a.c:6, prog+0x12)\n" },
	/* A thread ends, or its trace is lost. */
	{ "{'threads':[{'thread':'p','end':'ended','equal':5,'at':" PLACE(
		  "m", 3) ",'stack':[],"
			  "'a':{'tid':1,'branches':5},'b':{'tid':2,'branches':9}}]}",
	  "p (1 and 2): the first 5 branches are equal\n  then A ends\n"
	  "  at m (a.c:3, prog+0x12)\n" },
	{ "{'threads':[{'thread':'p','end':'ended','equal':5,'at':" PLACE(
		  "m", 3) ",'stack':[],"
			  "'a':{'tid':1,'branches':9},'b':{'tid':2,'branches':5}}]}",
	  "p (1 and 2): the first 5 branches are equal\n  then B ends\n"
	  "  at m (a.c:3, prog+0x12)\n" },
	{ "{'threads':[{'thread':'p','end':'lost','equal':5,'at':" PLACE(
		  "m",
		  3) ",'stack':[],"
		     "'a':{'tid':1,'branches':5,'lost':true},'b':{'tid':2,'branches':5,'lost':true}}]}",
	  "p (1 and 2): the first 5 branches are equal\n"
	  "  the comparison stops: trace of A is lost\n  at m (a.c:3, prog+0x12)\n" },
	{ "{'threads':[{'thread':'p','end':'lost','equal':5,'at':" PLACE(
		  "m",
		  3) ",'stack':[],"
		     "'a':{'tid':1,'branches':5,'lost':false},'b':{'tid':2,'branches':5,'lost':true}}]}",
	  "p (1 and 2): the first 5 branches are equal\n"
	  "  the comparison stops: trace of B is lost\n  at m (a.c:3, prog+0x12)\n" },
	/* Threads of one side. */
	{ "{'threads':[],'alone':[{'thread':'x','tid':3,'side':'a'},"
	  "{'thread':'y','tid':4,'side':'b'}]}",
	  "x (3): only in A\ny (4): only in B\n" },
};

START_TEST(the_first_difference_is_a_text)
{
	char *json = strdup(printed[_i].json), *text;
	json_t *answer;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (char *quote = json; (quote = strchr(quote, '\''));)
		*quote = '"';
	answer = json_loads(json, 0, NULL);
	ck_assert_ptr_nonnull(answer);
	first_diff_print(answer, out);
	fclose(out);
	ck_assert_str_eq(text, printed[_i].text);
	json_decref(answer);
	free(text);
	free(json);
}
END_TEST

/* Returns the answer about a way of as many equal branches. */
static json_t *way_of_branches(uint64_t count)
{
	const struct format_request request = { .options = &options, .names = &names };
	struct format_output *output = output_format_open(&format_ways, &request);
	const struct location ends[2] = { place("f+2"), place("f+9") };
	const struct branch_event event = {
		.thread = &thread, .kind = BRANCH_COND, .from = ends[0].ip, .to = ends[1].ip
	};
	json_t *answer;

	while (count--)
		format_ways.branch(output, &event, &ends[0], &ends[1]);
	answer = format_ways.answer(output);
	output_format_close(&format_ways, output);
	return answer;
}

/* A way of many branches has up to 4,096 hashes, of all branches up to equal distances. */
START_TEST(hashes_of_a_long_way_are_at_equal_distances)
{
	static const struct {
		uint64_t branches, step;
		size_t hashes;
	} rows[] = { { 1, 1, 1 },       { 4096, 1, 4096 }, { 4097, 2, 2048 },
		     { 4098, 2, 2049 }, { 8192, 2, 4096 }, { 10000, 4, 2500 } };
	json_t *answer = way_of_branches(rows[_i].branches);
	const json_t *way = way_of(answer), *hashes = json_object_get(way, "hashes");

	ck_assert_uint_eq(json_array_size(hashes), rows[_i].hashes);
	ck_assert_int_eq(json_value_number(way, "step"), rows[_i].step);
	ck_assert_int_eq(json_value_number(way, "branches"), rows[_i].branches);
	for (size_t i = 0; i < rows[_i].hashes; i = 3 * i + 1) {
		json_t *shorter = way_of_branches((i + 1) * rows[_i].step);

		ck_assert_int_eq(json_integer_value(json_array_get(hashes, i)),
				 json_value_number(way_of(shorter), "hash"));
		json_decref(shorter);
	}
	json_decref(answer);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("first_diff");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_loop_test(all, branches_of_user_code_count, 0, COUNT_OF(ways));
	tcase_add_test(all, the_branch_has_the_calls_around_it);
	tcase_add_loop_test(all, the_first_branch_is_found_in_a_few_passes, 0, COUNT_OF(searches));
	tcase_add_loop_test(all, the_first_difference_is_a_text, 0, COUNT_OF(printed));
	tcase_add_loop_test(all, hashes_of_a_long_way_are_at_equal_distances, 0, 6);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
