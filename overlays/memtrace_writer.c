/* SPDX-License-Identifier: MIT */
/* Encodes the packets, events, backtraces and locations of memtrace. */
#include "overlays/memtrace.h"

#include <endian.h>

#include "overlays/memtrace_format.h"

#define HEADER_SIZE    68
#define BACKTRACE_MOST 4096 /* bytes of its references */
#define REFERENCE_MOST 10   /* bytes */
#define LOCATION_MOST  4096 /* bytes of all locations of a code */
#define EVENT_MOST     (100 + BACKTRACE_MOST)
#define NEW_CODES_MOST 128
#define TIME_MOST      UINT64_C(30000000) /* us of a packet */
#define PREDICTED_MOST 255

struct domain {
	uint16_t number;
	struct packet {
		uint8_t bytes[32768];
		size_t size;
	} events;                    /* with room for its header */
	uint64_t begin, end;         /* us since 1970 */
	uint64_t first, next;        /* numbers of the packet's first and next allocation */
	unsigned turn;               /* turn of the slot that the packet verifies */
	unsigned slot, prediction;   /* which the packet verifies, as at its begin */
	uint64_t code;               /* code in the slot */
	struct memtrace_codec codec; /* with the previous backtrace */
	uint32_t *ages;              /* owned: last use of each slot of the cache */
	uint32_t age;
	uint64_t *codes; /* owned: new ones of the packet */
	size_t code_count, code_room;
	struct memtrace_names files;
	UT_hash_handle hh;
};

struct memtrace_writer {
	const struct memtrace_locations *locations; /* borrowed */
	struct memtrace_sink sink;
	uint64_t pid, start;
	struct domain *domains, *current; /* hash by number; whose packet is not written yet */
	struct packet location_packet;
	struct arena arena; /* lists of functions */
};

/* ---- Bytes --------------------------------------------------------------- */

static void put_bytes(struct packet *packet, const void *bytes, size_t size)
{
	memcpy(packet->bytes + packet->size, bytes, size);
	packet->size += size;
}

static void put_number(struct packet *packet, uint64_t number, size_t size)
{
	put_bytes(packet, &(uint64_t){ htole64(number) }, size);
}

/* Use the shortest form (see read_vint() of the reader). */
static void put_vint(struct packet *packet, int64_t number)
{
	bool is_u16 = number >= 0 && number <= UINT16_MAX, is_i32 = number == (int32_t)number;

	if (number >= 0 && number < VINT_U16) {
		put_number(packet, (uint64_t)number, 1);
		return;
	}
	put_number(packet, is_u16 ? VINT_U16 : is_i32 ? VINT_I32 : VINT_I64, 1);
	put_number(packet, (uint64_t)number, is_u16 ? 2 : is_i32 ? 4 : 8);
}

static void put_event(struct packet *packet, unsigned code, uint64_t time)
{
	put_number(packet, (uint64_t)code << TIME_BITS | (time & TIME_MASK), 4);
}

/* ---- Packets ------------------------------------------------------------- */

/* Fill in the header of a packet of a domain; `verifies`: with its slot. */
static void put_header(const struct memtrace_writer *writer, const struct domain *domain,
		       struct packet *packet, uint64_t end, uint64_t next)
{
	bool verifies = packet == &domain->events;
	size_t size = packet->size;

	packet->size = 0;
	put_number(packet, MAGIC, 4);
	put_number(packet, size * 8, 4);
	put_number(packet, domain->begin, 8);
	put_number(packet, end, 8);
	put_number(packet, 0, 4); /* the duration of a flush */
	put_number(packet, NEWEST_VERSION, 2);
	put_number(packet, writer->pid, 8);
	put_number(packet, domain->number, 2);
	put_number(packet, verifies ? domain->slot : MEMTRACE_NO_SLOT, 2);
	put_number(packet, verifies ? domain->prediction : 0, 2);
	put_number(packet, verifies ? domain->code : 0, 8);
	put_number(packet, domain->first, 8);
	put_number(packet, next, 8);
	packet->size = size;
}

static struct domain *use_domain(struct memtrace_writer *writer, uint16_t number)
{
	struct domain *domain;

	HASH_FIND_OR_ADD(writer->domains, number, &number, domain);
	if (domain->ages)
		return domain;
	domain->events.size = HEADER_SIZE;
	domain->slot = MEMTRACE_NO_SLOT;
	memtrace_codec_init(&domain->codec);
	domain->ages = alloc_zeroed(MEMTRACE_CACHE_SIZE, sizeof(*domain->ages));
	return domain;
}

/* ---- Locations ----------------------------------------------------------- */

/* Returns the index of a name, which moves to the front; MEMTRACE_LIST_LENGTH: it is new. */
static unsigned use_name(struct memtrace_names *list, const char *name)
{
	unsigned at = 0;
	bool is_new;

	while (at < MEMTRACE_LIST_LENGTH && list->names[at].name &&
	       strcmp(list->names[at].name, name) != 0)
		at++;
	is_new = at == MEMTRACE_LIST_LENGTH || !list->names[at].name;
	memtrace_names_use(list, MIN(at, MEMTRACE_LIST_LENGTH - 1), name);
	return is_new ? MEMTRACE_LIST_LENGTH : at;
}

static void put_locations(struct memtrace_writer *writer, struct domain *domain, uint64_t code)
{
	static const struct memtrace_location unknown = { "<unknown>", "??", 1, 1, 1 };
	size_t count, size = 9;
	const struct memtrace_location *locations =
		memtrace_locations_borrow(writer->locations, code, &count);

	for (size_t i = 0; i < count; i++)
		size += 6 + strlen(locations[i].file) + 1 + strlen(locations[i].function) + 1;
	if (size > LOCATION_MOST) {
		locations = &unknown;
		count = 1;
	}
	put_event(&writer->location_packet, CODE_LOCATION, domain->begin);
	put_number(&writer->location_packet, code, 8);
	put_number(&writer->location_packet, count, 1);
	for (size_t i = 0; i < count; i++) {
		unsigned file = use_name(&domain->files, locations[i].file), function;
		struct memtrace_name *first = &domain->files.names[0];

		if (!first->functions)
			first->functions = arena_alloc(&writer->arena, sizeof(*first->functions));
		else if (file == MEMTRACE_LIST_LENGTH)
			*first->functions = (struct memtrace_names){ 0 };
		function = use_name(first->functions, locations[i].function);
		put_number(&writer->location_packet,
			   locations[i].line | (uint64_t)locations[i].begin << 20 |
				   (uint64_t)locations[i].end << 28 | (uint64_t)file << 38 |
				   (uint64_t)function << 43,
			   6);
		if (file == MEMTRACE_LIST_LENGTH)
			put_bytes(&writer->location_packet, locations[i].file,
				  strlen(locations[i].file) + 1);
		if (function == MEMTRACE_LIST_LENGTH)
			put_bytes(&writer->location_packet, locations[i].function,
				  strlen(locations[i].function) + 1);
	}
}

static void flush_packet(struct memtrace_writer *writer, struct domain *domain)
{
	struct packet *packet;

	if (domain->events.size == HEADER_SIZE)
		return;
	/* Write the locations of the packet's new codes, in packets before it. */
	packet = &writer->location_packet;
	for (size_t i = 0; i < domain->code_count;) {
		packet->size = HEADER_SIZE;
		while (i < domain->code_count &&
		       sizeof(packet->bytes) - packet->size > LOCATION_MOST + 4)
			put_locations(writer, domain, domain->codes[i++]);
		put_header(writer, domain, packet, domain->begin, domain->first);
		writer->sink.put(writer->sink.context, packet->bytes, packet->size);
	}
	domain->code_count = 0;
	put_header(writer, domain, &domain->events, domain->end, domain->next);
	writer->sink.put(writer->sink.context, domain->events.bytes, domain->events.size);
	domain->first = domain->next;
	domain->events.size = HEADER_SIZE;
	domain->slot = (FIRST_SLOT + domain->turn++ * SLOT_STEP) % MEMTRACE_CACHE_SIZE;
	domain->prediction = domain->codec.predictions[domain->slot];
	domain->code = domain->codec.codes[domain->slot];
}

/* ---- Backtraces ---------------------------------------------------------- */

/* Returns the slot of a code, or the slot that it takes, one of two. */
static unsigned choose_slot(const struct domain *domain, uint64_t code)
{
	unsigned one = (unsigned)(code * UINT64_C(0x9E3779B97F4A7C15) >> 50);
	unsigned other = (unsigned)(code * UINT64_C(0xC2B2AE3D27D4EB4F) >> 50);

	if (domain->codec.codes[one] == code)
		return one;
	if (domain->codec.codes[other] == code)
		return other;
	return domain->ages[one] < domain->ages[other] ? one : other;
}

/* Encode the entries from `at`, the innermost last.  Returns the number of references. */
static unsigned put_backtrace(struct domain *domain, const uint64_t *codes, size_t at, size_t count)
{
	size_t limit = domain->events.size + BACKTRACE_MOST - REFERENCE_MOST;
	struct memtrace_codec *codec = &domain->codec;
	unsigned slot = 0, references = 0, ahead;

	domain->age++;
	for (; at < count && domain->events.size <= limit; references++) {
		uint64_t code = codes[at++];
		unsigned found = choose_slot(domain, code);

		domain->ages[found] = domain->age;
		codec->predictions[slot] = (uint16_t)found;
		slot = found;
		if (codec->codes[slot] != code) {
			put_number(&domain->events, slot << 2 | TAG_LITERAL, 2);
			put_number(&domain->events, code, 8);
			codec->codes[slot] = code;
			*ARRAY_ADD(domain->codes, domain->code_count, domain->code_room) = code;
			continue;
		}
		/* Follow the chain of predictions while they match the next codes. */
		for (ahead = 0; at < count && ahead < PREDICTED_MOST; ahead++, at++) {
			unsigned next = codec->predictions[slot];

			if (codec->codes[next] != codes[at])
				break;
			slot = next;
		}
		put_number(&domain->events, found << 2 | MIN(ahead, TAG_HIT_N), 2);
		if (ahead >= TAG_HIT_N)
			put_number(&domain->events, ahead, 1);
	}
	return references;
}

/* Keep the backtrace.  Returns the number of entries shared with the previous one. */
static size_t keep_backtrace(struct memtrace_codec *codec, const struct memtrace_event *event)
{
	size_t count = event->backtrace_length, common = 0;

	while (common < count && common < codec->length &&
	       codec->backtrace[common] == event->backtrace[common])
		common++;
	ARRAY_GROW(codec->backtrace, codec->room, count);
	if (count > common)
		memcpy(codec->backtrace + common, event->backtrace + common,
		       (count - common) * sizeof(*codec->backtrace));
	codec->length = count;
	return common;
}

/* ---- Events -------------------------------------------------------------- */

/* Returns whether a packet cannot take an event. */
static bool is_full(const struct domain *domain, const struct memtrace_event *event, uint64_t time)
{
	return sizeof(domain->events.bytes) - domain->events.size < EVENT_MOST ||
	       domain->code_count > NEW_CODES_MOST || time - domain->begin > TIME_MOST ||
	       (event->kind == MEMTRACE_ALLOC && event->object != domain->next) ||
	       (event->kind == MEMTRACE_PROMOTE && event->object >= domain->next);
}

void memtrace_writer_put(struct memtrace_writer *writer, const struct memtrace_event *event)
{
	struct domain *domain = writer->current;
	uint64_t time = writer->start + event->time;

	if (!domain || domain->number != event->domain) {
		if (domain)
			flush_packet(writer, domain);
		domain = writer->current = use_domain(writer, event->domain);
	}
	if (is_full(domain, event, time))
		flush_packet(writer, domain);
	if (domain->events.size == HEADER_SIZE) {
		domain->begin = time;
		if (event->kind == MEMTRACE_ALLOC)
			domain->first = domain->next = event->object;
		else if (event->kind == MEMTRACE_PROMOTE && event->object >= domain->next)
			domain->first = domain->next = event->object + 1;
	}
	domain->end = time;
	if (event->kind == MEMTRACE_ALLOC) {
		size_t common = keep_backtrace(&domain->codec, event), count_at, size;
		bool is_short = event->words >= 1 && event->words <= 16 && event->samples == 1 &&
				event->source == MEMTRACE_MINOR &&
				event->backtrace_length - common <= UINT8_MAX;
		struct packet *packet = &domain->events;
		unsigned count;

		put_event(packet, is_short ? CODE_SHORT_1 - 1 + (unsigned)event->words : CODE_ALLOC,
			  domain->end);
		if (!is_short) {
			put_vint(packet, (int64_t)event->words);
			put_vint(packet, (int64_t)event->samples);
			put_number(packet, event->source, 1);
		}
		put_vint(packet, (int64_t)common);
		count_at = packet->size;
		packet->size += is_short ? 1 : 2;
		count = put_backtrace(domain, event->backtrace, common, event->backtrace_length);
		size = packet->size;
		packet->size = count_at;
		put_number(packet, count, is_short ? 1 : 2);
		packet->size = size;
		domain->next = event->object + 1;
		return;
	}
	put_event(&domain->events, event->kind == MEMTRACE_PROMOTE ? CODE_PROMOTE : CODE_COLLECT,
		  time);
	put_vint(&domain->events, (int64_t)(domain->next - 1 - event->object));
}

/* ---- Opening and closing ------------------------------------------------- */

/* The strings have any length: only this packet may exceed 32 KiB. */
static void write_info(struct memtrace_writer *writer, const struct memtrace_info *info)
{
	struct domain *domain = use_domain(writer, info->initial_domain);
	const char *texts[] = { info->executable, info->host, info->parameters, info->context };
	struct packet *packet = &writer->location_packet;
	struct memtrace_sink *sink = &writer->sink;
	size_t size = HEADER_SIZE + 4 + sizeof(uint64_t) + 1 + sizeof(uint64_t);
	uint64_t rate;

	domain->begin = info->start_time;
	for (size_t i = 0; i < 4; i++)
		size += strlen(texts[i]) + 1;
	packet->size = size;
	put_header(writer, domain, packet, info->start_time, 0);
	packet->size = HEADER_SIZE;
	put_event(packet, CODE_INFO, info->start_time);
	memcpy(&rate, &info->sample_rate, sizeof(rate));
	put_number(packet, rate, sizeof(rate));
	put_number(packet, info->word_size, 1);
	sink->put(sink->context, packet->bytes, packet->size);
	for (size_t i = 0; i < 4; i++) {
		if (i == 3) {
			packet->size = 0;
			put_number(packet, info->pid, sizeof(info->pid));
			sink->put(sink->context, packet->bytes, packet->size);
		}
		sink->put(sink->context, texts[i], strlen(texts[i]) + 1);
	}
}

struct memtrace_writer *memtrace_writer_open(const struct memtrace_info *info,
					     const struct memtrace_locations *locations,
					     struct memtrace_sink sink)
{
	struct memtrace_writer *writer = alloc_zeroed(1, sizeof(*writer));

	writer->locations = locations;
	writer->sink = sink;
	writer->pid = info->pid;
	writer->start = info->start_time;
	write_info(writer, info);
	return writer;
}

void memtrace_writer_close(struct memtrace_writer *writer)
{
	struct domain *domain;

	if (!writer)
		return;
	if (writer->current)
		flush_packet(writer, writer->current);
	HASH_FREE_ALL(writer->domains, domain, memtrace_codec_release(&domain->codec);
		      free(domain->ages); free(domain->codes));
	arena_release(&writer->arena);
	free(writer);
}
