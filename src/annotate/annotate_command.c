/* SPDX-License-Identifier: MIT */
/* Run a conversion, and print its answer with the text of source lines and instructions. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/interrupt.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/formats/text/json_print.h"
#include "src/formats/text/source_file.h"
#include "src/sandbox/sandbox.h"

/* Parts of a file's code that are farther apart (bytes) need two runs of objdump. */
#define GAP_MOST ((uint64_t)256 << 10)

/* Bytes of an instruction's text: objdump prints the names of targets whole. */
#define INSN_TEXT_MOST 256

struct annotation {
	const struct options *options; /* borrowed */
	const json_t *answer;          /* borrowed */
	FILE *out;
	/* Instructions of the answer, by file and address: */
	struct insn_text {
		const char *binary; /* borrowed from the answer */
		uint64_t address, length;
		char *text; /* owned; NULL: unknown */
	} * insns;          /* owned */
	size_t insn_count, insn_room;
	bool no_disassembly; /* objdump is missing, or cannot read a file */
	struct source_file source;
};

/* ---- Source -------------------------------------------------------------- */

/* Print a line of a source. With --symfs, reads no file outside it. */
static void print_source_line(struct annotation *annotation, const char *path, uint64_t number)
{
	const char *line;
	char *text;
	size_t length;

	if (!*path || annotation->options->symfs)
		return;
	source_file_read(&annotation->source, path);
	line = source_file_line(&annotation->source, number, &length);
	if (!line)
		return;
	text = ALLOC_CHECKED(strndup(line, length));
	for (char *tab = text; (tab = strchr(tab, '\t'));)
		*tab = ' ';
	printable_printf(annotation->out, "%s", text);
	free(text);
}

/* ---- The text of instructions, by objdump(1) ------------------------------ */

/* Limits of objdump's CPU time (s) and memory (bytes): it can map the whole file. */
#define OBJDUMP_SECONDS 60
#define OBJDUMP_MEMORY  ((rlim_t)4 << 30)

/* The input is untrusted, so restrict objdump to reading files. */
static _Noreturn void run_objdump(const struct options *options, int to, const char *path,
				  uint64_t begin, uint64_t end)
{
	const struct rlimit limit = { OBJDUMP_SECONDS, OBJDUMP_SECONDS };
	const struct rlimit memory = { OBJDUMP_MEMORY, OBJDUMP_MEMORY };
	int nothing = open("/dev/null", O_RDWR);
	char from[48], until[48];

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, begin);
	snprintf(until, sizeof(until), "--stop-address=0x%" PRIx64, end);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0 ||
	    dup2(to, STDOUT_FILENO) < 0 || setrlimit(RLIMIT_CPU, &limit) < 0 ||
	    setrlimit(RLIMIT_AS, &memory) < 0)
		_exit(127);
	close_from(STDERR_FILENO + 1);
	if (sandbox_enter_tool(options))
		execlp("objdump", "objdump", "-d", "-w", "--no-show-raw-insn", from, until, "--",
		       path, (char *)NULL);
	_exit(127);
}

static int compare_insns(const void *left, const void *right)
{
	const struct insn_text *a = left, *b = right;
	int order = a->binary == b->binary ? 0 : strcmp(a->binary, b->binary);

	return order ? order : (a->address > b->address) - (a->address < b->address);
}

/* Returns the answer's instruction, or NULL. */
static struct insn_text *find_insn(const struct annotation *annotation, const char *binary,
				   uint64_t address)
{
	const struct insn_text key = { .binary = binary, .address = address };

	return annotation->insn_count ? bsearch(&key, annotation->insns, annotation->insn_count,
						sizeof(key), compare_insns)
				      : NULL;
}

/* Read a line such as " 401136: push %rbp". Returns whether it is of an instruction. */
static bool take_insn(const struct annotation *annotation, const char *binary, char *line)
{
	char *end;
	uint64_t address = strtoull(line, &end, 16);
	struct insn_text *insn;
	size_t length;

	if (line[0] != ' ' || end == line || end[0] != ':' || end[1] != '\t')
		return false;
	length = strcspn(end + 2, "\n");
	while (length && end[1 + length] == ' ')
		length--;
	insn = find_insn(annotation, binary, address);
	if (insn && !insn->text)
		insn->text = ALLOC_CHECKED(strndup(end + 2, MIN(length, INSN_TEXT_MOST)));
	return true;
}

/*
 * Read the text of a file's instructions at virtual addresses [begin, end). Returns whether there
 * is any.
 */
static bool read_insns(const struct annotation *annotation, const char *binary, uint64_t begin,
		       uint64_t end)
{
	int pipe_ends[2], status = 0;
	char *line = NULL;
	size_t room = 0;
	bool any = false;
	FILE *in;
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0)
		return false;
	pid = fork();
	if (pid == 0)
		run_objdump(annotation->options, pipe_ends[1], binary, begin, end);
	close(pipe_ends[1]);
	in = ALLOC_CHECKED(fdopen(pipe_ends[0], "r"));
	while (pid > 0 && getline(&line, &room, in) >= 0)
		any |= take_insn(annotation, binary, line);
	free(line);
	fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	return any && status == 0;
}

/* Add the instructions of a function that is in a file. */
static void add_insns(struct annotation *annotation, const json_t *function)
{
	const json_t *code = json_object_get(function, "code");
	const char *binary = json_value_text(function, "binary");

	for (size_t i = 0; *binary && i < json_array_size(code); i++) {
		const json_t *insn = json_array_get(code, i);

		*ARRAY_ADD(annotation->insns, annotation->insn_count, annotation->insn_room) =
			(struct insn_text){ .binary = binary,
					    .address = json_value_count(insn, "address"),
					    .length = json_value_count(insn, "length") };
	}
}

/* Get the text of all instructions, by one run of objdump for neighbours of a file. */
static void disassemble(struct annotation *annotation)
{
	const struct insn_text *insns = annotation->insns;
	size_t count = annotation->insn_count, begin = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end = insns[i].address + insns[i].length;

		if (i + 1 < count && strcmp(insns[i + 1].binary, insns[i].binary) == 0 &&
		    (insns[i + 1].address < end || insns[i + 1].address - end <= GAP_MOST))
			continue;
		annotation->no_disassembly |=
			!read_insns(annotation, insns[i].binary, insns[begin].address, end);
		begin = i + 1;
	}
}

/* ---- Text ---------------------------------------------------------------- */

static void print_line(struct annotation *annotation, const json_t *insn)
{
	const char *file = json_value_text(insn, "file");
	uint64_t line = json_value_count(insn, "line");

	printable_printf(annotation->out, "\n%58s%s:%" PRIu64 ": ", "",
			 *file ? base_name(file) : "???", line);
	print_source_line(annotation, file, line);
	putc('\n', annotation->out);
}

#define COLUMNS(cost)                                                                              \
	"{executions:12} {share=executions:6p} " cost " {taken:11} {not taken=not_taken:11}  "

static void print_insn(struct annotation *annotation, const json_t *insn, const char *binary,
		       uint64_t all, const char *columns)
{
	uint64_t address = json_value_count(insn, "address");
	const struct insn_text *known = find_insn(annotation, binary, address);

	json_print(annotation->out, insn, all, columns);
	printable_printf(annotation->out, "%8" PRIx64 "  %s\n", address,
			 known ? known->text : NULL);
}

static void print_annotated(struct annotation *annotation, const json_t *function)
{
	const json_t *code = json_object_get(function, "code");
	uint64_t all = 0, cycles = json_value_count(function, "cycles");
	uint64_t calls = json_value_count(function, "calls");
	const char *binary = json_value_text(function, "binary");
	const char *columns = cycles               ? COLUMNS("{cycles:11}")
			      : digits_work_unit() ? COLUMNS("{insns:11}")
						   : COLUMNS("{time=ns:11a}");

	printable_printf(annotation->out, "%s: %" PRIu64 " call%s, %" PRIu64 " instructions, ",
			 json_value_text(function, "function"), calls, calls == 1 ? "" : "s",
			 json_value_count(function, "instructions"));
	if (cycles)
		fprintf(annotation->out, "%" PRIu64 " cycles, ", cycles);
	if (!digits_work_unit())
		fprintf(annotation->out, "%s, ", short_time(json_value_count(function, "ns")).text);
	printable_printf(annotation->out, "of %s\n", *binary ? binary : "code without a file");
	json_print(annotation->out, NULL, 0, columns);
	fputs(" address\n", annotation->out);
	for (size_t i = 0; i < json_array_size(code); i++)
		all += json_value_count(json_array_get(code, i), "executions");
	for (size_t i = 0; i < json_array_size(code); i++) {
		const json_t *insn = json_array_get(code, i), *last = json_array_get(code, i - 1);

		if (!i || json_value_count(insn, "line") != json_value_count(last, "line") ||
		    !json_equal(json_object_get(insn, "file"), json_object_get(last, "file")))
			print_line(annotation, insn);
		print_insn(annotation, insn, binary, all, columns);
	}
}

static void print_functions(void *context, FILE *out)
{
	struct annotation *annotation = context;
	const json_t *functions = json_object_get(annotation->answer, "functions");

	annotation->out = out;
	for (size_t i = 0; i < json_array_size(functions); i++)
		add_insns(annotation, json_array_get(functions, i));
	if (annotation->insn_count)
		SORT(annotation->insns, annotation->insn_count, compare_insns);
	disassemble(annotation);
	for (size_t i = 0; i < json_array_size(functions); i++) {
		if (i)
			putc('\n', annotation->out);
		print_annotated(annotation, json_array_get(functions, i));
	}
	if (annotation->no_disassembly && !annotation->options->quiet)
		fputs("ptrace2ftf: instructions have no text: objdump is missing, or cannot read "
		      "the file; install binutils\n",
		      stderr);
	while (annotation->insn_count)
		free(annotation->insns[--annotation->insn_count].text);
	free(annotation->insns);
	source_file_release(&annotation->source);
}

int annotate_command(const struct options *options, batch_convert_fn *convert)
{
	struct options own = *options;
	const struct batch_run run = { .options = &own, .convert = convert };
	const struct batch_job job = { .inputs = options->inputs,
				       .input_count = options->input_count,
				       .answer = options };
	struct annotation annotation = { .options = options };
	const json_t *report;
	json_t *end = NULL;
	struct error err = { 0 };
	int status = EXIT_FAILED;

	own.json = "";
	own.json_answer = false;
	if (file_roles_check(options, &err) == 0)
		status = batch_one_run(&run, &job, &end, &err);
	report = json_object_get(end, "report");
	annotation.answer = json_object_get(report, "answer");
	if ((status == EXIT_WHOLE || status == EXIT_WITH_GAPS) &&
	    batch_answer_write(options, report, annotation.answer, print_functions, &annotation,
			       &err) < 0)
		status = EXIT_FAILED;
	output_obey_closed_pipe(&err);
	message_error(&err);
	json_decref(end);
	return status;
}
