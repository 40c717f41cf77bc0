/* SPDX-License-Identifier: MIT */
/* Convert two recordings and compare their reports. */
#include "src/diff/diff.h"

#include <unistd.h>

#include "base/io/interrupt.h"
#include "base/io/output.h"
#include "base/message.h"
#include "src/formats/output_format.h"

struct diff {
	const struct options *sides; /* borrowed */
	batch_convert_fn *convert;
	json_t *ends[SIDES];          /* owned: the processes' results */
	const json_t *reports[SIDES]; /* borrowed from `ends`: report.h */
	char *names[SIDES];           /* borrowed */
	struct temp_file stacks[SIDES];
	const char *texts[SIDES]; /* borrowed from the stacks */
	struct diff_rows rows;
	const struct way_window *windows; /* borrowed: of the pass; NULL: all */
	size_t window_count;
	bool gaps;
};

/* ---- The conversions ----------------------------------------------------- */

/* Returns the status of the conversion; EXIT_FAILED: err may be filled. */
static int convert_one(struct diff *diff, enum diff_side side, struct error *err)
{
	struct options own = diff->sides[side];
	const struct batch_run run = { .options = &own, .convert = diff->convert };
	struct batch_job job = { .inputs = &diff->names[side],
				 .input_count = 1,
				 .answer = diff->sides };
	int status;

	own.quiet = true;
	own.json = "";
	own.json_answer = false;
	own.all_functions = true;
	own.windows = diff->windows;
	own.window_count = diff->window_count;
	if (own.first) {
		own.all_functions = false;
		own.format = &format_ways;
	} else if (own.format == &format_folded) {
		if (temp_file_open(&diff->stacks[side], err) < 0)
			return EXIT_FAILED;
		job.printed = &diff->stacks[side];
		job.output = (char *)"-";
	} else {
		own.format = &format_totals;
	}
	status = batch_one_run(&run, &job, &diff->ends[side], err);
	diff->reports[side] = json_object_get(diff->ends[side], "report");
	if (!diff->sides[side].quiet && !diff->windows) {
		const json_t *warnings = json_object_get(diff->reports[side], "warnings");

		for (size_t i = 0; i < json_array_size(warnings); i++) {
			message_print_warning("%s: %s\n", diff->names[side],
					      json_string_value(json_object_get(
						      json_array_get(warnings, i), "text")));
		}
	}
	return status;
}

/* ---- The difference ------------------------------------------------------ */

/* Map the stacks of a side, until the end.  Returns 0; -1 with err filled. */
static int map_stacks(struct diff *diff, enum diff_side side, struct error *err)
{
	struct temp_file *stacks = &diff->stacks[side];
	off_t size = stacks->open ? lseek(stacks->fd, 0, SEEK_END) : 0;

	diff->texts[side] = "";
	if (size <= 0)
		return 0;
	stacks->size = (size_t)size;
	diff->texts[side] = (const char *)temp_file_map(stacks, err);
	return diff->texts[side] ? 0 : -1;
}

static void print_difference(void *context, FILE *out)
{
	const struct diff *diff = context;
	const struct options *options = diff->sides;
	const size_t sizes[SIDES] = { diff->stacks[SIDE_A].size, diff->stacks[SIDE_B].size };

	if (options->format == &format_folded)
		diff_print_folded(diff->texts, sizes, out);
	else
		diff_print_table(
			&diff->rows,
			options->select.order == ORDER_TOTAL ? METRIC_TOTAL_INSNS : METRIC_INSNS,
			options->select.top, diff->names, options->report == REPORT_MARKDOWN, out);
}

/* Returns EXIT_EXCEEDED or EXIT_WHOLE; EXIT_FAILED with err filled. */
static int compare(struct diff *diff, struct error *err)
{
	const struct options *options = diff->sides;
	json_t *exceeded = json_array(), *json = NULL;
	struct diff_rows *rows = &diff->rows;
	bool fails;
	int status = 0;

	diff_rows_make(rows, diff->reports);
	fails = diff_limits_check(&options->fail_if, rows, exceeded, stderr);
	diff_rows_pair(rows, diff->reports); /* a function that is gone meets a condition */
	diff_rows_sort(rows, options->select.order);
	json = diff_print_json(rows, diff->names, diff->reports, exceeded);
	for (int side = 0; side < SIDES && status == 0; side++)
		status = map_stacks(diff, (enum diff_side)side, err);
	if (status == 0)
		status = batch_answer_write(options, json, json, print_difference, diff, err);
	json_decref(json);
	diff_rows_release(rows);
	if (status < 0)
		return EXIT_FAILED;
	return fails ? EXIT_EXCEEDED : EXIT_WHOLE;
}

/* ---- The first difference ------------------------------------------------- */

static const json_t *run_pass(void *context, enum diff_side side, const struct way_window *windows,
			      size_t count)
{
	struct diff *diff = context;
	struct error err = { 0 };
	int status;

	diff->windows = windows;
	diff->window_count = count;
	json_decref(diff->ends[side]);
	diff->ends[side] = NULL;
	status = convert_one(diff, side, &err);
	diff->gaps |= status == EXIT_WITH_GAPS;
	message_error(&err);
	return status == EXIT_WHOLE || status == EXIT_WITH_GAPS
		       ? json_object_get(diff->reports[side], "answer")
		       : NULL;
}

static void print_first(void *context, FILE *out)
{
	first_diff_print(context, out);
}

/* Returns the exit status; EXIT_FAILED: err may be filled. */
static int find_first(struct diff *diff, struct error *err)
{
	const struct first_diff first = { .pass = run_pass, .context = diff };
	json_t *answer = first_diff_make(&first, diff->names);
	int status = EXIT_FAILED;

	if (answer &&
	    batch_answer_write(diff->sides, answer, answer, print_first, answer, err) == 0)
		status = EXIT_WHOLE;
	json_decref(answer);
	return status;
}

int diff_command(const struct options sides[SIDES], batch_convert_fn *convert)
{
	struct diff diff = { .sides = sides, .convert = convert };
	struct error err = { 0 };
	int status = EXIT_WHOLE;

	if (sides->clock) {
		bool insns = sides->clock == CLOCK_INSNS;

		diff_metric_keys[METRIC_SELF] = insns ? "self_insns" : "self_cycles";
		diff_metric_keys[METRIC_TOTAL] = insns ? "total_insns" : "total_cycles";
	}
	file_roles_read(&sides[SIDE_B]);
	if (file_roles_check(sides, &err) < 0)
		status = EXIT_FAILED;
	for (int side = 0; side < SIDES; side++)
		diff.names[side] = sides[side].inputs[side];
	for (int side = 0;
	     side < SIDES && (status == EXIT_WHOLE || status == EXIT_WITH_GAPS) && !sides->first;
	     side++) {
		status = convert_one(&diff, (enum diff_side)side, &err);
		diff.gaps |= status == EXIT_WITH_GAPS;
	}
	if (status == EXIT_WHOLE || status == EXIT_WITH_GAPS)
		status = sides->first ? find_first(&diff, &err) : compare(&diff, &err);
	if (status == EXIT_WHOLE && diff.gaps && !sides->no_warn)
		status = EXIT_WITH_GAPS;
	output_obey_closed_pipe(&err);
	message_error(&err);
	for (int side = 0; side < SIDES; side++) {
		json_decref(diff.ends[side]);
		temp_file_close(&diff.stacks[side]);
	}
	return status;
}
