/* SPDX-License-Identifier: MIT */
/* Feeds the branches of perf script text to a call-stack machine. */
#include "src/perf_script/perf_script.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/io/interrupt.h"
#include "base/tables/hash.h"
#include "src/perf_script/perf_script_line.h"
#include "src/select/mode_filter.h"

/* Longer lines are no perf script's: its symbols and paths have at most some KiB. */
#define LINE_MAX_BYTES ((size_t)64 * 1024)
/* So long a line, or so many lines in a row that say nothing, are of another text, or endless. */
#define LINE_LIMIT   ((size_t)16 << 20)
#define STRANGE_MOST 100000

/* A thread of the text. */
struct script_thread {
	struct {
		int32_t pid, tid;
	} id;
	struct callstack *stack;    /* owned */
	struct script_thread *next; /* in the order of appearance */
	UT_hash_handle hh;
};

struct script {
	const struct perf_script_options *options;
	struct perf_script_counts *counts;
	struct script_thread *by_id;
	struct script_thread *first, **last;
	struct script_thread *previous; /* of the line before: mostly the same */
	const struct symbol **symbols;  /* owned array, by the id of the name in the text */
	size_t symbol_room;
	const struct symbol *ptwrite; /* how a PTWRITE is shown */
	char *text;                   /* owned: LINE_MAX_BYTES for a made-up name */
	struct demangler demangler;
	unsigned strange; /* lines in a row that say nothing */
};

static struct script_thread *new_thread(struct script *script, const struct perf_line *line)
{
	const struct perf_script_options *options = script->options;
	struct script_thread *thread = arena_alloc(script->options->arena, sizeof(*thread));
	void *track = NULL;

	if (options->track)
		track = options->track(options->context, line->pid, line->tid);
	thread->id.pid = line->pid;
	thread->id.tid = line->tid;
	thread->stack = callstack_open(options->machine, track);
	HASH_ADD(hh, script->by_id, id, sizeof(thread->id), thread);
	*script->last = thread;
	script->last = &thread->next;
	return thread;
}

static struct script_thread *script_thread_of(struct script *script, const struct perf_line *line)
{
	struct script_thread *thread = script->previous;
	struct {
		int32_t pid, tid;
	} id = { line->pid, line->tid };

	if (thread && thread->id.pid == id.pid && thread->id.tid == id.tid)
		return thread;
	HASH_FIND(hh, script->by_id, &id, sizeof(id), thread);
	if (!thread)
		thread = new_thread(script, line);
	script->previous = thread;
	return thread;
}

/* Returns the place of the symbol with a name; NULL there: none was made yet. */
static const struct symbol **symbol_slot(struct script *script, const struct name *name)
{
	size_t old_room = script->symbol_room;

	script->symbols = alloc_grow(script->symbols, &script->symbol_room, (size_t)name->id + 1,
				     sizeof(*script->symbols));
	if (script->symbol_room > old_room)
		memset(script->symbols + old_room, 0,
		       (script->symbol_room - old_room) * sizeof(*script->symbols));
	return &script->symbols[name->id];
}

/*
 * Returns the name to show for a symbol of the text: a mangled one in the style of the
 * options, any other as perf printed it.  perf has demangled it already, or it is plain:
 * what looks like a suffix or a symbol version may be an operator, "Stdlib.@_139".
 */
static const struct name *shown_name(struct script *script, const struct name *linkage)
{
	static const char plt[] = "@plt";
	struct name_table *names = script->options->names;
	size_t length = strlen(linkage->text), tail = strlen(plt);
	bool stub = length > tail && strcmp(linkage->text + length - tail, plt) == 0;
	const char *shown;

	snprintf(script->text, LINE_MAX_BYTES, "%.*s", (int)(stub ? length - tail : length),
		 linkage->text);
	if (!demangler_demangle(&script->demangler, script->text, DEMANGLE_PERF))
		return linkage;
	shown = demangler_demangle(&script->demangler, script->text, script->options->demangle);
	if (!shown)
		return linkage;
	length = (size_t)snprintf(script->text, LINE_MAX_BYTES, "%s%s", shown, stub ? plt : "");
	return length < LINE_MAX_BYTES ? name_intern(names, script->text, length) : linkage;
}

/* Returns the symbol of a name, with the address of the first line that has it. */
static const struct symbol *symbol_of(struct script *script, struct text_view text, uint64_t start)
{
	const struct name *linkage = name_intern(script->options->names, text.at, text.length);
	const struct symbol **slot = symbol_slot(script, linkage);
	struct symbol *symbol;

	if (!*slot) {
		symbol = arena_alloc(script->options->arena, sizeof(*symbol));
		*symbol = (struct symbol){ .start = start,
					   .name = shown_name(script, linkage),
					   .linkage = linkage };
		*slot = symbol;
	}
	return *slot;
}

/*
 * Returns the symbol for code without one: "[unknown @ 0xADDR (DSO)]", as
 * magic-trace names it, which shows an address as a signed number.
 */
static const struct symbol *unnamed_symbol(struct script *script,
					   const struct perf_line_place *place)
{
	bool negative = place->ip >> 63;
	int length = snprintf(script->text, LINE_MAX_BYTES, "[unknown @ %s0x%" PRIx64 " (%.*s)]",
			      negative ? "-" : "", negative ? 0 - place->ip : place->ip,
			      (int)place->dso.length, place->dso.at);
	struct text_view text = { script->text, (size_t)length };

	if (text.length >= LINE_MAX_BYTES)
		text.length = LINE_MAX_BYTES - 1;
	return symbol_of(script, text, place->ip);
}

static struct location resolve(struct script *script, const struct perf_line_place *place)
{
	struct location location = { place->ip, NULL, place->offset };

	if (place->symbol.length)
		location.symbol = symbol_of(script, place->symbol, place->ip - place->offset);
	else if (place->has_dso)
		location.symbol = unnamed_symbol(script, place);
	return location;
}

static void echo(const struct script *script, const char *text, size_t length)
{
	if (script->options->echo)
		script->options->echo(script->options->context, text, length);
}

static void feed(struct script *script, const struct perf_line *line, struct branch_event *event,
		 const struct location_pair *places, const struct branch_notes *notes)
{
	event->time = line->time;
	if (line->has_time &&
	    (!script->counts->first_time || line->time < script->counts->first_time))
		script->counts->first_time = line->time;
	if (line->time > script->counts->last_time)
		script->counts->last_time = line->time;
	callstack_feed(script_thread_of(script, line)->stack,
		       &(struct resolved_branch){ event, places }, 1, notes);
}

static void feed_branch(struct script *script, const struct perf_line *line, const char *text,
			size_t length)
{
	struct location_pair places = {
		.from = resolve(script, &line->from),
		.to = resolve(script, &line->to),
	};
	struct branch_event event = {
		.from = line->from.ip, .to = line->to.ip, .kind = line->branch, .flags = line->flags
	};

	/* The text does not say which jumps are indirect; any may be. */
	if (event.kind == BRANCH_JUMP)
		event.flags |= BRANCH_INDIRECT;

	if (line->from.has_dso || line->to.has_dso)
		script->options->machine->newer_upstream = true;
	if (!mode_filter_event(script->options->mode, &event))
		return;
	if (!event.from)
		places.from = (struct location){ 0 };
	if (!event.to)
		places.to = (struct location){ 0 };
	/* A symbol is one per name, so equal names are equal pointers. */
	if (places.from.symbol != places.to.symbol)
		echo(script, text, length);
	script->counts->branches++;
	feed(script, line, &event, &places, NULL);
}

static void feed_error(struct script *script, const struct perf_line *line)
{
	struct branch_event event = { .from = line->from.ip, .kind = BRANCH_GAP, .gap = line->gap };
	struct location_pair places = { .from = { .ip = line->from.ip } };
	struct branch_notes notes = { .message = script->text, .untimed = !line->has_time };

	if (!mode_filter_event(script->options->mode, &event))
		return;
	memcpy(script->text, line->message.at, line->message.length);
	script->text[line->message.length] = 0;
	script->counts->gaps[line->gap]++;
	feed(script, line, &event, &places, &notes);
}

/* Feed an event that advances the time and does not change the stack; `mark` is shown. */
static void feed_time(struct script *script, const struct perf_line *line,
		      const struct symbol *mark)
{
	static const struct location_pair nowhere;
	struct branch_event event = { .kind = BRANCH_NONE };
	struct branch_notes notes = { .mark = mark };

	if (line->from.has_dso)
		script->options->machine->newer_upstream = true;
	feed(script, line, &event, &nowhere, &notes);
}

static void pass_hit(struct script *script, const struct perf_line *line)
{
	struct location place;

	if (!script->options->hit)
		return;
	place = resolve(script, &line->from);
	script->options->hit(script->options->context, line, &place);
}

static void skip_line(struct script *script, const char *reason)
{
	script->strange++;
	script->counts->unknown++;
	diag_warn(script->options->diag, "unknown-line",
		  "line %" PRIu64 " of the text is %s; skipped", script->counts->lines, reason);
}

static void feed_line(struct script *script, const char *text, size_t length)
{
	struct perf_line line;

	perf_line_parse(&line, text, length);
	/* A sample's stack, in lines that begin with a tab, says nothing either. */
	if (line.kind == PERF_LINE_BLANK || text[0] == '\t')
		script->strange++;
	else if (line.kind != PERF_LINE_UNKNOWN)
		script->strange = 0;
	switch ((enum perf_line_kind)line.kind) {
	case PERF_LINE_UNKNOWN:
		skip_line(script, "no known line of perf script");
		break;
	case PERF_LINE_BRANCH:
		feed_branch(script, &line, text, length);
		break;
	case PERF_LINE_ERROR:
		echo(script, text, length);
		feed_error(script, &line);
		break;
	case PERF_LINE_HIT:
		script->counts->hits++;
		echo(script, text, length);
		feed_time(script, &line, NULL);
		pass_hit(script, &line);
		break;
	case PERF_LINE_SAMPLE:
		script->counts->samples++;
		echo(script, text, length);
		feed_time(script, &line, NULL);
		break;
	case PERF_LINE_CBR:
		echo(script, text, length);
		feed_time(script, &line, NULL);
		break;
	case PERF_LINE_PTWRITE:
		echo(script, text, length);
		feed_time(script, &line, script->ptwrite);
		break;
	case PERF_LINE_NAMELESS:
		script->counts->samples++;
		break;
	case PERF_LINE_BLANK:
	case PERF_LINE_IGNORED:
		break;
	}
}

/*
 * Read one line without its newline into `text` of LINE_MAX_BYTES.
 * Returns 1 with *length, the whole line's up to LINE_LIMIT, although `text` has no more of it
 * than there is room for; 0 at the end.
 */
static int read_line(FILE *in, char *text, size_t *length)
{
	int c = getc_unlocked(in);

	*length = 0;
	if (c == EOF)
		return 0;
	for (; c != EOF && c != '\n'; c = getc_unlocked(in)) {
		if (*length < LINE_MAX_BYTES)
			text[*length] = (char)c;
		if (++*length > LINE_LIMIT)
			break;
	}
	return 1;
}

static int read_lines(struct script *script, FILE *in, struct error *err)
{
	char *text = alloc_zeroed(LINE_MAX_BYTES, 1);
	size_t length = 0;

	/* The last line before an interruption may have been cut. */
	while (script->strange < STRANGE_MOST && length <= LINE_LIMIT &&
	       read_line(in, text, &length) && !interrupt_asked()) {
		script->counts->lines++;
		if (length < LINE_MAX_BYTES)
			feed_line(script, text, length);
		else
			skip_line(script, "too long");
	}
	free(text);
	if (length > LINE_LIMIT)
		return error_set(err, ERROR_LIMIT,
				 "line %" PRIu64
				 " has more than %zu MiB: the text is not output of "
				 "perf script",
				 script->counts->lines, LINE_LIMIT >> 20);
	if (script->strange >= STRANGE_MOST)
		return error_set(err, ERROR_LIMIT,
				 "the last %d lines up to line %" PRIu64
				 " are not output of perf script",
				 STRANGE_MOST, script->counts->lines);
	return 0;
}

static void finish_threads(struct script *script)
{
	for (struct script_thread *thread = script->first; thread; thread = thread->next) {
		callstack_finish(thread->stack);
		callstack_close(thread->stack);
	}
	HASH_CLEAR(hh, script->by_id);
}

int perf_script_convert(FILE *in, const struct perf_script_options *options,
			struct perf_script_counts *counts, struct error *err)
{
	struct perf_script_counts own_counts = { 0 };
	struct script script = { .options = options, .counts = counts ? counts : &own_counts };
	struct text_view ptwrite = { "PTWRITE", strlen("PTWRITE") };
	int status = 0;

	*script.counts = own_counts;
	script.last = &script.first;
	script.text = alloc_zeroed(LINE_MAX_BYTES, 1);
	script.ptwrite = symbol_of(&script, ptwrite, 0);
	status = read_lines(&script, in, err);
	if (status == 0 && ferror(in) && !interrupt_asked())
		status = error_set_system(err, errno, "cannot read the text");
	if (options->input_end)
		options->input_end(options->context, options->machine->newer_upstream);
	finish_threads(&script);
	demangler_release(&script.demangler);
	free(script.symbols);
	free(script.text);
	return status;
}
