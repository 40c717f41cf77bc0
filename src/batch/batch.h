/* SPDX-License-Identifier: MIT */
/*
 * Many conversions in one run, each in its own process: a crash or a lack of memory fails one
 * conversion only.  The messages of a process are printed together when it ends, each with the
 * input in front.  SIGINT, SIGTERM and SIGHUP end the running processes, and no other is started.
 */
#pragma once

#include <jansson.h>
#include <sys/resource.h>

#include "base/io/temp_file.h"
#include "src/options/options.h"

/*
 * Inputs are the files of one recording, and one job, unless options name outputs by a rule
 * (options_is_batch()): then each input is a separate job.
 *
 * Outputs in a directory are named after their inputs: the file's name without ".data", or the
 * directory's if the file is called perf.data.  Equal names are extended by the next directory
 * above, with "-" between, until they differ.
 */

struct batch_plan {
	struct batch_job {
		char **inputs;   /* borrowed from the options; several: a series */
		int input_count; /* at least 1 */
		char *output;    /* owned: path; "-": stdout; NULL: no output (--format=none) */
		const struct options *options; /* borrowed: the job's own; NULL: the run's */
		/* Borrowed: the options whose --output and --json this process writes; or NULL. */
		const struct options *answer;
		struct temp_file *printed; /* borrowed: its standard output; NULL: ours */
		int closed; /* a descriptor that only this process keeps; 0: no such one */
	} * jobs;           /* owned; in the order of the inputs */
	size_t count;
};

/*
 * Make the jobs; `options` (with at least one input) must live as long as the plan.  Returns 0; -1
 * with err filled, and an empty plan, if a pattern is wrong.
 */
int batch_plan_make(struct batch_plan *plan, const struct options *options, struct error *err);

void batch_plan_release(struct batch_plan *plan);

/* How a job's process ended. */
struct batch_end {
	int status;     /* enum exit_status */
	int signal;     /* the signal that ended it; 0 if absent */
	double seconds; /* from start to end */
	struct rusage usage;
	json_t *report; /* owned: the report of the process (batch_convert_fn); may be NULL */
};

/* Returns a JSON string, owned by the caller; if not UTF-8, with \xNN for bytes above 0x7f and "\".
 */
json_t *batch_line_text(const char *text);

/* Returns the object for a finished job, owned by the caller. */
json_t *batch_line_make(const struct batch_job *job, const struct batch_end *end);

struct batch_process {
	pid_t pid;                   /* 0 if absent */
	const struct batch_job *job; /* borrowed */
	int messages;   /* owned: a file in memory for its standard error; -1: not redirected */
	int report;     /* owned: a file in memory for its report in JSON: batch_convert_fn */
	uint64_t start; /* ns: progress_now() */
};

/*
 * Converts as the options say, and prints messages to standard error.  `report`, an object, gets
 * keys of --json-lines: "error", or "branches" and "slices"; "report"; "skipped".  It may be NULL.
 * Returns the exit status.
 */
typedef enum exit_status batch_convert_fn(const struct options *options, json_t *report);

/* Data that all jobs of a run share. */
struct batch_run {
	const struct options *options; /* borrowed */
	batch_convert_fn *convert;
	unsigned threads;   /* each process's, without --threads; 0: the default of one process */
	bool keep_messages; /* until the process ends */
	bool stamped;       /* outputs get stamps */
};

/* Start the process of a job; in the child this does not return.  Returns 0; -1 with err filled. */
int batch_process_start(struct batch_process *process, const struct batch_run *run,
			const struct batch_job *job, struct error *err);

/*
 * Reap a process that ended with `status` (wait4()): print its messages, delete its partial output
 * if it was killed, and fill `end` but for `usage`; the caller owns its report.
 */
void batch_process_finish(struct batch_process *process, int status, struct batch_end *end);

/*
 * Stamps of outputs: the program's version, a hash of the inputs' bytes, and a hash of the options.
 * A run whose stamp is already on the output can be skipped, because it would write the same
 * bytes.
 *
 * In FTF, also inside .gz and .zst, the stamp is a blob record near the start, which Perfetto
 * skips; it survives copies.  Outputs of other formats have the extended attribute
 * "user.ptrace2ftf", which some file systems do not keep; without it, the input is converted again.
 */

struct stamp {
	char text[200]; /* one line without newline: "stamp 1 VERSION INPUT-HASH OPTIONS-HASH" */
};

/*
 * Make the stamp of the options and their inputs, which are read whole.  Returns 1; 0 if an input
 * can be read only once, because it is not a file or directory; -1 with err filled.
 */
int stamp_make(struct stamp *stamp, const struct options *options, struct error *err);

/* Returns whether a file at `path` has the stamp. */
bool stamp_is_on(const struct stamp *stamp, const struct output_format *format, const char *path);

/* Set the attribute of a finished output.  Returns 0; -1 if the file system keeps no attributes. */
int stamp_set_attribute(const struct stamp *stamp, const char *path);

/*
 * Run the conversion and wait for it; meanwhile, pass signals on to it.  Returns an exit status, or
 * 128 + the number of a received signal; EXIT_FAILED with err filled if no process was started.
 * `report` gets the conversion's report, owned by the caller, or NULL.
 */
int batch_one_run(const struct batch_run *run, const struct batch_job *job, json_t **report,
		  struct error *err);

struct batch_loop {
	struct batch_run run;          /* `threads` is set by batch_loop_run() */
	const struct batch_plan *plan; /* borrowed */
	/* A job has ended, or could not be started; all is borrowed for the call. */
	void (*finished)(void *context, const struct batch_job *job, const struct batch_end *end);
	void *context;
	size_t begun; /* jobs, in the plan's order */
	int worst; /* exit status of a job that ended, or of an earlier step: 1, then 2, then 0 */
	/* Private to batch_loop_run(): */
	struct batch_process *processes; /* owned */
	size_t process_count, running;
};

typedef void batch_print_fn(void *context, FILE *out);

/*
 * Write the summary to --json, if that names a file, and the answer to the output: as JSON if the
 * options say so, else as the text that `print` prints.  Returns 0; -1 with err filled.
 */
int batch_answer_write(const struct options *options, const json_t *summary, const json_t *answer,
		       batch_print_fn *print, void *context, struct error *err);

/* Run all jobs, options->jobs at a time.  Returns the signal that ended the loop, or 0. */
int batch_loop_run(struct batch_loop *loop);

/* ---- Whole runs ----------------------------------------------------------- */

/* Returns whether the options need batch_run(), if only for one conversion. */
bool batch_wanted(const struct options *options);

/*
 * Convert all inputs.  Returns the worst exit status of all: EXIT_FAILED, then EXIT_WITH_GAPS, then
 * EXIT_WHOLE; EXIT_USAGE if outputs cannot be named; 128 + N if signal N ended the batch.
 */
int batch_run(const struct options *options, batch_convert_fn *convert);

/*
 * Make a trace of each slow call (--slowest, --slow with -o DIR/).  One process finds the calls in
 * the recording; then one more for each call decodes it with its context, of all threads and CPUs.
 * Each has its own sandbox, --max-output and --timeout.  DIR gets call-001.ftf, the slowest one,
 * and so on, and the index of all in index.tsv and index.jsonl.  Returns the worst exit status of
 * all processes, as batch_run(); 128 + N if signal N ended it, without an index.
 */
int slow_traces_run(const struct options *options, batch_convert_fn *convert);

/* Returns whether the options are `ptrace2ftf why` with several recordings, or --merge. */
bool why_many_wanted(const struct options *options);

/*
 * Find the causes that several recordings share, each recording in its own process, and print them,
 * as JSON if options->json_answer.  Returns the worst exit status, as batch_run(); EXIT_WITH_GAPS
 * if one can be read and another cannot, whatever --no-warn says.
 */
int why_many_run(const struct options *options, batch_convert_fn *convert);

/*
 * `ptrace2ftf annotate F [INPUT]`: convert the recording in a separate process, and print the
 * source and instructions of the functions chosen by the options, with their costs.  Disassembles
 * with objdump, if present, with rights to read files only.  Returns the exit status.
 */
int annotate_command(const struct options *options, batch_convert_fn *convert);

/*
 * `ptrace2ftf open` and --open: convert, unless the input is a trace, and show the result by the
 * viewer's page in the user's browser until the page has fetched it.
 *
 * The conversion runs in its own process and sandbox.  This process reads nothing of the recording
 * or the trace; it serves the bytes (viewer_page.h) after giving up all other rights (sandbox.h).
 * `convert` reports "view_begin" and "view_end" if the page shows a part of the trace first.
 * Returns the exit status: the conversion's; EXIT_FAILED if there is nothing to show; EXIT_USAGE if
 * options of a conversion are given for a trace; 128 + N if signal N ended the conversion.
 */
int open_trace(const struct options *options, batch_convert_fn *convert);
