/* SPDX-License-Identifier: MIT */
/*
 * sweep MODE STEP SYMFS FILE [TARGET]: converts every damaged version of a recording, each in its
 * own process, and checks the program's guarantees for any input: status 0, 1 or 2, never a signal;
 * at most 5 s of CPU time, 10 s for a set; at most 64 MiB + 4 times all files of memory; a refusal
 * has a message; all output is sound.
 *
 *	prefixes  every STEP bytes, and at every record's border: the slices are the
 *	          first slices of the whole recording
 *	bytes     every STEP bytes, one byte changed, in four ways by turns
 *	records   every STEP records: one left out, doubled, swapped with the next
 *	target    every STEP bytes of another file, TARGET, one byte changed, in four ways by turns
 *	set       the recording as it is, in each STEP-th format of four: the files below SYMFS
 *	          are hostile
 */

#include <ftw.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reader/trace_print.h"
#include "src/formats/output_format.h"
#include "src/pipeline/convert.h"
#include "tests/sweep/recording.h"
#include "tests/sweep/slice_text.h"

#define MEMORY_BASE   (64ul << 20)
#define MEMORY_FACTOR 4ul

/* Sanitizers are slow and use memory of their own. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SECONDS        30
#define SET_SECONDS    120
#define MEMORY_IS_OURS false
#else
#define SECONDS        5
#define SET_SECONDS    10
#define MEMORY_IS_OURS true
#endif

struct variant {
	const uint8_t *bytes;
	size_t size;
	unsigned number; /* of the run: selects options in rotation */
	const struct output_format *format;
};

static struct {
	const char *symfs;
	int input, output; /* memory files, shared with the children */
	char input_path[32], output_path[32];
	time_t seconds;
	bool all_names; /* show inlined calls and parameters */
	size_t beside;  /* size of the files below SYMFS, if they are a set */
	unsigned long runs, grades[3], most_memory; /* bytes */
	struct timeval longest;
	bool failed;
} sweep;

static void complain(const struct variant *variant, const char *what, long value)
{
	printf("run %u (%zu bytes): %s %ld\n", variant->number, variant->size, what, value);
	sweep.failed = true;
}

static int make_file(char path[32])
{
	int fd = memfd_create("sweep", 0);

	if (fd < 0)
		abort();
	snprintf(path, 32, "/proc/self/fd/%d", fd);
	return fd;
}

static void set_input(const struct variant *variant)
{
	if (ftruncate(sweep.input, 0) < 0 || ftruncate(sweep.output, 0) < 0 ||
	    pwrite(sweep.input, variant->bytes, variant->size, 0) != (ssize_t)variant->size ||
	    lseek(sweep.output, 0, SEEK_SET) < 0)
		abort();
}

/* Runs in the child.  Returns its exit status. */
static int convert_input(const struct variant *variant)
{
	char *path = sweep.input_path;
	struct options options = {
		.input = path,
		.inputs = &path,
		.input_count = 1,
		.output = "-",
		.format = variant->format,
		.symfs = sweep.symfs,
		.engine = variant->number % 4 == 3 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST,
		.quiet = true,
		.inlined = sweep.all_names,
		.names = sweep.all_names ? DEMANGLE_FULL : DEMANGLE_SHORT,
	};
	/* CPU time, since the machine may be busy otherwise.  Nothing blocks for long. */
	struct itimerval timer = { .it_value = { .tv_sec = sweep.seconds } };
	struct itimerval waiting = { .it_value = { .tv_sec = 20 * sweep.seconds } };
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status;

	dup2(sweep.output, STDOUT_FILENO);
	setitimer(ITIMER_PROF, &timer, NULL);
	setitimer(ITIMER_REAL, &waiting, NULL);
	diag_init(&diag);
	report_init(&report, &options);
	status = convert(&options, &report, &diag, &err);
	if (status == EXIT_FAILED && (err.kind == ERROR_NONE || !err.text[0]))
		return 99;
	/* Decoded, skipped and lost bytes do not add up to the trace. */
	return report.summary.unaccounted ? 98 : (int)status;
}

static void note(const struct variant *variant, int status, const struct rusage *usage)
{
	unsigned long memory = (unsigned long)usage->ru_maxrss * 1024;

	if (WIFSIGNALED(status))
		complain(variant, "ended by signal", WTERMSIG(status));
	else if (WEXITSTATUS(status) > EXIT_WITH_GAPS)
		complain(variant, "exit status", WEXITSTATUS(status));
	else
		sweep.grades[WEXITSTATUS(status)]++;
	if (MEMORY_IS_OURS && memory > MEMORY_BASE + MEMORY_FACTOR * (variant->size + sweep.beside))
		complain(variant, "bytes of memory", (long)memory);
	if (memory > sweep.most_memory)
		sweep.most_memory = memory;
	if (timercmp(&usage->ru_utime, &sweep.longest, >))
		sweep.longest = usage->ru_utime;
	sweep.runs++;
}

/* Returns the exit status. */
static int run(const struct variant *variant)
{
	struct rusage usage;
	int status;
	pid_t child;

	set_input(variant);
	fflush(stdout);
	child = fork();
	if (child < 0)
		abort();
	if (child == 0)
		_exit(convert_input(variant));
	if (wait4(child, &status, 0, &usage) != child)
		abort();
	note(variant, status, &usage);
	return WIFSIGNALED(status) ? -1 : WEXITSTATUS(status);
}

/* ---- Output ------------------------------------------------------------------- */

static void check_trace(const struct variant *variant)
{
	struct trace_slices slices = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	struct error err = { 0 };
	bool problem = false;
	int status;

	if (trace_reader_open(&reader, sweep.output_path, &err) < 0) {
		complain(variant, "no trace", 0);
		return;
	}
	while ((status = trace_reader_next(&reader, &record, &err)) == 1) {
		trace_slices_add(&slices, &record);
		problem |= record.problem[0] != 0;
	}
	if (status < 0 || problem || trace_slices_finish(&slices, &err) < 0)
		complain(variant, "unsound trace, status", status);
	trace_slices_release(&slices);
	trace_reader_close(&reader);
}

static char *read_output(void)
{
	off_t size = lseek(sweep.output, 0, SEEK_END);
	char *text = calloc(1, (size_t)size + 1);

	if (!text || pread(sweep.output, text, (size_t)size, 0) != size)
		abort();
	return text;
}

/* ---- Modes --------------------------------------------------------------- */

static void sweep_prefixes(const struct recording *recording, size_t step)
{
	struct variant variant = { recording->bytes, recording->size, 0, &format_slices };
	struct slice_text whole, part;
	size_t unit = 0, most = 0;

	run(&variant);
	slice_text_init(&whole, read_output());
	for (size_t at = 0; at < recording->size;) {
		variant.size = at;
		/* The engines lose different bytes of a cut packet. */
		variant.number += 4;
		if (run(&variant) % 2 == 0) {
			slice_text_init(&part, read_output());
			most = part.count > most ? part.count : most;
			if (!slice_text_is_start(&whole, &part))
				complain(&variant, "not the first slices of the whole, but slices:",
					 (long)part.count);
			slice_text_release(&part);
		}
		while (unit < recording->count && recording->units[unit].begin <= at)
			unit++;
		at = unit < recording->count && recording->units[unit].begin < at + step
			     ? recording->units[unit].begin
			     : at + step;
	}
	/* The end of a file is features: by then all slices are there. */
	if (recording->data_end < recording->size && most < whole.count)
		complain(&variant, "most slices of a prefix:", (long)most);
	slice_text_release(&whole);
}

static void run_any(struct variant *variant)
{
	static const struct output_format *const formats[] = { &format_ftf, &format_branches,
							       &format_ftf, &format_calls };

	variant->number++;
	variant->format = formats[variant->number / 4 % 4];
	if (run(variant) % 2 == 0 && variant->format == &format_ftf)
		check_trace(variant);
}

static void sweep_bytes(struct recording *recording, size_t step)
{
	static const uint8_t masks[] = { 0xff, 0x01, 0x80, 0x10 };
	struct variant variant = { recording->bytes, recording->size, 0, &format_ftf };

	for (size_t at = 0; at < recording->size; at += step) {
		uint8_t mask = masks[at / step % 4];

		recording->bytes[at] ^= mask;
		run_any(&variant);
		recording->bytes[at] ^= mask;
	}
}

static void sweep_records(const struct recording *recording, size_t step)
{
	struct variant variant = { 0 };

	for (size_t at = 0; at < recording->count; at += step) {
		for (enum change change = CHANGE_DROP; change <= CHANGE_SWAP; change++) {
			uint8_t *bytes = recording_change(recording, change, at, &variant.size);

			variant.bytes = bytes;
			run_any(&variant);
			free(bytes);
		}
	}
}

/* ---- Files besides the recording ---------------------------------------------- */

static int add_size(const char *path, const struct stat *status, int kind)
{
	(void)path;
	if (kind == FTW_F)
		sweep.beside += (size_t)status->st_size;
	return 0;
}

/* The files below SYMFS are a set. */
static void begin_set(void)
{
	sweep.all_names = true;
	sweep.seconds = SET_SECONDS;
	ftw(sweep.symfs, add_size, 16);
}

static void sweep_set(const struct recording *recording, size_t step)
{
	static const struct output_format *const formats[] = { &format_ftf, &format_branches,
							       &format_slices, &format_functions };
	struct variant variant = { recording->bytes, recording->size, 0, NULL };

	begin_set();
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i += step) {
		variant.format = formats[i];
		if (run(&variant) % 2 == 0 && variant.format == &format_ftf)
			check_trace(&variant);
	}
}

static void sweep_target(const struct recording *recording, size_t step, const char *path)
{
	static const uint8_t masks[] = { 0xff, 0x01, 0x80, 0x10 };
	struct variant variant = { recording->bytes, recording->size, 0, NULL };
	FILE *target = fopen(path, "r+b");
	long size;

	if (!target || fseek(target, 0, SEEK_END) != 0 || (size = ftell(target)) < 0)
		abort();
	begin_set();
	for (size_t at = 0; at < (size_t)size; at += step) {
		uint8_t byte, wrong;

		if (pread(fileno(target), &byte, 1, (off_t)at) != 1)
			abort();
		wrong = byte ^ masks[at / step % 4];
		if (pwrite(fileno(target), &wrong, 1, (off_t)at) != 1)
			abort();
		run_any(&variant);
		if (pwrite(fileno(target), &byte, 1, (off_t)at) != 1)
			abort();
	}
	fclose(target);
}

int main(int argc, char **argv)
{
	struct recording recording;
	size_t step = argc >= 5 ? strtoul(argv[2], NULL, 10) : 0;

	if (!step) {
		fprintf(stderr, "usage: sweep MODE STEP SYMFS FILE [TARGET]\n");
		return EXIT_FAILURE;
	}
	sweep.symfs = argv[3];
	sweep.seconds = SECONDS;
	sweep.input = make_file(sweep.input_path);
	sweep.output = make_file(sweep.output_path);
	recording_read(&recording, argv[4]);
	if (strcmp(argv[1], "prefixes") == 0)
		sweep_prefixes(&recording, step);
	else if (strcmp(argv[1], "bytes") == 0)
		sweep_bytes(&recording, step);
	else if (strcmp(argv[1], "set") == 0)
		sweep_set(&recording, step);
	else if (strcmp(argv[1], "target") == 0 && argc == 6)
		sweep_target(&recording, step, argv[5]);
	else
		sweep_records(&recording, step);
	printf("%s: %lu inputs, %lu whole, %lu with gaps, %lu refused; at most %lu KiB, %ld.%03ld s\n",
	       argv[1], sweep.runs, sweep.grades[EXIT_WHOLE], sweep.grades[EXIT_WITH_GAPS],
	       sweep.grades[EXIT_FAILED], sweep.most_memory / 1024, (long)sweep.longest.tv_sec,
	       (long)sweep.longest.tv_usec / 1000);
	recording_release(&recording);
	return sweep.failed;
}
