/* SPDX-License-Identifier: MIT */
/* Infers branches from addresses and names, and from trees of calls. */
#include "src/perf_script/perf_script_line.h"

/* More open calls mean that returns are not recognised: forget the outer calls. */
#define OPEN_MOST ((size_t)1 << 16)
/* Limit of open calls that one return or exception leaves. */
#define SEARCH_MOST 64
/* Bytes of a near call: SDM volume 2, "CALL". */
#define CALL_SHORTEST 2
#define CALL_LONGEST  8
/* Compilers' alignment of functions; few returns go to such an address. */
#define ENTRY_ALIGNMENT 16

void inferred_calls_release(struct inferred_calls *calls)
{
	free(calls->calls);
	*calls = (struct inferred_calls){ 0 };
}

static void open_call(struct inferred_calls *calls, struct inferred_call call)
{
	if (calls->count == OPEN_MOST) {
		calls->count /= 2;
		memmove(calls->calls, calls->calls + calls->count,
			calls->count * sizeof(*calls->calls));
	}
	*ARRAY_ADD(calls->calls, calls->count, calls->room) = call;
}

/* ---- Branches without flags ---------------------------------------------- */

/* Returns whether code is a PLT stub; perf attributes nameless stubs to the _init before them. */
static bool is_stub(const struct location *location)
{
	return location->symbol &&
	       (ends_with(location->symbol->name->text, "@plt") ||
		(location->offset && !strcmp(location->symbol->name->text, "_init")));
}

/* Returns the index of the innermost call, of the kernel's or program's own, that `ip` follows. */
static size_t find_return(const struct inferred_calls *calls, uint64_t ip, size_t most)
{
	for (size_t at = calls->count; at-- > 0 && most-- && calls->calls[at].site;)
		if (ip - calls->calls[at].site - CALL_SHORTEST <= CALL_LONGEST - CALL_SHORTEST)
			return at;
	return SIZE_MAX;
}

/* Returns the index of the innermost call that code of `symbol` made. */
static size_t find_caller(const struct inferred_calls *calls, const struct symbol *symbol)
{
	size_t most = SEARCH_MOST;

	for (size_t at = calls->count; at-- > 0 && most-- && calls->calls[at].site;)
		if (calls->calls[at].symbol == symbol)
			return at;
	return SIZE_MAX;
}

static enum branch_kind cross_to_kernel(struct inferred_calls *calls, const struct location *to)
{
	open_call(calls, (struct inferred_call){ 0 });
	return to->symbol && starts_with(to->symbol->name->text, "entry_SYS") ? BRANCH_SYSCALL
									      : BRANCH_INTERRUPT;
}

static enum branch_kind near_kind(struct inferred_calls *calls, const struct branch_event *event,
				  struct location_pair *locations, bool same, bool entry_known)
{
	const struct location *from = &locations->from, *to = &locations->to;
	bool within = same || from->symbol == to->symbol;
	bool entry = !same && symbol_is_function(to->symbol) &&
		     (!to->offset || (!within && !entry_known));
	size_t at = find_return(calls, event->to,
				within || (!to->offset && entry_known) ? 1 : SEARCH_MOST);

	/* A branch over an open recursive call is a jump: returns come from further down. */
	if (at != SIZE_MAX && (!within || event->from >= calls->calls[at].site)) {
		calls->count = at;
		return BRANCH_RETURN;
	}
	if (!within && to->symbol && !symbol_is_function(to->symbol) &&
	    event->to % ENTRY_ALIGNMENT) {
		at = find_caller(calls, to->symbol);
		if (at != SIZE_MAX) {
			locations->to.ip = calls->calls[at].site + CALL_SHORTEST;
			calls->count = at;
			return BRANCH_RETURN;
		}
	}
	if (within ? !entry
		   : is_stub(from) || (to->symbol && ends_with(to->symbol->name->text, ".cold")))
		return BRANCH_JUMP;
	if (!within && !entry && !is_stub(to) && symbol_is_function(to->symbol))
		return calls->count ? BRANCH_JUMP : BRANCH_RETURN;
	open_call(calls, (struct inferred_call){ .site = event->from, .symbol = from->symbol });
	return BRANCH_CALL;
}

void inferred_calls_branch(struct inferred_calls *calls, struct branch_event *event,
			   struct location_pair *locations, bool same, bool entry_known)
{
	if (!event->from) {
		event->flags |= BRANCH_TRACE_ON;
	} else if (!event->to) {
		event->flags |= BRANCH_TRACE_OFF;
	} else if (ip_is_kernel(event->from) < ip_is_kernel(event->to)) {
		event->kind = cross_to_kernel(calls, &locations->to);
	} else if (ip_is_kernel(event->from) > ip_is_kernel(event->to)) {
		while (calls->count && calls->calls[--calls->count].site)
			;
		event->kind = BRANCH_IRET;
	} else {
		event->kind = near_kind(calls, event, locations, same, entry_known);
	}
}

/* ---- Trees of calls ------------------------------------------------------ */

/* Bytes of an invented call, and between two of them. */
#define TREE_CALL_LENGTH 5
#define TREE_DISTANCE    4096

/* Returns where the innermost function is, `length` bytes after its call. */
static struct location tree_location(const struct inferred_calls *calls, uint8_t length)
{
	const struct inferred_call *top = &calls->calls[calls->count - 1];

	return (struct location){ top->site + length, top->symbol, 1 };
}

static void tree_push(struct inferred_calls *calls, const struct perf_line *line,
		      const struct symbol *symbol)
{
	static const char dso[] = "[kernel";
	const size_t length = strlen(dso);
	uint64_t kernel =
		line->branch >= BRANCH_SYSCALL || ip_is_kernel(line->from.ip) ||
		(line->from.dso.length > length && !memcmp(line->from.dso.at, dso, length));

	open_call(calls,
		  (struct inferred_call){ .site = kernel << 63 | (calls->count + 1) * TREE_DISTANCE,
					  .symbol = symbol,
					  .level = line->indent });
}

/* Leave all functions further in than `level`, from code of `symbol`. */
static bool tree_return(struct inferred_calls *calls, size_t level, const struct symbol *symbol,
			struct tree_branch *branch)
{
	size_t count = calls->count;
	bool returns;

	if (!count || calls->calls[count - 1].level <= level)
		return false;
	branch->locations.from = tree_location(calls, 0);
	if (symbol)
		branch->locations.from.symbol = symbol;
	while (calls->count > 1 && calls->calls[calls->count - 1].level > level)
		calls->count--;
	branch->locations.to = tree_location(calls, TREE_CALL_LENGTH);
	branch->event.kind = BRANCH_RETURN;
	returns = calls->count < count;
	if (calls->calls[0].level > level)
		calls->count = 0;
	if (!returns)
		*branch = (struct tree_branch){ 0 };
	return returns;
}

static void tree_enter(struct inferred_calls *calls, const struct perf_line *line,
		       const struct symbol *symbol, struct tree_branch *branch)
{
	branch->event.kind = BRANCH_CALL;
	branch->event.from_length = TREE_CALL_LENGTH;
	if (calls->count) {
		branch->locations.from = tree_location(calls, 0);
	} else if (calls->room) { /* the outermost function has ended, and this one follows */
		branch->event.kind = BRANCH_JUMP;
		branch->locations.from.ip = TREE_DISTANCE;
	} else {
		branch->event.flags = BRANCH_TRACE_ON;
	}
	tree_push(calls, line, symbol);
	branch->event.to = calls->calls[calls->count - 1].site;
	/* A jump to an entry would be a tail call, which nests. */
	branch->locations.to =
		(struct location){ line->from.ip, symbol, branch->event.kind == BRANCH_JUMP };
}

/* The trace begins or ends in `symbol`, which a jump may have reached. */
static void tree_pause(struct inferred_calls *calls, const struct perf_line *line,
		       const struct symbol *symbol, struct tree_branch *branch)
{
	bool begins = line->flags & BRANCH_TRACE_ON;

	if (!calls->count || (begins && calls->calls[calls->count - 1].level < line->indent))
		tree_push(calls, line, symbol);
	if (symbol)
		calls->calls[calls->count - 1].symbol = symbol;
	branch->event.flags = begins ? BRANCH_TRACE_ON : BRANCH_TRACE_OFF;
	branch->event.kind = line->branch == BRANCH_SYSCALL ? BRANCH_SYSCALL : BRANCH_NONE;
	*(begins ? &branch->locations.to : &branch->locations.from) = tree_location(calls, 0);
}

size_t inferred_calls_tree(struct inferred_calls *calls, const struct perf_line *line,
			   const struct symbol *symbol,
			   struct tree_branch branches[TREE_BRANCHES_MOST])
{
	bool pauses = line->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF);
	bool leaves = line->branch == BRANCH_RETURN || line->branch == BRANCH_SYSRET ||
		      line->branch == BRANCH_IRET;
	size_t level = pauses || !line->indent ? line->indent : line->indent - 1;
	size_t count;

	memset(branches, 0, TREE_BRANCHES_MOST * sizeof(*branches));
	if (!pauses && line->has_flags &&
	    (line->branch == BRANCH_NONE || line->branch == BRANCH_JUMP ||
	     line->branch == BRANCH_COND || line->branch == BRANCH_TX_ABORT))
		return 0;
	count = tree_return(calls, level, leaves ? symbol : NULL, branches);
	if (pauses)
		tree_pause(calls, line, symbol, &branches[count++]);
	else if (!leaves)
		tree_enter(calls, line, symbol, &branches[count++]);
	for (size_t i = 0; i < count; i++) {
		branches[i].event.from = branches[i].locations.from.ip;
		if (!branches[i].event.to)
			branches[i].event.to = branches[i].locations.to.ip;
	}
	return count;
}
