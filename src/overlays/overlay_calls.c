/* SPDX-License-Identifier: MIT */
/* Match a ring's messages with the traced calls that wrote them. */
#include "src/overlays/overlays.h"

/* Calls compared at each candidate offset, spread over all kept calls. */
#define PROBES 48

/* Calls compared at each candidate shift; all must fit. */
#define SHIFT_PROBES 192

/* Maximum distance of a call and its message, in ns; PT sends an MTC packet every few us. */
#define TOLERANCE 3000

/* Minimum of matching calls, as fewer are a coincidence, and of matching probes in percent. */
#define MATCHED_MIN 8
#define PERCENT_MIN 80

/* ns: with more uncertainty, calls may fit by coincidence. */
#define UNCERTAINTY_MAX 1000

/* Minimum percentage of calls of their message's kind, if the ring belongs to one thread. */
#define PAIRED_MIN 95

static const char *const writer_names[OVERLAY_CALL_KINDS] = {
	[RUNTIME_LIFECYCLE] = "caml_ev_lifecycle",
	[RUNTIME_BEGIN] = "caml_ev_begin",
	[RUNTIME_END] = "caml_ev_end",
	[RUNTIME_COUNTER] = "caml_ev_counter",
	[RUNTIME_ALLOC] = "caml_ev_alloc_flush",
	[RUNTIME_USER_UNIT] = "caml_runtime_events_user_write",
};

void overlay_calls_init(struct overlay_calls *calls, struct name_table *names)
{
	*calls = (struct overlay_calls){ 0 };
	for (int i = 0; i < OVERLAY_CALL_KINDS; i++)
		calls->writers[i] = name_intern_text(names, writer_names[i]);
	calls->time_counter = name_intern_text(names, "caml_time_counter");
}

void overlay_calls_release(struct overlay_calls *calls)
{
	for (size_t i = 0; i < calls->count; i++)
		free(calls->threads[i].calls);
	free(calls->threads);
	*calls = (struct overlay_calls){ 0 };
}

/* ---- Calls --------------------------------------------------------------- */

static struct overlay_thread_calls *thread_of(struct overlay_calls *calls, int32_t pid, int32_t tid)
{
	struct overlay_thread_calls *thread;

	for (size_t i = 0; i < calls->count; i++)
		if (calls->threads[i].tid == tid && calls->threads[i].pid == pid)
			return &calls->threads[i];
	thread = ARRAY_ADD(calls->threads, calls->count, calls->room);
	*thread = (struct overlay_thread_calls){ .pid = pid, .tid = tid, .pending = -1 };
	thread->calls = alloc_zeroed((size_t)2 * OVERLAY_CALLS_KEPT, sizeof(*thread->calls));
	return thread;
}

void overlay_calls_enter(struct overlay_calls *calls, int32_t pid, int32_t tid, uint64_t time,
			 const struct name *function)
{
	struct overlay_thread_calls *thread;
	int kind = 0;

	while (kind < OVERLAY_CALL_KINDS && calls->writers[kind] != function)
		kind++;
	if (kind < OVERLAY_CALL_KINDS) {
		thread_of(calls, pid, tid)->pending = kind;
		return;
	}
	if (function != calls->time_counter)
		return;
	thread = thread_of(calls, pid, tid);
	if (thread->pending < 0)
		return; /* the runtime reads the time for other reasons, too */
	if (thread->count == (size_t)2 * OVERLAY_CALLS_KEPT) {
		thread->count = OVERLAY_CALLS_KEPT;
		memcpy(thread->calls, thread->calls + OVERLAY_CALLS_KEPT,
		       OVERLAY_CALLS_KEPT * sizeof(*thread->calls));
	}
	thread->calls[thread->count++] = (struct overlay_call){ time, (uint8_t)thread->pending };
	thread->pending = -1;
}

/* ---- Messages ------------------------------------------------------------ */

/* Returns a ring's messages in the order of time, owned by the caller. */
static struct overlay_call *read_messages(const struct runtime_events *file, uint32_t index,
					  size_t *count)
{
	struct runtime_ring ring;
	struct runtime_event event;
	struct overlay_call *messages = NULL;
	size_t room = 0;

	*count = 0;
	runtime_ring_start(&ring, file, index);
	while (runtime_ring_next(&ring, &event)) {
		if (event.kind == RUNTIME_LOST)
			continue;
		*ARRAY_ADD(messages, *count, room) = (struct overlay_call){
			event.time, event.kind > RUNTIME_USER_UNIT ? RUNTIME_USER_UNIT : event.kind
		};
	}
	return messages;
}

/* Find the nearest message of a call's kind at an offset; *late: how much later it is (ns). */
static bool find_near(const struct overlay_call *messages, size_t count,
		      const struct overlay_call *call, int64_t ahead, int64_t *late)
{
	uint64_t time = call->time + (uint64_t)ahead;
	bool found = false;

	for (size_t i = LOWER_BOUND(k, count, messages[k].time < time - TOLERANCE);
	     i < count && messages[i].time <= time + TOLERANCE; i++) {
		int64_t distance = (int64_t)(messages[i].time - time);

		if (messages[i].kind != call->kind || (found && llabs(distance) >= llabs(*late)))
			continue;
		found = true;
		*late = distance;
	}
	return found;
}

/* ---- Matching ------------------------------------------------------------ */

struct trial {
	const struct overlay_call *calls, *messages;
	size_t count, message_count;
	/* A clock, and how well the calls fit. */
	struct overlay_match {
		int64_t ahead;        /* ns by which the overlay's clock is ahead of perf's */
		uint64_t uncertainty; /* ns */
		size_t matched;       /* calls that fit */
		bool paired;          /* in order, each with its message; else by time only */
	} best;
	size_t second; /* calls that fit at the best of all other offsets */
};

COMPARE_WITH(by_value, int64_t, COMPARE(*a, *b))

/*
 * Pair each call with the message `shift` messages further in the ring.  Returns the number of
 * pairs of the same kind; `lates` gets the ns by which each such message is later than the best
 * offset predicts.
 */
static size_t pair_in_order(const struct trial *trial, int64_t shift, int64_t *lates)
{
	size_t same = 0;

	for (size_t i = 0; i < trial->count; i++) {
		const struct overlay_call *call = &trial->calls[i];
		uint64_t at = i + (uint64_t)shift; /* before the first: a huge number */

		if (at >= trial->message_count)
			continue;
		if (trial->messages[at].kind == call->kind)
			lates[same++] = (int64_t)(trial->messages[at].time - call->time -
						  (uint64_t)trial->best.ahead);
	}
	return same;
}

/* Returns the number of probes of a shift with equal kinds, at the middle probe's offset. */
static size_t probe_shift(const struct trial *trial, int64_t shift, size_t *probes)
{
	int64_t begin = shift < 0 ? -shift : 0;
	int64_t end = (int64_t)trial->message_count - shift;
	size_t count, fits = 0;
	int64_t ahead;

	end = MIN(end, (int64_t)trial->count);
	*probes = 0;
	if (end - begin < MATCHED_MIN)
		return 0;
	count = (size_t)(end - begin);
	*probes = MIN(count, SHIFT_PROBES);
	ahead = (int64_t)(trial->messages[begin + (int64_t)count / 2 + shift].time -
			  trial->calls[(size_t)begin + count / 2].time);
	for (size_t i = 0; i < *probes; i++) {
		size_t at = (size_t)begin + i * count / *probes;
		const struct overlay_call *call = &trial->calls[at];
		const struct overlay_call *message = &trial->messages[(int64_t)at + shift];

		fits += message->kind == call->kind &&
			llabs((int64_t)(message->time - call->time) - ahead) <= TOLERANCE;
	}
	return fits;
}

/*
 * Find the shift at which all calls pair with messages of their kinds; it exists if one thread
 * wrote the whole ring.  Returns whether no other shift is nearly as good.
 */
static bool find_shift(const struct trial *trial, int64_t *shift)
{
	int64_t calls = (int64_t)trial->count;
	size_t best = 0, second = 0, best_probes = 0, probes;

	*shift = 0;
	for (int64_t i = -calls; i < (int64_t)trial->message_count; i++) {
		size_t fits = probe_shift(trial, i, &probes);

		if (fits > best) {
			second = best;
			best = fits;
			best_probes = probes;
			*shift = i;
		} else if (fits > second) {
			second = fits;
		}
	}
	return best >= MATCHED_MIN && best * 100 >= best_probes * PAIRED_MIN &&
	       second * 10 <= best * 9;
}

/* Pair each call with the nearest message of its kind: other threads wrote to the ring, too. */
static size_t pair_nearest(const struct trial *trial, int64_t *lates)
{
	size_t found = 0;

	for (size_t i = 0; i < trial->count; i++)
		found += find_near(trial->messages, trial->message_count, &trial->calls[i],
				   trial->best.ahead, &lates[found]);
	return found;
}

/*
 * Set the offset to the median of all pairs.  Messages are written after their calls begin, so the
 * uncertainty is the whole range of nine of ten offsets, not half of it.
 */
static void set_offset(struct trial *trial, int64_t *lates, size_t found)
{
	trial->best.matched = found;
	if (!found)
		return;
	SORT(lates, found, by_value);
	trial->best.ahead += lates[found / 2];
	trial->best.uncertainty = (uint64_t)(lates[found - 1 - found / 20] - lates[found / 20]) + 1;
}

/* Pairs in order are more reliable than any number of pairs by time. */
static bool is_better(const struct overlay_match *match, const struct overlay_match *than)
{
	return match->paired == than->paired ? match->matched > than->matched : match->paired;
}

/* Match a thread's calls with a ring.  Returns whether they fit. */
static bool match_thread(struct trial *trial)
{
	const struct overlay_call *anchor = &trial->calls[trial->count / 2];
	const struct overlay_match *best = &trial->best;
	int64_t *lates, shift;
	bool paired = find_shift(trial, &shift);

	/* Try the offsets of a call in the middle to every message of its kind. */
	for (size_t i = 0; !paired && i < trial->message_count; i++)
		if (trial->messages[i].kind == anchor->kind) {
			int64_t ahead = (int64_t)(trial->messages[i].time - anchor->time);
			size_t count = trial->count, probes = MIN(count, PROBES), fits = 0;
			bool same = llabs(ahead - trial->best.ahead) <= (long long)2 * TOLERANCE;
			int64_t late;

			/* Count how many of PROBES calls, spread over all, fit at an offset. */
			for (size_t j = 0; j < probes; j++)
				fits += find_near(trial->messages, trial->message_count,
						  &trial->calls[j * count / probes], ahead, &late);
			if (fits > trial->best.matched) {
				if (!same)
					trial->second = trial->best.matched;
				trial->best.matched = fits;
				trial->best.ahead = ahead;
			} else if (!same && fits > trial->second) {
				trial->second = fits;
			}
		}
	if (!paired && (best->matched < MATCHED_MIN || trial->second * 4 >= best->matched * 3 ||
			best->matched * 100 < MIN(trial->count, PROBES) * PERCENT_MIN))
		return false;
	lates = alloc_zeroed(trial->count, sizeof(*lates));
	set_offset(trial, lates,
		   paired ? pair_in_order(trial, shift, lates) : pair_nearest(trial, lates));
	free(lates);
	trial->best.paired = paired;
	return paired || trial->best.uncertainty <= UNCERTAINTY_MAX;
}

/* Match one ring with each thread of its process; keep the better match in *match. */
static void match_ring(struct overlay_match *match, const struct overlay_calls *calls,
		       struct overlay_input *input, uint32_t ring)
{
	struct overlay_match best = { 0 };
	int32_t tid = -1;
	size_t count;
	struct overlay_call *messages = read_messages(&input->events, ring, &count);

	for (size_t i = 0; i < calls->count; i++) {
		const struct overlay_thread_calls *thread = &calls->threads[i];
		size_t kept = MIN(thread->count, OVERLAY_CALLS_KEPT);
		struct trial trial = { .calls = thread->calls + thread->count - kept,
				       .messages = messages,
				       .count = kept,
				       .message_count = count };

		if (thread->pid != input->pid || !kept)
			continue;
		if (!match_thread(&trial) || !is_better(&trial.best, &best))
			continue;
		best = trial.best;
		tid = thread->tid;
	}
	if (tid >= 0)
		overlay_input_add_tid(input, ring, tid);
	if (is_better(&best, match))
		*match = best;
	free(messages);
}

bool overlay_calls_match(struct overlay_clock *clock, const struct overlay_calls *calls,
			 struct overlay_input *input)
{
	struct overlay_match match = { 0 };

	/* memtrace has no rings. */
	for (uint32_t i = 0; i < input->events.rings; i++)
		match_ring(&match, calls, input, i);
	*clock = (struct overlay_clock){ OVERLAY_CLOCK_PT, -match.ahead,
					 match.uncertainty + calls->resolution };
	return match.matched;
}
