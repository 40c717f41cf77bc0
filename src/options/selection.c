/* SPDX-License-Identifier: MIT */
/* Parsers of lists, sizes and times. */
#include "src/options/selection.h"

#include <ctype.h>
#include <fnmatch.h>

#define MAX_NS ((double)INT64_MAX)

void selection_release(struct selection *selection)
{
	free(selection->pids.ranges);
	free(selection->tids.ranges);
	free(selection->cpus.ranges);
	free(selection->comms.patterns);
	free(selection->symbols.patterns);
	free(selection->dsos.patterns);
	free(selection->hidden.patterns);
	free(selection->roots.patterns);
	free(selection->between);
	free(selection->within.function);
	*selection = (struct selection){ 0 };
}

bool selection_of_events(const struct selection *selection)
{
	return selection->pids.count || selection->tids.count || selection->cpus.count ||
	       selection->comms.count || selection->from.base || selection->to.base;
}

bool selection_of_slices(const struct selection *selection)
{
	return selection->symbols.count || selection->dsos.count || selection->hidden.count ||
	       selection->roots.count || selection->start || selection->within.function ||
	       selection->depth || selection->min_duration || selection->work.chosen;
}

/* ---- Lists --------------------------------------------------------------- */

/* Returns the end of the number; NULL if the text does not start with one. */
static const char *read_number(const char *text, int32_t *number)
{
	unsigned long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return NULL;
	errno = 0;
	value = strtoul(text, &end, 10);
	if (errno || value > INT32_MAX)
		return NULL;
	*number = (int32_t)value;
	return end;
}

bool number_list_add(struct number_list *list, const char *text)
{
	for (;; text++) {
		struct number_range range;

		text = read_number(text, &range.first);
		range.last = range.first;
		if (text && *text == '-')
			text = read_number(text + 1, &range.last);
		if (!text || (*text && *text != ',') || range.last < range.first)
			return false;
		*ARRAY_ADD(list->ranges, list->count, list->room) = range;
		if (!*text)
			return true;
	}
}

bool number_list_has(const struct number_list *list, int32_t number)
{
	for (size_t i = 0; i < list->count; i++) {
		if (number >= list->ranges[i].first && number <= list->ranges[i].last)
			return true;
	}
	return false;
}

void pattern_list_add(struct pattern_list *list, const char *pattern)
{
	*ARRAY_ADD(list->patterns, list->count, list->room) = pattern;
}

bool selection_hide(struct selection *selection, const char *text)
{
	/* Of CPython 3.8 to 3.13: evaluation, the protocols of calls, generators, trampolines. */
	static const char *const cpython[] = { "_PyEval*",
					       "PyEval_*",
					       "_PyFunction_Vectorcall",
					       "_PyObject_*[Cc]all*",
					       "PyObject_*Call*",
					       "*Vectorcall*",
					       "*vectorcall*",
					       "method_call",
					       "cfunction_call",
					       "type_call",
					       "slot_tp_call",
					       "function_code_fastcall",
					       "gen_iternext",
					       "gen_send_ex*",
					       "gen_close*",
					       "_PyGen_Send*",
					       "py_trampoline_*",
					       "_py_trampoline*" };

	if (text[0] != '@')
		pattern_list_add(&selection->hidden, text);
	else if (strcmp(text, "@cpython") != 0)
		return false;
	for (size_t i = 0; text[0] == '@' && i < COUNT_OF(cpython); i++)
		pattern_list_add(&selection->hidden, cpython[i]);
	return true;
}

bool pattern_list_matches(const struct pattern_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++) {
		if (fnmatch(list->patterns[i], text, 0) == 0)
			return true;
	}
	return false;
}

/* ---- Sizes and times ----------------------------------------------------- */

struct unit {
	const char *word;
	double factor;
};

void choice_list_add(struct choice_list *list, int value)
{
	if (!choice_list_has(list, value))
		list->values[strlen((const char *)list->values)] = (uint8_t)value;
}

bool choice_list_has(const struct choice_list *list, int value)
{
	return memchr(list->values, value, sizeof(list->values));
}

static const struct unit time_units[] = { { "", 1 },     { "ns", 1 },  { "us", 1e3 },
					  { "ms", 1e6 }, { "s", 1e9 }, { NULL, 0 } };

/* Parse a decimal number without sign or exponent. Returns its end; NULL: no number. */
static const char *read_decimal(const char *text, double *value)
{
	size_t length = strspn(text, "0123456789.");
	char *end;

	if (!length || !isdigit((unsigned char)text[0]))
		return NULL;
	*value = strtod(text, &end);
	return end == text + length ? end : NULL;
}

/* Returns the factor of a unit; 0: unknown. */
static double unit_factor(const struct unit *units, const char *word)
{
	for (; units->word; units++) {
		if (strcmp(units->word, word) == 0)
			return units->factor;
	}
	return 0;
}

static bool read_amount(const char *text, const struct unit *units, uint64_t *amount)
{
	double value, factor;
	const char *unit = read_decimal(text, &value);
	unsigned long long whole;
	char *end;

	factor = unit ? unit_factor(units, unit) : 0;
	if (factor <= 0 || value * factor >= MAX_NS)
		return false;
	/* Parse whole numbers exactly: a double has only 53 bits. */
	whole = strtoull(text, &end, 10);
	*amount = end == unit ? whole * (uint64_t)factor : (uint64_t)(value * factor + 0.5);
	return true;
}

bool selection_duration(const char *text, uint64_t *ns)
{
	return read_amount(text, time_units, ns);
}

/*
 * Parse "SECONDS" or "SECONDS.FRACTION", perf's form of times, also with "s", or the "NS" of JSON
 * with "ns", exactly: a double has only 53 bits.
 */
static bool read_seconds(const char *text, uint64_t *ns)
{
	uint64_t seconds, fraction = 0, unit = NS_PER_S;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	seconds = strtoull(text, &end, 10);
	*ns = seconds;
	if (!errno && strcmp(end, "ns") == 0)
		return seconds <= INT64_MAX;
	if (errno || seconds > INT64_MAX / NS_PER_S)
		return false;
	if (*end == '.') {
		for (end++; isdigit((unsigned char)*end) && unit > 1; end++) {
			unit /= 10;
			fraction += (uint64_t)(*end - '0') * unit;
		}
	}
	*ns = seconds * NS_PER_S + fraction;
	return !*end || strcmp(end, "s") == 0;
}

/* Parse UTC as "2026-11-29T22:35:49.5". */
static bool read_wall(const char *text, uint64_t *ns)
{
	struct tm tm = { 0 };
	const char *seconds = strptime(text, "%Y-%m-%dT%H:%M:", &tm);
	time_t minute = seconds && !strchr(seconds, 's') ? timegm(&tm) : -1;

	if (minute < 0 || minute > UINT32_MAX || !read_seconds(seconds, ns) || *ns >= 61 * NS_PER_S)
		return false;
	*ns += (uint64_t)minute * NS_PER_S;
	return true;
}

/* Parse "@hit" or "@hit:N", to the end of the text. */
static bool read_hit(const char *text, uint32_t *hit)
{
	static const char word[] = "@hit";
	const char *end;
	int32_t number = 1;

	if (!starts_with(text, word))
		return false;
	text += strlen(word);
	end = *text == ':' ? read_number(text + 1, &number) : text;
	*hit = (uint32_t)number;
	return end && !*end && number > 0;
}

/* Parse "+TIME@hit", "-TIME@hit:N" or "@hit"; `at` points to the '@'. */
static bool read_hit_bound(const char *text, const char *at, struct time_bound *bound)
{
	char duration[64];
	size_t length = (size_t)(at - text);

	bound->base = *text == '-' ? TIME_BEFORE_HIT : TIME_AFTER_HIT;
	if (!read_hit(at, &bound->hit))
		return false;
	if (!length)
		return true;
	if ((*text != '+' && *text != '-') || length > sizeof(duration))
		return false;
	memcpy(duration, text + 1, length - 1);
	duration[length - 1] = 0;
	return selection_duration(duration, &bound->ns);
}

static bool read_bound(const char *text, struct time_bound *bound)
{
	const char *end, *at = strchr(text, '@');

	*bound = (struct time_bound){ 0 };
	if (at)
		return read_hit_bound(text, at, bound);
	if (!*text)
		return true;
	if (*text == '+' || *text == '-') {
		bound->base = *text == '+' ? TIME_FROM_START : TIME_FROM_END;
		return selection_duration(text + 1, &bound->ns);
	}
	end = read_decimal(text, &bound->percent);
	if (end && strcmp(end, "%") == 0) {
		bound->base = TIME_PERCENT;
		return bound->percent <= 100;
	}
	bound->base = read_wall(text, &bound->ns) ? TIME_WALL : TIME_ABSOLUTE;
	return bound->base == TIME_WALL || read_seconds(text, &bound->ns);
}

bool selection_time(struct selection *selection, const char *text)
{
	const char *comma = strchr(text, ',');
	char from[64];

	if (!comma || (size_t)(comma - text) >= sizeof(from))
		return false;
	memcpy(from, text, (size_t)(comma - text));
	from[comma - text] = 0;
	if (!read_bound(from, &selection->from) || !read_bound(comma + 1, &selection->to))
		return false;
	if (selection->to.base == TIME_FROM_START && selection->from.base != TIME_OPEN)
		selection->to.base = TIME_FROM_FIRST;
	return true;
}

static uint64_t resolve_bound(const struct time_bound *bound, uint64_t begin, uint64_t end,
			      uint64_t open)
{
	switch (bound->base) {
	case TIME_ABSOLUTE:
		return bound->ns;
	case TIME_FROM_START:
		return begin + bound->ns;
	case TIME_FROM_END:
		return bound->ns < end ? end - bound->ns : 0;
	case TIME_PERCENT:
		return begin + (uint64_t)((double)(end - begin) * bound->percent / 100);
	default:
		return open;
	}
}

void selection_resolve(const struct time_bound *from, const struct time_bound *to, uint64_t begin,
		       uint64_t end, uint64_t *first, uint64_t *last)
{
	*first = resolve_bound(from, begin, end, 0);
	*last = to->base == TIME_FROM_FIRST ? *first + to->ns
					    : resolve_bound(to, begin, end, UINT64_MAX);
}

bool selection_between(struct selection *selection, const char *text)
{
	const char *comma = strchr(text, ',');

	if (!comma || comma == text || !comma[1])
		return false;
	free(selection->between);
	selection->between = ALLOC_CHECKED(strdup(text));
	selection->between[comma - text] = 0;
	selection->start = selection->between;
	selection->stop = selection->start + (comma + 1 - text);
	return true;
}

static const struct unit slices[] = { { "", 1 }, { "k", 1e3 }, { "M", 1e6 }, { NULL, 0 } };

/* The units of one letter are for options that only take bytes. */
static const struct unit byte_units[] = {
	{ "k", 1e3 },    { "K", 1e3 },       { "M", 1e6 },          { "G", 1e9 },  { "T", 1e12 },
	{ "kB", 1e3 },   { "KB", 1e3 },      { "MB", 1e6 },         { "GB", 1e9 }, { "TB", 1e12 },
	{ "KiB", 1024 }, { "MiB", 1048576 }, { "GiB", 1073741824 }, { NULL, 0 }
};
#define SHORT_BYTE_UNITS 5

bool selection_bytes(const char *text, uint64_t *bytes)
{
	return read_amount(text, byte_units, bytes) && *bytes;
}

bool selection_split(struct split_size *split, const char *text)
{
	split->unit = SPLIT_NONE;
	if (read_amount(text, slices, &split->amount))
		split->unit = SPLIT_SLICES;
	else if (read_amount(text, byte_units + SHORT_BYTE_UNITS, &split->amount))
		split->unit = SPLIT_BYTES;
	else if (read_amount(text, time_units + 1, &split->amount))
		split->unit = SPLIT_NS;
	return split->unit && split->amount;
}

bool selection_fit(uint64_t *fit, const char *text)
{
	if (strcmp(text, "none") != 0)
		return read_amount(text, slices, fit) && *fit;
	*fit = FIT_NONE;
	return true;
}

uint64_t selection_fit_limit(const struct selection *selection)
{
	if (selection->split.unit || selection->fit == FIT_NONE)
		return 0;
	return selection->fit ? selection->fit : FIT_DEFAULT;
}

/* ---- Slow calls ---------------------------------------------------------- */

bool slow_choice_read(struct slow_choice *choice, const char *text)
{
	static const struct unit percent[] = { { "", 1e4 }, { NULL, 0 } };
	uint64_t percentile = 0;
	bool read;

	if (*text == 'p') /* at most four decimals */
		read = strlen(strchrnul(text, '.')) <= 5 &&
		       read_amount(text + 1, percent, &percentile) && percentile &&
		       percentile < 1000000;
	else
		read = selection_duration(text, &choice->longer);
	choice->has_bound = true;
	choice->percentile = (uint32_t)percentile;
	return read;
}

bool selection_within(struct selection *selection, const char *text)
{
	const char *bound = strrchr(text, '>');

	const char *end;
	int32_t rank = 0;

	if (!bound || bound == text)
		return false;
	end = bound[1] == '#' ? read_number(bound + 2, &rank) : NULL;
	selection->within.slow = (struct slow_choice){ .most = (unsigned)rank };
	if (end ? *end || !rank : !slow_choice_read(&selection->within.slow, bound + 1))
		return false;
	free(selection->within.function);
	selection->within.function = ALLOC_CHECKED(strndup(text, (size_t)(bound - text)));
	return true;
}
