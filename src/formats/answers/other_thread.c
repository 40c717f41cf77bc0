/* SPDX-License-Identifier: MIT */
/* Find the thread that another one waited for. */
#include "src/formats/answers/slow_causes.h"

#include "decoder/history.h"

/* Limit of the paths of a thread's calls. */
#define NODES_MOST 1000

void thread_log_add(struct thread_log *log, const struct branch_event *event,
		    const struct location_pair *places)
{
	const struct location *from = &places->from, *to = &places->to;
	bool inside = event->kind == BRANCH_COND ||
		      (event->kind == BRANCH_JUMP && from->symbol == to->symbol);

	if (!event->thread || inside || log->count == THREAD_LOG_MOST)
		return;
	*ARRAY_ADD(log->events, log->count, log->room) =
		(struct thread_event){ event->time,  event->thread, from->symbol, to->symbol,
				       from->offset, event->cpu,    event->kind };
}

void thread_log_release(struct thread_log *log)
{
	free(log->events);
	*log = (struct thread_log){ 0 };
}

/* ---- Who ----------------------------------------------------------------- */

struct syscall_chain thread_log_chain(const struct thread_log *log,
				      const struct thread_event *event)
{
	struct syscall_chain chain = { .calls = { { event->from, event->offset } }, .count = 1 };

	for (const struct thread_event *at = event; at-- > log->events;) {
		const struct syscall_call *last = &chain.calls[chain.count - 1];

		if (at->thread != event->thread)
			continue;
		if (at->kind != BRANCH_CALL || at->to != last->function || !at->from ||
		    chain.count == SYSCALL_CHAIN_MOST)
			break;
		chain.calls[chain.count++] = (struct syscall_call){ at->from, at->offset };
	}
	return chain;
}

/* Returns whether a name begins with one of the words of a list. */
static bool begins_with(const char *name, const char *words)
{
	for (size_t length; *words; words += length + (words[length] == ' ')) {
		length = strcspn(words, " ");
		if (strncmp(name, words, length) == 0)
			return true;
	}
	return false;
}

/*
 * Returns the system calls by which another thread can end a wait, as a list; "": nobody ends it,
 * such as a sleep, or another process does. NULL is an unknown call.
 */
static const char *wakers_of(const struct symbol *waits)
{
	static const char *const pairs[][2] = {
		{ "futex", "futex" },
		{ "read recv poll ppoll select pselect epoll_ accept",
		  "write send close shutdown connect" },
		{ "write send connect", "read recv close shutdown accept" },
	};

	if (!waits || waits->linkage == waits->name)
		return "futex write send";
	for (size_t i = 0; i < COUNT_OF(pairs); i++)
		if (begins_with(waits->linkage->text, pairs[i][0]))
			return pairs[i][1];
	return "";
}

static bool wakes(const struct thread_log *log, const struct thread_event *event,
		  const char *wakers, struct syscall_symbols *syscalls)
{
	struct syscall_chain chain;
	const struct symbol *found;

	if (event->kind != BRANCH_SYSCALL || !event->from)
		return false;
	chain = thread_log_chain(log, event);
	found = syscall_symbols_find(syscalls, &chain, false);
	return found && begins_with(found->linkage->text, wakers);
}

/* Returns the thread, other than two, with the most time on a CPU, if that is a third. */
static const struct thread *find_instead(const struct thread_log *log, const struct thread *other,
					 int32_t tid, int32_t cpu, uint64_t begin, uint64_t end)
{
	const struct thread *last = NULL, *found = NULL;
	uint64_t from = begin, *ns = NULL; /* by index of the thread */
	size_t room = 0;

	for (size_t i = 0; i < log->count && cpu >= 0; i++) {
		const struct thread_event *event = &log->events[i];
		uint64_t to = MIN(event->time, end);

		if (event->cpu != cpu)
			continue;
		if (last == event->thread && last != other && last->tid != tid && to > from) {
			ARRAY_GROW_ZEROED(ns, room, (size_t)last->index + 1);
			ns[last->index] += to - from;
			if (!found || ns[last->index] > ns[found->index])
				found = last;
		}
		from = MAX(to, begin);
		last = event->thread;
	}
	if (found && 3 * ns[found->index] < end - begin)
		found = NULL;
	free(ns);
	return found;
}

/* ---- Its calls meanwhile ------------------------------------------------- */

/* Calls of a thread; the outermost one is found last. */
struct call_replay {
	struct replay_node {
		uint32_t parent; /* 0: unknown */
		const struct symbol *symbol;
		uint64_t ns; /* with callees */
	} nodes[NODES_MOST]; /* [0] is unused */
	uint32_t count, top;
};

static uint32_t add_node(struct call_replay *replay, uint32_t parent, const struct symbol *symbol)
{
	for (uint32_t i = 1; i < replay->count; i++)
		if (replay->nodes[i].parent == parent && replay->nodes[i].symbol == symbol &&
		    parent)
			return i;
	if (replay->count == NODES_MOST)
		return parent ? parent : 1;
	replay->nodes[replay->count] = (struct replay_node){ .parent = parent, .symbol = symbol };
	return replay->count++;
}

static void replay_return(struct call_replay *replay, const struct symbol *to)
{
	uint32_t base = replay->top, node = replay->nodes[base].parent;

	while (node && replay->nodes[node].symbol != to)
		node = replay->nodes[node].parent;
	while (!node && replay->nodes[base].parent)
		base = replay->nodes[base].parent;
	if (!node && replay->count < NODES_MOST) {
		node = add_node(replay, 0, to);
		replay->nodes[node].ns = replay->nodes[base].ns;
		replay->nodes[base].parent = node;
	}
	replay->top = node ? node : base;
}

static void replay_event(struct call_replay *replay, const struct thread_event *event)
{
	if (event->kind == BRANCH_RETURN && event->to)
		replay_return(replay, event->to);
	else if (event->kind == BRANCH_CALL && event->to)
		replay->top = add_node(replay, replay->top, event->to);
	else if (event->kind == BRANCH_JUMP && event->to && replay->nodes[replay->top].parent)
		replay->top = add_node(replay, replay->nodes[replay->top].parent, event->to);
}

static bool name_has(const struct symbol *symbol, const char *part)
{
	return symbol && strstr(symbol->linkage->text, part);
}

/* Replay a thread's events up to its system call `last`.  Returns whether it took no lock. */
static bool replay_calls(struct call_replay *replay, const struct thread_log *log,
			 const struct thread_event *last, uint64_t begin)
{
	uint64_t from = begin;
	bool held = true;

	replay->count = 1;
	replay->top = 0;
	for (const struct thread_event *event = log->events; event <= last; event++) {
		if (event->thread != last->thread)
			continue;
		if (!replay->top)
			replay->top = add_node(replay, 0, event->from ? event->from : event->to);
		for (uint32_t node = replay->top; node && event->time > from;
		     node = replay->nodes[node].parent)
			replay->nodes[node].ns += event->time - from;
		from = MAX(from, event->time);
		replay_event(replay, event);
		if (event->time > begin && event->kind == BRANCH_CALL &&
		    name_has(event->to, "_lock") && !name_has(event->to, "lll_"))
			held = false;
	}
	return held;
}

/* Returns whether the innermost call is within an unlock function. */
static bool unlocks(const struct call_replay *replay)
{
	uint32_t node = replay->top;

	while (node && !name_has(replay->nodes[node].symbol, "unlock"))
		node = replay->nodes[node].parent;
	return node;
}

/* Returns whether a wait began in a function that locks. */
static bool waits_for_lock(const struct thread_log *log, int32_t tid, uint64_t begin)
{
	bool locks = false;

	for (const struct thread_event *event = log->events;
	     event < log->events + log->count && event->time <= begin; event++)
		if (event->thread->tid == tid && event->kind == BRANCH_CALL)
			locks |= name_has(event->to, "_lock");
		else if (event->thread->tid == tid && event->kind == BRANCH_RETURN)
			locks = false;
	return locks;
}

/* Returns the callee with the most time, if that is half of the caller's. */
static uint32_t main_callee(const struct call_replay *replay, uint32_t node)
{
	uint32_t found = 0;

	for (uint32_t i = 1; i < replay->count; i++)
		if (replay->nodes[i].parent == node &&
		    2 * replay->nodes[i].ns >= replay->nodes[node].ns &&
		    (!found || replay->nodes[i].ns > replay->nodes[found].ns))
			found = i;
	return found;
}

/* Fill the path with the main calls. */
static void fill_path(struct thread_wait *wait, const struct call_replay *replay,
		      const struct dso *dso)
{
	uint32_t node = replay->top;
	bool left = false;

	while (node && replay->nodes[node].parent)
		node = replay->nodes[node].parent;
	for (; node && !left; node = main_callee(replay, node)) {
		const struct symbol *symbol = replay->nodes[node].symbol;

		left = wait->path_count && symbol && symbol->dso != dso;
		if (!symbol || symbol->kind == SYMBOL_PLT || (!left && symbol->dso != dso)) {
			left = false;
			continue;
		}
		if (wait->path_count == WAIT_PATH)
			memmove(wait->path, wait->path + 1,
				(--wait->path_count) * sizeof(*wait->path));
		wait->path[wait->path_count++] = symbol;
	}
}

void thread_wait_find(struct thread_wait *wait, const struct thread_log *log, int32_t tid,
		      uint64_t begin, uint64_t end, const struct dso *dso,
		      struct syscall_symbols *syscalls)
{
	const struct thread_waking *waking = wait->off.waking;
	const struct thread_event *last = NULL;
	struct call_replay *replay;
	int32_t pid = -1;

	if (log->count == THREAD_LOG_MOST)
		return;
	for (const struct thread_event *event = log->events; event < log->events + log->count;
	     event++)
		if (event->thread->tid == tid)
			pid = event->thread->pid;
	for (const struct thread_event *event = log->events; event < log->events + log->count;
	     event++)
		if (waking ? event->thread->tid == waking->waker && event->time <= waking->time &&
				     event->kind == BRANCH_SYSCALL
			   : event->thread->tid != tid && event->thread->pid == pid &&
				     event->time > begin && event->time <= end &&
				     wakes(log, event, wakers_of(wait->call), syscalls))
			last = event;
	if (!last)
		return;
	replay = alloc_zeroed(1, sizeof(*replay));
	wait->other = last->thread;
	wait->held = replay_calls(replay, log, last, begin) &&
		     (unlocks(replay) || waits_for_lock(log, tid, begin));
	wait->looked = true;
	fill_path(wait, replay, dso);
	wait->instead = find_instead(log, last->thread, tid, last->cpu, begin, end);
	free(replay);
}
