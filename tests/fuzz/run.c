/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a perf.data file, converted as by the program; the first two bytes are the options.
 * The file can only name the sample's program.
 */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "src/formats/output_format.h"
#include "src/pipeline/convert.h"
#include "tests/fuzz/memory_file.h"
#include "tests/support/sample.h"

static char folder[] = "/tmp/ptrace2ftf-fuzz-XXXXXX";
static char program[sizeof(folder) + sizeof(SAMPLE_PATH)];

static void remove_folder(void)
{
	unlink(program);
	rmdir(folder);
}

static void make_folder(void)
{
	if (program[0])
		return;
	if (!mkdtemp(folder))
		abort();
	snprintf(program, sizeof(program), "%s%s", folder, SAMPLE_PATH);
	tiny_elf_write(&sample_elf, program);
	atexit(remove_folder);
}

static struct options options_of(const uint8_t *bytes)
{
	static const struct output_format *const formats[] = { &format_ftf, &format_slices,
							       &format_branches, &format_calls,
							       &format_none };

	return (struct options){
		.output = "/dev/null",
		.format = formats[(bytes[0] & 7) % 5],
		.stacks = bytes[0] & 8 ? STACKS_MAGIC_TRACE : STACKS_PRECISE,
		.engine = bytes[0] & 16 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST,
		.inlined = bytes[0] & 32,
		.force_dso = bytes[0] & 64,
		.mode = (enum trace_mode)(bytes[1] & 3),
		.args = (enum option_args)((bytes[1] >> 2 & 3) % 3),
		.symfs = folder,
		.quiet = true,
	};
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	static struct memory_file file;
	struct options options;
	struct report report;
	struct error err = { 0 };
	struct diag diag;
	char *input;

	if (size < 3)
		return 0;
	make_folder();
	options = options_of(bytes);
	input = (char *)(uintptr_t)memory_file_set(&file, bytes + 2, size - 2);
	options.input = input;
	options.inputs = &input;
	options.input_count = 1;
	diag_init(&diag);
	report_init(&report, &options);
	if (convert(&options, &report, &diag, &err) == EXIT_FAILED && err.kind == ERROR_NONE)
		abort();
	report_release(&report);
	diag_release(&diag);
	return 0;
}
