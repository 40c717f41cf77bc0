/* SPDX-License-Identifier: MIT */
/* Reads rings of runtime events, also damaged ones and while they are written. */
#include "overlays/runtime_events.h"

/* ---- Names --------------------------------------------------------------- */

/*
 * The numbers of OCaml's runtime events and their names.
 *
 * The names are those of the standard library's Runtime_events (runtime_phase_name,
 * runtime_counter_name, lifecycle_name).  Source: the enumerations of
 * runtime/caml/runtime_events.h, 5.0 to 5.5.  OCaml 5.3 inserted four phases without changing the
 * file's version, so there are two tables of phases; counters were only ever appended.
 */

/* clang-format off */
static const char *const phases[] = {
	"explicit_gc_set", "explicit_gc_stat", "explicit_gc_minor", "explicit_gc_major",
	"explicit_gc_full_major", "explicit_gc_compact", "major", "major_sweep",
	"major_mark_roots", "major_memprof_roots", "major_mark", "minor", "minor_local_roots",
	"minor_memprof_roots", "minor_memprof_clean", "minor_finalized",
	"explicit_gc_major_slice", "finalise_update_first", "finalise_update_last",
	"interrupt_remote", "major_ephe_mark", "major_ephe_sweep", "major_finish_marking",
	"major_gc_cycle_domains", "major_gc_phase_change", "major_gc_stw",
	"major_mark_opportunistic", "major_slice", "major_finish_cycle", "minor_clear",
	"minor_finalizers_oldify", "minor_global_roots", "minor_leave_barrier",
	"stw_api_barrier", "stw_handler", "stw_leader", "major_finish_sweeping",
	"major_memprof_clean", "minor_finalizers_admin", "minor_remembered_set",
	"minor_remembered_set_promote", "minor_local_roots_promote", "domain_condition_wait",
	"domain_resize_heap_reservation", "compaction", "compaction_evacuate",
	"compaction_forward", "compaction_release", "empty_minor", "minor_ephe_clean"
};
/* clang-format on */

/* Phases that OCaml 5.3 inserted, by their number there; later phases were appended. */
static const unsigned inserted_5_3[] = { 9, 13, 14, 37 };

static const struct {
	const char *name, *unit; /* unit NULL: an occurrence */
} counters[] = {
	{ "force_minor_alloc_small", NULL },
	{ "force_minor_make_vect", NULL },
	{ "force_minor_set_minor_heap_size", NULL },
	{ "force_minor_memprof", NULL },
	{ "minor_promoted", "bytes" },
	{ "minor_allocated", "bytes" },
	{ "request_major_alloc_shr", NULL },
	{ "request_major_adjust_gc_speed", NULL },
	{ "request_minor_realloc_ref_table", NULL },
	{ "request_minor_realloc_ephe_ref_table", NULL },
	{ "request_minor_realloc_custom_table", NULL },
	{ "major_heap_pool_words", "words" },
	{ "major_heap_pool_live_words", "words" },
	{ "major_heap_large_words", "words" },
	{ "major_heap_pool_frag_words", "words" },
	{ "major_heap_pool_live_blocks", "blocks" },
	{ "major_heap_large_blocks", "blocks" },
	{ "major_heap_words", "words" },
	{ "major_allocated_words", "words" },
	{ "major_allocated_work", "work" },
	{ "major_dependent_work", "work" },
	{ "major_extra_work", "work" },
	{ "major_work_counter", "work" },
	{ "major_alloc_counter", "work" },
	{ "major_slice_target", "work" },
	{ "major_slice_budget", "work" },
	/* OCaml 5.5.0 counts bytes here, whatever the name says. */
	{ "minor_allocated_words", "bytes" },
	{ "minor_promoted_words", "words" },
};

static const char *const lifecycles[] = {
	"ring_start",  "ring_stop",  "ring_pause",   "ring_resume",
	"fork_parent", "fork_child", "domain_spawn", "domain_terminate",
};

const char *runtime_event_name(const struct runtime_events *file, enum runtime_event_kind kind,
			       unsigned id)
{
	if (kind == RUNTIME_LIFECYCLE)
		return id < COUNT_OF(lifecycles) ? lifecycles[id] : NULL;
	if (kind == RUNTIME_COUNTER)
		return id < COUNT_OF(counters) ? counters[id].name : NULL;
	if (file->phases == RUNTIME_PHASES_5_0) {
		if (id >= RUNTIME_PHASE_ONLY_5_3)
			return NULL;
		for (size_t i = 0; i < COUNT_OF(inserted_5_3); i++)
			id += id >= inserted_5_3[i];
	}
	return id < COUNT_OF(phases) ? phases[id] : NULL;
}

const char *runtime_counter_unit(unsigned counter)
{
	return counter < COUNT_OF(counters) ? counters[counter].unit : "work";
}

#define FILE_HEADER_SIZE 64
#define RING_HEADER_SIZE 16 /* head and tail; the rest is padding */
#define NAME_SIZE        128
#define NAME_COUNT       8192
#define ALLOC_BUCKETS    20
#define DEPTH_MAX        64 /* limit of nested phases, to find the innermost open one */

/* By the five bits of a message's type; the program's own events have the highest bit. */
static const struct {
	uint8_t kind;  /* enum runtime_event_kind */
	uint8_t least; /* the fewest words; 0: there is no such type */
} types[32] = {
	[0] = { 0, 1 }, /* padding */
	[1] = { RUNTIME_LIFECYCLE, 2 },
	[2] = { RUNTIME_BEGIN, 2 },
	[3] = { RUNTIME_END, 2 },
	[4] = { RUNTIME_COUNTER, 3 },
	[5] = { RUNTIME_ALLOC, 2 + ALLOC_BUCKETS },
	[16] = { RUNTIME_USER_UNIT, 2 },
	[17] = { RUNTIME_USER_INT, 3 },
	[18] = { RUNTIME_USER_SPAN_BEGIN, 2 },
	[19] = { RUNTIME_USER_SPAN_END, 2 },
	[20] = { RUNTIME_USER_CUSTOM, 3 },
};

/* The first word of a message. */
static unsigned length_of(uint64_t word)
{
	return (unsigned)(word >> 54);
}

static unsigned type_of(uint64_t word)
{
	return (unsigned)(word >> 49) & 31;
}

static bool is_padding(uint64_t word)
{
	return type_of(word) == 0;
}

/* A word of the file at an offset that was checked; another process may write it just now. */
static uint64_t word_at(const struct runtime_events *file, uint64_t offset)
{
	return __atomic_load_n((const uint64_t *)(const void *)(file->bytes + offset),
			       __ATOMIC_ACQUIRE);
}

static uint64_t ring_header(const struct runtime_events *file, uint32_t index)
{
	return file->headers_offset + index * file->ring_header_size;
}

static uint64_t ring_word(const struct runtime_events *file, uint32_t index, uint64_t position)
{
	uint64_t word = index * file->ring_words + (position & (file->ring_words - 1));

	return word_at(file, file->data_offset + word * 8);
}

/* ---- The file's header --------------------------------------------------- */

/* Returns whether `count` pieces of `each` bytes fit after `offset`, which must be aligned. */
static bool fits(const struct runtime_events *file, uint64_t offset, uint64_t count, uint64_t each)
{
	return offset % 8 == 0 && offset <= file->size && count <= (file->size - offset) / each;
}

static int read_header(struct runtime_events *file, struct error *err)
{
	uint64_t domains = word_at(file, 8);
	uint64_t ring_bytes;
	uint64_t words;

	if (word_at(file, 0) != 1)
		return error_set(err, ERROR_UNSUPPORTED,
				 "runtime events of version %" PRIu64 "; only 1 is known",
				 word_at(file, 0));
	if (domains > file->size / RING_HEADER_SIZE || domains > UINT32_MAX)
		return error_set(err, ERROR_FORMAT, "runtime events: %" PRIu64 " domains", domains);
	file->rings = (uint32_t)domains;
	file->ring_header_size = word_at(file, 16);
	file->ring_words = word_at(file, 32);
	file->headers_offset = word_at(file, 40);
	file->data_offset = word_at(file, 48);
	file->names_offset = word_at(file, 56);
	ring_bytes = word_at(file, 24);
	words = file->ring_words;
	if (words < 2 || (words & (words - 1)) || words > file->size / 8 || ring_bytes != words * 8)
		return error_set(err, ERROR_FORMAT,
				 "runtime events: a ring of %" PRIu64 " words in %" PRIu64 " bytes",
				 words, ring_bytes);
	if (file->ring_header_size < RING_HEADER_SIZE || file->ring_header_size % 8 ||
	    !file->rings ||
	    !fits(file, file->headers_offset, file->rings, file->ring_header_size) ||
	    !fits(file, file->data_offset, 1, ring_bytes))
		return error_set(err, ERROR_FORMAT,
				 "runtime events: the rings lie outside the file");
	return 0;
}

/* ---- Rings --------------------------------------------------------------- */

/* Returns whether a message may begin at `position`: it neither wraps nor passes the end. */
static bool is_sound(const struct runtime_ring *ring, uint64_t position, uint64_t word)
{
	uint64_t words = ring->file->ring_words, length = length_of(word);
	unsigned least = types[type_of(word)].least;

	return least && length >= least && length <= ring->end - position &&
	       (position & (words - 1)) + length <= words;
}

/*
 * Find the first message from ring->at that is not sound, or whose time is before its
 * predecessor's: the system's monotonic clock never goes back.  Returns its position; *time is the
 * time of the message before it.
 */
static uint64_t find_damage(const struct runtime_ring *ring, uint64_t *time)
{
	uint64_t position = ring->at;

	*time = 0;
	while (position < ring->end) {
		uint64_t word = ring_word(ring->file, ring->index, position);

		if (!is_sound(ring, position, word))
			break;
		if (!is_padding(word)) {
			uint64_t next = ring_word(ring->file, ring->index, position + 1);

			if (next < *time)
				break;
			*time = next;
		}
		position += length_of(word);
	}
	return position;
}

/*
 * Find the first position at or after `from` from which all messages up to the end are sound, with
 * times that do not go back.  Returns the position, or ring->end; *time is the time of its message.
 */
static uint64_t find_sound(const struct runtime_ring *ring, uint64_t from, uint64_t *time)
{
	const uint64_t unsound = UINT64_MAX;
	uint64_t count = ring->end - from, first = count;
	/* By position: the time of the first message at or after it. */
	uint64_t *times = alloc_zeroed(count + 1, sizeof(*times));

	times[count] = unsound - 1;
	for (uint64_t i = count; i-- > 0;) {
		uint64_t word = ring_word(ring->file, ring->index, from + i), after, own;

		times[i] = unsound;
		if (!is_sound(ring, from + i, word))
			continue;
		after = times[i + length_of(word)];
		own = is_padding(word) ? after : ring_word(ring->file, ring->index, from + i + 1);
		if (after == unsound || own > after)
			continue;
		times[i] = own;
		first = i;
	}
	*time = times[first];
	free(times);
	return from + first;
}

/* Skip damaged messages in the middle, and all messages before them if those are newer. */
static void skip_damage(struct runtime_ring *ring)
{
	uint64_t before, after, damage = find_damage(ring, &before), sound;

	ring->gap = ring->gap_end = ring->end;
	ring->damaged = damage < ring->end;
	if (!ring->damaged)
		return;
	sound = find_sound(ring, damage, &after);
	if (sound == ring->end) {
		ring->end = damage;
	} else if (before > after) {
		ring->lost += sound - ring->at;
		ring->at = sound;
	} else {
		ring->gap = damage;
		ring->gap_end = sound;
	}
}

void runtime_ring_start(struct runtime_ring *ring, const struct runtime_events *file,
			uint32_t index)
{
	uint64_t header = ring_header(file, index);
	uint64_t tail = word_at(file, header + 8), head = tail ? word_at(file, header) : 0;

	ring->file = file;
	ring->index = index;
	/* A live writer may have moved the head past the tail that was read before it. */
	ring->end = tail >= head && tail - head <= file->ring_words ? tail : head;
	ring->at = ring->lost = head;
	skip_damage(ring);
}

/*
 * Copy the message at ring->at.  The writer moves the head over the words that
 * it will overwrite, so a copy is good if the head has not passed it.  Returns
 * 1; 0 at the end or at damage; -1: words were lost, try again.
 */
static int copy_message(struct runtime_ring *ring)
{
	const struct runtime_events *file = ring->file;
	uint64_t head, length, word;
	bool sound;

	if (ring->at >= ring->end)
		return 0;
	if (ring->at >= ring->gap && ring->at < ring->gap_end) {
		ring->lost += ring->gap_end - ring->at;
		ring->at = ring->gap_end;
		return -1;
	}
	word = ring_word(file, ring->index, ring->at);
	sound = is_sound(ring, ring->at, word);
	length = sound ? length_of(word) : 1;
	ring->message[0] = word;
	for (uint64_t i = 1; i < length; i++)
		ring->message[i] = ring_word(file, ring->index, ring->at + i);
	head = word_at(file, ring_header(file, ring->index));
	if (head > ring->at && head <= ring->end) {
		ring->lost += head - ring->at;
		ring->at = head;
		return -1;
	}
	if (head > ring->end || !sound) {
		ring->end = ring->at;
		return 0;
	}
	ring->at += length;
	return 1;
}

static void fill_event(struct runtime_event *event, const uint64_t *message)
{
	size_t bytes = (size_t)(length_of(message[0]) - 2) * 8;

	event->kind = types[type_of(message[0])].kind;
	if (event->kind == RUNTIME_USER_INT || (event->kind < RUNTIME_USER_UNIT && bytes))
		event->value = (int64_t)(message[2] << 1) >> 1; /* integers have 63 bits */
	if (event->kind != RUNTIME_ALLOC && event->kind != RUNTIME_USER_CUSTOM)
		return;
	event->payload = (const uint8_t *)&message[2];
	event->payload_size = (size_t)ALLOC_BUCKETS * 8;
	if (event->kind == RUNTIME_ALLOC)
		return;
	/* The last byte counts the padding bytes of the last word, excluding itself. */
	event->payload_size = bytes - 1;
	if (event->payload[bytes - 1] < bytes)
		event->payload_size = bytes - 1 - event->payload[bytes - 1];
}

int runtime_ring_next(struct runtime_ring *ring, struct runtime_event *event)
{
	int status;

	do {
		if (ring->lost) {
			*event = (struct runtime_event){ .ring = ring->index,
							 .kind = RUNTIME_LOST,
							 .value = (int64_t)ring->lost };
			ring->lost = 0;
			return 1;
		}
		status = copy_message(ring);
	} while (status < 0 || (status > 0 && is_padding(ring->message[0])));
	if (status == 0)
		return 0;
	*event = (struct runtime_event){ .time = ring->message[1],
					 .ring = ring->index,
					 .id = ring->message[0] >> 36 & 8191 };
	fill_event(event, ring->message);
	return 1;
}

/* ---- All rings ----------------------------------------------------------- */

/* The evidence of the table of phases. */
struct survey {
	uint64_t old, new;        /* events that only one table allows */
	uint16_t open[DEPTH_MAX]; /* phases, innermost last */
	size_t depth;             /* may be more than DEPTH_MAX */
};

static void survey_ring(struct runtime_events *file, struct survey *survey, uint32_t index,
			struct diag *diag)
{
	struct runtime_ring ring;
	struct runtime_event event;

	survey->depth = 0;
	runtime_ring_start(&ring, file, index);
	while (runtime_ring_next(&ring, &event)) {
		bool is_phase;
		unsigned innermost;

		if (event.kind == RUNTIME_LOST)
			continue;
		if (!file->first_time || event.time < file->first_time)
			file->first_time = event.time;
		file->last_time = MAX(file->last_time, event.time);
		if (event.kind == RUNTIME_LIFECYCLE && file->pid < 0 && event.value > 0 &&
		    event.value <= INT32_MAX &&
		    (event.id == RUNTIME_RING_START || event.id == RUNTIME_DOMAIN_SPAWN))
			file->pid = (int32_t)event.value;
		/* The runtime counts minor_promoted only in the phase "minor", whose number
		 * differs. */
		is_phase = event.kind == RUNTIME_BEGIN || event.kind == RUNTIME_END;
		if (event.kind == RUNTIME_BEGIN) {
			if (survey->depth < DEPTH_MAX)
				survey->open[survey->depth] = event.id;
			survey->depth++;
		} else if (event.kind == RUNTIME_END && survey->depth) {
			survey->depth--;
		}
		survey->new += (is_phase && event.id >= RUNTIME_PHASE_ONLY_5_3) ||
			       (event.kind == RUNTIME_COUNTER && event.id >= RUNTIME_COUNTER_5_3);
		if (event.kind != RUNTIME_COUNTER || event.id != RUNTIME_MINOR_PROMOTED ||
		    !survey->depth || survey->depth > DEPTH_MAX)
			continue;
		innermost = survey->open[survey->depth - 1];
		survey->old += innermost == RUNTIME_MINOR_5_0;
		survey->new += innermost == RUNTIME_MINOR_5_3;
	}
	if (ring.damaged)
		diag_warn(
			diag, "runtime-events-damaged",
			"ring %u of the runtime events is damaged, or was overwritten while it was "
			"copied; that part is left out",
			index);
}

int runtime_events_open(struct runtime_events *file, const uint8_t *bytes, size_t size,
			struct diag *diag, struct error *err)
{
	struct survey survey = { 0 };
	uint64_t inside;

	*file = (struct runtime_events){ .bytes = bytes, .size = size, .pid = -1 };
	if (size < FILE_HEADER_SIZE)
		return error_set(err, ERROR_FORMAT, "too short for a runtime events file");
	if (read_header(file, err) < 0)
		return -1;
	inside = (size - file->data_offset) / (file->ring_words * 8);
	if (inside < file->rings) {
		diag_warn(diag, "runtime-events-cut",
			  "the runtime events file is cut off: %" PRIu64 " of %u rings are in it",
			  inside, file->rings);
		file->rings = (uint32_t)inside;
	}
	for (uint32_t i = 0; i < file->rings; i++)
		survey_ring(file, &survey, i, diag);
	file->phases = RUNTIME_PHASES_5_3;
	if (file->names_offset == 0 || survey.old > survey.new)
		file->phases = RUNTIME_PHASES_5_0;
	file->phases_guessed = file->names_offset && survey.old == survey.new;
	return 0;
}

size_t runtime_events_user_name(const struct runtime_events *file, unsigned id, char name[128])
{
	uint64_t offset = file->names_offset + (uint64_t)id * NAME_SIZE;

	if (file->names_offset && file->names_offset <= file->size && id < NAME_COUNT &&
	    offset <= file->size && file->size - offset >= NAME_SIZE && file->bytes[offset]) {
		memcpy(name, file->bytes + offset, NAME_SIZE - 1);
		name[NAME_SIZE - 1] = '\0';
	} else {
		snprintf(name, NAME_SIZE, "event %u", id);
	}
	return strlen(name);
}
