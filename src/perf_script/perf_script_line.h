/* SPDX-License-Identifier: MIT */
/*
 * Parses one line of `perf script` text of an Intel PT recording.
 *
 * perf prints the text for
 *	perf script --ns --itrace=be -F comm,pid,tid,time,flags,ip,addr,sym,symoff
 * with any other fields, without any but ip and addr, with --call-trace or
 * --call-ret-trace, and with the lines for decode errors and comments
 * (tools/perf/builtin-script.c, util/auxtrace.c).  Examples:
 *
 *  7/7 1.000000002:   call           4010 main+0x10 =>  4020 f+0x0
 *  7/7 1.000000002:   1  branches:uH:   tr end  async   4010 f+0x10 (a.so) => 0 [unknown] (b.so)
 *  7/7 1.000000002:   50  branch-misses/period=50/u:    0   4010 main+0x10 (/bin/a)
 *  7/7 1.000000002:   1  mem:0x4010:x:u:   4010   4010 main+0x10 (/bin/a)
 *  7/7 1.000000002:   1  probe_a:main: (4010) argc=1   4010 main+0x10 (/bin/a)
 *  7/7 1.000000002:   1  cbr:   cbr: 46 freq: 4606 MHz (159%)   0   0 [unknown] ([unknown])
 *       a.out     7 [000] 1.000000:   1  branches:u:   4010 main (/bin/a) => 4020 f (/bin/a)
 *       a.out     7 [000] 1.000000002:   call   (/bin/a)<TAB>        f
 *   instruction trace error type 1 time 1.000000002 cpu -1 pid 7 tid 7 ip 0x4010 code 7: TEXT
 *
 * Nothing fails: any other line is PERF_LINE_UNKNOWN.  Views point into the line.
 */
#pragma once

#include "base/cursor.h"
#include "decoder/branch_event.h"
#include "src/resolve/location.h"

/*
 * Parsers of the beginning of a view.  Each take_...() skips what it recognises, and returns
 * whether it was there; if not, the view may have changed.
 */

/* Digits of a second that are read. */
#define TEXT_NS_DIGITS 9

static inline bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static inline bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static inline bool view_starts_with(struct text_view text, const char *word)
{
	size_t length = strlen(word);

	return text.length >= length && !memcmp(text.at, word, length);
}

static inline void skip(struct text_view *text, size_t count)
{
	text->at += count;
	text->length -= count;
}

static inline void skip_blanks(struct text_view *text)
{
	while (text->length && is_blank(*text->at))
		skip(text, 1);
}

static inline void trim_end(struct text_view *text)
{
	while (text->length &&
	       (is_blank(text->at[text->length - 1]) || text->at[text->length - 1] == '\r'))
		text->length--;
}

static inline bool take_text(struct text_view *text, const char *start)
{
	if (!view_starts_with(*text, start))
		return false;
	skip(text, strlen(start));
	return true;
}

/* One blank or more. */
static inline bool take_blanks(struct text_view *text)
{
	size_t length = text->length;

	skip_blanks(text);
	return text->length < length;
}

/* `word` and the blanks after it, if it ends there; else the view stays. */
bool take_word(struct text_view *text, const char *word);

/* Returns the next run of non-blanks, and skips it and the blanks after it. */
struct text_view take_token(struct text_view *text);

/* Decimal digits; *value gets them, UINT64_MAX if they are too many. */
bool take_decimal(struct text_view *text, uint64_t *value);

/* Hexadecimal digits; *value gets the last 64 bits of them. */
bool take_hex(struct text_view *text, uint64_t *value);

/* "123", "-1"; *id is -1 if the number is not an id. */
bool take_id(struct text_view *text, int32_t *id);

/* "47170.086912826" in ns; fewer digits are padded, digits after the ninth dropped. */
bool take_time(struct text_view *text, uint64_t *time);

enum perf_line_kind {
	PERF_LINE_UNKNOWN = 0, /* not perf script's, or of an unknown form */
	PERF_LINE_BLANK,       /* says nothing: empty, a comment, a source line, a sample's stack */
	PERF_LINE_BRANCH,
	PERF_LINE_ERROR,    /* a decode error */
	PERF_LINE_HIT,      /* a breakpoint, or a probe (kprobe, uprobe) */
	PERF_LINE_CBR,      /* the CPU's frequency */
	PERF_LINE_SAMPLE,   /* a sample of another event */
	PERF_LINE_NAMELESS, /* a sample of any event: the field event is not printed */
	PERF_LINE_PTWRITE,
	PERF_LINE_CALL_TREE, /* a line of --call-trace, --call-ret-trace */
	PERF_LINE_NO_IP,     /* a branch without the field ip */
	PERF_LINE_NO_ADDR,   /* a branch without the field addr, or a sample without event */
	PERF_LINE_IGNORED,   /* known but unused: psb, power states */
};

/* The fields pid and tid: a single number is the thread's. */
enum perf_line_ids { PERF_IDS_NONE, PERF_IDS_ONE, PERF_IDS_PAIR };

/* "ip symbol+0xoffset (dso)", all but ip optional */
struct perf_line_location {
	uint64_t ip;
	struct text_view symbol; /* empty: perf knew no name */
	uint64_t offset;         /* bytes; garbage in some versions of perf */
	bool has_name;           /* the field sym is printed */
	bool has_offset;         /* the field symoff is printed */
	struct text_view dso;    /* without its parentheses */
	bool has_dso;            /* the line has the column */
};

struct perf_line {
	uint8_t kind;                   /* enum perf_line_kind */
	uint8_t branch;                 /* enum branch_kind, of a BRANCH */
	uint8_t flags;                  /* enum branch_flags, of a BRANCH */
	bool has_time;                  /* the field is printed; not of some errors */
	bool has_ns;                    /* the time has nine digits after the point: perf --ns */
	bool has_flags;                 /* the field is printed, of a BRANCH or CALL_TREE */
	uint8_t ids;                    /* enum perf_line_ids */
	int32_t pid, tid;               /* -1: unknown */
	uint64_t time;                  /* ns; digits after the ninth are dropped */
	struct perf_line_location from; /* ERROR: only `ip`, 0 if unknown; HIT: where */
	struct perf_line_location to;
	size_t indent; /* CALL_TREE: columns, four for each call; `from` is the function */
	/*
	 * For a HIT: the event, "mem:0x4010:x:u", "probe_a:main"; the event's fields as printed,
	 * "(4010) argc=1", or empty; the data's address, 0 if it is not printed.
	 */
	struct text_view event, arguments;
	uint64_t addr;
	uint8_t gap;              /* ERROR: enum gap_reason, perf's number */
	struct text_view message; /* ERROR: its text */
};

/*
 * perf's words of branches (util/trace-event-scripting.c, sample_flags[]), by enum branch_kind;
 * then others.
 */
#define PERF_BRANCH_WORDS (BRANCH_TX_ABORT + 1)
extern const char *const perf_branch_words[];

/* Parse one line (without its newline). */
void perf_line_parse(struct perf_line *line, const char *text, size_t length);

/* ---- Inferred branches --------------------------------------------------- */

/*
 * Infers facts that the text of perf script lacks: the kinds of branches without the field flags,
 * and the branches themselves from a tree of calls (--call-trace).
 *
 * A struct inferred_calls contains a thread's open calls in the text.
 */

struct inferred_calls {
	struct inferred_call {
		uint64_t site; /* address of the call; 0: an entry into the kernel */
		const struct symbol
			*symbol; /* function of the call; tree: called function; may be NULL */
		size_t level;    /* tree: its indent */
	} * calls;               /* owned; the innermost last */
	size_t count, room;
};

void inferred_calls_release(struct inferred_calls *calls);

/*
 * Set the kind of a branch from its addresses and names, and TRACE_ON or TRACE_OFF.
 *  - to just after an open call, and not forward over a recursive call: a return
 *  - to or from the kernel: an interrupt or system call, or its return
 *  - within one function: a jump, but to its entry a call
 *  - to the entry of another function: a call; of a PLT stub or to a cold part: a jump
 *  - to code without names of another file, which made an open call, not at a multiple of 16: a
 *    return as to that call, whose own return was not recognised (locations->to.ip is changed)
 *  - elsewhere into another function: a jump; a return if no call is open
 * `same`: both ends are code without names of one file.  `entry_known`: to->offset is 0 at an entry
 * only; else any other function is entered by a call.
 */
void inferred_calls_branch(struct inferred_calls *calls, struct branch_event *event,
			   struct location_pair *locations, bool same, bool entry_known);

/* A branch of a tree. */
struct tree_branch {
	struct branch_event event;
	struct location_pair locations;
};

#define TREE_BRANCHES_MOST 2

/*
 * Make the branches for a line of a tree of calls, whose function is `symbol` (NULL: without name).
 * Their addresses are invented, but consistent.  Returns their number.
 */
size_t inferred_calls_tree(struct inferred_calls *calls, const struct perf_line *line,
			   const struct symbol *symbol,
			   struct tree_branch branches[TREE_BRANCHES_MOST]);
