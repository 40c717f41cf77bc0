/* SPDX-License-Identifier: MIT */
/* Run a conversion, and print its answer with the text of source lines and instructions. */
#include "src/batch/batch.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/file_use.h"
#include "base/io/interrupt.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/options/input_paths.h"
#include "src/sandbox/sandbox.h"

/* Parts of code that are farther apart (bytes) need two runs of objdump. */
#define GAP_MOST 4096

struct annotation {
	const struct options *options; /* borrowed */
	const json_t *answer;          /* borrowed */
	FILE *out;
	/* Instructions of the current function: */
	struct insn_text {
		uint64_t address;
		char *text;
	} * insns; /* owned, with the texts; by address */
	size_t insn_count, insn_room;
	bool no_disassembly; /* objdump is missing, or cannot read a file */
	/* The last source file: */
	char *path;   /* owned; NULL: no file */
	char **lines; /* owned, with the texts */
	size_t count, room;
};

static uint64_t number_of(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

/* ---- Source -------------------------------------------------------------- */

static void forget_source(struct annotation *annotation)
{
	while (annotation->count)
		free(annotation->lines[--annotation->count]);
	free(annotation->path);
	annotation->path = NULL;
}

/* Read a source file. */
static void read_source(struct annotation *annotation, const char *path)
{
	FILE *in = file_use_open_source(path);
	char *line = NULL;
	size_t room = 0;

	forget_source(annotation);
	annotation->path = ALLOC_CHECKED(strdup(path));
	if (!in)
		return;
	while (getline(&line, &room, in) >= 0) {
		line[strcspn(line, "\n")] = '\0';
		for (char *tab = line; (tab = strchr(tab, '\t'));)
			*tab = ' ';
		*ARRAY_ADD(annotation->lines, annotation->count, annotation->room) =
			ALLOC_CHECKED(strdup(line));
	}
	free(line);
	fclose(in);
}

/* With --symfs, reads no file outside it. */
static const char *source_text(struct annotation *annotation, const char *path, uint64_t line)
{
	if (!*path || annotation->options->symfs)
		return "";
	if (!annotation->path || strcmp(annotation->path, path) != 0)
		read_source(annotation, path);
	return line && line <= annotation->count ? annotation->lines[line - 1] : "";
}

/* ---- The text of instructions, by objdump(1) ------------------------------ */

/* Limits of objdump's CPU time (s) and memory (bytes): it can map the whole file. */
#define OBJDUMP_SECONDS 60
#define OBJDUMP_MEMORY  ((rlim_t)4 << 30)

/* The input is untrusted, so restrict objdump to reading files. */
static _Noreturn void run_objdump(int to, const char *path, uint64_t begin, uint64_t end)
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
	sandbox_enter_tool();
	execlp("objdump", "objdump", "-d", "-w", "--no-show-raw-insn", from, until, "--", path,
	       (char *)NULL);
	_exit(127);
}

/* Read a line such as " 401136: push %rbp". */
static void take_insn(struct annotation *annotation, char *line)
{
	char *end, *text;
	uint64_t address = strtoull(line, &end, 16);
	size_t length;

	if (line[0] != ' ' || end == line || end[0] != ':' || end[1] != '\t')
		return;
	text = end + 2;
	length = strcspn(text, "\n");
	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
	*ARRAY_ADD(annotation->insns, annotation->insn_count, annotation->insn_room) =
		(struct insn_text){ address, ALLOC_CHECKED(strdup(text)) };
}

/* Add the instructions of a file at virtual addresses [begin, end), after all lower ones. */
static void read_insns(struct annotation *annotation, const char *path, uint64_t begin,
		       uint64_t end)
{
	size_t before = annotation->insn_count, room = 0;
	int pipe_ends[2], status = 0;
	char *line = NULL;
	FILE *in;
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0) {
		annotation->no_disassembly = true;
		return;
	}
	pid = fork();
	if (pid == 0)
		run_objdump(pipe_ends[1], path, begin, end);
	close(pipe_ends[1]);
	in = ALLOC_CHECKED(fdopen(pipe_ends[0], "r"));
	while (pid > 0 && getline(&line, &room, in) >= 0)
		take_insn(annotation, line);
	free(line);
	fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	annotation->no_disassembly = status != 0 || annotation->insn_count == before;
}

static const char *insn_text(const struct annotation *annotation, uint64_t address)
{
	const struct insn_text *insns = annotation->insns;
	size_t at = LOWER_BOUND(i, annotation->insn_count, insns[i].address < address);

	return at < annotation->insn_count && insns[at].address == address ? insns[at].text : "";
}

static void forget_insns(struct annotation *annotation)
{
	while (annotation->insn_count)
		free(annotation->insns[--annotation->insn_count].text);
}

/* Read all parts of a function, which can be far apart, until one fails. */
static void disassemble(struct annotation *annotation, const json_t *function)
{
	const json_t *code = json_object_get(function, "code");
	const char *binary = json_value_text(function, "binary");
	size_t count = json_array_size(code);
	uint64_t begin = number_of(json_array_get(code, 0), "address");

	forget_insns(annotation);
	for (size_t i = 0; *binary && i < count && !annotation->no_disassembly; i++) {
		const json_t *insn = json_array_get(code, i);
		uint64_t end = number_of(insn, "address") + number_of(insn, "length");
		uint64_t next = i + 1 < count ? number_of(json_array_get(code, i + 1), "address")
					      : UINT64_MAX;

		if (next < end || next - end <= GAP_MOST)
			continue;
		read_insns(annotation, binary, begin, end);
		begin = next;
	}
}

/* ---- Text ---------------------------------------------------------------- */

static void print_line(struct annotation *annotation, const json_t *insn)
{
	const char *file = json_value_text(insn, "file");
	uint64_t line = number_of(insn, "line");

	fputs("\n                                                          ", annotation->out);
	printable_print(*file ? base_name(file) : "???", annotation->out);
	fprintf(annotation->out, ":%" PRIu64 ": ", line);
	printable_print(source_text(annotation, file, line), annotation->out);
	putc('\n', annotation->out);
}

static void print_insn(struct annotation *annotation, const json_t *insn, uint64_t all,
		       bool has_cycles)
{
	uint64_t executions = number_of(insn, "executions"), address = number_of(insn, "address");
	char time[SHORT_TIME_SIZE];
	FILE *out = annotation->out;

	fprintf(out, "%12" PRIu64 " %5.1f%%", executions,
		all ? 100 * (double)executions / (double)all : 0);
	if (has_cycles)
		fprintf(out, " %11" PRIu64, number_of(insn, "cycles"));
	else
		fprintf(out, " %11s", short_time(time, (int64_t)number_of(insn, "ns")));
	if (json_object_get(insn, "taken"))
		fprintf(out, " %11" PRIu64 " %11" PRIu64, number_of(insn, "taken"),
			number_of(insn, "not_taken"));
	else
		fprintf(out, " %11s %11s", "", "");
	fprintf(out, "  %8" PRIx64 "  ", address);
	printable_print(insn_text(annotation, address), out);
	putc('\n', out);
}

static void print_annotated(struct annotation *annotation, const json_t *function)
{
	const json_t *code = json_object_get(function, "code");
	uint64_t all = 0, cycles = number_of(function, "cycles");
	uint64_t calls = number_of(function, "calls");
	const char *binary = json_value_text(function, "binary");
	char time[SHORT_TIME_SIZE];

	printable_print(json_value_text(function, "function"), annotation->out);
	fprintf(annotation->out, ": %" PRIu64 " call%s, %" PRIu64 " instructions, ", calls,
		calls == 1 ? "" : "s", number_of(function, "instructions"));
	if (cycles)
		fprintf(annotation->out, "%" PRIu64 " cycles, ", cycles);
	fprintf(annotation->out, "%s, of ", short_time(time, (int64_t)number_of(function, "ns")));
	printable_print(*binary ? binary : "code without a file", annotation->out);
	fprintf(annotation->out, "\n%12s %6s %11s %11s %11s  %8s\n", "executions", "share",
		cycles ? "cycles" : "time", "taken", "not taken", "address");
	disassemble(annotation, function);
	for (size_t i = 0; i < json_array_size(code); i++)
		all += number_of(json_array_get(code, i), "executions");
	for (size_t i = 0; i < json_array_size(code); i++) {
		const json_t *insn = json_array_get(code, i), *last = json_array_get(code, i - 1);

		if (!i || number_of(insn, "line") != number_of(last, "line") ||
		    !json_equal(json_object_get(insn, "file"), json_object_get(last, "file")))
			print_line(annotation, insn);
		print_insn(annotation, insn, all, cycles);
	}
}

static void print_functions(void *context, FILE *out)
{
	struct annotation *annotation = context;
	const json_t *functions = json_object_get(annotation->answer, "functions");

	annotation->out = out;
	for (size_t i = 0; i < json_array_size(functions); i++) {
		if (i)
			putc('\n', annotation->out);
		print_annotated(annotation, json_array_get(functions, i));
	}
	if (annotation->no_disassembly && !annotation->options->quiet)
		fputs("ptrace2ftf: instructions have no text: objdump is missing, or cannot read "
		      "the file; install binutils\n",
		      stderr);
	forget_insns(annotation);
	free(annotation->insns);
	forget_source(annotation);
	free(annotation->lines);
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
