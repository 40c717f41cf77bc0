/* SPDX-License-Identifier: MIT */
/* Parses lines of perf script. */
#include "src/perf_script/perf_script_line.h"

/*
 * Returns the offset of the "(dso)" that ends a location, or the length.  It follows the last
 * offset, "+0x1 (", or "[unknown] (".  Without these it is the last parenthesis that is balanced:
 * a function's parameters follow no blank.
 */
static size_t find_dso(struct text_view name)
{
	size_t begin = name.length, depth = 0;

	for (size_t at = name.length; at-- > 0;) {
		struct text_view rest = { name.at + at, name.length - at };
		uint64_t ignored;

		if (take_text(&rest, "+0x"))
			take_hex(&rest, &ignored);
		else if (at || !take_text(&rest, "[unknown]"))
			continue;
		if (take_blanks(&rest) && view_starts_with(rest, "("))
			return (size_t)(rest.at - name.at);
	}
	do {
		begin--;
		depth += name.at[begin] == ')';
		depth -= name.at[begin] == '(';
	} while (depth && begin);
	return depth || (begin && !is_blank(name.at[begin - 1])) ? name.length : begin;
}

/* Cut "(dso)" or "(dso+0xoffset)" off the end of a location. */
static void cut_dso(struct perf_line_location *location, struct text_view *name)
{
	size_t begin;

	if (!name->length || name->at[name->length - 1] != ')')
		return;
	begin = find_dso(*name);
	if (begin == name->length)
		return;
	location->has_dso = true;
	location->dso = (struct text_view){ name->at + begin + 1, name->length - begin - 2 };
	name->length = begin;
	trim_end(name);
	trim_end(&location->dso);
}

/* "symbol", "symbol+0xoffset" or "[unknown]", each perhaps with "(dso)" */
static void take_name(struct perf_line_location *location, struct text_view name)
{
	trim_end(&name);
	cut_dso(location, &name);
	location->has_name = name.length;
	if (view_starts_with(name, "[unknown]"))
		return;
	location->symbol = name;
	for (size_t at = name.length; at-- > 0;) {
		struct text_view digits = { name.at + at, name.length - at };

		if (!take_text(&digits, "+0x"))
			continue;
		location->has_offset = take_hex(&digits, &location->offset) && !digits.length;
		if (location->has_offset)
			location->symbol.length = at;
		else
			location->offset = 0;
		return;
	}
}

/* "ip", perhaps with a name */
static bool take_location(struct perf_line_location *location, struct text_view text)
{
	skip_blanks(&text);
	if (!take_hex(&text, &location->ip) || (text.length && !take_blanks(&text)))
		return false;
	take_name(location, text);
	return true;
}

/* The location before the arrow; four blanks or more separate it from the field callindent. */
static bool take_from(struct perf_line_location *location, struct text_view text)
{
	size_t begin = memmem(text.at, text.length, "    ", 4) ? text.length : 0;

	for (size_t at = begin; at-- > 4;) {
		struct text_view rest = { text.at + at, text.length - at };
		uint64_t ignored;

		if (is_blank(*rest.at) || memcmp(rest.at - 4, "    ", 4) != 0 ||
		    !take_hex(&rest, &ignored) || (rest.length && !is_blank(*rest.at)))
			continue;
		skip(&text, at);
		break;
	}
	return take_location(location, text);
}

/* Returns the offset of the end of a location's name, "+0x" or "[unknown]", or the length. */
static size_t find_name_end(struct text_view text)
{
	for (size_t at = text.length; at-- > 0;) {
		struct text_view rest = { text.at + at, text.length - at };

		if (view_starts_with(rest, "+0x") || view_starts_with(rest, "[unknown]"))
			return at;
	}
	return text.length;
}

/* Returns the offset of the last word before `end` that is hexadecimal, or SIZE_MAX. */
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

/* Cut "ip symbol+0xoffset (dso)" off the end of any words.  A symbol of C++ has several words. */
static void cut_location(struct perf_line_location *location, struct text_view *text)
{
	size_t at = find_last_hex(*text, find_name_end(*text));

	if (at != SIZE_MAX &&
	    take_location(location, (struct text_view){ text->at + at, text->length - at }))
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

/* Split "FROM => TO" at the last arrow before an address: operators of C++ may contain " => ". */
static bool split_arrow(struct text_view text, struct text_view *from, struct text_view *to)
{
	for (size_t at = text.length; at-- > 0;) {
		struct text_view rest = { text.at + at, text.length - at };
		uint64_t ip;

		if (!take_text(&rest, " => "))
			continue;
		*to = rest;
		skip_blanks(&rest);
		if (take_hex(&rest, &ip) && (!rest.length || take_blanks(&rest))) {
			*from = (struct text_view){ text.at, at };
			return true;
		}
	}
	return false;
}

/*
 * Entering and leaving a virtual machine are not branches of a known kind; if they stop the trace,
 * the line also has "tr end".
 */
const char *const perf_branch_words[] = {
	[BRANCH_CALL] = "call",
	[BRANCH_RETURN] = "return",
	[BRANCH_JUMP] = "jmp",
	[BRANCH_COND] = "jcc",
	[BRANCH_SYSCALL] = "syscall",
	[BRANCH_SYSRET] = "sysret",
	[BRANCH_SOFTINT] = "int",
	[BRANCH_IRET] = "iret",
	[BRANCH_INTERRUPT] = "hw int",
	[BRANCH_TX_ABORT] = "tx abrt",
	[PERF_BRANCH_WORDS] = "vmentry",
	"vmexit",
	"async",
};

/* The word of a branch's kind, to which newer versions append "/not_taken/" or "/miss/". */
static bool take_kind(struct perf_line *line, struct text_view *text)
{
	for (size_t i = BRANCH_CALL; i < COUNT_OF(perf_branch_words); i++) {
		struct text_view rest = *text;

		if (!take_text(&rest, perf_branch_words[i]) ||
		    (rest.length && !is_blank(*rest.at) && *rest.at != '/'))
			continue;
		take_token(&rest);
		*text = rest;
		line->branch = i < PERF_BRANCH_WORDS ? (uint8_t)i : BRANCH_NONE;
		if (!strcmp(perf_branch_words[i], "async"))
			line->flags |= BRANCH_ASYNC;
		return true;
	}
	return false;
}

/* "(x)", "(xDt)": in a transaction, interrupts disabled, toggled. */
static void take_marks(struct perf_line *line, struct text_view *text)
{
	size_t length = 1;

	if (!view_starts_with(*text, "("))
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

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (view_starts_with(name, names[i]))
			return true;
	return false;
}

/* "addr ip symbol+0xoffset (dso)" */
static bool take_sample(struct perf_line *line, struct text_view text)
{
	uint64_t addr;

	return take_hex(&text, &addr) && take_blanks(&text) && take_location(&line->from, text);
}

/*
 * "(dso)<TAB>", four blanks for each enclosing call, and a name, or an address that is padded to 16
 * columns: perf_sample__fprintf_callindent().  The dso is the dso of the branch's `from`.  Nothing
 * follows if the branch leads to code that is not traced.
 */
static bool take_call_tree(struct perf_line *line, struct text_view text)
{
	const char *tab = memchr(text.at, '\t', text.length);
	const char *begin = tab ? tab + 1 : text.at + text.length;
	size_t padding;

	if (!view_starts_with(text, "(") || begin[-1 - (tab != NULL)] != ')')
		return false;
	line->from.dso = (struct text_view){ text.at + 1, (size_t)(begin - text.at) - 1 };
	line->kind = PERF_LINE_CALL_TREE;
	skip(&text, (size_t)(begin - text.at));
	skip_blanks(&text);
	if (!text.length) {
		line->flags |= BRANCH_TRACE_OFF;
		line->indent = SIZE_MAX;
		return true;
	}
	line->indent = (size_t)(text.at - begin);
	line->from.symbol = text;
	padding = text.length < 16 ? 16 - text.length : 0;
	/* Words of four letters like "feed" are names. */
	if (take_hex(&text, &line->from.ip) && !text.length && padding != 12 &&
	    line->indent >= padding && (line->indent - padding) % 4 == 0) {
		line->indent -= padding;
		line->from.symbol.length = 0;
	} else {
		line->from.ip = 0;
	}
	return true;
}

/* A line without "FROM => TO": of another event, whose name is not printed, or of a branch. */
static void parse_half_branch(struct perf_line *line, struct text_view text, bool is_branch)
{
	if (take_text(&text, "=>")) {
		if (take_location(&line->to, text))
			line->kind = PERF_LINE_NO_IP;
	} else if (memmem(text.at, text.length, "=>", 2)) {
		return; /* cut off */
	} else if (!is_branch && take_sample(line, text)) {
		line->kind = PERF_LINE_NAMELESS;
	} else if (take_location(&line->from, text)) {
		line->kind = PERF_LINE_NO_ADDR;
	} else if (is_branch && !text.length) {
		line->kind = PERF_LINE_NO_IP;
	}
}

/* Cut the fields after the branch off: ipc, insnlen, insn. */
static void cut_tail(struct text_view *text)
{
	static const char *const fields[] = { "\t IPC: ", " ilen: ", " insn: " };

	if (!memmem(text->at, text->length, ": ", 2))
		return; /* mostly */
	for (size_t i = 0; i < COUNT_OF(fields); i++) {
		const char *at = memmem(text->at, text->length, fields[i], strlen(fields[i]));

		if (at)
			text->length = (size_t)(at - text->at);
	}
}

static void parse_branch(struct perf_line *line, struct text_view text, bool named)
{
	struct text_view from, to;

	line->has_flags = take_flags(line, &text);
	if (view_starts_with(text, "cbr:") || view_starts_with(text, "psb offs:")) {
		line->kind = view_starts_with(text, "cbr:") ? PERF_LINE_CBR : PERF_LINE_IGNORED;
		return;
	}
	if (take_call_tree(line, text))
		return;
	if (!split_arrow(text, &from, &to)) {
		parse_half_branch(line, text, named || line->has_flags);
		return;
	}
	/* "tr strt jmp" means the beginning of tracing, not a jump. */
	if (line->flags & BRANCH_TRACE_ON &&
	    (line->branch == BRANCH_JUMP || line->flags & BRANCH_TRACE_OFF))
		line->branch = BRANCH_NONE;
	cut_tail(&to);
	if (take_from(&line->from, from) && take_location(&line->to, to))
		line->kind = PERF_LINE_BRANCH;
}

/* The fields period and event, if they are printed; *event gets "name/config/sel:mod:". */
static bool take_event_name(struct text_view *text, struct text_view *event)
{
	struct text_view rest = *text;
	uint64_t period;

	if (!take_decimal(&rest, &period) || !take_blanks(&rest))
		rest = *text;
	*event = take_token(&rest);
	if (event->length < 2 || event->at[event->length - 1] != ':' || is_digit(*event->at))
		return false;
	*text = rest;
	return true;
}

/* "mem:0x4010/4:w:u" (tools/perf/util/evsel.c, __evsel__bp_name()); addresses may be decimal. */
static bool is_breakpoint(struct text_view event)
{
	return take_text(&event, "mem:") && event.length && is_digit(*event.at);
}

/*
 * The beginning of a probe's fields: "(4010)", or "(4010 <- 4090)" with the return address, which
 * is stored in *ip (Linux: kernel/trace/trace_probe.c, __set_print_fmt()).
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
	cut_location(&line->from, &text);
	cut_addr(&line->addr, &text);
	/* With a call stack, the location is on lines of its own. */
	if (!line->from.ip)
		line->from.ip = ip;
	line->event = (struct text_view){ event.at, event.length - 1 };
	line->arguments = text;
	return true;
}

/* "pid/tid", or one number, the thread's.  Returns whether it was there. */
static bool take_ids(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;
	bool pair;

	line->ids = PERF_IDS_NONE;
	line->pid = line->tid = -1;
	if (!take_id(&rest, &line->pid))
		return false;
	pair = take_text(&rest, "/");
	line->tid = line->pid;
	if ((pair && !take_id(&rest, &line->tid)) || !take_blanks(&rest))
		return false;
	line->ids = pair ? PERF_IDS_PAIR : PERF_IDS_ONE;
	*text = rest;
	return true;
}

/* The fields "[cpu]" and misc: at most five letters, "U", "KE". */
static void take_cpu_and_misc(struct text_view *text)
{
	struct text_view rest, misc;

	if (view_starts_with(*text, "["))
		take_token(text);
	rest = *text;
	misc = take_token(&rest);
	if (misc.length && misc.length <= 5 && !is_digit(*misc.at) && rest.length &&
	    is_digit(*rest.at))
		*text = rest;
}

/* "[ids] [cpu] [misc] time:" at the start of the text. */
static bool take_timed_header(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;
	const char *digits;

	take_ids(line, &rest);
	if (rest.length && !is_digit(*rest.at))
		take_cpu_and_misc(&rest);
	digits = rest.at;
	if (!take_time(&rest, &line->time) || !take_text(&rest, ":"))
		return false;
	line->has_ns = rest.at - digits > TEXT_NS_DIGITS + 2 && rest.at[-TEXT_NS_DIGITS - 2] == '.';
	skip_blanks(&rest);
	line->has_time = true;
	*text = rest;
	return true;
}

/* Returns whether an event, flags, or an address, padded to 16 columns, follow the header. */
static bool begins_event(struct text_view text, size_t width)
{
	struct text_view rest = text, token = take_token(&rest);
	struct perf_line ignored = { 0 };
	uint64_t value;

	return token.at[token.length - 1] == ':' || take_flag_words(&ignored, &text) ||
	       (width > 16 && take_hex(&token, &value) && !token.length);
}

/*
 * "[comm] [ids] [cpu]", without time.  A lone id has 7 columns, where the period has 10
 * (tools/perf/builtin-script.c, perf_sample__fprintf_start()).
 */
static void take_untimed_header(struct perf_line *line, struct text_view *text)
{
	struct text_view rest = *text;
	const char *end = rest.at; /* end of the previous word */

	for (skip_blanks(&rest); rest.length;) {
		struct text_view start = rest, here = rest, token = take_token(&rest);
		size_t width = (size_t)(token.at + token.length - end);

		take_ids(line, &here);
		if (view_starts_with(token, "[") || line->ids == PERF_IDS_PAIR ||
		    (line->ids == PERF_IDS_ONE && width <= 8)) {
			take_cpu_and_misc(&here);
			*text = here;
			return;
		}
		line->ids = PERF_IDS_NONE;
		line->pid = line->tid = -1;
		if (begins_event(start, width)) {
			*text = start;
			return;
		}
		end = token.at + token.length;
	}
}

/* A header after the thread's name (perf's field comm), which may have spaces. */
static void take_header(struct perf_line *line, struct text_view *text)
{
	struct text_view start = *text;

	for (skip_blanks(&start); start.length; take_token(&start)) {
		struct text_view rest = start;

		if (take_timed_header(line, &rest)) {
			*text = rest;
			return;
		}
	}
	take_untimed_header(line, text);
}

/* The text after the header. */
static void parse_event(struct perf_line *line, struct text_view text)
{
	struct text_view event;
	bool named;

	if (take_text(&text, "PERF_RECORD_")) { /* --show-mmap-events */
		line->kind = PERF_LINE_IGNORED;
		line->has_time = false;
		return;
	}
	named = take_event_name(&text, &event);
	if (!named || view_starts_with(event, "branches")) {
		parse_branch(line, text, named);
	} else if (view_starts_with(event, "ptwrite:")) {
		line->kind = PERF_LINE_PTWRITE;
	} else if (is_cpu_event(event)) {
		line->kind = PERF_LINE_IGNORED;
	} else if (view_starts_with(event, "cbr:")) {
		line->kind = PERF_LINE_CBR;
	} else if (take_hit(line, event, text)) {
		line->kind = PERF_LINE_HIT;
	} else {
		/* With a call stack, the location is on lines of its own. */
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

		if (view_starts_with(key, "time"))
			line->has_time = take_time(&value, &line->time);
		else if (view_starts_with(key, "pid"))
			take_id(&value, &line->pid);
		else if (view_starts_with(key, "tid"))
			take_id(&value, &line->tid);
		else if (view_starts_with(key, "code"))
			break;
		else if (view_starts_with(key, "ip")) {
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

/* Returns whether a word ends like the field srcline: "FILE:12", "FILE[1f0]" without line table. */
static bool ends_source(struct text_view word)
{
	size_t end = word.length;
	struct text_view inside;
	uint64_t ignored;

	if (end && word.at[end - 1] == ']') {
		while (end && word.at[end - 1] != '[')
			end--;
		inside = (struct text_view){ word.at + end, word.length - end };
		return end > 1 && take_hex(&inside, &ignored) && inside.length == 1;
	}
	while (end && is_digit(word.at[end - 1]))
		end--;
	return end && end < word.length && word.at[end - 1] == ':';
}

/*
 * "  FILE:12", "|12  CODE": srcline or srccode, on a line after its branch.  Two blanks also
 * precede a thread's name of 14 letters, but other fields follow that.
 */
static bool is_source_line(const char *text, struct text_view line)
{
	struct text_view word;

	if (*text == '|')
		return true;
	if (line.at != text + 2)
		return false;
	word = take_token(&line);
	return ends_source(word) && (!line.length || view_starts_with(line, "ilen:") ||
				     view_starts_with(line, "insn:") || *line.at == '(');
}

/* Returns whether a line without time is perf's: it names its kind, or pads its address. */
static bool is_known_without_time(struct perf_line *line, const char *text, size_t length)
{
	if (line->kind == PERF_LINE_NO_ADDR && !line->ids && !line->has_flags)
		return line->from.ip >> 63 ||
		       view_starts_with((struct text_view){ text, length }, "    ");
	if (line->kind == PERF_LINE_SAMPLE || line->kind == PERF_LINE_HIT)
		line->kind = line->ids ? PERF_LINE_SAMPLE : PERF_LINE_UNKNOWN;
	return line->kind != PERF_LINE_NAMELESS && line->kind != PERF_LINE_CALL_TREE;
}

void perf_line_parse(struct perf_line *line, const char *text, size_t length)
{
	struct text_view rest = { text, length };

	*line = (struct perf_line){ .pid = -1, .tid = -1 };
	trim_end(&rest);
	skip_blanks(&rest);
	if (!rest.length || text[0] == '\t' || text[0] == '#' || is_source_line(text, rest)) {
		line->kind = PERF_LINE_BLANK;
	} else if (take_text(&rest, "instruction trace error ")) {
		parse_error(line, rest);
	} else {
		rest = (struct text_view){ text, (size_t)(rest.at + rest.length - text) };
		take_header(line, &rest);
		parse_event(line, rest);
		if (!line->has_time && line->kind != PERF_LINE_IGNORED &&
		    !is_known_without_time(line, text, length))
			line->kind = PERF_LINE_UNKNOWN;
	}
}
