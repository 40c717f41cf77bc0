/* SPDX-License-Identifier: MIT */
/* Find the thread that another one waited for. */
#include "src/formats/answers/slow_causes.h"

#include "decoder/history.h"
#include "src/costs/executed_code.h"
#include "src/slices/slice_args.h"

/* Limit of the paths of a thread's calls. */
#define NODES_MOST 1000
/* Limit of the calls around a system call. */
#define FRAMES_MOST 12
/* Minimum share of the time of a thread in which it waited itself. */
#define BLOCKED_SHARE 0.5
/* Limit of the system calls that may have ended a wait. */
#define WAKERS_MOST 64
/* Bytes of the instruction "syscall" (SDM volume 2). */
#define SYSCALL_LENGTH 2
/* Limit of the events among which a short call is looked for. */
#define NEAR_MOST 32

/* ---- The log ------------------------------------------------------------- */

/* What ends a wait follows it here. */
enum sync {
	SYNC_UNKNOWN = 0,
	SYNC_LOCKS,
	SYNC_UNLOCKS,
	SYNC_WAITS,
	SYNC_SIGNALS,
	SYNC_TAKES,
	SYNC_POSTS,
	SYNC_MEETS, /* at a barrier: the last one ends the wait of the others */
};

static enum sync sync_of_name(const struct symbol *symbol)
{
	static const struct {
		const char *part;
		enum sync sync;
	} parts[] = {
		{ "unlock", SYNC_UNLOCKS },         { "lock_wake", SYNC_UNLOCKS },
		{ "lll_lock", SYNC_LOCKS },         { "mutex_lock", SYNC_LOCKS },
		{ "mutex_cond_lock", SYNC_LOCKS },  { "mutex_timedlock", SYNC_LOCKS },
		{ "mutex_clocklock", SYNC_LOCKS },  { "rwlock_", SYNC_LOCKS },
		{ "cond_wait", SYNC_WAITS },        { "cond_timedwait", SYNC_WAITS },
		{ "cond_clockwait", SYNC_WAITS },   { "cond_signal", SYNC_SIGNALS },
		{ "cond_broadcast", SYNC_SIGNALS }, { "sem_wait", SYNC_TAKES },
		{ "sem_timedwait", SYNC_TAKES },    { "sem_clockwait", SYNC_TAKES },
		{ "sem_post", SYNC_POSTS },         { "barrier_wait", SYNC_MEETS },
	};

	for (size_t i = 0; i < COUNT_OF(parts) && symbol; i++)
		if (strstr(symbol->linkage->text, parts[i].part))
			return parts[i].sync;
	return SYNC_UNKNOWN;
}

/* Names are compared once for each of the last symbols. */
static enum sync sync_of_symbol(struct thread_log *log, const struct symbol *symbol)
{
	struct known_sync *known = &log->known[fibonacci_hash((uintptr_t)symbol, SYNC_BITS)];

	if (known->symbol != symbol)
		*known = (struct known_sync){ symbol, sync_of_name(symbol) };
	return known->sync;
}

/* Returns the call around an event; NULL: it is not in the log. */
static const struct thread_event *call_around(const struct thread_log *log,
					      const struct thread_event *event)
{
	return event->outer ? &log->events[event->outer - 1] : NULL;
}

/*
 * Remove the call from which a thread returns if it was short, has no system call and no other call
 * in the log, and cannot lock or wait. Its time then counts as its caller's.
 */
static bool remove_short(struct thread_log *log, const struct branch_event *event)
{
	struct thread_event *end = log->events + log->count, *at = end, *to;

	do {
		if (at == log->events || end - at == NEAR_MOST)
			return false;
		at--;
		if (at->thread == event->thread &&
		    (at->sync || event->time - at->time >= log->least ||
		     (at->kind != BRANCH_CALL && at->kind != BRANCH_JUMP)))
			return false;
	} while (at->thread != event->thread || at->kind != BRANCH_CALL);
	for (to = at; at < end; at++)
		if (at->thread != event->thread)
			*to++ = *at;
	log->count = (size_t)(to - log->events);
	return true;
}

void thread_log_add(struct thread_log *log, const struct branch_event *event,
		    const struct location_pair *places)
{
	const struct location *from = &places->from, *to = &places->to;
	bool inside = event->kind == BRANCH_COND ||
		      (event->kind == BRANCH_JUMP && from->symbol == to->symbol);

	if (!event->thread || inside || log->count == THREAD_LOG_MOST ||
	    (event->kind == BRANCH_RETURN && remove_short(log, event)))
		return;
	*ARRAY_ADD(log->events, log->count, log->room) = (struct thread_event){
		.time = event->time,
		.thread = event->thread,
		.from = from->symbol,
		.to = to->symbol,
		.offset = from->symbol ? from->offset : to->offset,
		.cpu = event->cpu,
		.kind = event->kind,
		.from_sync = (uint8_t)sync_of_symbol(log, from->symbol),
		.sync = (uint8_t)sync_of_symbol(log, to->symbol),
	};
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

/* ---- Locks, conditions and the like -------------------------------------- */

/* Returns whether a thread runs again after a system call, by the code before. */
static bool follows_syscall(const struct thread_event *event)
{
	const struct symbol *to = event->to;

	return !event->from && to && to->dso && event->offset >= SYSCALL_LENGTH &&
	       executed_insn_at(to->dso, to->start + event->offset - SYSCALL_LENGTH).kind ==
		       BRANCH_SYSCALL;
}

/*
 * Returns the kind of the innermost known C library function around a system call. Its calls in the
 * log show it; if it was called before the log begins, its return does.
 */
static enum sync sync_of(const struct thread_log *log, const struct thread_event *event)
{
	const struct thread_event *at = event, *end = log->events + log->count;
	enum sync sync = event->from ? event->from_sync : event->sync;
	int frames = 0;

	while (!sync && frames++ < FRAMES_MOST && (at = call_around(log, at)))
		sync = at->sync;
	for (at = event + 1; at < end && !sync && frames < FRAMES_MOST && !event->from; at++)
		if (at->thread == event->thread && at->kind == BRANCH_RETURN && !at->outer) {
			sync = at->sync;
			frames++;
		}
	return sync;
}

/* Returns a hash of a system call's thread, and of its place in the code with the calls around. */
static uint64_t site_of(const struct thread_log *log, const struct thread_event *event)
{
	uint64_t hash = event->thread->index;

	for (int i = 0; i < FRAMES_MOST && event; i++) {
		hash = fibonacci_hash(hash ^ (uintptr_t)event->from ^ event->offset, 64);
		event = call_around(log, event);
	}
	return hash;
}

/* Returns whether a call ends a wait, by what both are part of: a call that waited ends none. */
static bool sync_fits(enum sync waits, enum sync wakes)
{
	bool waited = wakes == SYNC_LOCKS || wakes == SYNC_WAITS || wakes == SYNC_TAKES;

	return !waited && (!waits || !wakes || wakes == (waits == SYNC_MEETS ? waits : waits + 1));
}

/*
 * Returns whether a thread that unlocks by a system call held the lock since before a time: it took
 * no lock since then that it still had.
 */
static bool held_since(const struct thread_log *log, const struct thread_event *last,
		       uint64_t begin)
{
	unsigned taken = 0;
	bool own = false;

	for (const struct thread_event *event = log->events; event <= last; event++) {
		if (event->thread != last->thread || event->time <= begin ||
		    (event->kind != BRANCH_CALL && event->kind != BRANCH_JUMP) ||
		    event->sync == event->from_sync)
			continue; /* also parts of both */
		if (event->sync == SYNC_UNLOCKS) {
			own = taken;
			taken -= own;
		} else if (event->sync == SYNC_LOCKS) {
			own = true;
			taken++;
		}
	}
	return !own;
}

/* ---- Waits and their ends ------------------------------------------------ */

/* A wait in a system call. */
struct pause {
	uint64_t begin, end;   /* ns; that of the system call, which can be earlier; */
	uint64_t since, woken; /* and the latest time at which another thread can have ended it */
	const struct symbol *call;
	enum sync sync;
	const struct thread_waking *waking; /* NULL: not recorded */
};

/* Returns the system call before, or up to, an event. */
static const struct symbol *call_of(const struct wait_search *search,
				    const struct thread_event *event)
{
	struct syscall_chain chain = {
		.calls = { { event->to, event->offset - SYSCALL_LENGTH } },
		.count = 1,
	};

	if (event->from)
		chain = thread_log_chain(search->log, event);
	return syscall_symbols_find(search->syscalls, &chain, false);
}

/* Returns the time of a thread's event after an event. */
static uint64_t next_time(const struct thread_log *log, const struct thread_event *event)
{
	const struct thread_event *next = event + 1, *end = log->events + log->count;

	while (next < end && next->thread != event->thread)
		next++;
	return next < end ? next->time : end[-1].time;
}

/* Returns whether a thread blocked in a system call, by the records of switches. */
static bool call_blocked(const struct wait_search *search, const struct thread_event *event)
{
	struct off_cpu off;

	return search->timeline &&
	       timeline_off_cpu(search->timeline, event->thread->tid, event->time,
				next_time(search->log, event), &off) &&
	       !off.preempted;
}

static bool wakes(const struct wait_search *search, const struct thread_event *event,
		  const struct pause *wait, const char *wakers)
{
	const struct symbol *found = event->from ? call_of(search, event) : NULL;
	enum sync sync;

	if (!found || !begins_with(found->linkage->text, wakers))
		return false;
	if (strcmp(found->linkage->text, "futex") != 0)
		return true;
	sync = sync_of(search->log, event);
	return sync_fits(wait->sync, sync) &&
	       ((sync && sync != SYNC_MEETS) || !call_blocked(search, event));
}

/* Returns whether a system call may have ended a wait of a thread of a process. */
static bool may_end(const struct wait_search *search, const struct thread_event *event,
		    const struct pause *wait, int32_t tid, int32_t pid)
{
	const struct thread_waking *waking = wait->waking;

	if (event->kind != BRANCH_SYSCALL)
		return false;
	if (waking)
		return event->thread->tid == waking->waker && event->time <= waking->time;
	return event->thread->tid != tid && event->thread->pid == pid &&
	       event->time > wait->begin && event->time <= wait->woken &&
	       wakes(search, event, wait, wakers_of(wait->call));
}

/* Returns when a thread that runs again was back on a CPU: others woke it before. */
static uint64_t run_begin(const struct wait_search *search, const struct thread_event *event)
{
	uint64_t begin = search->timeline ? timeline_run_begin(search->timeline, event->thread,
							       event->cpu, event->time)
					  : 0;

	return begin ? begin : event->time;
}

/* A system call that may have ended a wait. */
struct waker {
	const struct thread_event *event;
	uint64_t site; /* place of the call, for locks */
	bool held;     /* its thread held a lock since the wait began */
	bool spent;    /* it ended another wait, or its kind is unknown */
};

/*
 * Find the signals and posts that woke other threads. Each is a system call only if a thread waits,
 * which then runs. Each wait of another thread that ended before this one has the earliest of its
 * kind.
 */
static void spend_wakers(const struct wait_search *search, const struct pause *wait, int32_t tid,
			 struct waker *wakers, size_t count)
{
	const struct thread_log *log = search->log;

	for (const struct thread_event *event = log->events;
	     event < log->events + log->count && event->time < wait->end; event++) {
		const struct thread_event *before = event;
		size_t i = 0;

		if (event->from || event->thread->tid == tid || sync_of(log, event) != wait->sync)
			continue;
		while (before > log->events && (--before)->thread != event->thread)
			;
		while (i < count &&
		       (wakers[i].spent || wakers[i].event->thread == event->thread ||
			(before->thread == event->thread && wakers[i].event < before) ||
			wakers[i].event->time > run_begin(search, event)))
			i++;
		if (i < count)
			wakers[i].spent = true;
	}
}

/*
 * Returns the system call that ended a wait of a thread; NULL: none is known to.  For a lock, that
 * of a thread that held one since the wait began comes before others; for a condition or semaphore,
 * those that ended no other wait; then that of the place with the fewest futex calls: earlier ones
 * did not end the wait.  (A server writes to many from one place.)  The last one of these ended it,
 * or the first one that ended no other wait; with a recorded waking, the last one of all did.
 */
static const struct thread_event *find_waker(const struct wait_search *search,
					     const struct pause *wait, int32_t tid)
{
	const struct thread_log *log = search->log;
	const struct thread_event *found = NULL;
	struct waker wakers[WAKERS_MOST];
	size_t count = 0, least = SIZE_MAX;
	bool futex = starts_with(wakers_of(wait->call), "futex"), held = false;
	bool pairs = (wait->sync == SYNC_WAITS || wait->sync == SYNC_TAKES) && !wait->waking;
	struct pause all = *wait;
	int32_t pid = -1;

	all.begin = pairs ? 0 : wait->begin;
	for (size_t i = 0; i < log->count; i++)
		if (log->events[i].thread->tid == tid)
			pid = log->events[i].thread->pid;
	for (const struct thread_event *event = log->events; event < log->events + log->count;
	     event++)
		if (may_end(search, event, &all, tid, pid)) {
			bool holds = wait->sync == SYNC_LOCKS && !wait->waking &&
				     held_since(log, event, wait->begin);

			if (count == WAKERS_MOST)
				memmove(wakers, wakers + 1, --count * sizeof(*wakers));
			wakers[count++] =
				(struct waker){ event, site_of(log, event), holds,
						pairs && sync_of(log, event) != wait->sync + 1 };
			held |= holds;
		}
	if (pairs)
		spend_wakers(search, wait, tid, wakers, count);
	for (size_t i = 0; i < count; i++) {
		size_t number = wakers[i].spent ? count : 0;

		for (size_t j = 0; j < count && !wakers[i].spent; j++)
			number += futex && !held && !wait->waking && !wakers[j].spent &&
				  wakers[j].site == wakers[i].site;
		if (wakers[i].held != held || number > least ||
		    (pairs &&
		     (wakers[i].event->time <= wait->begin || (number == least && number < count))))
			continue;
		found = wakers[i].event;
		least = number;
	}
	return found;
}

/*
 * Look up a wait of a thread in the records of switches.  Returns whether it was not blocked, but
 * preempted.
 */
static bool find_switches(const struct wait_search *search, struct pause *pause, int32_t tid)
{
	const struct thread_event *event = search->log->events, *end = event + search->log->count;
	struct off_cpu off = { 0 };

	pause->woken = pause->end;
	for (; event < end; event++)
		if (event->thread->tid == tid && event->time == pause->end)
			pause->woken = MAX(run_begin(search, event), pause->begin);
	if (search->timeline)
		timeline_off_cpu(search->timeline, tid, pause->since ?: pause->begin, pause->end,
				 &off);
	pause->waking = off.waking;
	return off.preempted;
}

/* Fill a thread's longest wait from a time until an event.  Returns false if there is none. */
static bool find_pause(const struct wait_search *search, const struct thread_event *last,
		       uint64_t begin, struct pause *pause)
{
	const struct thread_event *before = NULL, *call = NULL;

	*pause = (struct pause){ 0 };
	for (const struct thread_event *event = search->log->events; event <= last; event++) {
		bool waited = before ? before->kind == BRANCH_SYSCALL : follows_syscall(event);
		uint64_t from = before ? MAX(before->time, begin) : begin;

		if (event->thread != last->thread)
			continue;
		if (waited && event->time > from &&
		    event->time - from > pause->end - pause->begin) {
			*pause = (struct pause){ .begin = from,
						 .end = event->time,
						 .since = before ? before->time : 0 };
			call = before ? before : event;
		}
		before = event;
	}
	if (!call)
		return false;
	pause->call = call_of(search, call);
	pause->sync = sync_of(search->log, call);
	/* If it was woken before, it could run. */
	return !find_switches(search, pause, last->thread->tid) &&
	       (!pause->waking || pause->waking->time > begin);
}

/* Returns whether a thread waits in a system call when the log begins. */
static bool starts_blocked(const struct thread_log *log, const struct thread *thread)
{
	const struct thread_event *event = log->events, *end = event + log->count;

	while (event < end && event->thread != thread)
		event++;
	return event < end && follows_syscall(event);
}

/*
 * Returns the thread, other than two, with the most time on a CPU while the one could have run, if
 * that is a third.
 */
static const struct thread *find_instead(const struct thread_log *log, const struct thread *other,
					 int32_t tid, int32_t cpu, uint64_t begin, uint64_t end)
{
	const struct thread *last = NULL, *found = NULL;
	uint64_t from = begin, *ns = NULL; /* by index of the thread */
	size_t room = 0;
	bool blocked = starts_blocked(log, other);

	for (size_t i = 0; i < log->count && cpu >= 0; i++) {
		const struct thread_event *event = &log->events[i];
		uint64_t to = MIN(event->time, end);

		if (event->thread == other)
			blocked = event->kind == BRANCH_SYSCALL;
		if (event->cpu != cpu)
			continue;
		if (last == event->thread && last != other && last->tid != tid && to > from &&
		    !blocked) {
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

/* Replay a thread's events up to its system call `last`. */
static void replay_calls(struct call_replay *replay, const struct thread_log *log,
			 const struct thread_event *last, uint64_t begin)
{
	uint64_t from = begin;

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
		if (event->kind == BRANCH_RETURN && event->to) {
			uint32_t base = replay->top, node = replay->nodes[base].parent;

			while (node && replay->nodes[node].symbol != event->to)
				node = replay->nodes[node].parent;
			while (!node && replay->nodes[base].parent)
				base = replay->nodes[base].parent;
			if (!node && replay->count < NODES_MOST) {
				node = add_node(replay, 0, event->to);
				replay->nodes[node].ns = replay->nodes[base].ns;
				replay->nodes[base].parent = node;
			}
			replay->top = node ? node : base;
		} else if (event->kind == BRANCH_CALL && event->to) {
			replay->top = add_node(replay, replay->top, event->to);
		} else if (event->kind == BRANCH_JUMP && event->to &&
			   replay->nodes[replay->top].parent) {
			replay->top =
				add_node(replay, replay->nodes[replay->top].parent, event->to);
		}
	}
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

/* Add a function to the path, once.  Of a long one, those after the first two are left out. */
static void add_to_path(struct thread_hop *hop, const struct symbol *symbol)
{
	for (size_t i = 0; i < hop->path_count; i++)
		if (hop->path[i] == symbol)
			return;
	if (hop->path_count == WAIT_PATH) {
		memmove(hop->path + WAIT_PATH_OUTER, hop->path + WAIT_PATH_OUTER + 1,
			(WAIT_PATH - WAIT_PATH_OUTER - 1) * sizeof(*hop->path));
		hop->path_count--;
		hop->path_cut = true;
	}
	hop->path[hop->path_count++] = symbol;
}

/* ---- The chain ----------------------------------------------------------- */

static void fill_hop(struct thread_hop *hop, const struct wait_search *search,
		     const struct pause *wait, const struct thread_event *last, int32_t tid)
{
	struct call_replay *replay = alloc_zeroed(1, sizeof(*replay));
	bool unlocks = sync_of(search->log, last) == SYNC_UNLOCKS;
	uint32_t node;
	bool outside = true;

	*hop = (struct thread_hop){
		.thread = last->thread,
		.instead = find_instead(search->log, last->thread, tid, last->cpu, wait->begin,
					wait->end),
		.ns = last->time > wait->begin ? last->time - wait->begin : 0,
		.proved = wait->waking,
		.held = (unlocks || wait->sync == SYNC_LOCKS) &&
			held_since(search->log, last, wait->begin),
	};
	replay_calls(replay, search->log, last, wait->begin);
	/*
	 * Fill the path with the main calls; of those outside the program, the first one of
	 * several.
	 */
	node = replay->top;
	while (node && replay->nodes[node].parent)
		node = replay->nodes[node].parent;
	for (; node; node = main_callee(replay, node)) {
		const struct symbol *symbol = replay->nodes[node].symbol;
		bool own = symbol && (symbol->dso == search->dso && symbol->kind != SYMBOL_PLT &&
				      (!search->has_lines || slice_source_line(symbol).line));

		if (!symbol || symbol->kind == SYMBOL_PLT)
			continue;
		if (own || !outside)
			add_to_path(hop, symbol);
		outside = !own;
	}
	free(replay);
}

/* Returns what the wait of a thread from a time on is part of. */
static enum sync sync_at(const struct thread_log *log, int32_t tid, uint64_t begin)
{
	const struct thread_event *found = NULL;

	for (const struct thread_event *event = log->events;
	     event < log->events + log->count && event->time <= begin; event++)
		if (event->thread->tid == tid)
			found = event;
	return found && found->kind == BRANCH_SYSCALL ? sync_of(log, found) : SYNC_UNKNOWN;
}

void thread_wait_find(struct thread_wait *wait, const struct wait_search *search, int32_t tid,
		      uint64_t begin, uint64_t end)
{
	const struct thread_log *log = search->log;
	struct pause pause = { .begin = begin, .end = end, .since = begin, .call = wait->call };
	const struct thread_event *last;
	struct thread_hop *hop = NULL;
	uint64_t blocked = 0;  /* ns, at least, for which it waited itself */
	uint32_t *tops = NULL; /* by thread: number of its innermost open call, from 1 */
	size_t room = 0;

	if (log->count == THREAD_LOG_MOST)
		return;
	/* Note the call around each event. */
	for (uint32_t i = 0; i < log->count; i++) {
		struct thread_event *event = &log->events[i];
		uint32_t *top;

		ARRAY_GROW_ZEROED(tops, room, (size_t)event->thread->index + 1);
		top = &tops[event->thread->index];
		event->outer = *top;
		if (event->kind == BRANCH_CALL)
			*top = i + 1;
		else if (event->kind == BRANCH_RETURN && *top)
			*top = log->events[*top - 1].outer;
	}
	free(tops);
	pause.sync = sync_at(log, tid, begin);
	find_switches(search, &pause, tid);
	pause.waking = wait->off.waking;
	while (wait->hop_count < WAIT_HOPS && (last = find_waker(search, &pause, tid)) &&
	       (!hop || pause.waking || last->time >= pause.begin + blocked)) {
		hop = &wait->hops[wait->hop_count++];
		fill_hop(hop, search, &pause, last, tid);
		blocked = (uint64_t)(BLOCKED_SHARE * (double)hop->ns);
		if (!find_pause(search, last, pause.begin, &pause) ||
		    pause.end - pause.begin < blocked)
			break;
		tid = last->thread->tid;
		hop->blocked = pause.call;
	}
	pause.begin = pause.since;
	if (hop && hop->blocked && find_waker(search, &pause, tid))
		hop->blocked = NULL; /* it was woken before, or soon: from then on it could run */
	for (size_t i = 0; i + 1 < wait->hop_count; i++)
		wait->hops[i].blocked = NULL; /* the next one ended it */
	wait->other = wait->hop_count ? wait->hops[0].thread : wait->other;
}
