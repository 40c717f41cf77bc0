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
};

/* ---- The conversions ----------------------------------------------------- */

static void print_warnings(const char *name, const json_t *report)
{
	const json_t *warnings = json_object_get(report, "warnings");

	for (size_t i = 0; i < json_array_size(warnings); i++) {
		message_print_warning(
			"%s: %s\n", name,
			json_string_value(json_object_get(json_array_get(warnings, i), "text")));
	}
}

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
	if (own.format == &format_folded) {
		if (temp_file_open(&diff->stacks[side], err) < 0)
			return EXIT_FAILED;
		job.printed = &diff->stacks[side];
		job.output = (char *)"-";
	} else {
		own.format = &format_totals;
	}
	status = batch_one_run(&run, &job, &diff->ends[side], err);
	diff->reports[side] = json_object_get(diff->ends[side], "report");
	if (!diff->sides[side].quiet)
		print_warnings(diff->names[side], diff->reports[side]);
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

int diff_command(const struct options sides[SIDES], batch_convert_fn *convert)
{
	struct diff diff = { .sides = sides, .convert = convert };
	struct error err = { 0 };
	bool gaps = false;
	int status = EXIT_WHOLE;

	if (sides->clock) {
		bool insns = sides->clock == CLOCK_INSNS;

		diff_metric_keys[METRIC_SELF] = insns ? "self_insns" : "self_cycles";
		diff_metric_keys[METRIC_TOTAL] = insns ? "total_insns" : "total_cycles";
	}
	file_roles_read(&sides[SIDE_B]);
	if (file_roles_check(sides, &err) < 0)
		status = EXIT_FAILED;
	for (int side = 0; side < SIDES && (status == EXIT_WHOLE || status == EXIT_WITH_GAPS);
	     side++) {
		diff.names[side] = sides[side].inputs[side];
		status = convert_one(&diff, (enum diff_side)side, &err);
		gaps |= status == EXIT_WITH_GAPS;
	}
	if (status == EXIT_WHOLE || status == EXIT_WITH_GAPS)
		status = compare(&diff, &err);
	if (status == EXIT_WHOLE && gaps && !sides->no_warn)
		status = EXIT_WITH_GAPS;
	output_obey_closed_pipe(&err);
	message_error(&err);
	for (int side = 0; side < SIDES; side++) {
		json_decref(diff.ends[side]);
		temp_file_close(&diff.stacks[side]);
	}
	return status;
}
