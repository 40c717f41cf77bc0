/* SPDX-License-Identifier: MIT */
/* Feeds the branches of perf script text to a call-stack machine. */
#include "src/perf_script/perf_script.h"

#include "base/io/interrupt.h"
#include "base/io/temp_file.h"
#include "base/tables/hash.h"
#include "src/select/mode_filter.h"
#include "symbols/dso/dso_store.h"

/* Lines of perf script are shorter: its symbols and paths have at most some KiB. */
#define LINE_MAX_BYTES ((size_t)64 * 1024)
/* Bytes of a near call: SDM volume 2, "CALL". */
#define NEAR_CALL_LONGEST 8
/* Text with longer lines, or more unknown lines in a row, is not perf script's, or is endless. */
#define LINE_LIMIT   ((size_t)16 << 20)
#define STRANGE_MOST 100000
/* Code without a branch has at most this many bytes; one in SKIP_SHARE branches may skip more. */
#define STRAIGHT_MOST ((uint64_t)1 << 20)
#define SKIP_SHARE    4

const struct perf_script_lack perf_script_lacks[PERF_SCRIPT_LACKS] = {
	{ "flags", "kinds of branches are inferred" },
	{ "symoff", "functions begin where they are first called" },
	{ "time", "times are invented, 1 ns a line" },
	{ "ns", "times are whole microseconds" },
	{ "tid", "all is one thread" },
	{ "addr", "calls are those of perf's call tree" },
	{ "returns", "every line is a call, up to the next call at its level" },
	{ "sym", "functions have no names" },
	{ "branches", "calls are missing or seem to be in others" },
};

/* A thread of the text. */
struct script_thread {
	struct script_id {
		int32_t pid, tid;
	} id;
	struct callstack *stack;     /* owned */
	struct inferred_calls calls; /* owned */
	uint64_t at;                 /* where the previous branch led; 0: unknown */
	UT_hash_handle hh;
};

struct script {
	const struct perf_script_options *options;
	struct perf_script_counts *counts;
	struct script_thread *by_id;    /* hash, in the order of appearance */
	struct script_thread *previous; /* thread of the previous line: mostly the same */
	/* A function of the text, or a file of code without names. */
	struct text_symbol {
		struct symbol symbol;
		bool start_known; /* by an offset, or by a call to it */
	} * *symbols;             /* owned array, by the id of the name in the text */
	size_t symbol_room;
	const struct symbol *ptwrite; /* how a PTWRITE is shown */
	char *text;                   /* owned: LINE_MAX_BYTES for a made-up name */
	struct demangler demangler;
	uint64_t time;           /* time of the line before */
	uint8_t ids;             /* enum perf_line_ids, of the previous branch */
	uint64_t no_ip, no_addr; /* branches without the field; no_addr may include samples */
	unsigned strange;        /* consecutive lines that are not known */
	bool names_seen;         /* the field sym is printed */
	uint64_t near, skipped;  /* branches from where the previous one led, or from elsewhere */
	uint64_t later, earlier; /* lines with a later or earlier time than the previous line */
	bool any_time, relative; /* the text has times; they begin with 0: --reltime, --deltatime */
};

static struct script_thread *new_thread(struct script *script, const struct perf_line *line)
{
	const struct perf_script_options *options = script->options;
	struct script_thread *thread = arena_alloc(script->options->arena, sizeof(*thread));
	void *track = NULL;

	if (options->track)
		track = options->track(options->context, line->pid, line->tid);
	thread->id = (struct script_id){ line->pid, line->tid };
	thread->stack = callstack_open(options->machine, track);
	HASH_ADD(hh, script->by_id, id, sizeof(thread->id), thread);
	return thread;
}

static struct script_thread *script_thread_of(struct script *script, const struct perf_line *line)
{
	struct script_thread *thread = script->previous;
	struct script_id id = { line->pid, line->tid };

	if (thread && thread->id.pid == id.pid && thread->id.tid == id.tid)
		return thread;
	HASH_FIND(hh, script->by_id, &id, sizeof(id), thread);
	if (!thread)
		thread = new_thread(script, line);
	script->previous = thread;
	return thread;
}

/* Returns the slot of the symbol with a name; it is NULL until the symbol is made. */
static struct text_symbol **symbol_slot(struct script *script, const struct name *name)
{
	ARRAY_GROW_ZEROED(script->symbols, script->symbol_room, (size_t)name->id + 1);
	return &script->symbols[name->id];
}

/*
 * Returns the name to show for a symbol of the text: a mangled one in the style of the options, any
 * other as perf printed it; an apparent suffix may be an operator, "Stdlib.@_139".
 */
static const struct name *shown_name(struct script *script, const struct name *linkage)
{
	static const char plt[] = "@plt";
	struct name_table *names = script->options->names;
	bool stub = ends_with(linkage->text, plt);
	size_t length = linkage->length - (stub ? strlen(plt) : 0);
	const char *shown;

	snprintf(script->text, LINE_MAX_BYTES, "%.*s", (int)length, linkage->text);
	if (strlen(script->text) != length || /* a NUL in the name */
	    !demangler_demangle(&script->demangler, script->text, DEMANGLE_PERF))
		return linkage;
	shown = demangler_demangle(&script->demangler, script->text, script->options->demangle);
	if (!shown)
		return linkage;
	length = (size_t)snprintf(script->text, LINE_MAX_BYTES, "%s%s", shown, stub ? plt : "");
	return length < LINE_MAX_BYTES ? name_intern(names, script->text, length) : linkage;
}

/* Returns the symbol of a text, shown as `name`; NULL: as the text in the options' style. */
static struct text_symbol *symbol_of(struct script *script, struct text_view text,
				     const struct name *name)
{
	const struct name *linkage = name_intern(script->options->names, text.at, text.length);
	struct text_symbol **slot = symbol_slot(script, linkage);
	struct text_symbol *symbol;

	if (!*slot) {
		symbol = arena_alloc(script->options->arena, sizeof(*symbol));
		*symbol = (struct text_symbol){
			.symbol = { .name = name ?: shown_name(script, linkage),
				    .linkage = name ?: linkage,
				    .kind = dso_names_stub(text.at, text.length)
						    ? SYMBOL_PLT
						    : SYMBOL_FUNCTION },
		};
		*slot = symbol;
	}
	return *slot;
}

/* Returns the symbol for an address: "[unknown @ 0xADDR (DSO)]", signed, as magic-trace names it.
 */
static const struct symbol *address_symbol(struct script *script,
					   const struct perf_line_location *parsed)
{
	bool negative = parsed->ip >> 63;
	int length = snprintf(script->text, LINE_MAX_BYTES, "[unknown @ %s0x%" PRIx64 " (%.*s)]",
			      negative ? "-" : "", negative ? 0 - parsed->ip : parsed->ip,
			      (int)parsed->dso.length, parsed->dso.at);
	struct text_view text = { script->text, (size_t)length };
	struct text_symbol *symbol;

	if (text.length >= LINE_MAX_BYTES)
		text.length = LINE_MAX_BYTES - 1;
	symbol = symbol_of(script, text, NULL);
	symbol->symbol.start = parsed->ip;
	return &symbol->symbol;
}

/* Returns the symbol for all code of a file without symbols, "[libc.so.6]"; NULL: no file. */
static const struct symbol *file_symbol(struct script *script, struct text_view dso)
{
	const struct name *path = name_intern(script->options->names, dso.at, dso.length), *name;
	char *text;

	if (!strcmp(path->text, "[unknown]"))
		return NULL;
	if (!*symbol_slot(script, path)) {
		text = dso_find_bracketed(path->text);
		name = name_intern_text(script->options->names, text);
		free(text);
		symbol_of(script, dso, name)->symbol.kind = SYMBOL_FILE;
	}
	return &(*symbol_slot(script, path))->symbol;
}

/* Returns whether a location has the name of all code of a file without symbols: "[libc.so.6]". */
static bool is_file(const struct perf_line_location *parsed)
{
	const struct text_view *name = &parsed->symbol;

	return !parsed->has_offset && name->length > 2 && name->at[0] == '[' &&
	       name->at[name->length - 1] == ']';
}

static struct location resolve(struct script *script, const struct perf_line_location *parsed)
{
	struct location location = { parsed->ip, NULL, parsed->offset };
	struct text_symbol *symbol;

	if (is_file(parsed)) {
		location.symbol = file_symbol(script, parsed->symbol);
	} else if (parsed->symbol.length) {
		symbol = symbol_of(script, parsed->symbol, NULL);
		location.symbol = &symbol->symbol;
		if (!parsed->has_offset) {
			script->counts->lacks |= TEXT_LACKS_SYMOFF;
			/* 0 only where the symbol begins. */
			location.offset = symbol->start_known && parsed->ip >= symbol->symbol.start
						  ? parsed->ip - symbol->symbol.start
						  : 1;
		} else if (!symbol->start_known) {
			symbol->symbol.start = parsed->ip - parsed->offset;
			symbol->start_known = true;
		}
	} else if (parsed->has_dso && script->options->name_addresses) {
		location.symbol = address_symbol(script, parsed);
	} else if (parsed->has_dso) {
		location.symbol = file_symbol(script, parsed->dso);
	}
	return location;
}

/* Returns whether a location's offset is from the text, and not invented. */
static bool is_start_known(const struct perf_line_location *parsed, const struct location *location)
{
	/* The symbol is the first member. */
	return parsed->has_offset ||
	       (location->symbol && ((const struct text_symbol *)location->symbol)->start_known);
}

/* A call without an offset leads to its function's start, unless it only reads its address. */
static void learn_start(struct script *script, const struct perf_line_location *parsed,
			const struct branch_event *event, struct location_pair *locations)
{
	struct text_symbol *symbol;

	if (event->kind != BRANCH_CALL || parsed->has_offset || !parsed->symbol.length ||
	    is_file(parsed) ||
	    (locations->from.symbol == locations->to.symbol &&
	     event->to - event->from <= NEAR_CALL_LONGEST))
		return;
	symbol = symbol_of(script, parsed->symbol, NULL);
	symbol->symbol.start = event->to;
	symbol->start_known = true;
	locations->to.offset = 0;
}

static void echo(const struct script *script, const char *text, size_t length)
{
	if (script->options->echo)
		script->options->echo(script->options->context, text, length);
}

static void feed(struct script *script, const struct perf_line *line, struct branch_event *event,
		 const struct location_pair *locations, const struct branch_notes *notes)
{
	event->time = line->time;
	if (line->has_time &&
	    (!script->counts->first_time || line->time < script->counts->first_time))
		script->counts->first_time = line->time;
	script->counts->last_time = MAX(script->counts->last_time, line->time);
	script->options->machine->lacks_levels |= (script->counts->lacks & TEXT_LACKS_LEVELS) != 0;
	callstack_feed(script_thread_of(script, line)->stack,
		       &(struct resolved_branch){ event, locations }, notes);
}

/* Feed a branch, whether or not its line changes more than the location inside one function. */
static void feed_locations(struct script *script, const struct perf_line *line,
			   struct branch_event *event, struct location_pair *locations)
{
	if (!event->from)
		locations->from = (struct location){ 0 };
	if (!event->to)
		locations->to = (struct location){ 0 };
	script->counts->branches++;
	feed(script, line, event, locations, NULL);
}

static bool same_unnamed(const struct perf_line *line)
{
	const struct text_view *from = &line->from.dso, *to = &line->to.dso;

	return !line->from.symbol.length && !line->to.symbol.length && from->length == to->length &&
	       (!from->length || !memcmp(from->at, to->at, from->length));
}

/* Code runs upwards between branches, so few branches of a complete text begin elsewhere. */
static void check_path(struct script *script, const struct perf_line *line)
{
	struct script_thread *thread = script_thread_of(script, line);

	if (thread->at && line->from.ip && !(line->flags & BRANCH_TRACE_ON)) {
		script->near++;
		script->skipped += line->from.ip - thread->at > STRAIGHT_MOST;
		if (script->skipped * SKIP_SHARE > script->near)
			script->counts->lacks |= TEXT_LACKS_BRANCHES;
	}
	thread->at = line->flags & BRANCH_TRACE_OFF ? 0 : line->to.ip;
}

static void feed_branch(struct script *script, const struct perf_line *line, const char *text,
			size_t length)
{
	struct location_pair locations = {
		.from = resolve(script, &line->from),
		.to = resolve(script, &line->to),
	};
	struct branch_event event = {
		.from = line->from.ip, .to = line->to.ip, .kind = line->branch, .flags = line->flags
	};

	/* The text does not say which jumps are indirect; any may be. */
	if (event.kind == BRANCH_JUMP)
		event.flags |= BRANCH_INDIRECT;
	if (!line->has_flags) {
		script->counts->lacks |= TEXT_LACKS_FLAGS;
		inferred_calls_branch(&script_thread_of(script, line)->calls, &event, &locations,
				      same_unnamed(line), is_start_known(&line->to, &locations.to));
	}
	check_path(script, line);
	script->names_seen |= line->from.has_name || line->to.has_name;
	learn_start(script, &line->to, &event, &locations);
	if (script->options->machine->like_upstream)
		locations.to.symbol = line->to.has_offset ? locations.to.symbol : NULL;
	else if (line->from.has_dso || line->to.has_dso)
		script->options->machine->newer_upstream = true;
	if (!mode_filter_event(script->options->mode, &event))
		return;
	/* A symbol is one per name, so equal names are equal pointers. */
	if (locations.from.symbol != locations.to.symbol)
		echo(script, text, length);
	feed_locations(script, line, &event, &locations);
}

static void feed_tree(struct script *script, const struct perf_line *line, const char *text,
		      size_t length)
{
	struct tree_branch branches[TREE_BRANCHES_MOST];
	const struct symbol *symbol = line->from.symbol.length
					      ? &symbol_of(script, line->from.symbol, NULL)->symbol
					      : NULL;
	size_t count =
		inferred_calls_tree(&script_thread_of(script, line)->calls, line, symbol, branches);

	script->counts->lacks |= TEXT_LACKS_ADDR | (line->has_flags ? 0 : TEXT_LACKS_RETURNS);
	echo(script, text, length);
	for (size_t i = 0; i < count; i++)
		if (mode_filter_event(script->options->mode, &branches[i].event))
			feed_locations(script, line, &branches[i].event, &branches[i].locations);
}

static void feed_error(struct script *script, const struct perf_line *line)
{
	struct branch_event event = { .from = line->from.ip, .kind = BRANCH_GAP, .gap = line->gap };
	struct location_pair locations = { .from = { .ip = line->from.ip } };
	struct branch_notes notes = { .message = script->text, .untimed = !line->has_time };

	/* As in magic-trace, an error in the other level ends all frames, as lost data does. */
	if (!mode_filter_event(script->options->mode, &event))
		event.gap = GAP_LOST;
	memcpy(script->text, line->message.at, line->message.length);
	script->text[line->message.length] = 0;
	script->counts->gaps[line->gap]++;
	script_thread_of(script, line)->at = 0;
	feed(script, line, &event, &locations, &notes);
}

/* Feed an event that advances the time and does not change the stack; `mark` is shown. */
static void feed_time(struct script *script, const struct perf_line *line,
		      const struct symbol *mark)
{
	static const struct location_pair nowhere;
	struct branch_event event = { .kind = BRANCH_NONE };
	struct branch_notes notes = { .mark = mark };

	/* magic-trace 1.0 does not know these lines. */
	if (script->options->machine->like_upstream)
		return;
	if (line->from.has_dso)
		script->options->machine->newer_upstream = true;
	feed(script, line, &event, &nowhere, &notes);
}

static void skip_line(struct script *script, const char *reason)
{
	script->strange++;
	script->counts->unknown++;
	diag_warn(script->options->diag, "unknown-line",
		  "line %" PRIu64 " of the text is %s; skipped", script->counts->lines, reason);
}

/* A decode error has the recording's time, whatever perf prints on other lines. */
static void check_time(struct script *script, struct perf_line *line)
{
	if (line->kind == PERF_LINE_ERROR &&
	    (script->relative || script->counts->lacks & TEXT_LACKS_TIME)) {
		line->has_time = false;
		line->time = script->time;
	} else if (line->kind == PERF_LINE_ERROR) {
		return;
	} else if (line->has_time) {
		script->relative |= !script->any_time && !line->time;
		script->later += script->any_time && line->time > script->time;
		script->earlier += script->any_time && line->time < script->time;
		script->any_time = true;
	}
}

/* Fill in the thread and the time of a line that lacks them. */
static void complete_header(struct script *script, struct perf_line *line)
{
	bool branch = line->kind == PERF_LINE_BRANCH || line->kind == PERF_LINE_CALL_TREE;

	check_time(script, line);
	if (branch && !line->has_time) {
		script->counts->lacks |= TEXT_LACKS_TIME;
		script->time++;
	} else if (branch && !line->has_ns) {
		script->counts->lacks |= TEXT_LACKS_NS;
	}
	if (line->has_time) {
		script->time = line->time;
	} else if (script->counts->lacks & TEXT_LACKS_TIME) {
		line->time = script->time;
		line->has_time = true;
	}
	if (branch && !line->ids)
		script->counts->lacks |= TEXT_LACKS_TID;
	if (branch)
		script->ids = line->ids;
	/* An error has both ids. */
	if (line->kind == PERF_LINE_ERROR && script->ids == PERF_IDS_ONE)
		line->pid = line->tid;
	else if (line->kind == PERF_LINE_ERROR && script->ids == PERF_IDS_NONE &&
		 script->counts->branches)
		line->pid = line->tid = -1;
}

static void feed_line(struct script *script, const char *text, size_t length)
{
	struct perf_line line;

	perf_line_parse(&line, text, length);
	complete_header(script, &line);
	if (line.kind == PERF_LINE_BLANK)
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
	case PERF_LINE_CALL_TREE:
		feed_tree(script, &line, text, length);
		break;
	case PERF_LINE_NAMELESS:
	case PERF_LINE_NO_IP:
	case PERF_LINE_NO_ADDR:
		script->no_ip += line.kind == PERF_LINE_NO_IP;
		script->no_addr += line.kind == PERF_LINE_NO_ADDR;
		script->counts->samples++;
		break;
	case PERF_LINE_ERROR:
		echo(script, text, length);
		feed_error(script, &line);
		break;
	case PERF_LINE_HIT:
	case PERF_LINE_SAMPLE:
	case PERF_LINE_CBR:
	case PERF_LINE_PTWRITE:
		script->counts->hits += line.kind == PERF_LINE_HIT;
		script->counts->samples += line.kind == PERF_LINE_SAMPLE;
		echo(script, text, length);
		feed_time(script, &line, line.kind == PERF_LINE_PTWRITE ? script->ptwrite : NULL);
		if (line.kind == PERF_LINE_HIT && script->options->hit) {
			struct location location = resolve(script, &line.from);

			script->options->hit(script->options->context, &line, &location);
		}
		break;
	case PERF_LINE_BLANK:
	case PERF_LINE_IGNORED:
		break;
	}
}

/*
 * Read one line without its newline into `text` of LINE_MAX_BYTES.  Returns 1 with *length, the
 * whole line's up to LINE_LIMIT, even if `text` has only the part that fits; 0 at the end.
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
	       read_line(in, text, &length) && !interrupt_asked() && !temp_files_spent()) {
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

/*
 * Branches without addresses give no calls, and times since the previous line no times. (Times of
 * CPUs that perf prints in turns go back only a little, and seldom.) Returns -1 with *err filled.
 */
static int check_fields(struct script *script, struct error *err)
{
	if (script->counts->branches && !script->names_seen &&
	    !(script->counts->lacks & TEXT_LACKS_ADDR))
		script->counts->lacks |= TEXT_LACKS_SYM;
	if (script->relative && script->earlier * 2 > script->later)
		return error_set(err, ERROR_UNSUPPORTED,
				 "the text has times since the previous line (--deltatime): print "
				 "it with " PERF_SCRIPT_COMMAND);
	if (script->counts->branches || !script->counts->samples || script->counts->hits)
		return 0;
	if (!(script->no_ip + script->no_addr))
		return error_set(err, ERROR_UNSUPPORTED,
				 "the text has samples, but no branches: print it "
				 "with " PERF_SCRIPT_COMMAND);
	return error_set(err, ERROR_UNSUPPORTED,
			 "the text has no field %s: print it with " PERF_SCRIPT_COMMAND,
			 script->no_ip ? "ip" : "addr");
}

int perf_script_convert(FILE *in, const struct perf_script_options *options,
			struct perf_script_counts *counts, struct error *err)
{
	struct perf_script_counts own_counts = { 0 };
	struct script script = { .options = options, .counts = counts ? counts : &own_counts };
	struct text_view ptwrite = { "PTWRITE", strlen("PTWRITE") };
	int status = 0;
	struct script_thread *thread, *next;

	*script.counts = own_counts;
	script.text = alloc_zeroed(LINE_MAX_BYTES, 1);
	script.ptwrite = &symbol_of(&script, ptwrite, NULL)->symbol;
	status = read_lines(&script, in, err);
	if (status == 0 && ferror(in) && !interrupt_asked())
		status = error_set_system(err, errno, "cannot read the text");
	if (status == 0)
		status = check_fields(&script, err);
	if (options->input_end)
		options->input_end(options->context, options->machine->newer_upstream);
	HASH_ITER(hh, script.by_id, thread, next)
	{
		callstack_finish(thread->stack);
		callstack_close(thread->stack);
		inferred_calls_release(&thread->calls);
	}
	HASH_CLEAR(hh, script.by_id);
	demangler_release(&script.demangler);
	free(script.symbols);
	free(script.text);
	return status;
}
