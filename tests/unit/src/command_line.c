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
		{ "--stacks=flows --stacks=magic-trace a", "--stacks=flows a" },
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
	tcase_add_test(all, commands_take_the_options_that_mean_something_to_them);
	tcase_add_test(all, settings_are_lines_or_words);
	tcase_add_test(all, the_command_line_overrides_settings);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
