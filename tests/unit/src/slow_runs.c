/* SPDX-License-Identifier: MIT */
/* Runs of several conversions for slow calls: a trace of each, or causes of several recordings. */
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/batch/batch.h"
#include "src/formats/output_format.h"
#include "src/formats/text/digits.h"
#include "tests/support/unit.h"

static char directory[40], path[80], text[4000];
static char *inputs[3];
static struct options options;
static const char *answer; /* answer of the search for slow calls; with apostrophes as quotes */

static const char *in_directory(const char *name)
{
	sprintf(path, "%s/%s", directory, name);
	return path;
}

static void write_file(const char *name, const char *content)
{
	FILE *file = fopen(in_directory(name), "w");

	ck_assert_ptr_nonnull(file);
	fputs(content, file);
	fclose(file);
}

/* Reads apostrophes as quotes. */
static char *quoted(const char *line)
{
	char *copy = strdup(line);

	for (char *at = copy; (at = strchr(at, '\'')); at++)
		*at = '"';
	return copy;
}

static void setup(void)
{
	strcpy(directory, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(directory));
	for (int i = 0; i < 3; i++) {
		char name[] = { (char)('a' + i), '\0' };

		write_file(name, "");
		inputs[i] = strdup(path);
	}
	options = (struct options){
		.inputs = inputs, .input = inputs[0], .input_count = 1, .jobs = 1, .quiet = true
	};
}

static int remove_entry(const char *name, const struct stat *stat, int type, struct FTW *ftw)
{
	(void)stat;
	(void)type;
	(void)ftw;
	return remove(name);
}

static void teardown(void)
{
	nftw(directory, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
	for (int i = 0; i < 3; i++)
		free(inputs[i]);
}

static const char *read_file(const char *name)
{
	FILE *file = fopen(in_directory(name), "r");

	ck_assert_msg(file != NULL, "%s", name);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	return text;
}

static void expect_file(const char *name, const char *expected)
{
	ck_assert_str_eq(read_file(name), expected);
}

static bool exists(const char *name)
{
	return access(in_directory(name), F_OK) == 0;
}

/* ---- A trace of each slow call ----------------------------------------------- */

#define CALL(begin, duration)                                                                      \
	"{'function':'f','process':'p','thread':'t','pid':7,'tid':8,'begin_ns':" #begin            \
	",'duration_ns':" #duration                                                                \
	",'insns':5,'untraced_ns':3,'begin_seen':true,'end_seen':false}"

/* A trace has the time and the threads that were asked for; the one of the second call has gaps. */
static enum exit_status convert_call(const struct options *own, json_t *report)
{
	const struct selection *select = &own->select;
	char *made = quoted(answer);
	FILE *out;

	if (strcmp(own->format->name, "slowest") == 0) {
		json_object_set_new(report, "report",
				    json_pack("{so}", "answer", json_loads(made, 0, NULL)));
		free(made);
		return EXIT_WHOLE;
	}
	free(made);
	ck_assert_str_eq(own->format->name, "ftf");
	out = fopen(own->output, "w");
	fprintf(out, "%d %" PRIu64 "-%" PRIu64 " %zu\n", select->from.base == TIME_ABSOLUTE,
		select->from.ns, select->to.ns, select->tids.count + select->symbols.count);
	fclose(out);
	json_object_set_new(report, "branches", json_integer(1));
	return strstr(own->output, "002") ? EXIT_WITH_GAPS : EXIT_WHOLE;
}

static int trace_calls(uint64_t context, const char *found)
{
	static const char *pattern = "f";
	static char output[60];
	struct options own = options;
	int status;

	sprintf(output, "%s/slow/", directory);
	answer = found;
	own.output = output;
	own.slow.context = context;
	own.select.symbols = (struct pattern_list){ &pattern, 1, 1 };
	number_list_add(&own.select.tids, "8");
	status = slow_traces_run(&own, convert_call);
	free(own.select.tids.ranges);
	return status;
}

#define HEADER                                                                                     \
	"rank\tfile\tfunction\tprocess\tthread\tpid\ttid\tbegin_ns\tduration_ns\tinsns\t"          \
	"untraced_ns\tbegin_seen\tend_seen\tstatus\tquery\n"

START_TEST(each_slow_call_has_a_trace_of_its_time_and_a_line)
{
	ck_assert_int_eq(trace_calls(5000, "{'resolution_ns':100,'list':[" CALL(
						   90000, 700) "," CALL(2000, 600) "]}"),
			 EXIT_WITH_GAPS);
	expect_file("slow/call-001.ftf", "1 85000-95700 0\n");
	expect_file("slow/call-002.ftf", "1 0-7600 0\n");
	ck_assert(!exists("slow/call-003.ftf"));
	expect_file("slow/index.tsv",
		    HEADER "1\tcall-001.ftf\tf\tp\tt\t7\t8\t90000\t700\t5\t3\tyes\tno\t0\t"
			   "visStart=85000&visEnd=95700&ts=90000&dur=700&pid=7&tid=8\n"
			   "2\tcall-002.ftf\tf\tp\tt\t7\t8\t2000\t600\t5\t3\tyes\tno\t2\t"
			   "visStart=0&visEnd=7600&ts=2000&dur=600&pid=7&tid=8\n");
	expect_file("slow/index.jsonl",
		    "{\"rank\":1,\"file\":\"call-001.ftf\",\"function\":\"f\",\"process\":\"p\","
		    "\"thread\":\"t\",\"pid\":7,\"tid\":8,\"begin_ns\":90000,\"duration_ns\":700,"
		    "\"insns\":5,\"untraced_ns\":3,\"begin_seen\":true,\"end_seen\":false,"
		    "\"status\":0,\"error\":null,\"vis_start\":85000,\"vis_end\":95700,"
		    "\"query\":\"visStart=85000&visEnd=95700&ts=90000&dur=700&pid=7&tid=8\"}\n"
		    "{\"rank\":2,\"file\":\"call-002.ftf\",\"function\":\"f\",\"process\":\"p\","
		    "\"thread\":\"t\",\"pid\":7,\"tid\":8,\"begin_ns\":2000,\"duration_ns\":600,"
		    "\"insns\":5,\"untraced_ns\":3,\"begin_seen\":true,\"end_seen\":false,"
		    "\"status\":2,\"error\":null,\"vis_start\":0,\"vis_end\":7600,"
		    "\"query\":\"visStart=0&visEnd=7600&ts=2000&dur=600&pid=7&tid=8\"}\n");
}
END_TEST

/* Branches of a call may be earlier than its slice: by 1 us and the resolution, or unknown. */
START_TEST(the_time_that_is_decoded_is_at_least_that_of_the_branches)
{
	static const struct {
		const char *found, *decoded;
	} cases[] = {
		{ "{'resolution_ns':100,'list':[" CALL(90000, 700) "]}", "1 88900-91800 0\n" },
		{ "{'list':[" CALL(90000000, 700) "]}", "1 80000000-100000700 0\n" },
		/* No time is beyond INT64_MAX. */
		{ "{'resolution_ns':100,'list':[" CALL(9223372036854775000, 9000) "]}",
		  "1 9223372036854773900-9223372036854775807 0\n" },
	};

	ck_assert_int_eq(trace_calls(10, cases[_i].found), EXIT_WHOLE);
	expect_file("slow/call-001.ftf", cases[_i].decoded);
}
END_TEST

/* --clock: the axis is the work of the call's thread, so that only this thread is shown. */
static enum exit_status convert_work(const struct options *own, json_t *report)
{
	const struct selection *select = &own->select;
	FILE *out;

	if (strcmp(own->format->name, "slowest") == 0)
		return convert_call(own, report);
	out = fopen(own->output, "w");
	fprintf(out, "%s %" PRIu64 "-%" PRIu64 " %d-%d %d\n",
		select->work.cycles ? "cycles" : "insns", select->work.from, select->work.to,
		(int)select->tids.ranges[0].first, (int)select->tids.ranges[0].last,
		(int)select->tids.count);
	fclose(out);
	return EXIT_WHOLE;
}

START_TEST(a_slow_call_has_the_work_of_its_thread)
{
	static const char *const units[] = { "insns", "cycles" };
	char output[60], expected[400];

	sprintf(output, "%s/slow/", directory);
	options.output = output;
	options.slow.context = 50;
	options.clock = _i ? CLOCK_CYCLES : CLOCK_INSNS;
	digits_count_work(units[_i]);
	answer = _i ? "{'list':[{'function':'f','tid':8,'begin_cycles':900,'duration_cycles':70}]}"
		    : "{'list':[{'function':'f','tid':8,'begin_insns':900,'duration_insns':70}]}";
	ck_assert_int_eq(slow_traces_run(&options, convert_work), EXIT_WHOLE);
	sprintf(expected, "%s 850-1020 8-8 1\n", units[_i]);
	expect_file("slow/call-001.ftf", expected);
	sprintf(expected,
		"rank\tfile\tfunction\tprocess\tthread\tpid\ttid\tbegin_%s\tduration_%s\tinsns\t"
		"untraced_%s\tbegin_seen\tend_seen\tstatus\tquery\n"
		"1\tcall-001.ftf\tf\t\t\t\t8\t900\t70\t\t\t\t\t0\t"
		"visStart=850&visEnd=1020&ts=900&dur=70&pid=0&tid=8\n",
		units[_i], units[_i], units[_i]);
	expect_file("slow/index.tsv", expected);
}
END_TEST

/* The first trace cannot be written, and the second has gaps. */
static enum exit_status convert_in_vain(const struct options *own, json_t *report)
{
	if (!strstr(own->output ? own->output : "", "001"))
		return convert_call(own, report);
	json_object_set_new(report, "error", json_string("the disk is full"));
	return EXIT_FAILED;
}

START_TEST(failed_traces_are_in_the_index_and_counted)
{
	char output[60], expected[300];

	sprintf(output, "%s/slow/", directory);
	options.output = output;
	options.slow.context = 10;
	options.quiet = false;
	answer = "{'resolution_ns':100,'list':[" CALL(90000, 700) "," CALL(2000, 600) "," CALL(
		5000, 500) "]}";
	ck_assert_int_eq(mkdir(in_directory("slow"), 0700), 0);
	write_file("slow/call-004.ftf", "");
	ck_assert_ptr_nonnull(freopen(in_directory("messages"), "w", stderr));
	ck_assert_int_eq(slow_traces_run(&options, convert_in_vain), EXIT_FAILED);
	fflush(stderr);
	sprintf(expected,
		"ptrace2ftf: 3 slow calls: a trace of each, listed in %s/slow/index.tsv; "
		"1 with gaps or warnings; 1 failed\n",
		directory);
	ck_assert_msg(strstr(read_file("messages"), expected) != NULL, "%s", text);
	sprintf(expected,
		"%s/slow/call-004.ftf and later calls are from an earlier run; remove them\n",
		directory);
	ck_assert_msg(strstr(text, expected) != NULL, "%s", text);
	ck_assert_ptr_nonnull(strstr(read_file("slow/index.jsonl"),
				     "\"status\":1,\"error\":\"the disk is full\""));
	ck_assert(!exists("slow/call-001.ftf"));
	expect_file("slow/call-003.ftf", "1 3900-6600 0\n");
}
END_TEST

START_TEST(without_slow_calls_there_is_an_empty_index)
{
	ck_assert_int_eq(trace_calls(10, "{'resolution_ns':100,'list':[]}"), EXIT_WHOLE);
	expect_file("slow/index.tsv", HEADER);
	expect_file("slow/index.jsonl", "");
}
END_TEST

START_TEST(no_trace_replaces_the_recording)
{
	static const char link_name[] = "slow/call-001.ftf";
	char target[80];

	strcpy(target, in_directory("slow"));
	ck_assert_int_eq(mkdir(target, 0700), 0);
	ck_assert_int_eq(link(inputs[0], in_directory(link_name)), 0);
	ck_assert_int_eq(trace_calls(10, "{'resolution_ns':100,'list':[" CALL(90000, 700) "]}"),
			 EXIT_FAILED);
	expect_file(link_name, "");
	ck_assert(!exists("slow/index.tsv"));
}
END_TEST

/* ---- Causes of several recordings ---------------------------------------------- */

#define WHY(clusters)                                                                              \
	"{'format':'why','unit':'ns','functions':[{'function':'f','clusters':[" clusters "]}]}"
#define OF_G       "{'cause':'g','calls':2,'extra':50,'slowest':{'begin_ns':7}}"
#define FAILED_RUN "{'input':'x','status':1,'error':'no such file'}"

static const struct {
	const char *lines[2]; /* content of two files; NULL: the second does not exist, or is not
				 given */
	int files;
	bool no_warn;
	int status;
	const char *totals; /* NULL: nothing is printed */
} merges[] = {
	{ { WHY(OF_G) }, 1, false, EXIT_WHOLE, "1 recording\n" },
	{ { WHY(OF_G) " \n" WHY(""), WHY("") },
	  2,
	  false,
	  EXIT_WHOLE,
	  "3 recordings, 2 without slow calls\n" },
	{ { FAILED_RUN "\n" WHY(OF_G) },
	  1,
	  false,
	  EXIT_WITH_GAPS,
	  "1 recording; 1 more could not be read\n" },
	{ { FAILED_RUN "\n" WHY(OF_G) },
	  1,
	  true,
	  EXIT_WITH_GAPS,
	  "1 recording; 1 more could not be read\n" },
	{ { "" }, 1, false, EXIT_WHOLE, "0 recordings\n" },
	{ { WHY(OF_G) "\n{" }, 1, false, EXIT_FAILED, NULL },
	{ { "[]" }, 1, false, EXIT_FAILED, NULL },
	{ { WHY(OF_G) }, 2, false, EXIT_FAILED, NULL },
};

START_TEST(lines_of_answers_are_merged)
{
	char output[80];

	strcpy(output, in_directory("out"));
	for (int i = 0; i < 2; i++) {
		char name[] = { (char)('a' + i), '\0' };
		char *lines = merges[_i].lines[i] ? quoted(merges[_i].lines[i]) : NULL;

		if (lines)
			write_file(name, lines);
		else
			unlink(inputs[i]);
		free(lines);
	}
	options.command = COMMAND_WHY;
	options.merge = true;
	options.input_count = merges[_i].files;
	options.no_warn = merges[_i].no_warn;
	options.output = output;
	ck_assert_int_eq(why_many_run(&options, NULL), merges[_i].status);
	ck_assert_int_eq(exists("out"), merges[_i].totals != NULL);
	if (merges[_i].totals)
		ck_assert_ptr_nonnull(strstr(read_file("out"), merges[_i].totals));
}
END_TEST

/* The first recording has a slow call, the second has none, the third cannot be read. */
static enum exit_status convert_recording(const struct options *own, json_t *report)
{
	char *made = quoted(strcmp(own->input, inputs[0]) == 0 ? WHY(OF_G) : WHY(""));
	json_t *json = json_loads(made, 0, NULL);

	free(made);
	if (strcmp(own->input, inputs[2]) == 0) {
		json_decref(json);
		json_object_set_new(report, "error", json_string("cannot be read"));
		return EXIT_FAILED;
	}
	json_object_set_new(report, "report", json_pack("{so}", "answer", json));
	return EXIT_WHOLE;
}

START_TEST(recordings_are_read_in_processes_of_their_own)
{
	char output[80], expected[400];

	strcpy(output, in_directory("out"));
	options.command = COMMAND_WHY;
	options.input_count = 1 + _i;
	options.output = output;
	ck_assert_int_eq(why_many_wanted(&options), _i > 0);
	ck_assert_int_eq(why_many_run(&options, convert_recording),
			 _i == 2 ? EXIT_WITH_GAPS : EXIT_WHOLE);
	sprintf(expected,
		"recordings   calls      extra      worst  function: cause\n"
		"         1       2      100ns       50ns  f: g; worst at 0.000000007 in %s\n"
		"\n%s%s\n"
		"next: ptrace2ftf why --symbol=f %s\n",
		inputs[0], _i ? "2 recordings, 1 without slow calls" : "1 recording",
		_i == 2 ? "; 1 more could not be read" : "", inputs[0]);
	expect_file("out", expected);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("slow_runs");
	TCase *all = tcase_create("slow_runs");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, each_slow_call_has_a_trace_of_its_time_and_a_line);
	tcase_add_loop_test(all, the_time_that_is_decoded_is_at_least_that_of_the_branches, 0, 3);
	tcase_add_loop_test(all, a_slow_call_has_the_work_of_its_thread, 0, 2);
	tcase_add_test(all, failed_traces_are_in_the_index_and_counted);
	tcase_add_test(all, without_slow_calls_there_is_an_empty_index);
	tcase_add_test(all, no_trace_replaces_the_recording);
	tcase_add_loop_test(all, lines_of_answers_are_merged, 0, COUNT_OF(merges));
	tcase_add_loop_test(all, recordings_are_read_in_processes_of_their_own, 0, 3);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
