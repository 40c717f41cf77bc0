/* SPDX-License-Identifier: MIT */
/* Parse and check the conditions of --fail-if. */
#include "src/diff/diff.h"

#include "base/message.h"
#include "src/formats/text/any_text.h"
#include "src/select/name_forms.h"

/* Maximum length of a pattern. */
#define GLOB_MOST 4096

struct diff_limit {
	enum diff_metric sum, each; /* metric of the sum, and of a single function */
	char glob[GLOB_MOST];       /* empty: the sum of all functions */
	double amount;
	bool percent;
	/* During a check: */
	const char *text; /* the condition */
	json_t *exceeded;
	FILE *out;
	bool holds; /* it is met, for a function or the sum */
};

static bool parse_metric(struct diff_limit *limit, const char *text, size_t length)
{
	static const struct {
		const char *word;
		enum diff_metric sum, each;
	} metrics[] = { { "insns", METRIC_INSNS, METRIC_TOTAL_INSNS },
			{ "self", METRIC_INSNS, METRIC_INSNS },
			{ "calls", METRIC_CALLS, METRIC_CALLS },
			{ "time", METRIC_SELF, METRIC_TOTAL } };

	for (size_t i = 0; i < COUNT_OF(metrics); i++)
		if (strlen(metrics[i].word) == length && !strncmp(metrics[i].word, text, length)) {
			limit->sum = metrics[i].sum;
			limit->each = metrics[i].each;
			return true;
		}
	return false;
}

/* Parse "+N", "+N%", or, for a time, "+1.5ms". */
static bool parse_amount(struct diff_limit *limit, const char *text)
{
	bool is_time = limit->sum == METRIC_SELF;
	uint64_t ns;
	char *end;

	if (*text++ != '+' || *text < '0' || *text > '9')
		return false;
	limit->amount = strtod(text, &end);
	limit->percent = strcmp(end, "%") == 0;
	if (limit->percent || (!*end && !is_time))
		return true;
	if (!is_time || !selection_duration(text, &ns))
		return false;
	limit->amount = (double)ns;
	return true;
}

/* A pattern may contain ':', as C++ names do. */
static bool parse_limit(struct diff_limit *limit, const char *text)
{
	const char *colon = strrchr(text, ':'), *at = strchr(text, '@');

	*limit = (struct diff_limit){ 0 };
	if (!colon || (at && at > colon))
		return false;
	if (at && (at + 1 == colon || (size_t)(colon - at) > sizeof(limit->glob)))
		return false;
	if (at)
		memcpy(limit->glob, at + 1, (size_t)(colon - at - 1));
	return parse_metric(limit, text, (size_t)((at ? at : colon) - text)) &&
	       parse_amount(limit, colon + 1);
}

bool diff_limit_is_valid(const char *text)
{
	struct diff_limit limit;

	return parse_limit(&limit, text);
}

/* The condition is met: print why, and add it to the JSON. */
static void exceed(struct diff_limit *limit, const char *function, uint64_t a, uint64_t b,
		   const char *why)
{
	limit->holds = true;
	printable_printf(limit->out,
			 "ptrace2ftf: --fail-if=%s: %s: %" PRIu64 " -> %" PRIu64 " (%s)\n",
			 limit->text, function ?: "all functions", a, b, why);
	json_array_append_new(limit->exceeded,
			      json_pack("{s:o, s:s?, s:I, s:I}", "condition",
					json_text_or_null(limit->text), "function", function, "a",
					(json_int_t)a, "b", (json_int_t)b));
}

static void check_values(struct diff_limit *limit, const char *function, uint64_t a, uint64_t b)
{
	double most = limit->percent ? (double)a * limit->amount / 100 : limit->amount;
	char why[64];
	int length;

	if (b <= a || (double)(b - a) <= most)
		return;
	length = snprintf(why, sizeof(why), "+%" PRIu64, b - a);
	if (a)
		snprintf(why + length, sizeof(why) - (size_t)length, ", %+.2f%%",
			 100 * ((double)b - (double)a) / (double)a);
	exceed(limit, function, a, b, why);
}

/*
 * Check each matching function. A function that B lacks may have been renamed or inlined, so its
 * growth is unknown: the condition is met. Returns whether the pattern matches a function.
 */
static bool check_functions(struct diff_limit *limit, const struct diff_rows *rows)
{
	enum diff_metric metric = limit->each;
	struct name_forms forms = { 0 };
	bool matched = false;

	for (size_t i = 0; i < rows->count; i++) {
		const struct diff_row *row = &rows->rows[i];
		const char *names[] = { row->name, row->signature, row->identity };
		bool found = false;

		/* Time outside of functions, such as [untraced], must be named explicitly. */
		for (size_t j = 0; j < COUNT_OF(names) && !found; j++) {
			name_forms_set(&forms, names[j]);
			found = *names[j] &&
				function_pattern_match(limit->glob, &forms, row->source, row->file);
		}
		if (!(found && (!row->outside || strchr("[\\", *limit->glob))))
			continue;
		matched = true;
		if (row->has[SIDE_B])
			check_values(limit, row->label, row->values[SIDE_A][metric],
				     row->values[SIDE_B][metric]);
		else
			exceed(limit, row->label, row->values[SIDE_A][metric], 0,
			       "gone: inlined, renamed or not called");
	}
	name_forms_release(&forms);
	return matched;
}

bool diff_limits_check(const struct pattern_list *conditions, const struct diff_rows *rows,
		       json_t *exceeded, FILE *out)
{
	struct diff_limit limit;
	bool any = false;

	for (size_t i = 0; i < conditions->count; i++) {
		parse_limit(&limit, conditions->patterns[i]);
		limit.text = conditions->patterns[i];
		limit.exceeded = exceeded;
		limit.out = out;
		if (!*limit.glob)
			check_values(&limit, NULL, rows->sums[SIDE_A][limit.sum],
				     rows->sums[SIDE_B][limit.sum]);
		else if (!check_functions(&limit, rows))
			exceed(&limit, limit.glob, 0, 0, "no function of this name was called");
		any |= limit.holds;
	}
	return any;
}
