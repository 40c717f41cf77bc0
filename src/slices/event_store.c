/* SPDX-License-Identifier: MIT */
/* Store events, and read them in order of time. */
#include "src/slices/event_store.h"

/* Bytes of events, and of their order, in memory. */
#define STORE_MEMORY ((size_t)16 << 20)

#define ALIGNMENT sizeof(uint64_t)

/* Bytes of events after which their memory is released, if they are in a file. */
#define STEP ((size_t)1 << 16)

struct stored_event {
	uint64_t time; /* ns */
	uint64_t at;   /* offset of the event; plus 1: the end of a whole slice */
};

/* ---- Tracks ---------------------------------------------------------------- */

static struct stored_process *process_of(struct event_store *store, uint64_t pid)
{
	struct stored_process *process;

	HASH_FIND_OR_ADD(store->processes, pid, &pid, process);
	return process;
}

struct stored_track *event_store_track(struct event_store *store, struct event_track ids)
{
	struct stored_track *track;

	HASH_FIND_OR_ADD(store->tracks, ids, &ids, track);
	if (!track->process) {
		track->process = process_of(store, ids.pid);
		track->index = HASH_COUNT(store->tracks) - 1;
	}
	return track;
}

struct track stored_track_describe(const struct stored_track *from)
{
	return (struct track){
		.pid = (int32_t)from->ids.pid,
		.tid = (int32_t)from->ids.tid,
		.thread_name = from->name ? from->name->text : NULL,
		.process_name = from->process->name ? from->process->name->text : NULL,
	};
}

/* ---- Events ---------------------------------------------------------------- */

/* Copy a text to the end. Returns it with its offset instead of its address. */
static struct text_view keep_text(struct event_store *store, struct text_view text)
{
	struct text_view kept = { (const char *)store->size, text.length };

	if (text.length)
		memcpy((char *)store->bytes.items + store->size, text.at, text.length);
	store->size += text.length;
	return kept;
}

static struct text_view text_at(const struct event_store *store, struct text_view kept)
{
	return (struct text_view){ (const char *)store->bytes.items + (uintptr_t)kept.at,
				   kept.length };
}

static size_t size_of(const struct track_event *event)
{
	size_t size = sizeof(*event) + event->arg_count * sizeof(*event->args) +
		      event->category.length + event->name.length;

	for (size_t i = 0; i < event->arg_count; i++)
		size += event->args[i].name.length +
			(event->args[i].type == EVENT_ARG_TEXT ? event->args[i].text.length : 0);
	return size;
}

uint64_t event_store_keep(struct event_store *store, const struct track_event *event)
{
	size_t at = store->size, end;
	struct track_event kept = *event;
	struct event_arg *args;

	end = (at + size_of(event) + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
	big_array_grow(&store->bytes, end, 1, STORE_MEMORY);
	args = (void *)((char *)store->bytes.items + at + sizeof(kept));
	store->size += sizeof(kept) + event->arg_count * sizeof(*args);
	kept.category = keep_text(store, event->category);
	kept.name = keep_text(store, event->name);
	for (size_t i = 0; i < event->arg_count; i++) {
		args[i] = event->args[i];
		args[i].name = keep_text(store, event->args[i].name);
		if (args[i].type == EVENT_ARG_TEXT)
			args[i].text = keep_text(store, event->args[i].text);
	}
	memcpy((char *)store->bytes.items + at, &kept, sizeof(kept));
	store->size = end;
	if (at / STEP < end / STEP)
		big_array_rest(&store->bytes, at / STEP * STEP, end, 1);
	return at;
}

struct track_event event_store_read(struct event_store *store, uint64_t at)
{
	const char *from = (const char *)store->bytes.items + at;
	struct track_event event;

	memcpy(&event, from, sizeof(event));
	memcpy(store->args, from + sizeof(event), event.arg_count * sizeof(*store->args));
	event.args = store->args;
	event.category = text_at(store, event.category);
	event.name = text_at(store, event.name);
	for (size_t i = 0; i < event.arg_count; i++) {
		store->args[i].name = text_at(store, store->args[i].name);
		if (store->args[i].type == EVENT_ARG_TEXT)
			store->args[i].text = text_at(store, store->args[i].text);
	}
	return event;
}

/* ---- Switches as slices ---------------------------------------------------- */

static struct switch_track *switch_track_of(struct event_store *store, uint64_t number)
{
	struct switch_track *cpu;
	char name[32];

	ARRAY_GROW_ZEROED(store->cpus, store->cpu_room, (size_t)number + 1);
	cpu = &store->cpus[number];
	if (!store->cpu_group)
		store->cpu_group = event_sink_new_process(&store->sink, "threads on CPUs");
	if (!cpu->track.tid) {
		snprintf(name, sizeof(name), "threads on CPU %" PRIu64, number);
		cpu->track = event_sink_new_track(&store->sink, store->cpu_group, name);
	}
	return cpu;
}

static void show_switch(struct event_store *store, const struct track_event *event)
{
	static const char *const states[] = { [EVENT_THREAD_BLOCKED] = "blocked",
					      [EVENT_THREAD_PREEMPTED] = "preempted",
					      [EVENT_THREAD_DEAD] = "dead" };
	struct switch_track *cpu = switch_track_of(store, event->cpu);
	const struct name *name = event_store_track(store, event->track)->name;
	struct event_record record;

	if (cpu->open) {
		event_record_init(&record, &store->sink, cpu->track, NULL, NULL, event->time);
		event_record_add_text(&record, "state", states[event->change.state]);
		event_record_emit(&record, TRACK_END);
	}
	cpu->open = event->track.tid;
	if (!cpu->open)
		return;
	event_record_init(&record, &store->sink, cpu->track, "sched",
			  name && name->length ? name->text : "thread", event->time);
	event_record_add_number(&record, "pid", (int64_t)event->track.pid);
	event_record_add_number(&record, "tid", (int64_t)event->track.tid);
	event_record_add_number(&record, "priority", event->change.priority);
	event_record_emit(&record, TRACK_BEGIN);
}

static void add_order(struct event_store *store, uint64_t time, uint64_t at)
{
	if (store->count == store->order.room)
		big_array_grow(&store->order, store->count + 1, sizeof(struct stored_event),
			       STORE_MEMORY);
	((struct stored_event *)store->order.items)[store->count++] =
		(struct stored_event){ time, at };
}

static void take_event(struct event_sink *sink, const struct track_event *event)
{
	struct event_store *store = sink->context;
	uint64_t at;

	if (event->kind == TRACK_PROCESS || event->kind == TRACK_THREAD) {
		const struct name *name = view_intern(store->names, event->name);

		if (event->kind == TRACK_PROCESS)
			process_of(store, event->track.pid)->name = name;
		else
			event_store_track(store, event->track)->name = name;
	} else if (event->kind == TRACK_SWITCH && store->shows_switches) {
		show_switch(store, event);
	} else if (event->kind == TRACK_WAKEUP && store->shows_wakeups) {
		struct event_record record;

		event_record_init(&record, &store->sink, event->track, "sched", "wakeup",
				  event->time);
		event_record_add_number(&record, "cpu", (int64_t)event->cpu);
		if (event->change.other.tid)
			event_record_add_number(&record, "waker", (int64_t)event->change.other.tid);
		event_record_emit(&record, TRACK_INSTANT);
	} else {
		event_store_track(store, event->track);
		store->last_time = MAX(store->last_time, event->time);
		at = event_store_keep(store, event);
		add_order(store, event->time, at);
		if (event->kind == TRACK_WHOLE)
			add_order(store, event->end, at + 1);
	}
}

/* ---- Reading --------------------------------------------------------------- */

COMPARE_BY_TWO(compare_events, struct stored_event, time, at)

void event_store_sort(struct event_store *store)
{
	for (size_t i = 0; i < store->cpu_room; i++)
		if (store->cpus[i].open)
			event_sink_emit(&store->sink,
					&(struct track_event){ .kind = TRACK_END,
							       .time = store->last_time,
							       .track = store->cpus[i].track });
	if (store->count)
		qsort(store->order.items, store->count, sizeof(struct stored_event),
		      compare_events);
}

uint64_t event_store_time(const struct event_store *store, size_t number)
{
	const struct stored_event *order = store->order.items;

	return number < store->count ? order[number].time : UINT64_MAX;
}

struct track_event event_store_at(struct event_store *store, size_t number)
{
	const struct stored_event *stored = (struct stored_event *)store->order.items + number;
	struct track_event event = event_store_read(store, stored->at & ~UINT64_C(1));

	if (stored->at & 1)
		return (struct track_event){ .kind = TRACK_END,
					     .time = event.end,
					     .track = event.track };
	if (event.kind == TRACK_WHOLE)
		event.kind = TRACK_BEGIN;
	return event;
}

/* ---- Life cycle ------------------------------------------------------------ */

void event_store_init(struct event_store *store, struct name_table *names, uint64_t last_id)
{
	*store = (struct event_store){ .sink = { take_event, store, last_id }, .names = names };
}

void event_store_release(struct event_store *store)
{
	struct stored_process *process;
	struct stored_track *track;

	HASH_FREE_ALL(store->tracks, track, free(track->open));
	HASH_FREE_ALL(store->processes, process);
	free(store->cpus);
	big_array_release(&store->bytes);
	big_array_release(&store->order);
	*store = (struct event_store){ 0 };
}
