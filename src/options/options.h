/* SPDX-License-Identifier: MIT */
/* What the user asked for on the command line. */
#ifndef SRC_OPTIONS_OPTIONS_H
#define SRC_OPTIONS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decoder/engine/pt_engine.h"
#include "src/options/selection.h"
#include "symbols/names/demangle.h"

/* Exit status, as xz grades it; 64 is EX_USAGE of sysexits.h. */
enum exit_status {
	EXIT_WHOLE = 0,
	EXIT_FAILED = 1,
	EXIT_WITH_GAPS = 2,
	EXIT_USAGE = 64,
	EXIT_INTERRUPTED = 130, /* 128 + SIGINT, as shells tell it; what was written is sound */
};

enum input_kind { INPUT_PERF_DATA = 0, INPUT_PERF_SCRIPT };

struct output_format;

/* What slices say besides their name: nothing; the function and its line; all that is known. */
enum option_args { OPTION_ARGS_LINE = 0, OPTION_ARGS_NONE, OPTION_ARGS_FULL };

/* How call stacks are built: callstack_precise.h, callstack_magic_trace.h. */
enum stack_machine { STACKS_PRECISE = 0, STACKS_MAGIC_TRACE };

/* What the recording traced: perf's exclude_kernel and exclude_user. */
enum trace_mode {
	TRACE_MODE_GUESS = 0, /* from perf.data, or from the addresses seen so far, unwarned */
	TRACE_MODE_USER,
	TRACE_MODE_KERNEL,
	TRACE_MODE_BOTH,
};

/* Whether to give up what a conversion does not need: sandbox.h; AUTO: where that is possible. */
enum option_sandbox { SANDBOX_AUTO = 0, SANDBOX_ON, SANDBOX_OFF };

/* Times between timing packets: at a steady speed, or as perf script estimates them. */
enum option_timing { TIMING_STEADY = 0, TIMING_PERF };

enum overlay_kind { OVERLAY_RUNTIME_EVENTS = 0, OVERLAY_MEMTRACE };

/* An overlay as the user named it: overlay_input.h. */
struct overlay_option {
	enum overlay_kind kind;
	const char *text;
};

/* Of --clock-offset: ns to add to times of an overlay's clock. */
struct clock_offsets {
	bool has_mono, has_real;
	int64_t mono, real;
};

struct options {
	const char *input; /* path; "-": stdin; the first input; NULL: overlays only */
	char **inputs;     /* borrowed: all inputs */
	int input_count;
	const char *output; /* path; "-": stdout; NULL: the format's default */
	enum input_kind input_kind;
	const struct output_format *format;
	enum trace_mode mode;
	enum stack_machine stacks;
	enum pt_engine engine;
	enum demangle_style names;
	enum option_args args;
	const char *symfs;               /* NULL: none */
	const char *vdso;                /* NULL: look for it */
	const char *kcore, *vmlinux;     /* the kernel's code; NULL: look for it */
	const char *debug_dir;           /* NULL: none besides the system's */
	const char *strip_prefix;        /* of source paths; NULL: none */
	const char *kallsyms;            /* NULL: look for it */
	const char *perf_map_dir;        /* of perf-PID.map; NULL: /tmp */
	bool inlined;                    /* show inlined functions */
	bool debuginfod;                 /* ask servers for files */
	bool force_dso;                  /* files with another build id will do */
	struct overlay_option *overlays; /* owned */
	size_t overlay_count, overlay_room;
	struct clock_offsets clock_offsets;
	const char *clock_sync;     /* NULL: none */
	bool no_samples;            /* leave out samples of other events */
	const char *output_pattern; /* NULL: none */
	const char *files_from;     /* NULL: none */
	char *list, **listed;       /* owned: the inputs that it names, and all inputs */
	const char *json_lines;     /* path; "-": stdout; NULL: none */
	unsigned jobs;              /* files converted in parallel; 0: one per processor */
	bool skip_existing;
	/* Owned, with the texts: the options that may change an output, "--NAME=ARGUMENT". */
	char **words;
	int word_count;
	size_t word_room;
	const char *stamp; /* what an FTF output is to carry: batch_stamp.h; NULL: nothing */
	unsigned verify;   /* decode every so-manyth segment by libipt too; 0: none */
	struct selection select;
	enum option_timing timing;
	unsigned threads; /* that decode; 0: as many as there are CPUs */
	bool no_warn;     /* gaps and warnings don't change the exit status */
	bool quiet;       /* no summary and no warnings */
	int verbose;      /* how much more to tell: 0, 1, 2 */
	enum option_sandbox sandbox;
	const char
		*json; /* path of the summary; "-": stdout; "": --json-lines has it; NULL: none */
};

/* Returns whether each input is converted to an output of its own. */
bool options_is_batch(const struct options *options);

/*
 * Read "mono=TIME" or "real=TIME"; TIME is as of selection_duration(), with a sign.
 * Returns false if the text is neither.
 */
bool clock_offsets_read(struct clock_offsets *offsets, const char *text);

/* Release the memory.  Idempotent, also on zeroed memory. */
void options_release(struct options *options);

#endif
