/* SPDX-License-Identifier: MIT */
/* The difference in Markdown, as GitHub and GitLab show it. */
#include "src/diff/diff_rows.h"
#include "src/formats/text/any_text.h"

/* Print text in which no character is Markdown or HTML: a backslash is before punctuation. */
static void print_plain(const char *text, FILE *out)
{
	char *valid = valid_text(text, strlen(text));

	for (const char *at = valid; *at; at++) {
		bool letter = strchr("_./-:, ", *at) ||
			      ((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') ||
			      (*at >= '0' && *at <= '9') || *at & 0x80;

		if ((unsigned char)*at < ' ' || *at == 0x7f)
			fputs("\xef\xbf\xbd", out);
		else
			fprintf(out, "%s%c", letter && *at != '_' ? "" : "\\", *at);
	}
	free(valid);
}

static void print_row(const struct diff_row *row, enum diff_metric insns, FILE *out)
{
	const uint64_t *a = row->values[SIDE_A], *b = row->values[SIDE_B];
	char change[CHANGE_SIZE], per_call[CHANGE_SIZE];

	diff_write_change(change, (double)a[insns], (double)b[insns]);
	diff_write_per_call(per_call, row, insns);
	fputs("| ", out);
	print_plain(row->name, out);
	if (row->was) {
		fputs(", likely was ", out);
		print_plain(row->was, out);
	}
	fprintf(out, " | %" PRIu64 " | %" PRIu64 " | %s | %s | %" PRIu64 " | %" PRIu64 " |\n",
		a[insns], b[insns], change, per_call, a[METRIC_CALLS], b[METRIC_CALLS]);
}

static void print_heading(enum diff_metric insns, FILE *out)
{
	fprintf(out,
		"\n| %s | A | B | change | per call | calls A | B |\n"
		"| :-- | --: | --: | --: | --: | --: | --: |\n",
		insns == METRIC_INSNS ? "own instructions" : "instructions with callees");
}

void diff_print_markdown(const struct diff_rows *rows, enum diff_metric insns, size_t top,
			 char *const names[SIDES], FILE *out)
{
	const uint64_t *a = rows->sums[SIDE_A], *b = rows->sums[SIDE_B];
	const struct diff_row *callers[DIFF_CALLERS];
	size_t count = insns == METRIC_INSNS ? diff_callers(rows, callers) : 0, differ = 0;
	char change[CHANGE_SIZE];

	diff_write_change(change, (double)a[METRIC_INSNS], (double)b[METRIC_INSNS]);
	fprintf(out, "**Instructions: %" PRIu64 " -> %" PRIu64 " (%s)**\n\nA: ", a[METRIC_INSNS],
		b[METRIC_INSNS], change);
	print_plain(names[SIDE_A], out);
	fputs(", B: ", out);
	print_plain(names[SIDE_B], out);
	putc('\n', out);
	if (count)
		print_heading(METRIC_TOTAL_INSNS, out);
	for (size_t i = 0; i < count; i++)
		print_row(callers[i], METRIC_TOTAL_INSNS, out);
	print_heading(insns, out);
	for (size_t i = 0; i < rows->count; i++)
		if ((rows->rows[i].was || !diff_row_is_equal(&rows->rows[i], insns)) &&
		    (!differ++ || !top || differ <= top))
			print_row(&rows->rows[i], insns, out);
	fprintf(out, "\n%zu of %zu functions differ.\n", differ, rows->count);
}
