/* SPDX-License-Identifier: MIT */
/* Parses lines of perf script.  Each take_...() skips what it recognises at the start of a view. */
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
	c |= 'a' - 'A';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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

/* Returns whether the text began with `start`, which is skipped then. */
static bool take_text(struct text_view *text, const char *start)
{
	if (!starts_with(*text, start))
		return false;
	skip(text, strlen(start));
	return true;
}

/* Returns whether one blank or more came next. */
static bool take_blanks(struct text_view *text)
{
	size_t length = text->length;

	skip_blanks(text);
	return text->length < length;
}

/* Skip `word` and the blanks after it if it comes next and ends there.  Returns whether it did. */
static bool take_word(struct text_view *text, const char *word)
{
	struct text_view rest = *text;

	if (!take_text(&rest, word) || (rest.length && !take_blanks(&rest)))
		return false;
	*text = rest;
	return true;
}

/* Returns the run of non-blanks that comes next and skips it and the blanks after it. */
static struct text_view take_token(struct text_view *text)
{
	struct text_view token = { text->at, 0 };

	while (token.length < text->length && !is_blank(text->at[token.length]))
		token.length++;
	skip(text, token.length);
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

/* "123", "-1".  Returns whether a number came; *id is -1 if it is no id. */
static bool take_id(struct text_view *text, int32_t *id)
{
	uint64_t value;
	bool negative = take_text(text, "-");

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

	if (!take_decimal(text, &seconds) || seconds >= MAX_SECONDS || !take_text(text, ".") ||
	    !text->length || !is_digit(*text->at))
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
	if (!take_id(text, &line->pid) || !take_text(text, "/") || !take_id(text, &line->tid) ||
	    !take_blanks(text))
		return false;
	if (starts_with(*text, "["))
		take_token(text);
	if (!take_time(text, &line->time) || !take_text(text, ":"))
		return false;
	skip_blanks(text);
	line->has_time = true;
	return true;
}

/* A header behind the thread's name (perf's field comm), which may have spaces. */
static bool take_header(struct perf_line *line, struct text_view *text)
{
	for (skip_blanks(text); text->length; take_token(text)) {
		struct text_view rest = *text;

		if (take_header_here(line, &rest)) {
			*text = rest;
			return true;
		}
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
	for (size_t at = name->length; at-- > 0 && begin == name->length;) {
		struct text_view rest = { name->at + at, name->length - at };
		uint64_t ignored;

		if (take_text(&rest, "+0x"))
			take_hex(&rest, &ignored);
		else if (at || !take_text(&rest, "[unknown]"))
			continue;
		if (take_blanks(&rest) && starts_with(rest, "("))
			begin = (size_t)(rest.at - name->at);
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
	trim_end(&name);
	cut_dso(place, &name);
	for (size_t at = name.length; at-- > 0;) {
		struct text_view digits = { name.at + at, name.length - at };

		if (!take_text(&digits, "+0x"))
			continue;
		if (take_hex(&digits, &place->offset) && !digits.length)
			place->symbol = (struct text_view){ name.at, at };
		else
			place->offset = 0;
		return;
	}
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

/* Returns the offset of what ends a place's name, "+0x" or "[unknown]"; the length if none does. */
static size_t find_name_end(struct text_view text)
{
	for (size_t at = text.length; at-- > 0;) {
		struct text_view rest = { text.at + at, text.length - at };

		if (starts_with(rest, "+0x") || starts_with(rest, "[unknown]"))
			return at;
	}
	return text.length;
}

/* Returns the offset of the last word before `end` that is hexadecimal; SIZE_MAX: none is. */
static size_t find_last_hex(struct text_view text, size_t end)
{
	for (size_t at = end; at-- > 0;) {
		struct text_view rest = { text.at + at, text.length - at };
		uint64_t ignored;

		if ((!at || is_blank(rest.at[-1])) && take_hex(&rest, &ignored) && rest.length &&
		    is_blank(*rest.at))
			return at;
	}
	return SIZE_MAX;
}

/*
 * Cut "ip symbol+0xoffset (dso)" off the end of a text of any words, as far as it is printed.
 * A symbol of C++ has several words; its address is the last one before it.
 */
static void cut_place(struct perf_line_place *place, struct text_view *text)
{
	size_t at = find_last_hex(*text, find_name_end(*text));

	if (at != SIZE_MAX &&
	    take_place(place, (struct text_view){ text->at + at, text->length - at }))
		text->length = at;
	trim_end(text);
}

/* Cut the field addr off the end of a text of any words, if it is printed. */
static void cut_addr(uint64_t *addr, struct text_view *text)
{
	size_t at = text->length;
	struct text_view word;

	while (at && !is_blank(text->at[at - 1]))
		at--;
	word = (struct text_view){ text->at + at, text->length - at };
	if (!take_hex(&word, addr) || word.length) {
		*addr = 0;
		return;
	}
	text->length = at;
	trim_end(text);
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

		if (!take_text(&rest, " => "))
			continue;
		*to = rest;
		skip_blanks(&rest);
		if (take_hex(&rest, &ip) && take_blanks(&rest)) {
			*from = (struct text_view){ text.at, at };
			return true;
		}
	}
	return false;
}

/*
 * perf's words (util/trace-event-scripting.c, sample_flags[]).  Entering and
 * leaving a virtual machine is no branch of a known kind; where it stops the
 * trace, the line has "tr end" as well.
 */
static const struct {
	const char *word;
	uint8_t kind; /* enum branch_kind */
} flag_words[] = {
	{ "call", BRANCH_CALL },        { "return", BRANCH_RETURN },
	{ "jmp", BRANCH_JUMP },         { "jcc", BRANCH_COND },
	{ "syscall", BRANCH_SYSCALL },  { "sysret", BRANCH_SYSRET },
	{ "int", BRANCH_SOFTINT },      { "iret", BRANCH_IRET },
	{ "hw int", BRANCH_INTERRUPT }, { "tx abrt", BRANCH_TX_ABORT },
	{ "vmentry", BRANCH_NONE },     { "vmexit", BRANCH_NONE },
	{ "async", BRANCH_NONE },
};

/*
 * The word of a branch's kind, to which newer versions append "/not_taken/" or "/miss/".
 * Returns whether one came.
 */
static bool take_kind(struct perf_line *line, struct text_view *text)
{
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(flag_words[0]); i++) {
		struct text_view rest = *text;

		if (!take_text(&rest, flag_words[i].word) ||
		    (rest.length && !is_blank(*rest.at) && *rest.at != '/'))
			continue;
		take_token(&rest);
		*text = rest;
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

/* Words of flags, perhaps after a period whose event is not printed. */
static bool take_flags(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;
	uint64_t period;

	if (take_flag_words(line, text))
		return true;
	if (!take_decimal(&rest, &period) || !take_blanks(&rest) || !take_flag_words(line, &rest))
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

	return take_hex(&text, &addr) && take_blanks(&text) && take_place(&line->from, text);
}

static void parse_branch(struct perf_line *line, struct text_view text)
{
	struct text_view from, to;
	bool flags = take_flags(line, &text);

	if (starts_with(text, "cbr:") || starts_with(text, "psb offs:")) {
		line->kind = starts_with(text, "cbr:") ? PERF_LINE_CBR : PERF_LINE_IGNORED;
		return;
	}
	if (!split_arrow(text, &from, &to)) {
		/* Another event, whose name and data are not printed. */
		if (take_sample(line, text))
			line->kind = PERF_LINE_NAMELESS;
		return;
	}
	/* "tr strt jmp" means the place where tracing begins, not a jump. */
	if (line->flags & BRANCH_TRACE_ON &&
	    (line->branch == BRANCH_JUMP || line->flags & BRANCH_TRACE_OFF))
		line->branch = BRANCH_NONE;
	if (flags && take_place(&line->from, from) && take_place(&line->to, to))
		line->kind = PERF_LINE_BRANCH;
}

/* The fields period and event, if they are printed; *event gets "name/config/sel:mod:". */
static bool take_event(struct text_view *text, struct text_view *event)
{
	struct text_view rest = *text;
	uint64_t period;

	if (!take_decimal(&rest, &period) || !take_blanks(&rest))
		rest = *text;
	*event = take_token(&rest);
	if (event->length < 2 || event->at[event->length - 1] != ':')
		return false;
	*text = rest;
	return true;
}

/*
 * "mem:0x4010/4:w:u", perf's name of a breakpoint (tools/perf/util/evsel.c,
 * __evsel__bp_name(); util/parse-events.y takes decimal addresses too).
 */
static bool is_breakpoint(struct text_view event)
{
	return take_text(&event, "mem:") && event.length && is_digit(*event.at);
}

/*
 * What the fields of a probe begin with: "(4010)", of a return probe "(4010 <- 4090)"
 * (Linux: kernel/trace/trace_probe.c, __set_print_fmt()).  Returns whether it came;
 * *ip gets the address, where a return probe's function returned to.
 */
static bool take_probe(struct text_view text, uint64_t *ip)
{
	uint64_t at;

	if (!take_text(&text, "(") || !take_hex(&text, &at) ||
	    (take_text(&text, " <- ") && !take_hex(&text, &at)) || !take_text(&text, ")"))
		return false;
	*ip = at;
	return true;
}

/* Returns whether the text is of a breakpoint or a probe, whose fields *line gets. */
static bool take_hit(struct perf_line *line, struct text_view event, struct text_view text)
{
	uint64_t ip = 0;

	trim_end(&text);
	if (!take_probe(text, &ip) && !is_breakpoint(event))
		return false;
	cut_place(&line->from, &text);
	cut_addr(&line->addr, &text);
	/* With a call stack, the place is on lines of its own. */
	if (!line->from.ip)
		line->from.ip = ip;
	line->event = (struct text_view){ event.at, event.length - 1 };
	line->arguments = text;
	return true;
}

/* The text after the header. */
static void parse_event(struct perf_line *line, struct text_view text)
{
	struct text_view event;

	if (!take_event(&text, &event) || starts_with(event, "branches")) {
		parse_branch(line, text);
	} else if (starts_with(event, "ptwrite:")) {
		line->kind = PERF_LINE_PTWRITE;
	} else if (is_cpu_event(event)) {
		line->kind = PERF_LINE_IGNORED;
	} else if (starts_with(event, "cbr:")) {
		line->kind = PERF_LINE_CBR;
	} else if (take_hit(line, event, text)) {
		line->kind = PERF_LINE_HIT;
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
		else if (starts_with(key, "ip")) {
			take_text(&value, "0x");
			take_hex(&value, &line->from.ip);
		}
		take_token(&text);
	}
	if (!take_decimal(&text, &code) || !take_text(&text, ":"))
		return;
	take_text(&text, " ");
	if (text.length && text.at[text.length - 1] == '\r')
		text.length--;
	line->gap = code < GAP_INTERNAL || code > GAP_ENDLESS ? GAP_UNKNOWN : (uint8_t)code;
	line->message = text;
	line->kind = PERF_LINE_ERROR;
}

void perf_line_parse(struct perf_line *line, const char *text, size_t length)
{
	struct text_view rest = { text, length };

	*line = (struct perf_line){ .pid = -1, .tid = -1 };
	trim_end(&rest);
	skip_blanks(&rest);
	if (!rest.length) {
		line->kind = PERF_LINE_BLANK;
	} else if (take_text(&rest, "instruction trace error ")) {
		parse_error(line, rest);
	} else if (text[0] == '\t') {
		line->kind = PERF_LINE_IGNORED;
	} else if (take_header(line, &rest)) {
		parse_event(line, rest);
	}
}
