/* SPDX-License-Identifier: MIT */
/*
 * Options of output and selection, chosen by the bytes, on the sample's recording: each format,
 * whole or in parts.  Every resulting trace must be sound.
 */
#include "tests/fuzz/fuzz.h"

#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cursor.h"
#include "reader/trace_print.h"
#include "reader/trace_reader.h"
#include "src/formats/output_format.h"
#include "src/pipeline/convert.h"
#include "tests/support/sample.h"

static char folder[] = "/tmp/ptrace2ftf-fuzz-XXXXXX";
static char program[64], recording[64], output[64];

/* Outputs and their parts, but for the two inputs. */
static void for_each_output(void (*visit)(const char *path))
{
	char pattern[64];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/out*", folder);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			visit(found.gl_pathv[i]);
	globfree(&found);
}

static void remove_output(const char *path)
{
	unlink(path);
}

static void remove_folder(void)
{
	for_each_output(remove_output);
	unlink(program);
	unlink(recording);
	rmdir(folder);
}

static void make_folder(void)
{
	struct pt_packets packets;
	struct perf_data data;

	if (program[0])
		return;
	if (!mkdtemp(folder))
		abort();
	snprintf(program, sizeof(program), "%s%s", folder, SAMPLE_PATH);
	snprintf(recording, sizeof(recording), "%s/perf.data", folder);
	snprintf(output, sizeof(output), "%s/out.ftf", folder);
	tiny_elf_write(&sample_elf, program);
	pt_packets_init(&packets);
	sample_trace(&packets);
	sample_begin(&data);
	sample_add_trace(&data, &packets);
	perf_data_write(&data, recording);
	perf_data_release(&data);
	pt_packets_release(&packets);
	atexit(remove_folder);
}

/* Perfetto must accept the trace. */
static void must_be_sound(const char *path)
{
	struct trace_slices slices = { 0 };
	struct trace_reader reader;
	struct trace_record record;
	int more = -1;

	if (trace_reader_open(&reader, path, NULL) == 0)
		while ((more = trace_reader_next(&reader, &record, NULL)) == 1)
			trace_slices_add(&slices, &record);
	if (more < 0 || trace_slices_finish(&slices, NULL) < 0)
		abort();
	trace_slices_release(&slices);
	trace_reader_close(&reader);
}

/* ---- Options ------------------------------------------------------------- */

static unsigned choose(struct cursor *bytes, unsigned count)
{
	return cursor_u8(bytes) % count;
}

/* A text of up to 15 bytes; each is valid until the next input. */
static char *choose_text(struct cursor *bytes, char text[16])
{
	size_t length = choose(bytes, 16);

	memset(text, 0, 16);
	for (size_t i = 0; i < length; i++)
		text[i] = (char)cursor_u8(bytes);
	return text;
}

static void choose_selection(struct cursor *bytes, struct selection *select)
{
	static char texts[8][16];

	selection_time(select, choose_text(bytes, texts[0]));
	selection_duration(choose_text(bytes, texts[1]), &select->min_duration);
	if (!selection_split(&select->split, choose_text(bytes, texts[2])))
		select->split = (struct split_size){ 0 };
	number_list_add(&select->tids, choose_text(bytes, texts[3]));
	if (choose(bytes, 4) == 0)
		pattern_list_add(&select->symbols, choose_text(bytes, texts[4]));
	if (choose(bytes, 4) == 0)
		pattern_list_add(&select->hidden, choose_text(bytes, texts[5]));
	if (choose(bytes, 4) == 0)
		pattern_list_add(&select->roots, choose_text(bytes, texts[7]));
	if (choose(bytes, 4) == 0)
		selection_between(select, choose_text(bytes, texts[6]));
	select->depth = choose(bytes, 4);
	select->order = (enum function_order)choose(bytes, 4);
}

static void choose_options(struct cursor *bytes, struct options *options)
{
	size_t formats = 0;

	while (output_formats[formats])
		formats++;
	*options = (struct options){
		.format = output_formats[choose(bytes, (unsigned)formats)],
		.stacks = choose(bytes, 4) ? STACKS_PRECISE : STACKS_MAGIC_TRACE,
		.args = (enum option_args)choose(bytes, 3),
		.mode = (enum trace_mode)choose(bytes, 4),
		.names = (enum demangle_style)choose(bytes, 4),
		.inlined = choose(bytes, 2),
		.verify = choose(bytes, 2),
		.output = output,
		.symfs = folder,
		.quiet = true,
		.threads = 1,
	};
	/* As in src/cli/option_conflicts.c. */
	if (options->format == &format_memtrace) /* needs an overlay */
		options->format = &format_none;
	choose_selection(bytes, &options->select);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct cursor choices = cursor_over(bytes, size);
	char *input = recording;
	struct options options;
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	enum exit_status status;

	make_folder();
	choose_options(&choices, &options);
	options.input = recording;
	options.inputs = &input;
	options.input_count = 1;
	diag_init(&diag);
	report_init(&report, &options);
	status = convert(&options, &report, &diag, &err);
	if (status == EXIT_FAILED && err.kind == ERROR_NONE)
		abort();
	if (status != EXIT_FAILED && options.format == &format_ftf)
		for_each_output(must_be_sound);
	for_each_output(remove_output);
	report_release(&report);
	diag_release(&diag);
	options_release(&options);
	return 0;
}
