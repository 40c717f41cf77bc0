/* SPDX-License-Identifier: MIT */
/* Parsing of arguments: forms, commands, settings, and wrong usage. */
#include "src/cli/command_line.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/cli/commands.h"
#include "src/formats/output_format.h"
#include "tests/support/unit.h"

#define WORDS_MOST 12

static char words[WORDS_MOST][64];
static char *argv[WORDS_MOST + 1];
static int argc;
static struct options options;

/* Without the user's settings. */
static void set_up(void)
{
	setenv("XDG_CONFIG_HOME", "/dev/null", 1);
	unsetenv(SETTINGS_VARIABLE);
	options = (struct options){ 0 };
}

static void tear_down(void)
{
	options_release(&options);
}

/* Split a line at blanks into argv, after the program's name. */
static void set_line(const char *line)
{
	int used = 0;

	argc = 0;
	strcpy(words[0], "ptrace2ftf");
	argv[argc++] = words[0];
	for (; sscanf(line, " %63s%n", words[argc], &used) == 1; line += used, argc++)
		argv[argc] = words[argc];
	argv[argc] = NULL;
}

static void parse(const char *line)
{
	set_line(line);
	command_line_parse(&options, argc > 1 ? command_find(argv[1]) : COMMAND_CONVERT, argc,
			   argv);
}

/* Returns the exit status of a process that parses the line, or 0 if the parser returns. */
static int status_of(const char *line)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
		parse(line);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

START_TEST(an_option_has_its_value_in_its_word_or_the_next_one)
{
	static const char *const lines[] = { "-qo x.ftf --depth=3 a", "-q -ox.ftf --depth 3 a",
					     "a --depth 3 -qox.ftf",
					     "--output x.ftf -q a --depth=3" };

	parse(lines[_i]);
	ck_assert(options.quiet);
	ck_assert_str_eq(options.output, "x.ftf");
	ck_assert_uint_eq(options.select.depth, 3);
	ck_assert_int_eq(options.input_count, 1);
	ck_assert_str_eq(options.input, "a");
}
END_TEST

START_TEST(inputs_keep_their_order_and_two_hyphens_end_the_options)
{
	parse("b -q a -o x.ftf -- -q --depth");
	ck_assert_int_eq(options.input_count, 4);
	ck_assert_str_eq(options.inputs[0], "b");
	ck_assert_str_eq(options.inputs[1], "a");
	ck_assert_str_eq(options.inputs[2], "-q");
	ck_assert_str_eq(options.inputs[3], "--depth");
}
END_TEST

START_TEST(a_value_may_look_like_an_option)
{
	parse("--strip-prefix --depth a -o x.ftf");
	ck_assert_str_eq(options.strip_prefix, "--depth");
	ck_assert_uint_eq(options.select.depth, 0);
	ck_assert_int_eq(options.input_count, 1);
}
END_TEST

START_TEST(a_value_that_may_be_left_out_is_not_the_next_word)
{
	parse("--json a -o x.ftf");
	ck_assert_str_eq(options.json, "-");
	ck_assert_str_eq(options.input, "a");
}
END_TEST

START_TEST(a_command_is_the_first_word)
{
	parse("list a");
	ck_assert_int_eq(options.command, COMMAND_LIST);
	ck_assert_ptr_eq(options.format, &format_list);
	ck_assert_str_eq(options.input, "a");
	options_release(&options);
	parse("record -q -- program -q");
	ck_assert_int_eq(options.command, COMMAND_RECORD);
	ck_assert(options.quiet);
	ck_assert_str_eq(options.program[0], "program");
	ck_assert_str_eq(options.program[1], "-q");
	options_release(&options);
	parse("record -p 3 program -q -- a");
	ck_assert(!options.quiet);
	ck_assert_str_eq(options.attach, "3");
	ck_assert_str_eq(options.program[0], "program");
	ck_assert_str_eq(options.program[2], "--");
	options_release(&options);
}
END_TEST

START_TEST(what_is_no_option_of_the_command_is_wrong_usage)
{
	static const char *const lines[] = {
		"--thread=4 a", "--depth",          "a -qo",        "--quiet=1 a",
		"-z a",         "list --depth=3 a", "--snapshot a", "diff --fit=2M a b",
		"--help=some",  "opne a",           "record",       "--nonsense a",
		"-q list a",
	};

	ck_assert_int_eq(status_of("--threads=4 a -o x.ftf"), 0);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		ck_assert_msg(status_of(lines[i]) == EXIT_USAGE, "%s", lines[i]);
}
END_TEST

/* The second line of a pair is the first without the conflict. */
START_TEST(options_that_exclude_each_other_are_wrong_usage)
{
	static const char *const pairs[][2] = {
		{ "diff a b c", "diff a b" },
		{ "diff a -", "diff a b" },
		{ "diff --format=chrome a b", "diff --format=folded a b" },
		{ "diff --fail-if=time a b", "diff --fail-if=time:+1 a b" },
		{ "--top=3 a", "--top=3 --format=functions a" },
		{ "--split=2M -o - a", "--split=2M -o x.ftf a" },
		{ "--split=2M --format=chrome a", "--split=2M a" },
		{ "--fit=2M --split=2M a", "--fit=2M a" },
		{ "--fit=2M --format=folded a", "--fit=2M --format=html a" },
		{ "--stacks=flows --format=chrome a", "--stacks=flows a" },
		{ "--stacks=flows --fit=2M a", "--stacks=flows --fit=none a" },
		{ "--unit=1us a", "--unit=1us --format=folded a" },
		{ "--max-stack=9 --format=chrome a", "--max-stack=9 --format=pprof a" },
		{ "--counters=0ns a", "--counters=1ns a" },
		{ "--symbol=f --format=branches a", "--symbol=f --format=slices a" },
		{ "--time=5ms --input=perf-script a", "--depth=5 --input=perf-script a" },
		{ "--inline --stacks=magic-trace a", "--inline a" },
		{ "--slow=f>3us --format=chrome a", "--slowest=3 a" },
		{ "--timeout=3s a", "--timeout=3s -o x/ a b" },
		{ "--json=- -o - a", "--json=- -o x.ftf a" },
		{ "--json=x -o x/ a b", "--json-lines=x -o x/ a b" },
		{ "--ui=http://a a", "open --ui=http://a a" },
		{ "open -o - a", "open -o x.ftf a" },
		{ "record -p 3,a", "record -p 3,4" },
		{ "--join -o x/ a b", "--join -o x.ftf a b" },
		{ "-", "- -o x.ftf" },
		{ "--memtrace=x --format=memtrace -o y a", "--memtrace=x --format=memtrace -o y" },
	};

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		ck_assert_msg(status_of(pairs[i][0]) == EXIT_USAGE, "%s", pairs[i][0]);
		ck_assert_msg(status_of(pairs[i][1]) == 0, "%s", pairs[i][1]);
	}
}
END_TEST

/* Returns what is printed for a wrong line; "" if the parser returns. */
static const char *refusal_of(const char *line)
{
	static char text[2000];
	int ends[2], status;
	size_t length = 0;
	ssize_t size;
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		dup2(ends[1], STDERR_FILENO);
		parse(line);
		_exit(0);
	}
	close(ends[1]);
	while ((size = read(ends[0], text + length, sizeof(text) - 1 - length)) > 0)
		length += (size_t)size;
	close(ends[0]);
	text[length] = '\0';
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && WEXITSTATUS(status) == (length ? EXIT_USAGE : 0), "%s",
		      line);
	return text;
}

/* Lines, each with what is wrong, or "" for a line that is right. */
static const char *const refusals[][2] = {
	{ "-f magic-trace -o x a", "" },
	{ "-f magic-trace --stacks=precise a", "leave out --stacks" },
	{ "-f magic-trace --inline a", "leave out --inline" },
	{ "-f magic-trace --args=full a", "leave out --args" },
	{ "--clock=insns a", "" },
	{ "--clock=insns --counters=1us a", "cannot combine --clock and --counters" },
	{ "--clock=insns --stacks=magic-trace a", "--clock needs a perf.data file" },
	{ "--clock=insns --input=perf-script a", "--clock needs a perf.data file" },
	{ "--clock=cycles --engine=libipt a", "--clock=cycles needs --engine=fast" },
	{ "--clock=insns --engine=libipt a", "" },
	{ "--clock=insns --memtrace=x a", "cannot combine --clock and events or overlays" },
	{ "-o x/ a -", "cannot name an output after standard input" },
	{ "-o x/ a b", "" },
	{ "-o x/ --memtrace=y a b", "cannot combine overlays with several recordings" },
	{ "-o x/ --memtrace=y a", "" },
	{ "open a", "" },
	{ "open -o x/ a b", "cannot show the outputs of a batch" },
	{ "--open --json-lines=y a", "cannot show the outputs of a batch" },
	{ "open --format=folded a", "cannot show several files or text" },
	{ "--open --split=2M a", "cannot show several files or text" },
	{ "open -o x.html a", "" },
	{ "open -o x.html.gz a", "cannot show a compressed page" },
	{ "open -o x.ftf.gz a", "" },
	{ "open --ui=ftp://x a", "invalid --ui 'ftp://x'" },
	{ "record -a -o x", "" },
	{ "record --start-at=f -p 3,4", "--start-at needs a program, or one process" },
	{ "record --start-at=f -p 3", "" },
	{ "record --start-at=f -- p", "" },
	{ "record --start-at=f -a", "--start-at needs a program, or one process" },
	{ "record --snapshot-at=f -p 3,4", "--snapshot-at needs a program, or one process" },
	{ "record --snapshot-at=f -p 3", "" },
	{ "record -p 3 --input=perf-script", "record makes one recording" },
	{ "diff a", "diff compares two recordings" },
	{ "diff - a", "cannot compare standard input" },
	{ "diff -o x/ a b", "diff writes one table" },
	{ "diff --json=- -o y a b", "" },
	{ "--memtrace=x --format=memtrace -o y --pid=3",
	  "cannot combine --pid and --format=memtrace" },
	{ "--memtrace=x --format=memtrace -o y --comm=p",
	  "cannot combine --comm and --format=memtrace" },
	{ "--memtrace=x --memtrace=z --format=memtrace -o y", "a memtrace file is cut" },
	{ "--json-lines=- -f folded a", "name a file for the lines" },
	{ "--json-lines=- -o x.ftf a", "" },
	{ "--json=- --json-lines=- -o x.ftf a", "name a file for the lines" },
	{ "--json=- -f folded a", "--format=folded has no JSON" },
	{ "--json=- -f chrome -o - a", "name a file for the summary" },
	{ "--context=3us a", "--context needs --slowest or --slow" },
	{ "--slowest=3 --context=3us a", "" },
	{ "--slowest=3 -f folded a", "--slowest prints a table" },
	{ "--slow=3us -f folded a", "--slow prints a table" },
	{ "--slowest=3 -o {base}.x a", "--slowest and --slow need one recording" },
	{ "--slowest=3 -o d/ -", "traces of slow calls need a file" },
	{ "--slowest=3 -o d/ a", "" },
	{ "--slowest=3 -o d/ --input=perf-script a", "traces of slow calls need a perf.data" },
	{ "--slowest=3 -o d/ --skip-existing a", "--json-lines and --skip-existing need a batch" },
	{ "--slowest=3 -o d/ --json-lines=x a", "--json-lines and --skip-existing need a batch" },
	{ "why -o x.html /dev/null", "" },
	{ "why -o x.html /dev/null /dev/null", "" },
	{ "why -o x.html --json /dev/null", "a page has no JSON" },
	{ "why -o x.html --json=y /dev/null", "" },
	{ "why --json=x /dev/null /dev/null",
	  "--json=FILE and --json-lines describe one recording" },
	{ "why --json-lines=x /dev/null /dev/null",
	  "--json=FILE and --json-lines describe one recording" },
	{ "why --json=x /dev/null", "" },
	{ "why /dev/null /dev/null", "" },
	{ "--raw=x --input=perf-script", "cannot combine --raw and --input" },
	{ "--inline --engine=libipt a", "--inline needs --engine=fast" },
	{ "--json --max-output=1M -f functions a", "--max-output would cut the JSON" },
	{ "--max-output=1M -f functions a", "" },
	{ "--depth=3 --format=branches a", "choose slices, which this --format does not show" },
	{ "--slowest=3 --depth=3 a", "calls are measured whole" },
	{ "--slowest=3 --min-duration=3us a", "calls are measured whole" },
	{ "--slowest=3 --hide=f a", "calls are measured whole" },
	{ "--symbol=f --format=functions a", "" },
	{ "--pid=3 --input=perf-script a", "need a perf.data file" },
	{ "--memtrace=x --pid=5 -o y", "overlays without a recording are shown whole" },
	{ "--memtrace=x --depth=5 -o y", "overlays without a recording are shown whole" },
	{ "--memtrace=x -o y", "" },
	{ "--unit=0ns -f folded a", "--unit needs a time of 1ns or more" },
	{ "--counters=1us -f folded a", "--counters needs --format=ftf or html" },
	{ "--counters=1us -f html a", "" },
	{ "--counters=1us --input=perf-script a", "--counters needs a perf.data file" },
	{ "--stacks=flows -f folded a", "--stacks=flows needs --format=ftf" },
	{ "--stacks=flows a", "" },
	{ "--fibers --stacks=magic-trace a", "--fibers needs --stacks=precise" },
	{ "--fibers -f branches a", "--fibers needs" },
	{ "--by=thread a", "--by needs --format=functions" },
	{ "--by=thread --columns=calls,ipc -f functions a", "" },
	{ "--sort=self a", "--sort needs --format=functions" },
	{ "--sort=self -f functions a", "" },
	{ "--input=perf-script a b", "cannot combine several texts; leave out 'b'" },
	{ "a b", "" },
	{ "--memtrace=x", "cannot name an output after overlays" },
};

START_TEST(a_refusal_names_what_to_leave_out)
{
	char wrong[4000] = "";

	for (size_t i = 0; i < COUNT_OF(refusals); i++) {
		const char *text = refusal_of(refusals[i][0]);

		if (*refusals[i][1] ? !strstr(text, refusals[i][1]) : *text)
			snprintf(wrong + strlen(wrong), sizeof(wrong) - strlen(wrong), "%s: %s",
				 refusals[i][0], text);
	}
	ck_assert_str_eq(wrong, "");
	/* A setting gives way to a choice of the command line. */
	setenv(SETTINGS_VARIABLE, "--args=full", 1);
	ck_assert_str_eq(refusal_of("-f magic-trace -o x a"), "");
}
END_TEST

/* A word that is not known gets the nearest one, or the command that has it. */
START_TEST(a_wrong_word_gets_a_suggestion)
{
	static const char *const rows[][2] = {
		{ "--depht=3 a", "--depth" },           { "opne a", "open" },
		{ "--formt=ftf a", "--format" },        { "list --symbol=f a", "--symbol" },
		{ "--attach=3 a", "record" },           { "--fail-if=x a", "diff" },
		{ "--format=fuctions a", "functions" },
	};

	for (size_t i = 0; i < COUNT_OF(rows); i++) {
		const char *text = refusal_of(rows[i][0]);

		ck_assert_msg(strstr(text, rows[i][1]) != NULL, "%s: %s", rows[i][0], text);
	}
	ck_assert_ptr_null(strstr(refusal_of("--zzzzzzzz a"), "did you mean"));
}
END_TEST

static bool takes(enum command command, const char *name)
{
	return command_takes(command, option_find(name, strlen(name)));
}

START_TEST(commands_take_the_options_that_mean_something_to_them)
{
	ck_assert(takes(COMMAND_DIFF, "fail-if") && !takes(COMMAND_CONVERT, "fail-if"));
	ck_assert(takes(COMMAND_RECORD, "attach") && !takes(COMMAND_OPEN, "attach"));
	ck_assert(takes(COMMAND_LIST, "time") && !takes(COMMAND_LIST, "symbol"));
	ck_assert(takes(COMMAND_OPEN, "ui") && !takes(COMMAND_LIST, "ui"));
	ck_assert(takes(COMMAND_CONVERT, "jobs") && !takes(COMMAND_DIFF, "jobs"));
	for (int command = COMMAND_CONVERT; command <= COMMAND_DIFF; command++)
		ck_assert(takes((enum command)command, "help") &&
			  takes((enum command)command, "symfs"));
	for (const struct option_spec *option = option_specs; option->name; option++) {
		bool taken = false;

		for (int command = 0; command < COMMANDS; command++)
			taken |= command_takes((enum command)command, option);
		ck_assert_msg(taken, "%s", option->name);
	}
}
END_TEST

static char taken[200];

static void take(void *context, char *name, char *argument, const char *source)
{
	ck_assert_ptr_eq(context, taken);
	sprintf(taken + strlen(taken), "<%s|%s|%s>", name, argument ? argument : "", source);
}

START_TEST(settings_are_lines_or_words)
{
	char lines[] = "# all\n\n symfs = /a b \nquiet\r\nui=x=y";
	char line[] = "  --symfs=/a\t--quiet ui=x=y ";

	*taken = 0;
	settings_parse(lines, true, "f", take, taken);
	ck_assert_str_eq(taken, "<symfs|/a b|f><quiet||f><ui|x=y|f>");
	*taken = 0;
	settings_parse(line, false, "v", take, taken);
	ck_assert_str_eq(taken, "<symfs|/a|v><quiet||v><ui|x=y|v>");
}
END_TEST

START_TEST(the_command_line_overrides_settings)
{
	setenv(SETTINGS_VARIABLE, "--symfs=/a --args=full --ui=https://a.example", 1);
	parse("--symfs=/b a -o x.ftf");
	ck_assert_str_eq(options.symfs, "/b");
	ck_assert_int_eq(options.args, OPTION_ARGS_FULL);
	ck_assert_str_eq(options.ui, "https://a.example");
	options_release(&options);
	setenv(SETTINGS_VARIABLE, "--tid=3", 1);
	ck_assert_int_eq(status_of("a -o x.ftf"), EXIT_USAGE);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("command_line");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, set_up, tear_down);
	tcase_add_loop_test(all, an_option_has_its_value_in_its_word_or_the_next_one, 0, 4);
	tcase_add_test(all, inputs_keep_their_order_and_two_hyphens_end_the_options);
	tcase_add_test(all, a_value_may_look_like_an_option);
	tcase_add_test(all, a_value_that_may_be_left_out_is_not_the_next_word);
	tcase_add_test(all, a_command_is_the_first_word);
	tcase_add_test(all, what_is_no_option_of_the_command_is_wrong_usage);
	tcase_add_test(all, options_that_exclude_each_other_are_wrong_usage);
	tcase_add_test(all, a_refusal_names_what_to_leave_out);
	tcase_add_test(all, a_wrong_word_gets_a_suggestion);
	tcase_add_test(all, commands_take_the_options_that_mean_something_to_them);
	tcase_add_test(all, settings_are_lines_or_words);
	tcase_add_test(all, the_command_line_overrides_settings);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
