/* SPDX-License-Identifier: MIT */
#include "src/perf_script/perf_script_line.h"

#include <string.h>

#include "decoder/branch_event.h"

/* Times beyond this (580 years) do not fit in 64 bits of ns. */
#define MAX_SECONDS UINT64_C(18446744073)

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Returns the value of a hexadecimal digit, -1 if it is none. */
static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool starts_with(struct text_view text, const char *word)
{
	size_t length = strlen(word);

	return text.length >= length && !memcmp(text.at, word, length);
}

static void skip(struct text_view *text, size_t count)
{
	text->at += count;
	text->length -= count;
}

static void skip_blanks(struct text_view *text)
{
	while (text->length && is_blank(*text->at))
		skip(text, 1);
}

static void trim_end(struct text_view *text)
{
	while (text->length &&
	       (is_blank(text->at[text->length - 1]) || text->at[text->length - 1] == '\r'))
		text->length--;
}

/* Skip `word` if it comes next and ends there.  Returns whether it did. */
static bool take_word(struct text_view *text, const char *word)
{
	size_t length = strlen(word);

	if (!starts_with(*text, word) || (text->length > length && !is_blank(text->at[length])))
		return false;
	skip(text, length);
	skip_blanks(text);
	return true;
}

/* Returns the run of non-blanks that comes next and skips it and the blanks after it. */
static struct text_view take_token(struct text_view *text)
{
	struct text_view token = { text->at, 0 };

	while (text->length && !is_blank(*text->at)) {
		skip(text, 1);
		token.length++;
	}
	skip_blanks(text);
	return token;
}

/* Returns whether decimal digits come next; *value gets them, UINT64_MAX if they are too many. */
static bool take_decimal(struct text_view *text, uint64_t *value)
{
	size_t length = 0;

	for (*value = 0; length < text->length && is_digit(text->at[length]); length++) {
		unsigned digit = (unsigned)(text->at[length] - '0');

		if (*value > (UINT64_MAX - digit) / 10)
			*value = UINT64_MAX;
		else
			*value = *value * 10 + digit;
	}
	skip(text, length);
	return length > 0;
}

/* Returns whether hexadecimal digits come next; *value gets the last 64 bits of them. */
static bool take_hex(struct text_view *text, uint64_t *value)
{
	size_t length = 0;

	for (*value = 0; length < text->length && hex_value(text->at[length]) >= 0; length++)
		*value = *value << 4 | (unsigned)hex_value(text->at[length]);
	skip(text, length);
	return length > 0;
}

static void take_hex_prefix(struct text_view *text)
{
	if (starts_with(*text, "0x"))
		skip(text, 2);
}

/* "123", "-1".  Returns whether a number came; those that are no id are -1. */
static bool take_id(struct text_view *text, int32_t *id)
{
	uint64_t value;
	bool negative = starts_with(*text, "-");

	if (negative)
		skip(text, 1);
	if (!take_decimal(text, &value))
		return false;
	*id = negative || value > INT32_MAX ? -1 : (int32_t)value;
	return true;
}

/* "47170.086912826" in ns; fewer digits are padded, those after the ninth dropped. */
static bool take_time(struct text_view *text, uint64_t *time)
{
	uint64_t seconds, ns = 0;
	unsigned digits = 0;

	if (!take_decimal(text, &seconds) || seconds >= MAX_SECONDS || !starts_with(*text, "."))
		return false;
	skip(text, 1);
	if (!text->length || !is_digit(*text->at))
		return false;
	for (; text->length && is_digit(*text->at); skip(text, 1))
		if (digits < 9) {
			ns = ns * 10 + (unsigned)(*text->at - '0');
			digits++;
		}
	for (; digits < 9; digits++)
		ns *= 10;
	*time = seconds * 1000000000 + ns;
	return true;
}

/* "pid/tid [cpu] time:" at the start of the text. */
static bool take_header_here(struct perf_line *line, struct text_view *text)
{
	if (!take_id(text, &line->pid) || !starts_with(*text, "/"))
		return false;
	skip(text, 1);
	if (!take_id(text, &line->tid) || !text->length || !is_blank(*text->at))
		return false;
	skip_blanks(text);
	if (starts_with(*text, "["))
		take_token(text);
	if (!take_time(text, &line->time) || !starts_with(*text, ":"))
		return false;
	skip(text, 1);
	skip_blanks(text);
	line->has_time = true;
	return true;
}

/* The same after the thread's name (perf's field comm), which may have spaces. */
static bool take_header(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;

	skip_blanks(&rest);
	while (rest.length) {
		struct text_view here = rest;

		if (take_header_here(line, &here)) {
			*text = here;
			return true;
		}
		take_token(&rest);
	}
	return false;
}

/* Cut " (dso)" off the end of a place's name. */
static void cut_dso(struct perf_line_place *place, struct text_view *name)
{
	size_t begin = name->length;

	if (!name->length || name->at[name->length - 1] != ')')
		return;
	/* The offset, if there is one, is the last "+0x" that a parenthesis follows. */
	for (size_t at = name->length; at-- > 0;) {
		struct text_view rest = { name->at + at, name->length - at };
		uint64_t ignored;

		if (starts_with(rest, "+0x")) {
			skip(&rest, 3);
			take_hex(&rest, &ignored);
		} else if (at == 0 && starts_with(rest, "[unknown]")) {
			skip(&rest, strlen("[unknown]"));
		} else {
			continue;
		}
		if (!rest.length || !is_blank(*rest.at))
			continue;
		skip_blanks(&rest);
		if (!starts_with(rest, "("))
			continue;
		begin = (size_t)(rest.at - name->at);
		break;
	}
	if (begin == name->length)
		return;
	place->has_dso = true;
	place->dso = (struct text_view){ name->at + begin + 1, name->length - begin - 2 };
	name->length = begin;
	trim_end(name);
}

/* "symbol+0xoffset (dso)"; without an offset perf knew no symbol. */
static void take_name(struct perf_line_place *place, struct text_view name)
{
	struct text_view digits;

	trim_end(&name);
	cut_dso(place, &name);
	for (size_t at = name.length; at-- > 0;) {
		digits = (struct text_view){ name.at + at, name.length - at };
		if (!starts_with(digits, "+0x"))
			continue;
		skip(&digits, 3);
		if (take_hex(&digits, &place->offset) && !digits.length) {
			place->symbol = (struct text_view){ name.at, at };
			return;
		}
		break;
	}
	place->offset = 0;
}

/* "ip symbol+0xoffset (dso)" */
static bool take_place(struct perf_line_place *place, struct text_view text)
{
	skip_blanks(&text);
	if (!take_hex(&text, &place->ip) || !text.length || !is_blank(*text.at))
		return false;
	skip(&text, 1);
	take_name(place, text);
	return true;
}

/*
 * Split "FROM => TO".  A symbol may contain " => " (operators of C++), so the
 * arrow is the last one that an address and a blank follow.
 */
static bool split_arrow(struct text_view text, struct text_view *from, struct text_view *to)
{
	for (size_t at = text.length; at-- > 0;) {
		struct text_view rest = { text.at + at, text.length - at };
		uint64_t ip;

		if (!starts_with(rest, " => "))
			continue;
		skip(&rest, 4);
		*to = rest;
		skip_blanks(&rest);
		if (take_hex(&rest, &ip) && rest.length && is_blank(*rest.at)) {
			*from = (struct text_view){ text.at, at };
			return true;
		}
	}
	return false;
}

struct flag_word {
	const char *word;
	uint8_t kind; /* enum branch_kind */
};

/*
 * perf's words (util/trace-event-scripting.c, sample_flags[]).  Entering and
 * leaving a virtual machine is no branch of a known kind; where it stops the
 * trace, the line has "tr end" as well.
 */
static const struct flag_word flag_words[] = {
	{ "call", BRANCH_CALL },        { "return", BRANCH_RETURN },
	{ "jmp", BRANCH_JUMP },         { "jcc", BRANCH_COND },
	{ "syscall", BRANCH_SYSCALL },  { "sysret", BRANCH_SYSRET },
	{ "int", BRANCH_SOFTINT },      { "iret", BRANCH_IRET },
	{ "hw int", BRANCH_INTERRUPT }, { "tx abrt", BRANCH_TX_ABORT },
	{ "vmentry", BRANCH_NONE },     { "vmexit", BRANCH_NONE },
	{ "async", BRANCH_NONE },
};

/* "/not_taken/", "/miss/": what newer versions append to a branch's word. */
static void cut_branch_events(struct text_view *text)
{
	if (!text->length || *text->at != '/')
		return;
	while (text->length && !is_blank(*text->at))
		skip(text, 1);
	skip_blanks(text);
}

/* The word of a branch's kind.  Returns whether one came. */
static bool take_kind(struct perf_line *line, struct text_view *text)
{
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++) {
		size_t length = strlen(flag_words[i].word);

		if (!starts_with(*text, flag_words[i].word))
			continue;
		if (text->length > length && !is_blank(text->at[length]) && text->at[length] != '/')
			continue;
		skip(text, length);
		cut_branch_events(text);
		skip_blanks(text);
		line->branch = flag_words[i].kind;
		if (!strcmp(flag_words[i].word, "async"))
			line->flags |= BRANCH_ASYNC;
		return true;
	}
	return false;
}

/* "(x)", "(xDt)": in a transaction, interrupts disabled, toggled. */
static void take_marks(struct perf_line *line, struct text_view *text)
{
	size_t length = 1;

	if (!starts_with(*text, "("))
		return;
	while (length < text->length && strchr("xDt", text->at[length]) && text->at[length])
		length++;
	if (length >= text->length || text->at[length] != ')')
		return;
	if (memchr(text->at, 'x', length))
		line->flags |= BRANCH_IN_TX;
	skip(text, length + 1);
	skip_blanks(text);
}

/* "tr strt", "tr end  return", "call (x)", ...  Returns whether there was any. */
static bool take_flag_words(struct perf_line *line, struct text_view *text)
{
	bool any;

	if (take_word(text, "tr strt"))
		line->flags |= BRANCH_TRACE_ON;
	if (take_word(text, "tr end"))
		line->flags |= BRANCH_TRACE_OFF;
	any = take_kind(line, text) || line->flags;
	take_marks(line, text);
	return any;
}

/* The same, after a period whose event is not printed. */
static bool take_flags(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;
	uint64_t period;

	if (take_flag_words(line, text))
		return true;
	if (!take_decimal(&rest, &period) || !rest.length || !is_blank(*rest.at))
		return false;
	skip_blanks(&rest);
	if (!take_flag_words(line, &rest))
		return false;
	*text = rest;
	return true;
}

static bool is_cpu_event(struct text_view name)
{
	static const char *const names[] = {
		"psb:", "pwre:", "exstop:", "pwrx:", "mwait:", "evt:", "iflag:", "dummy:",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (starts_with(name, names[i]))
			return true;
	return false;
}

/* "addr ip symbol+0xoffset (dso)" */
static bool take_sample(struct perf_line *line, struct text_view text)
{
	uint64_t addr;

	return take_hex(&text, &addr) && text.length && is_blank(*text.at) &&
	       take_place(&line->from, text);
}

static void parse_branch(struct perf_line *line, struct text_view text)
{
	struct text_view from, to;
	bool flags = take_flags(line, &text);

	if (starts_with(text, "cbr:") || starts_with(text, "psb offs:")) {
		line->kind = starts_with(text, "cbr:") ? PERF_LINE_SAMPLE : PERF_LINE_IGNORED;
		return;
	}
	if (!split_arrow(text, &from, &to)) {
		/* Another event, whose name and data are not printed. */
		if (take_sample(line, text))
			line->kind = PERF_LINE_IGNORED;
		return;
	}
	/* "tr strt jmp" says where tracing begins, not how. */
	if (line->flags & BRANCH_TRACE_ON &&
	    (line->branch == BRANCH_JUMP || line->flags & BRANCH_TRACE_OFF))
		line->branch = BRANCH_NONE;
	if (flags && take_place(&line->from, from) && take_place(&line->to, to))
		line->kind = PERF_LINE_BRANCH;
}

/* The fields period and event, if they are there; *event gets "name/config/sel:mod:". */
static bool take_event(struct text_view *text, struct text_view *event)
{
	struct text_view rest = *text;
	uint64_t period;

	if (take_decimal(&rest, &period) && rest.length && is_blank(*rest.at))
		skip_blanks(&rest);
	else
		rest = *text;
	*event = take_token(&rest);
	if (event->length < 2 || event->at[event->length - 1] != ':')
		return false;
	*text = rest;
	return true;
}

/* What follows the header. */
static void parse_event(struct perf_line *line, struct text_view text)
{
	struct text_view event;

	if (!take_event(&text, &event) || starts_with(event, "branches")) {
		parse_branch(line, text);
	} else if (starts_with(event, "ptwrite:")) {
		line->kind = PERF_LINE_PTWRITE;
	} else if (is_cpu_event(event)) {
		line->kind = PERF_LINE_IGNORED;
	} else {
		/* With a call stack, the place is on lines of its own. */
		take_sample(line, text);
		line->kind = PERF_LINE_SAMPLE;
	}
}

/* "type 1 time 1.0 cpu -1 pid 7 tid 7 ip 0x4010 code 7: MESSAGE", in any order up to the code. */
static void parse_error(struct perf_line *line, struct text_view text)
{
	uint64_t code;

	while (text.length) {
		struct text_view key = take_token(&text);
		struct text_view value = text;

		if (starts_with(key, "time"))
			line->has_time = take_time(&value, &line->time);
		else if (starts_with(key, "pid"))
			take_id(&value, &line->pid);
		else if (starts_with(key, "tid"))
			take_id(&value, &line->tid);
		else if (starts_with(key, "code"))
			break;
		if (starts_with(key, "ip")) {
			take_hex_prefix(&value);
			take_hex(&value, &line->from.ip);
		}
		take_token(&text);
	}
	if (!take_decimal(&text, &code) || !starts_with(text, ":"))
		return;
	skip(&text, 1);
	if (starts_with(text, " "))
		skip(&text, 1);
	if (text.length && text.at[text.length - 1] == '\r')
		text.length--;
	line->code = code > GAP_ENDLESS ? GAP_UNKNOWN : (unsigned)code;
	line->message = text;
	line->kind = PERF_LINE_ERROR;
}

void perf_line_parse(struct perf_line *line, const char *text, size_t length)
{
	struct text_view all = { text, length };
	struct text_view rest = all;

	*line = (struct perf_line){ .pid = -1, .tid = -1 };
	trim_end(&rest);
	skip_blanks(&rest);
	if (!rest.length) {
		line->kind = PERF_LINE_BLANK;
	} else if (starts_with(rest, "instruction trace error ")) {
		skip(&rest, strlen("instruction trace error "));
		parse_error(line, rest);
	} else if (starts_with(all, "\t")) {
		line->kind = PERF_LINE_IGNORED;
	} else if (take_header(line, &rest)) {
		parse_event(line, rest);
	}
}
