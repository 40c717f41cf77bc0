/* SPDX-License-Identifier: MIT */
/* The text of `ptrace2ftf annotate`, of an answer made by hand and an objdump that prints its
 * range.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/batch/batch.h"
#include "src/formats/output_format.h"
#include "tests/support/unit.h"

static char folder[40], source[60], output[60], input[60], *inputs[1], variable[100];
static char text[4000];
static const char *functions; /* with apostrophes as quotes, and $ for the source */

static void write_file(const char *name, const char *content, mode_t mode)
{
	char path[60];
	FILE *out;

	sprintf(path, "%s/%s", folder, name);
	out = fopen(path, "w");
	fputs(content, out);
	fclose(out);
	chmod(path, mode);
}

static void setup(void)
{
	strcpy(folder, "/tmp/ptrace2ftf-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	sprintf(source, "%s/a.c", folder);
	sprintf(output, "%s/out", folder);
	sprintf(input, "%s/in", folder);
	inputs[0] = input;
	write_file("in", "", 0600);
	write_file("a.c", "one\n\ttwo\nthree\n", 0600);
	/* Words 5 and 6 are the range. */
	write_file("objdump",
		   "#!/bin/sh\nprintf 'file:\\n\\n 10:\\tnop   \\n %s:\\tfrom %s to %s\\n'"
		   " \"${4#*0x}\" \"${4#*0x}\" \"${5#*0x}\"\n",
		   0700);
	sprintf(variable, "%s:/bin:/usr/bin", folder);
	setenv("PATH", variable, 1);
}

static void teardown(void)
{
	char command[60];

	sprintf(command, "rm -rf %s", folder);
	ck_assert_int_eq(system(command), 0);
}

static enum exit_status convert(const struct options *own, json_t *report)
{
	char made[2000], *to = made;

	ck_assert_str_eq(own->json, "");
	ck_assert(!own->json_answer);
	for (const char *at = functions; *at; at++)
		to += *at == '$' ? sprintf(to, "%s", source)
				 : sprintf(to, "%c", *at == '\'' ? '"' : *at);
	json_object_set_new(report, "report",
			    json_pack("{s{so}}", "answer", "functions", json_loads(made, 0, NULL)));
	return EXIT_WHOLE;
}

static void annotate(const char *answer, const char *symfs)
{
	struct options options = { .command = COMMAND_ANNOTATE,
				   .format = &format_annotate,
				   .inputs = inputs,
				   .input = input,
				   .input_count = 1,
				   .output = output,
				   .symfs = symfs,
				   .quiet = true,
				   .jobs = 1 };
	FILE *in;

	functions = answer;
	ck_assert_int_eq(annotate_command(&options, convert), EXIT_WHOLE);
	in = fopen(output, "r");
	ck_assert_ptr_nonnull(in);
	text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
	fclose(in);
}

static void expect(const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "%s is not in:\n%s", part, text);
}

#define INSN(address, executions, line)                                                            \
	"{'address':" #address ",'length':2,'executions':" #executions                             \
	",'ns':5,'insns':6,'file':'$','line':" #line "}"

/* Lines of source are before their code; a tab of a source is a blank. */
START_TEST(code_is_below_its_source)
{
	annotate(
		"[{'function':'f','calls':2,'instructions':30,'ns':1500,'cycles':0,"
		"'binary':'/bin/b','code':[" INSN(16, 30, 2) "," INSN(18, 10, 2) "," INSN(
			20, 10,
			3) "," INSN(22, 0,
				    9) "]},"
				       "{'function':'g','calls':1,'instructions':1,'ns':7,'cycles':60,"
				       "'binary':'','code':[]}]",
		NULL);
	ck_assert_int_eq(strncmp(text, "f: 2 calls, 30 instructions, 1.5us, of /bin/b\n", 46), 0);
	expect("                 a.c:2:  two\n");
	expect("                 a.c:3: three\n");
	expect("                 a.c:9: \n");
	/* 30 of 50 executions; the text is the first that objdump gives for an address. */
	expect("          30");
	expect("60.0%");
	expect("      10  nop\n");
	expect("      12  ");
	ck_assert_ptr_null(strstr(text, "one"));
	expect("\n\ng: 1 call, 1 instructions, 60 cycles, 7ns, of code without a file\n");
	expect(" address\n");
}
END_TEST

/* Instructions at most 256 KiB apart are read by one run. */
START_TEST(neighbours_are_read_by_one_run)
{
	annotate(
		"[{'function':'f','calls':1,'instructions':3,'ns':1,'cycles':0,'binary':'/bin/b',"
		"'code':[" INSN(4096, 1, 1) "," INSN(266242, 1, 1) "," INSN(
			528389, 1,
			1) "]},"
			   "{'function':'h','calls':1,'instructions':1,'ns':1,'cycles':0,'binary':'/bin/c',"
			   "'code':[" INSN(4098, 1, 1) "]}]",
		NULL);
	/* 0x1002 + 256 KiB is 266242; 266244 + 256 KiB + 1 is 528389. */
	expect("    1000  from 1000 to 41004\n");
	expect("   81005  from 81005 to 81007\n");
	expect("    1002  from 1002 to 1004\n");
}
END_TEST

/* A file of --symfs is another machine's. */
START_TEST(no_source_of_another_machine_is_read)
{
	annotate("[{'function':'f','calls':1,'instructions':1,'ns':1,'cycles':0,'binary':'/bin/b',"
		 "'code':[" INSN(16, 1, 1) "]}]",
		 folder);
	expect("a.c:1: \n");
	ck_assert_ptr_null(strstr(text, "one"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("annotate");
	TCase *all = tcase_create("all");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, code_is_below_its_source);
	tcase_add_test(all, neighbours_are_read_by_one_run);
	tcase_add_test(all, no_source_of_another_machine_is_read);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
