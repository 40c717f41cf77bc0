/* SPDX-License-Identifier: MIT */
/* Counts branches by stretches of time, and writes the sums as counters. */
#include "base/tables/heap.h"
#include "src/events/event_output.h"

/* Bytes of stretches that stay in memory. */
#define COUNTERS_MEMORY ((size_t)16 << 20)

struct counted_owner {
	struct event_owner key;
	struct counted_stretch {
		uint64_t number; /* 0, 1, ... */
		uint64_t insns, cycles, calls, branches;
		size_t next;     /* 1 + index of its owner's next stretch; 0: none */
	} now;                   /* not yet stored; when stretches are written: the next one */
	bool counts, has_cycles; /* any stretch was added; cycles are known */
	size_t first, last;      /* 1 + indexes of stretches; 0: none is stored */
	uint64_t next;           /* the stretch after the one written last; 0: none is written */
	UT_hash_handle hh;
};

static struct counted_owner *owner_of(struct period_counters *counters,
				      const struct event_owner *key)
{
	struct counted_owner *owner;

	HASH_FIND_OR_ADD(counters->owners, key, key, owner);
	return owner;
}

static void store(struct period_counters *counters, struct counted_owner *owner)
{
	struct counted_stretch *stretches;

	if (counters->count == counters->stretches.room)
		big_array_grow(&counters->stretches, counters->count + 1, sizeof(*stretches),
			       COUNTERS_MEMORY);
	stretches = counters->stretches.items;
	*(owner->last ? &stretches[owner->last - 1].next : &owner->first) = counters->count + 1;
	owner->last = counters->count + 1;
	stretches[counters->count++] = owner->now;
}

/* Add what was counted of a stretch. */
static void add_stretch(struct period_counters *counters, struct counted_owner *owner,
			const struct counted_stretch *counted)
{
	struct counted_stretch *now = &owner->now;

	/* Times that go back a little count for the open stretch. */
	if (!owner->counts || counted->number > now->number) {
		if (owner->counts)
			store(counters, owner);
		*now = (struct counted_stretch){ .number = counted->number };
	}
	owner->counts = true;
	owner->has_cycles |= counted->cycles != 0;
	now->insns += counted->insns;
	now->cycles += counted->cycles;
	now->calls += counted->calls;
	now->branches += counted->branches;
}

/* Count leading events of one thread, CPU and stretch of time. Returns the next event. */
static const struct branch_event *count_events(struct counted_stretch *counted, uint64_t length,
					       const struct branch_event *event,
					       const struct branch_event *end)
{
	const struct branch_event *first = event;
	uint64_t begin = counted->number * length, time;

	for (; event < end && event->thread == first->thread && event->cpu == first->cpu; event++) {
		time = branch_event_time(event);
		if (!time || time - begin >= length)
			break;
		counted->insns += event->insns;
		counted->cycles += event->cycles;
		counted->calls += event->kind == BRANCH_CALL;
		counted->branches +=
			event->kind == BRANCH_COUNTS
				? event->to
				: event->kind != BRANCH_GAP && event->kind != BRANCH_NONE;
	}
	return event;
}

void period_counters_add(struct period_counters *counters, const struct branch_event *event,
			 size_t count)
{
	for (const struct branch_event *end = event + count; event < end;) {
		struct event_owner thread = { event->thread, EVENT_NO_CPU },
				   cpu = { NULL, event->cpu };
		uint64_t time = branch_event_time(event);
		struct counted_stretch counted = { .number = time / counters->length };

		if (!time || time > INT64_MAX) {
			event++;
			continue;
		}
		event = count_events(&counted, counters->length, event, end);
		if (!counters->thread || counters->thread->key.thread != thread.thread)
			counters->thread = owner_of(counters, &thread);
		add_stretch(counters, counters->thread, &counted);
		if (cpu.cpu < 0)
			continue;
		if (!counters->cpu || counters->cpu->key.cpu != cpu.cpu)
			counters->cpu = owner_of(counters, &cpu);
		add_stretch(counters, counters->cpu, &counted);
	}
}

/* ---- Writing ------------------------------------------------------------- */

static double ratio(uint64_t of, uint64_t by)
{
	return by ? (double)of / (double)by : 0;
}

static void write_stretch(const struct period_counters *counters, struct event_tracks *tracks,
			  const struct counted_owner *owner, const struct counted_stretch *stretch)
{
	const double per_second = 1e9 / (double)counters->length;
	uint64_t time = stretch->number * counters->length;
	struct event_record record;
	const struct thread *thread = owner->key.thread;
	const char *name = thread_last_name(thread);
	bool is_cpu = owner->key.cpu != EVENT_NO_CPU;
	struct event_track track = is_cpu ? event_tracks_cpu(tracks, (int32_t)owner->key.cpu)->track
					  : event_tracks_thread(tracks, thread);
	char text[64];

	/* Perfetto puts a counter into the process of the event's thread. */
	if (is_cpu)
		snprintf(text, sizeof(text), "CPU %d", (int)owner->key.cpu);
	else
		snprintf(text, sizeof(text), "%.40s", name ? name : "thread");
	event_record_init(&record, tracks->sink, track, NULL, NULL, time);
	record.event.name = text_view_of(event_record_copy(&record, text));
	if (is_cpu)
		record.event.id = (uint64_t)owner->key.cpu;
	else
		record.event.id =
			thread && thread->tid > 0 ? (uint64_t)thread->tid : tracks->unknown;
	event_record_add_double(&record, "insns/s", (double)stretch->insns * per_second);
	event_record_add_double(&record, "calls/s", (double)stretch->calls * per_second);
	event_record_add_double(&record, "branches/insn", ratio(stretch->branches, stretch->insns));
	if (owner->has_cycles)
		event_record_add_double(&record, "ipc", ratio(stretch->insns, stretch->cycles));
	event_record_emit(&record, TRACK_COUNTER);
}

static int compare_owners(const struct counted_owner *a, const struct counted_owner *b)
{
	const struct thread *thread = a->key.thread, *other = b->key.thread;

	return COMPARE(a->key.cpu, b->key.cpu)
		       ?: COMPARE(thread ? thread->index : SIZE_MAX,
				  other ? other->index : SIZE_MAX);
}

struct heap_item {
	struct counted_owner *owner;
};

static bool is_before(const struct period_counters *counters, const struct heap_item *a,
		      const struct heap_item *b)
{
	(void)counters;
	return (COMPARE(a->owner->now.number, b->owner->now.number)
			?: compare_owners(a->owner, b->owner)) < 0;
}

HEAP_DEFINE(owners, struct heap_item, struct period_counters, is_before)

/*
 * Streams are merged in bursts, so the order in which stretches were stored depends on decoding.
 * Those of one owner are in order: merge the owners, because there can be too many to sort.
 * A counter keeps its value until the next one: where nothing ran, it is 0.
 */
void period_counters_write(struct period_counters *counters, struct event_tracks *tracks,
			   const struct output *output)
{
	struct heap_item *heap = alloc_zeroed(HASH_COUNT(counters->owners), sizeof(*heap));
	const struct counted_stretch *stretches;
	struct counted_owner *owner;
	size_t count = 0;

	HASH_SORT(counters->owners, compare_owners);
	for (owner = counters->owners; owner; owner = owner->hh.next) {
		store(counters, owner);
		stretches = counters->stretches.items;
		owner->now = stretches[owner->first - 1];
		heap[count++].owner = owner;
	}
	owners_order(counters, heap, count);
	while (count && !output_full(output)) {
		owner = heap->owner;
		if (owner->next && owner->next < owner->now.number)
			write_stretch(counters, tracks, owner,
				      &(struct counted_stretch){ .number = owner->next });
		write_stretch(counters, tracks, owner, &owner->now);
		owner->next = owner->now.number + 1;
		if (owner->now.next)
			owner->now = stretches[owner->now.next - 1];
		else
			*heap = heap[--count];
		owners_sift_down(counters, heap, count, 0);
	}
	for (owner = counters->owners; owner; owner = owner->hh.next)
		if (owner->next)
			write_stretch(counters, tracks, owner,
				      &(struct counted_stretch){ .number = owner->next });
	free(heap);
}

void period_counters_release(struct period_counters *counters)
{
	struct counted_owner *owner;

	HASH_FREE_ALL(counters->owners, owner);
	big_array_release(&counters->stretches);
	*counters = (struct period_counters){ 0 };
}
