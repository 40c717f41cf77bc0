/* SPDX-License-Identifier: MIT */
/* Compare the code of slow calls and usual calls: loops, lines and stops. */
#include "src/formats/answers/slow_causes.h"

#include "decoder/history.h"
#include "src/costs/executed_code.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/formats/text/time_note.h"
#include "src/slices/slice_args.h"
#include "symbols/dso/dso_store.h"

/* Minimum shares of a cluster's extra: to name a loop, and to look up lines of code. */
#define LOOP_SHARE 0.3
#define LINE_SHARE 0.05
/* Minimum share of the extra of all named lines together. */
#define LINES_SHARE 0.6
/* Limit of named lines. */
#define LINES_MOST 3
/* Limit of slow calls of a cluster whose end was not traced and whose place is named. */
#define CUTS_MOST 3
/* Minimum share of an instruction's executions that stop, if it faults; interrupts hit any code. */
#define STOP_SHARE 0.25

/* Part of a window that a call takes at least to be in the log of threads. */
#define SHORT_SHARE 4096

/* Minimum number of usual calls; with fewer, a branch that no usual call takes says nothing. */
#define PARTING_CALLS 2

/* Most calls that are examined: see take_step(). */
#define LOOK_STEPS (SLOW_LOOKS * LOOK_CLUSTERS + USUAL_CALLS)

/* ---- What to look at ----------------------------------------------------- */

/* Keep the counts of a call that has returned, or of the slow call if the window cuts it. */
static void keep_code(struct slow_look *look, bool returned)
{
	const struct code_trail *trail = &look->trail;
	struct slow_answer *answer = &look->answers[look->answer];
	const struct slow_call *call = look->call;
	uint64_t ns = trail->end - trail->begin;

	if (call && trail->begin <= call->begin && trail->end >= call->begin + call->duration / 2) {
		code_counts_add(&look->cluster->code, &trail->now);
		look->wait = trail->wait;
		if ((double)trail->waited >= LOOP_SHARE * look->cluster->extra)
			look->wait_end = trail->wait_end;
		if (call == look->cluster->calls[0] &&
		    function_table_same(trail->function, slow_symbol(answer, answer->function))) {
			look->cluster->entry_ns = trail->begin;
			look->cluster->entry_number = trail->number;
		}
		look->call = NULL;
	} else if (returned && ns - trail->stopped <= look->bound &&
		   answer->code.calls < USUAL_LOOKS) {
		code_counts_add(&answer->code, &trail->now);
	}
}

/*
 * Take the call of a step: slow ones of the clusters, then usual ones.  Returns false if the step
 * has no call.
 */
static bool take_step(struct slow_look *look, size_t step, struct look_window *window)
{
	struct slow_answer *answer = &look->answers[look->answer];
	size_t cluster = step / SLOW_LOOKS, number = step % SLOW_LOOKS;
	const struct slow_call *usual;

	look->call = NULL;
	if (cluster < LOOK_CLUSTERS) {
		if (cluster >= answer->count || number >= answer->clusters[cluster].count ||
		    (cluster && number))
			return false;
		look->cluster = &answer->clusters[cluster];
		if (look->cluster->alike && look->cluster->often > 0 &&
		    slow_symbol(answer, look->cluster->cause)->special != SPECIAL_OFF_CPU)
			return false; /* of any code */
		look->call = look->cluster->calls[number];
		*window = (struct look_window){ .begin = look->call->begin,
						.end = look->call->begin + look->call->duration,
						.tid = look->call->track->tid };
		return true;
	}
	number = (step - SLOW_LOOKS * LOOK_CLUSTERS) *
		 MAX(answer->of->sample_count / USUAL_CALLS, (size_t)1);
	if (number >= answer->of->sample_count || answer->code.calls >= USUAL_LOOKS / 2 ||
	    answer->of->samples[number].amount > answer->bound)
		return false;
	usual = &answer->of->samples[number];
	*window = (struct look_window){ .begin = usual->begin,
					.end = usual->begin + usual->duration,
					.tid = usual->track->tid };
	return true;
}

/* All of a window has come. */
static void end_window(struct slow_look *look)
{
	if (code_trail_end(&look->trail))
		keep_code(look, false);
	if (look->log.count) {
		const struct slow_answer *answer = &look->answers[look->answer];
		struct thread_wait *wait = &look->cluster->wait;
		const struct symbol *symbol = slow_symbol(answer, answer->function);
		const struct wait_search search = { &look->log, look->timeline, symbol->dso,
						    slice_source_line(symbol).line > 0,
						    &look->syscalls };
		bool recorded = wait->off.waking;

		/* Find who ended the wait of the call in the log. */
		if ((recorded || look->wait_end) && !wait->hop_count)
			thread_wait_find(wait, &search, look->trail.tid,
					 recorded ? wait->off.begin : look->wait_end - look->wait,
					 recorded ? wait->off.end : look->wait_end);
		look->left_out += look->log.count == THREAD_LOG_MOST;
		thread_log_release(&look->log);
	}
}

void slow_look_see(struct slow_look *look, const struct branch_event *event,
		   const struct location_pair *places)
{
	/* Traces of CPUs begin earlier, at different times: those of a thread can have a gap. */
	if (look->trail.time < look->from && event->time >= look->from)
		code_trail_end(&look->trail);
	if (code_trail_follow(&look->trail, event, places))
		keep_code(look, true);
	if (look->call_waits && event->time >= look->from)
		thread_log_add(&look->log, event, places);
}

/*
 * Returns the function by whose entry a trail finds calls: the answer's or, if that is inlined, its
 * caller; NULL: not found.
 */
static const struct slow_function *entered_function(const struct slow_answer *answer)
{
	const struct slow_calls *calls = answer->calls;
	const struct slow_function *function = &calls->functions[answer->function];
	uint32_t path = NODE_NONE + 1;

	while (path < calls->tree.count && calls->paths[path].function != answer->function)
		path++;
	while (function && (function->symbol->inlined || !function->kept)) {
		path = path < calls->tree.count ? calls->tree.nodes[path].caller : NODE_NONE;
		function = path ? &calls->functions[calls->paths[path].function] : NULL;
	}
	return function;
}

/*
 * Find when the slowest call was off CPU, if that is a part of the extra time, and longer than what
 * is left out of its amount.  Returns whether its waker's calls can be found: by a waking, or if it
 * waits in a system call.
 */
static bool find_off_cpu(struct slow_look *look)
{
	const struct slow_call *call = look->call;
	struct thread_wait *wait = &look->cluster->wait;
	uint64_t stopped = call->with_stops ? 0 : call->stopped;
	const struct symbol *leaf = slow_symbol(&look->answers[look->answer], look->cluster->leaf);
	struct off_cpu off;

	if (wait->off.end)
		return false;
	wait->call = symbol_is_syscall(leaf) ? leaf : NULL;
	if (look->timeline &&
	    timeline_off_cpu(look->timeline, call->track->tid, call->begin,
			     call->begin + call->duration, &off) &&
	    off.end - off.begin > stopped &&
	    (double)(off.end - off.begin) >= LOOP_SHARE * look->cluster->extra)
		wait->off = off;
	if (wait->off.waking && wait->off.waking->waker)
		wait->other = timeline_borrow_thread(look->timeline, wait->off.waking->waker,
						     wait->off.waking->time);
	return wait->other || (!wait->off.waking && symbol_is_syscall(leaf));
}

bool slow_look_next(struct slow_look *look, struct look_window *window)
{
	end_window(look);
	look->left_out += window->left_out;
	for (; look->answer < look->count; look->answer++, look->step = 0) {
		const struct slow_answer *answer = &look->answers[look->answer];
		const struct slow_function *entered = entered_function(answer);

		if (!entered || !answer->count || answer->calls->by_insns)
			continue;
		while (look->step < LOOK_STEPS && !take_step(look, look->step, window))
			look->step++;
		if (look->step++ >= LOOK_STEPS)
			continue;
		look->bound = answer->bound;
		if (entered != &answer->calls->functions[answer->function])
			look->bound = durations_percentile(&entered->durations, 90);
		look->trail.function = entered->symbol;
		look->trail.tid = window->tid;
		look->wait_end = 0;
		look->call_waits = look->call && find_off_cpu(look);
		window->all_threads = look->call_waits;
		window->begin -= MIN(window->begin, LOOK_SLACK);
		window->end += LOOK_SLACK;
		look->from = entered->symbol == slow_symbol(answer, answer->function)
				     ? window->begin
				     : 0;
		look->log.least = (window->end - window->begin) / SHORT_SHARE;
		look->windows++;
		return true;
	}
	return false;
}

void slow_look_release(struct slow_look *look)
{
	code_trail_release(&look->trail);
	thread_log_release(&look->log);
	syscall_symbols_release(&look->syscalls);
}

/* ---- Loops --------------------------------------------------------------- */

struct code_loop {
	const struct symbol *symbol; /* NULL: none */
	uint64_t head, last;         /* its first instruction, and last jump back */
	double rounds[2];            /* rounds in a slow call, and in a usual one */
	double extra;                /* ns of a call */
};

static double per_call(double sum, const struct code_counts *counts)
{
	return mean_of(sum, counts->calls);
}

/* Returns the rounds of a loop, and raises `latch` to its last jump back. */
static double count_rounds(const struct code_counts *counts, const struct code_part *head,
			   uint64_t *latch)
{
	double rounds = 0;

	for (const struct code_part *part = counts->parts; part; part = part->hh.next) {
		if (part->key.kind != CODE_BACK || part->key.symbol != head->key.symbol ||
		    part->key.begin != head->key.begin)
			continue;
		rounds += (double)part->count;
		*latch = part->key.last > *latch ? part->key.last : *latch;
	}
	return per_call(rounds, counts);
}

/* Returns the time in some code of a function, with callees. */
static double time_within(const struct code_counts *counts, const struct code_part *head,
			  uint64_t latch)
{
	double all = 0;

	for (const struct code_part *part = counts->parts; part; part = part->hh.next) {
		if (part->key.kind == CODE_STRAIGHT && part->key.symbol == head->key.symbol &&
		    part->key.begin >= head->key.begin && part->key.last <= latch)
			all += part->all;
	}
	return per_call(all, counts);
}

/*
 * Find the loop that has more rounds than usual: in `dso` the one with the most extra time by that,
 * which is an outer one; with `anywhere`, in any file the one with the most extra rounds.
 */
static struct code_loop find_loop(const struct code_counts *slow, const struct code_counts *usual,
				  const struct dso *dso, bool anywhere, double least)
{
	struct code_loop found = { .extra = least };
	double rounds = 0;

	for (const struct code_part *head = slow->parts; head; head = head->hh.next) {
		struct code_loop loop = { .symbol = head->key.symbol,
					  .head = head->key.begin,
					  .last = head->key.last };
		uint64_t latch = 0;

		if (head->key.kind != CODE_BACK || (!anywhere && head->key.symbol->dso != dso))
			continue;
		loop.rounds[0] = count_rounds(slow, head, &latch);
		loop.rounds[1] = count_rounds(usual, head, &latch);
		if (latch != head->key.last || loop.rounds[0] < 1.5 * loop.rounds[1] + 2)
			continue; /* another of its jumps is the last one */
		loop.extra = time_within(slow, head, latch) - time_within(usual, head, latch);
		if (!anywhere ? loop.extra <= found.extra
			      : loop.extra < least || loop.rounds[0] - loop.rounds[1] <= rounds)
			continue;
		found = loop;
		rounds = loop.rounds[0] - loop.rounds[1];
	}
	return found;
}

/* ---- Lines --------------------------------------------------------------- */

static const struct name *inlined_at(const struct symbol *symbol, uint64_t offset)
{
	const struct inlined_call *inlined = dso_inlined_at(symbol->dso, symbol->start + offset);

	return inlined ? inlined->symbol->name : symbol->name;
}

static size_t add_line(struct code_line *lines, size_t count, const struct code_line *line)
{
	for (size_t i = 0; i < count; i++)
		if (lines[i].file == line->file && lines[i].line == line->line) {
			lines[i].extra += line->extra;
			return count;
		}
	if (!line->file || !line->line || count == CODE_LINES)
		return count;
	lines[count] = *line;
	return count + 1;
}

COMPARE_WITH(compare_lines, struct code_line,
	     COMPARE(b->extra, a->extra) ?: COMPARE(a->line, b->line))

size_t slow_source_lines(struct slow_answer *answer, const struct slow_cluster *cluster,
			 struct code_line lines[CODE_LINES])
{
	const struct code_counts *slow = &cluster->code;
	struct code_counts *usual = &answer->code;
	size_t count = 0;

	if (!slow->calls || !usual->calls)
		return 0;
	for (const struct code_part *part = slow->parts; part; part = part->hh.next) {
		double more = per_call(part->ns, slow) -
			      per_call(code_counts_part(usual, &part->key)->ns, usual);

		if (part->key.kind == CODE_STRAIGHT && more >= LINE_SHARE * cluster->extra) {
			const struct symbol *symbol = part->key.symbol;
			uint64_t ats[64], at = part->key.begin;
			size_t insns = 0, length;

			/* Divide the extra of straight code among the lines of its instructions. */
			while (at <= part->key.last && insns < 64 && symbol->dso &&
			       (length =
					executed_insn_at(symbol->dso, symbol->start + at).length)) {
				ats[insns++] = at;
				at += length;
			}
			for (size_t i = 0; i < insns; i++) {
				struct source_line source = dso_line(symbol, ats[i]);
				const struct code_line line = { source.file, source.line,
								inlined_at(symbol, ats[i]),
								more / (double)insns };

				count = add_line(lines, count, &line);
			}
		}
	}
	SORT(lines, count, compare_lines);
	return count;
}

/* ---- Facts --------------------------------------------------------------- */

/* Add a fact; the cluster becomes the owner of its words. */
static struct cause_fact *add_fact(struct slow_cluster *cluster, const char *kind, char *words)
{
	if (cluster->fact_count == FACTS_MOST)
		cause_fact_remove(cluster, FACTS_MOST - 1);
	cluster->facts[cluster->fact_count] = (struct cause_fact){ .kind = kind, .words = words };
	return &cluster->facts[cluster->fact_count++];
}

void cause_fact_remove(struct slow_cluster *cluster, size_t number)
{
	struct cause_fact *fact = &cluster->facts[number];

	free(fact->words);
	memmove(fact, fact + 1, (--cluster->fact_count - number) * sizeof(*fact));
}

static void print_place(const struct name *file, uint32_t line, const struct name *function,
			FILE *out)
{
	if (file && line)
		escaped_printf(out, "%s:%" PRIu32 " in ", base_name(file->text), line);
	short_name_print(function, out);
}

/* Add a fact about code: words, and its place. */
static struct cause_fact *add_code_fact(struct slow_cluster *cluster, const char *kind,
					const char *words, const struct symbol *symbol,
					uint64_t offset)
{
	struct source_line source =
		symbol->dso ? dso_line(symbol, offset) : (struct source_line){ 0 };
	struct cause_fact *fact = add_fact(cluster, kind, NULL);
	FILE *out = OPEN_TEXT(fact->words);

	fputs(words, out);
	fact->function = symbol->dso ? inlined_at(symbol, offset) : symbol->name;
	if (symbol->dso && (!source.file || !source.line)) {
		bool unnamed = symbol->kind == SYMBOL_UNNAMED;

		/* Code without a line: FUNCTION+0x12, or FILE+0x1234 without a function's name. */
		short_name_print(unnamed ? symbol->dso->short_name : symbol->name, out);
		fprintf(out, "+0x%" PRIx64, unnamed ? symbol->start + offset : offset);
	} else {
		fact->file = source.file;
		fact->line = source.line;
		print_place(source.file, source.line, fact->function, out);
	}
	alloc_close_text(out, &fact->words);
	return fact;
}

static bool add_loop(const struct slow_answer *answer, struct slow_cluster *cluster)
{
	const struct dso *dso = slow_symbol(answer, answer->function)->dso;
	double least = LOOP_SHARE * cluster->extra;
	struct code_loop loop = find_loop(&cluster->code, &answer->code, dso, false, least);
	struct cause_fact *fact;
	char words[64];
	bool inlined;

	if (!loop.symbol)
		loop = find_loop(&cluster->code, &answer->code, dso, true, least);
	if (!loop.symbol)
		return false;
	snprintf(words, sizeof(words), "went round %.0f times, usually %.*f: ", loop.rounds[0],
		 loop.rounds[1] > 0 && loop.rounds[1] < 9.95, loop.rounds[1]);
	/* If the loop begins in an inlined callee, its own line is that of the jump. */
	inlined = loop.symbol->dso &&
		  dso_inlined_at(loop.symbol->dso, loop.symbol->start + loop.head);
	fact = add_code_fact(cluster, "loop", words, loop.symbol, inlined ? loop.last : loop.head);
	fact->counts = true;
	fact->slow = loop.rounds[0];
	fact->usual = loop.rounds[1];
	fact->extra = loop.extra;
	return true;
}

/* Returns whether the code whose time grew executed as many instructions and branches as usual. */
static bool executes_as_many(const struct code_counts *slow, struct code_counts *usual,
			     double extra)
{
	double insns = 0, usual_insns = 0, branches = 0, usual_branches = 0;

	for (const struct code_part *part = slow->parts; part; part = part->hh.next) {
		const struct code_part *other = code_counts_part(usual, &part->key);

		if (part->key.kind != CODE_STRAIGHT ||
		    per_call(part->ns, slow) - per_call(other->ns, usual) < LINE_SHARE * extra)
			continue;
		insns += per_call(part->insns, slow);
		usual_insns += per_call(other->insns, usual);
		branches += per_call((double)part->count, slow);
		usual_branches += per_call((double)other->count, usual);
	}
	return insns <= 1.1 * usual_insns && branches <= 1.1 * usual_branches;
}

/*
 * Returns why the same code takes more time: NULL if most slow calls were stopped, as caches are
 * cold then; a lower clock if the cycles did not grow like the time.
 */
static const char *slower_why(const struct slow_cluster *cluster)
{
	const struct path_cost *slow = &cluster->own[0], *usual = &cluster->own[1];
	double time, cycles;
	size_t stopped = 0;

	for (size_t i = 0; i < cluster->count; i++)
		stopped += cluster->calls[i]->stopped > 0;
	if (2 * stopped > cluster->count)
		return NULL;
	if (!slow->own.cycles || !usual->own.cycles || !usual->own.ns)
		return "memory";
	time = (double)slow->own.ns / slow->calls / ((double)usual->own.ns / usual->calls);
	cycles =
		(double)slow->own.cycles / slow->calls / ((double)usual->own.cycles / usual->calls);
	return cycles - 1 < 0.5 * (time - 1) ? "clock" : "memory";
}

/* `loops`: a loop was named, which is the reason unless the code is the same. */
static void add_lines(struct slow_answer *answer, struct slow_cluster *cluster, bool loops)
{
	struct code_line lines[CODE_LINES];
	size_t found = slow_source_lines(answer, cluster, lines), count = 0;
	double sum = 0;
	bool as_many = executes_as_many(&cluster->code, &answer->code, cluster->extra);
	const char *why = as_many ? slower_why(cluster) : NULL;
	struct cause_fact *fact;
	FILE *out;

	while (count < found && count < LINES_MOST && sum < LINES_SHARE * cluster->extra &&
	       lines[count].extra >= LINE_SHARE * cluster->extra)
		sum += lines[count++].extra;
	if (!count || sum < LINES_SHARE / 2 * cluster->extra || (loops && !as_many))
		return;
	fact = add_fact(cluster, why ? why : "lines", NULL);
	out = OPEN_TEXT(fact->words);
	fact->function = lines[0].function;
	fact->file = lines[0].file;
	fact->line = lines[0].line;
	fact->extra = sum;
	fputs(!why          ? "most of its own extra time: "
	      : *why == 'c' ? "same instructions and cycles, more time, a lower clock: "
			    : "same instructions, more time, likely memory: ",
	      out);
	print_place(lines[0].file, lines[0].line, lines[0].function, out);
	for (size_t i = 1; i < count; i++) {
		fputs(", ", out);
		if (lines[i].file == lines[0].file)
			fprintf(out, ":%" PRIu32, lines[i].line);
		else
			print_place(lines[i].file, lines[i].line, lines[i].function, out);
	}
	alloc_close_text(out, &fact->words);
}

/* Returns the executions of an instruction. */
static uint64_t count_executions(const struct code_counts *counts, const struct code_part *stop)
{
	uint64_t count = 0;

	for (const struct code_part *part = counts->parts; part; part = part->hh.next) {
		if (part->key.kind == CODE_STRAIGHT && part->key.symbol == stop->key.symbol &&
		    part->key.begin <= stop->key.last && part->key.last >= stop->key.last)
			count += part->count;
	}
	return count;
}

static void add_faults(struct slow_cluster *cluster)
{
	const struct code_counts *slow = &cluster->code;

	for (const struct code_part *part = slow->parts; part && cluster->calls[0]->with_stops;
	     part = part->hh.next) {
		if (part->key.kind != CODE_STOP || part->count < MAX(slow->calls, (uint64_t)2) ||
		    (double)part->count < STOP_SHARE * (double)count_executions(slow, part))
			continue;
		add_code_fact(cluster, "page faults",
			      "likely page faults at one instruction: ", part->key.symbol,
			      part->key.last);
		return;
	}
}

/* Returns whether some code was interrupted before an instruction. */
static bool is_stopped(const struct code_counts *counts, const struct symbol *symbol, uint64_t at)
{
	const struct code_part *part = counts->parts;

	while (part &&
	       (part->key.kind != CODE_STOP || part->key.symbol != symbol || part->key.last != at))
		part = part->hh.next;
	return part;
}

/*
 * Returns the branch at which usual calls leave straight code of the slow calls that begins as
 * theirs does: the next one after its own, else the last one before; 0: no such code.
 */
static uint64_t usual_branch(const struct code_counts *usual, const struct code_key *key)
{
	uint64_t after = UINT64_MAX, before = 0;

	for (const struct code_part *part = usual->parts; part; part = part->hh.next) {
		if (part->key.kind != CODE_STRAIGHT || part->key.symbol != key->symbol ||
		    part->key.begin != key->begin || !part->count ||
		    is_stopped(usual, key->symbol, part->key.last))
			continue;
		if (part->key.last > key->last)
			after = MIN(after, part->key.last);
		else
			before = MAX(before, part->key.last);
	}
	return after != UINT64_MAX ? after : before;
}

/* The first branch, in the function's file, that goes another way than in all usual calls. */
static void add_parting(struct slow_answer *answer, struct slow_cluster *cluster)
{
	const struct code_counts *slow = &cluster->code;
	struct code_counts *usual = &answer->code;
	const struct dso *dso = slow_symbol(answer, answer->function)->dso;

	for (const struct code_part *part = slow->parts; part && usual->calls >= PARTING_CALLS;
	     part = part->hh.next) {
		const struct code_key *key = &part->key;
		uint64_t at;

		if (key->kind != CODE_STRAIGHT || key->symbol->dso != dso ||
		    part->count < slow->calls || code_counts_part(usual, key)->count ||
		    is_stopped(slow, key->symbol, key->begin) ||
		    is_stopped(slow, key->symbol, key->last))
			continue;
		at = usual_branch(usual, key);
		if (!at)
			continue;
		add_code_fact(cluster, "branch",
			      at > key->last ? "branches, usually not: "
					     : "does not branch, usually does: ",
			      key->symbol, MIN(at, key->last));
		return;
	}
}

/* Format and arguments of a thread. */
#define THREAD_FORMAT      "%s/%" PRId32
#define THREAD_OF(thread_) thread_last_name(thread_) ?: "", (thread_)->tid

static char *off_cpu_words(const struct thread_wait *wait)
{
	const struct off_cpu *off = &wait->off;
	char *text;
	FILE *out = OPEN_TEXT(text);

	fprintf(out, "off CPU %s%s", short_time(off->end - off->begin).text,
		off->preempted ? ", preempted" : "");
	if (off->waking && wait->other)
		escaped_printf(out, "; woken by " THREAD_FORMAT, THREAD_OF(wait->other));
	else if (off->waking && !off->waking->waker)
		fputs("; woken by an interrupt", out);
	if (off->instead)
		escaped_printf(out, "; CPU %" PRId32 " ran " THREAD_FORMAT " for %.0f %%", off->cpu,
			       THREAD_OF(off->instead),
			       100 * (double)off->instead_ns / (double)(off->end - off->begin));
	alloc_close_text(out, &text);
	return text;
}

static char *hop_words(const struct slow_answer *answer, const struct thread_wait *wait,
		       size_t number)
{
	const struct thread_hop *hop = &wait->hops[number];
	char *text;
	FILE *out = OPEN_TEXT(text);

	escaped_printf(out, "%s%swaited for %s" THREAD_FORMAT "%s", number ? "which " : "",
		       hop->proved ? "" : "likely ", hop->held && !hop->proved ? "a lock of " : "",
		       THREAD_OF(hop->thread),
		       hop->held && hop->proved ? ", likely for a lock" : "");
	for (size_t i = 0; i < hop->path_count; i++)
		escaped_printf(out, "%s%s%s", i ? " > " : ": ",
			       hop->path_cut && i == WAIT_PATH_OUTER ? "... > " : "",
			       function_label(&answer->calls->labels, hop->path[i])->text);
	if (hop->blocked)
		escaped_printf(out, "; it waited in %s", hop->blocked->name->text);
	if (hop->instead)
		escaped_printf(out, "; on its CPU ran " THREAD_FORMAT, THREAD_OF(hop->instead));
	alloc_close_text(out, &text);
	return text;
}

/* The function that is the cause ran once, in the first call of the slow function. */
static void add_first(const struct slow_answer *answer, struct slow_cluster *cluster)
{
	const struct call_tree *tree = &answer->calls->tree;
	const struct name *name;
	uint64_t calls = 0;

	if (cluster->cause == answer->function || cluster->count != 1 ||
	    cluster->calls[0]->begin != answer->of->first_begin)
		return;
	for (uint32_t i = NODE_NONE + 1; i < tree->count; i++)
		if (answer->calls->paths[i].function == cluster->cause)
			calls += tree->nodes[i].calls;
	if (calls != 1 || slow_symbol(answer, cluster->cause)->kind == SYMBOL_SPECIAL)
		return;
	name = slow_name(answer, cluster->cause);
	add_fact(cluster, "first use",
		 ESCAPED_TEXT("likely initialisation at the first use: the only call of %s",
			      short_name(name->text).text))
		->function = name;
}

bool slow_call_place(const struct slow_answer *answer, const struct slow_call *call,
		     struct call_place *place)
{
	const struct slow_calls *calls = answer->calls;
	const struct dso *dso = slow_symbol(answer, answer->function)->dso;

	*place = (struct call_place){ .open = call->begin + call->duration >=
					      calls->tree.threads[call->track->index].now.ns };
	for (uint32_t path = call->at; path; path = calls->tree.nodes[path].caller) {
		const struct symbol *symbol = slow_symbol(answer, calls->paths[path].function);

		place->function = place->function ? place->function : symbol;
		place->own = symbol;
		if (symbol->dso == dso && symbol->kind < SYMBOL_SPECIAL)
			return true;
	}
	return place->function;
}

/* A line for each slow call that was cut: where it was. */
static void add_cuts(const struct slow_answer *answer, struct slow_cluster *cluster)
{
	size_t most = cluster->cut ? MIN(cluster->count, (size_t)CUTS_MOST) : 0;

	for (size_t i = 0; i < most; i++) {
		const struct slow_call *call = cluster->calls[i];
		struct call_place place;
		struct cause_fact *fact;
		struct source_line at;
		FILE *out;

		fact = add_fact(cluster, "open", NULL);
		out = OPEN_TEXT(fact->words);
		if (cluster->count > 1)
			fprintf(out, ">%s in thread %" PRId32 ": ",
				amount_text(answer->calls->by_insns, call->amount).text,
				call->track->tid);
		fputs(call->begin_seen ? "" : "its begin was not traced", out);
		fputs(call->begin_seen || call->end_seen ? "" : "; ", out);
		if (slow_call_place(answer, call, &place)) {
			/* Where the call was, with the line of the function there, or of its
			 * caller. */
			fputs(place.open ? "still open, in " : "cut by a gap of the trace, in ",
			      out);
			short_name_print(place.function->name, out);
			if (place.own != place.function) {
				fputs(" called by ", out);
				short_name_print(place.own->name, out);
			}
			symbol_line_print(place.own, slice_source_line(place.own), out);
			at = slice_source_line(place.own);
			fact->function = place.own->name;
			fact->file = at.file;
			fact->line = at.line;
		}
		alloc_close_text(out, &fact->words);
	}
}

struct short_text usual_calls_text(double calls)
{
	struct short_text text;

	snprintf(text.text, sizeof(text.text),
		 calls < 0.05   ? "never"
		 : calls < 9.95 ? "%.1f"
				: "%.0f",
		 calls);
	return text;
}

/* Another stack ran, with --fibers: the name of the slice says which thread resumed this one. */
static void add_parked(const struct slow_answer *answer, struct slow_cluster *cluster)
{
	const struct symbol *leaf = slow_symbol(answer, cluster->leaf);
	char *resumed;

	if (leaf->special != SPECIAL_PARKED)
		return;
	resumed = alloc_text("%s", strchr(leaf->name->text, ',') ?: "]");
	resumed[strlen(resumed) - 1] = '\0'; /* "]" */
	add_fact(cluster, "parked",
		 ESCAPED_TEXT("parked %s%s", short_time((uint64_t)cluster->leaf_extra).text,
			      resumed))
		->extra = cluster->leaf_extra;
	free(resumed);
}

/* Returns whether a function of the loader binds others; stripped, it has no names of its own. */
static bool binds(const struct symbol *symbol)
{
	return symbol->dso && starts_with(symbol->dso->short_name->text, "ld-") &&
	       (symbol->kind == SYMBOL_UNNAMED ||
		starts_with(symbol->linkage->text, "_dl_runtime_resolve"));
}

/* The loader binds a function at its first call. */
static void add_binding(const struct slow_answer *answer, struct slow_cluster *cluster)
{
	if (cluster->cause == answer->function || !binds(slow_symbol(answer, cluster->cause)) ||
	    slow_symbol(answer, answer->function)->dso == slow_symbol(answer, cluster->cause)->dso)
		return;
	add_fact(cluster, "binding",
		 alloc_text("lazy binding of library functions at their first calls; link with "
			    "-z now"))
		->function = slow_name(answer, cluster->cause);
}

/* "8 of 8 slow calls, but 12 % of usual ones, come from parse.c:31 in cache_miss" */
static void add_shared(const struct slow_answer *answer, struct slow_cluster *cluster,
		       const struct shared_trait *shared)
{
	static const char *const words[][2] = { { "caller", "come from " },
						{ "call site", "come from " },
						{ "thread", "are in thread " },
						{ "cpu", "are on CPU " },
						{ "pause", "come " } };
	const struct slow_call *call = shared->call;
	const char *const *of = words[shared->trait];
	const struct slow_calls *calls = answer->calls;
	const struct symbol *symbol = NULL;
	char text[120];

	snprintf(text, sizeof(text), "%.0f of %zu slow calls, but %.0f %% of %zu%s usual ones, %s",
		 shared->same, cluster->count, 100 * shared->share, shared->usual_calls,
		 shared->sampled ? " sampled" : "", of[1]);
	if (shared->trait <= TRAIT_SITE)
		symbol = slow_symbol(answer,
				     calls->paths[calls->tree.nodes[call->path].caller].function);
	if (shared->trait == TRAIT_SITE && call->site - symbol->start < symbol->size) {
		add_code_fact(cluster, of[0], text, symbol, call->site - symbol->start);
		return;
	}
	if (symbol)
		add_fact(cluster, of[0],
			 ESCAPED_TEXT("%s%s", text, short_name(symbol->name->text).text))
			->function = symbol->name;
	else if (shared->trait == TRAIT_THREAD)
		add_fact(cluster, of[0],
			 ESCAPED_TEXT("%s" THREAD_FORMAT, text, call->track->thread_name ?: "",
				      call->track->tid));
	else if (shared->trait == TRAIT_CPU)
		add_fact(cluster, of[0], alloc_text("%s%" PRIu64, text, shared->value - 1));
	else
		add_fact(cluster, of[0],
			 alloc_text("%s%s or more after the last one in the thread, usually %s",
				    text, short_time(shared->value).text,
				    short_time(shared->usual).text));
}

/* Find the line of the cause: of the call with most of its extra, or of its begin. */
static void find_line(struct slow_answer *answer, struct slow_cluster *cluster)
{
	const struct symbol *cause = slow_symbol(answer, cluster->cause);
	double most = MAX(LOOP_SHARE * cluster->cause_extra, cluster->own_extra);

	cluster->line = slice_source_line(cause);
	for (const struct code_part *part = cluster->code.parts; part; part = part->hh.next) {
		const struct code_part *usual;
		struct source_line at;
		double more;

		if (part->key.kind != CODE_STRAIGHT || part->key.symbol != cause || !cause->dso)
			continue;
		usual = code_counts_part(&answer->code, &part->key);
		more = per_call(part->all - part->ns, &cluster->code) -
		       per_call(usual->all - usual->ns, &answer->code);
		if (more <= most)
			continue;
		at = dso_line(cause, part->key.last);
		if (at.file != cluster->line.file)
			continue; /* the line is of inlined code */
		most = more;
		cluster->line = at;
	}
}

void cause_facts_find(struct slow_answer *answer, struct slow_cluster *cluster)
{
	struct shared_trait shared;
	const struct thread_wait *wait;
	double slow, usual;
	const struct name *name;
	struct cause_fact *fact;

	if (cluster->has_facts)
		return;
	cluster->has_facts = true;
	add_cuts(answer, cluster);
	add_first(answer, cluster);
	add_binding(answer, cluster);
	slow = cluster->callee.slow;
	usual = cluster->callee.usual;
	if (slow) {
		name = slow_name(answer, cluster->callee.function);
		fact = add_fact(cluster, "callee",
				ESCAPED_TEXT("called %s %.0f times, usually %s",
					     short_name(name->text).text, slow,
					     usual_calls_text(usual).text));
		fact->function = name;
		fact->counts = true;
		fact->slow = slow;
		fact->usual = usual;
		fact->extra = cluster->callee.extra;
	}
	add_parked(answer, cluster);
	find_line(answer, cluster);
	if (cluster->code.calls && answer->code.calls) {
		if (!cluster->stops)
			add_lines(answer, cluster, add_loop(answer, cluster));
		add_faults(cluster);
		if (!cluster->stops && !cluster->wait.hop_count && !cluster->wait.off.end)
			add_parting(answer, cluster);
	}
	if (shared_trait_find(answer, cluster, &shared)) {
		add_shared(answer, cluster, &shared);
		cluster->facts[cluster->fact_count - 1].shared = shared;
	}
	wait = &cluster->wait;
	if (wait->off.end)
		add_fact(cluster, "wait", off_cpu_words(wait))->thread = wait->other;
	for (size_t i = 0; i < wait->hop_count; i++)
		add_fact(cluster, "wait", hop_words(answer, wait, i))->thread = wait->other;
}

/* ---- Binding ------------------------------------------------------------- */

uint64_t slow_calls_bindings(const struct slow_calls *calls, uint64_t *ns)
{
	bool *inside = alloc_zeroed(calls->tree.count + 1, sizeof(*inside)); /* by path */
	uint64_t count = 0;

	*ns = 0;
	for (uint32_t i = NODE_NONE + 1; i < calls->tree.count; i++) {
		const struct call_node *node = &calls->tree.nodes[i];
		const struct symbol *caller =
			node->caller ? calls->functions[calls->paths[node->caller].function].symbol
				     : NULL;

		inside[i] = inside[node->caller];
		if (!inside[i] && caller && caller->dso && caller->dso == calls->program &&
		    binds(calls->functions[calls->paths[i].function].symbol)) {
			inside[i] = true;
			count += node->calls;
		}
		*ns += inside[i] ? node->own.ns : 0;
	}
	free(inside);
	return count;
}
