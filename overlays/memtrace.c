/* SPDX-License-Identifier: MIT */
/* Reads the packets and events of memtrace, and survives damage. */
#include "overlays/memtrace.h"

#include "overlays/memtrace_format.h"

/* A slot within this number of turns shows that memtrace's encoder wrote the file. */
#define FIRST_TURNS 64

struct memtrace_domain {
	uint16_t number;
	bool lost_backtraces, lost_locations; /* damage: the rest is unreadable */
	uint64_t last_time;                   /* us since 1970 */
	uint64_t next_object;                 /* after the preceding packets */
	bool holds_events;                    /* an earlier packet contained events */
	bool verifies;                        /* an earlier packet named a slot */
	bool counts_turns;                    /* slots are in the order of memtrace's encoder */
	unsigned next_turn;                   /* with verifies */
	struct memtrace_codec codec;
	struct memtrace_names files;
	UT_hash_handle hh;
};

struct packet_header {
	uint64_t size; /* bytes, this header among them */
	uint64_t begin, end, pid, verify_code, first_object, last_object;
	uint16_t version, domain, verify_slot, verify_prediction;
};

/* ---- Backtraces ---------------------------------------------------------- */

void memtrace_codec_release(struct memtrace_codec *codec)
{
	free(codec->codes);
	free(codec->predictions);
	free(codec->backtrace);
	*codec = (struct memtrace_codec){ 0 };
}

/* Zeroed memory: unused pages cost nothing. */
void memtrace_codec_init(struct memtrace_codec *codec)
{
	*codec = (struct memtrace_codec){ 0 };
	codec->codes = alloc_zeroed(MEMTRACE_CACHE_SIZE, sizeof(*codec->codes));
	codec->predictions = alloc_zeroed(MEMTRACE_CACHE_SIZE, sizeof(*codec->predictions));
}

static void append_slot(struct memtrace_codec *codec, unsigned slot, size_t limit)
{
	if (codec->length >= limit) {
		codec->cut = true;
		return;
	}
	*ARRAY_ADD(codec->backtrace, codec->length, codec->room) = codec->codes[slot];
}

/*
 * Read `count` references that follow the first `common` entries of the previous backtrace; at most
 * `limit` entries are kept.  Returns 0 with codec->backtrace; -1 if `in` is too short.
 */
static int read_backtrace(struct memtrace_codec *codec, struct cursor *in, uint64_t common,
			  unsigned count, size_t limit)
{
	size_t before = codec->length;
	bool keep = common > before;
	unsigned slot = 0;

	/* A prefix longer than the last backtrace: keep that backtrace, but update the cache. */
	codec->length = keep ? before : (size_t)common;
	for (unsigned i = 0; i < count && !in->short_; i++) {
		unsigned word = cursor_u16(in), tag = word & 3, ahead = tag == TAG_HIT_1;

		codec->predictions[slot] = (uint16_t)(word >> 2);
		slot = word >> 2;
		if (tag == TAG_LITERAL)
			codec->codes[slot] = cursor_u64(in);
		if (tag == TAG_HIT_N)
			ahead = cursor_u8(in);
		append_slot(codec, slot, keep ? 0 : limit);
		for (; ahead; ahead--) {
			slot = codec->predictions[slot];
			append_slot(codec, slot, keep ? 0 : limit);
		}
	}
	return in->short_ ? -1 : 0;
}

/* ---- Packets ------------------------------------------------------------- */

/* Read a packet's header, which has its own version.  Returns whether there is a packet. */
static bool read_packet_header(struct cursor *in, struct packet_header *header)
{
	const uint8_t *begin = in->at;
	uint32_t magic = cursor_u32(in);

	header->size = cursor_u32(in) / 8;
	header->begin = cursor_u64(in);
	header->end = cursor_u64(in);
	cursor_u32(in); /* the duration of a flush: always 0 */
	header->version = cursor_u16(in);
	header->pid = cursor_u64(in);
	header->domain = header->version >= 3 ? cursor_u16(in) : 0;
	header->verify_slot = cursor_u16(in);
	header->verify_prediction = cursor_u16(in);
	header->verify_code = cursor_u64(in);
	header->first_object = cursor_u64(in);
	header->last_object = cursor_u64(in);
	return magic == MAGIC && !in->short_ && header->size >= (size_t)(in->at - begin) &&
	       header->version >= 1 && header->version <= NEWEST_VERSION &&
	       header->begin <= header->end && header->first_object <= header->last_object;
}

static struct memtrace_domain *find_domain(struct memtrace *trace, uint16_t number)
{
	struct memtrace_domain *domain;

	HASH_FIND(hh, trace->domains, &number, sizeof(number), domain);
	if (domain || HASH_COUNT(trace->domains) >= trace->domain_limit)
		return domain;
	domain = alloc_zeroed(1, sizeof(*domain));
	domain->number = number;
	domain->last_time = trace->info.start_time;
	memtrace_codec_init(&domain->codec);
	domain->lost_backtraces = domain->lost_locations = trace->packets_lost;
	HASH_ADD(hh, trace->domains, number, sizeof(domain->number), domain);
	return domain;
}

/* Returns whether the packet is whole, of the traced process and of a known domain. */
static bool is_usable(struct memtrace *trace, const struct packet_header *header, size_t rest)
{
	if (header->size > rest) {
		diag_warn(trace->diag, "memtrace-truncated",
			  "the last packet of memtrace is cut off: %zu of %" PRIu64 " bytes", rest,
			  header->size);
		return false;
	}
	if (header->pid == trace->info.pid)
		return true;
	diag_warn(trace->diag, "memtrace-other-process",
		  "skipped a packet of memtrace of process %" PRIu64 "; %" PRIu64 " is traced",
		  header->pid, trace->info.pid);
	return false;
}

/* Each backtrace builds upon the previous one: they are unknown from now on. */
static void lose_backtraces(struct memtrace *trace, struct memtrace_domain *domain,
			    const char *reason)
{
	if (domain->lost_backtraces)
		return;
	diag_warn(trace->diag, "memtrace-damaged",
		  "memtrace's backtraces of domain %u are unknown from here: the packet that ends "
		  "at offset 0x%" PRIx64 " %s",
		  domain->number, (uint64_t)(trace->packet.end - trace->begin), reason);
	domain->lost_backtraces = true;
}

/*
 * In memtrace's encoder, a domain's first packet verifies no slot, and the others verify slots in a
 * fixed order.  The format does not require this order: a first slot far from its beginning has no
 * order.  Returns whether no packet is missing before this one.
 */
static bool slots_continue(struct memtrace_domain *domain, unsigned slot)
{
	unsigned turn = (slot - FIRST_SLOT) * STEPS_PER_SLOT % MEMTRACE_CACHE_SIZE;
	bool continues = turn == domain->next_turn;

	if (slot == MEMTRACE_NO_SLOT)
		return true;
	if (!domain->verifies) {
		domain->counts_turns = turn < FIRST_TURNS;
		continues = turn == 0 && domain->holds_events;
	}
	domain->verifies = true;
	domain->next_turn = (turn + 1) % MEMTRACE_CACHE_SIZE;
	return continues || !domain->counts_turns;
}

static void enter_packet(struct memtrace *trace, const struct packet_header *header)
{
	struct memtrace_domain *domain = find_domain(trace, header->domain);
	unsigned slot = header->verify_slot;

	trace->domain = domain;
	trace->holds_locations = trace->holds_events = false;
	trace->packet_begin = header->begin;
	trace->packet_end = header->end;
	trace->next_object = header->first_object;
	trace->last_object = header->last_object;
	if (!domain) {
		diag_warn(trace->diag, "memtrace-domains",
			  "memtrace names more domains than its size can hold");
		trace->packet.at = trace->packet.end;
		return;
	}
	if (slot != MEMTRACE_NO_SLOT &&
	    (slot >= MEMTRACE_CACHE_SIZE || domain->codec.codes[slot] != header->verify_code ||
	     domain->codec.predictions[slot] != header->verify_prediction))
		lose_backtraces(trace, domain, "does not fit those before");
	/*
	 * Since version 3 a domain takes its objects' numbers in chunks of any size, with other
	 * domains' chunks in between, and numbers only grow; before version 3 they are contiguous.
	 */
	if (header->version >= 3 ? header->first_object < domain->next_object
				 : header->first_object != domain->next_object)
		lose_backtraces(trace, domain, "does not continue their allocations");
	if (!slots_continue(domain, slot)) {
		lose_backtraces(trace, domain, "follows one that is missing");
		domain->lost_locations = true; /* their packet is missing, too */
	}
}

/* End the current packet, if there is one. */
static void leave_packet(struct memtrace *trace)
{
	struct memtrace_domain *domain = trace->domain;

	if (!domain)
		return;
	if (trace->next_object != trace->last_object)
		lose_backtraces(trace, domain, "has not as many allocations as its header says");
	domain->next_object = trace->last_object;
	domain->holds_events |= !trace->holds_locations;
	trace->domain = NULL;
}

/* Returns whether there is a next packet. */
static bool next_packet(struct memtrace *trace)
{
	while (cursor_left(&trace->in)) {
		struct cursor in = trace->in;
		struct packet_header header;
		size_t rest = cursor_left(&in);
		bool sound = read_packet_header(&in, &header);

		if (in.short_ && memcmp(trace->in.at, &(uint32_t){ MAGIC }, MIN(rest, 4)) == 0) {
			diag_warn(trace->diag, "memtrace-truncated",
				  "the last packet of memtrace is cut off: %zu bytes", rest);
			trace->in.at = trace->in.end;
			return false;
		}
		if (!sound) {
			static const uint8_t magic[] = { 0xC1, 0x1F, 0xFC, 0xC1 };
			const uint8_t *found = NULL;

			/* Continue at the next packet's magic number, if there is one. */
			if (cursor_left(&trace->in) > sizeof(magic))
				found = memmem(trace->in.at + 1, cursor_left(&trace->in) - 1, magic,
					       sizeof(magic));
			diag_warn(trace->diag, "memtrace-damaged",
				  "no packet of memtrace at offset 0x%" PRIx64 ": %s",
				  (uint64_t)(trace->in.at - trace->begin),
				  found ? "skipped to the next packet" : "nothing follows");
			trace->in.at = found ? found : trace->in.end;
			/* A packet of an unknown domain is missing: no state of a domain is
			 * certain. */
			trace->packets_lost = true;
			for (struct memtrace_domain *domain = trace->domains; domain;
			     domain = domain->hh.next)
				domain->lost_backtraces = domain->lost_locations = true;
			continue;
		}
		trace->packet = in;
		trace->packet.end = trace->in.at + MIN(header.size, rest);
		trace->in.at = trace->packet.end;
		if (!is_usable(trace, &header, rest))
			continue;
		enter_packet(trace, &header);
		return true;
	}
	return false;
}

/* ---- Events -------------------------------------------------------------- */

/* "vint": one byte, or a byte with the length of the number after it. */
static int64_t read_vint(struct cursor *in)
{
	uint8_t first = cursor_u8(in);

	if (first == VINT_U16)
		return cursor_u16(in);
	if (first == VINT_I32)
		return (int32_t)cursor_u32(in);
	if (first == VINT_I64)
		return (int64_t)cursor_u64(in);
	return first;
}

static int read_alloc(struct memtrace *trace, unsigned code, struct memtrace_event *event)
{
	struct memtrace_codec *codec = &trace->domain->codec;
	struct cursor *in = &trace->packet;
	bool is_short = code != CODE_ALLOC;
	size_t limit = trace->domain->lost_backtraces ? 0 : trace->backtrace_limit;
	unsigned count;

	event->kind = MEMTRACE_ALLOC;
	event->words = is_short ? code - CODE_SHORT_1 + 1 : (uint64_t)read_vint(in);
	event->samples = is_short ? 1 : (uint64_t)read_vint(in);
	event->source = is_short ? MEMTRACE_MINOR : cursor_u8(in);
	event->common = (uint64_t)read_vint(in);
	count = is_short ? cursor_u8(in) : cursor_u16(in);
	event->object = trace->next_object++;
	if (event->source > MEMTRACE_EXTERNAL ||
	    read_backtrace(codec, in, event->common, count, limit) < 0)
		return -1;
	if (codec->cut && limit)
		diag_warn(trace->diag, "memtrace-long-backtrace",
			  "a backtrace of memtrace has more than %zu entries and was cut",
			  trace->backtrace_limit);
	codec->cut = false;
	event->unknown_backtrace = trace->domain->lost_backtraces;
	trace->allocations++;
	trace->unknown_backtraces += event->unknown_backtrace;
	event->backtrace = codec->backtrace;
	event->backtrace_length = event->unknown_backtrace ? 0 : codec->length;
	return 1;
}

static int read_location_event(struct memtrace *trace)
{
	uint64_t code;
	int status;

	/* Lists out of step would give wrong names, which are worse than missing names. */
	if (trace->domain->lost_locations)
		return -1;
	status = memtrace_locations_read(&trace->locations, &trace->domain->files, &trace->packet,
					 &code);
	if (status < 0)
		return -1;
	if (status > 0)
		diag_warn(trace->diag, "memtrace-locations",
			  "memtrace has two meanings of the location code $%" PRId64
			  "; the first one is shown",
			  memtrace_code_number(code));
	trace->holds_locations = true;
	return 0;
}

/* Returns 1 with an event; 0: it was a location; -1: it is damaged. */
static int read_event(struct memtrace *trace, struct memtrace_event *event)
{
	uint32_t header = cursor_u32(&trace->packet);
	unsigned code = header >> TIME_BITS;
	/* The header has the low bits of the time; the packet's begin has the upper bits. */
	uint64_t time = (trace->packet_begin & ~TIME_MASK) + (header & TIME_MASK);

	if ((header & TIME_MASK) < (trace->packet_begin & TIME_MASK))
		time += TIME_MASK + 1;
	if (trace->packet.short_ || time < trace->packet_begin || time > trace->packet_end)
		return -1;
	if (time < trace->domain->last_time) {
		diag_warn(trace->diag, "memtrace-clock",
			  "the clock of memtrace's process was set back; events keep their order");
		time = trace->domain->last_time;
	}
	trace->domain->last_time = time;
	*event = (struct memtrace_event){ .domain = trace->domain->number };
	event->time = time > trace->info.start_time ? time - trace->info.start_time : 0;
	if (code == CODE_LOCATION)
		return read_location_event(trace);
	if (code == CODE_PROMOTE || code == CODE_COLLECT) {
		int64_t delta = read_vint(&trace->packet);

		/*
		 * Blocks are coded by the number of younger allocations of the domain. Another
		 * domain's block, which may be younger, is collected, but never promoted.
		 */
		event->kind = code == CODE_PROMOTE ? MEMTRACE_PROMOTE : MEMTRACE_COLLECT;
		event->object = trace->next_object - 1 - (uint64_t)delta;
		return trace->packet.short_ || (code == CODE_PROMOTE && delta < 0) ? -1 : 1;
	}
	if (code == CODE_ALLOC || (code >= CODE_SHORT_1 && code <= CODE_SHORT_16))
		return read_alloc(trace, code, event);
	return -1;
}

int memtrace_next(struct memtrace *trace, struct memtrace_event *event)
{
	for (;;) {
		const uint8_t *at = trace->packet.at;
		int status;

		if (!cursor_left(&trace->packet)) {
			leave_packet(trace);
			if (next_packet(trace))
				continue;
			if (trace->unknown_backtraces && !trace->ended)
				diag_warn(trace->diag, "memtrace-backtraces",
					  "%" PRIu64 " of %" PRIu64
					  " allocations of memtrace have no backtrace: an earlier "
					  "one is damaged",
					  trace->unknown_backtraces, trace->allocations);
			trace->ended = true;
			return 0;
		}
		status = read_event(trace, event);
		trace->holds_events |= status > 0;
		if (status > 0)
			return 1;
		if (status < 0) {
			struct memtrace_domain *domain = trace->domain;

			/* Locations have separate packets: the events read so far show which state
			 * is lost. */
			if (!domain->lost_locations)
				diag_warn(trace->diag, "memtrace-damaged",
					  "memtrace is damaged at offset 0x%" PRIx64
					  ": the rest of the packet, and "
					  "backtraces that build upon it, are left out",
					  (uint64_t)(at - trace->begin));
			domain->lost_backtraces |= !trace->holds_locations;
			domain->lost_locations |= !trace->holds_events;
			trace->packet.at = trace->packet.end;
		}
	}
}

/* ---- Opening ------------------------------------------------------------- */

static int read_info(struct memtrace *trace)
{
	struct memtrace_info *info = &trace->info;
	uint32_t header = cursor_u32(&trace->packet);
	uint64_t rate;

	if (header >> TIME_BITS != CODE_INFO)
		return -1;
	rate = cursor_u64(&trace->packet);
	memcpy(&info->sample_rate, &rate, sizeof(rate));
	info->word_size = cursor_u8(&trace->packet);
	info->executable = memtrace_text_read(&trace->arena, &trace->packet);
	info->host = memtrace_text_read(&trace->arena, &trace->packet);
	info->parameters = memtrace_text_read(&trace->arena, &trace->packet);
	info->pid = cursor_u64(&trace->packet);
	info->context =
		trace->version >= 2 ? memtrace_text_read(&trace->arena, &trace->packet) : "";
	info->start_time = trace->packet_begin;
	if (trace->packet.short_)
		return -1;
	if (cursor_left(&trace->packet))
		diag_warn(trace->diag, "memtrace-info",
			  "the last %zu bytes of memtrace's description, at offset 0x%" PRIx64
			  " belong to no known field; left out",
			  cursor_left(&trace->packet), (uint64_t)(trace->packet.at - trace->begin));
	return 0;
}

int memtrace_open(struct memtrace *trace, const uint8_t *bytes, size_t size, struct diag *diag,
		  struct error *err)
{
	struct packet_header header;

	*trace = (struct memtrace){ .in = cursor_over(bytes, size), .begin = bytes, .diag = diag };
	trace->locations.arena = &trace->arena;
	/* A domain costs memory, so a small file may have few; OCaml allows 128 by default. */
	trace->domain_limit = 128 + size / 8192;
	trace->backtrace_limit = 65536 + size / 8;
	trace->packet = trace->in;
	if (!read_packet_header(&trace->packet, &header) || header.size > size) {
		bool whole = !trace->packet.short_ &&
			     memcmp(trace->begin, &(uint32_t){ MAGIC }, sizeof(uint32_t)) == 0;

		/* Set err for a file that does not begin with a readable packet. */
		if (whole && (header.version < 1 || header.version > NEWEST_VERSION))
			return error_set(err, ERROR_UNSUPPORTED,
					 "memtrace version %u is unknown; 1 to %d are known",
					 header.version, NEWEST_VERSION);
		return error_set(err, ERROR_FORMAT, "not a memtrace file");
	}
	trace->version = header.version;
	trace->packet.end = bytes + header.size;
	trace->in.at = trace->packet.end;
	trace->packet_begin = header.begin;
	trace->packet_end = header.end;
	trace->info.initial_domain = header.domain;
	if (read_info(trace) < 0)
		return error_set(err, ERROR_FORMAT, "memtrace: the trace's description is damaged");
	trace->packet.at = trace->packet.end;
	return 0;
}

void memtrace_close(struct memtrace *trace)
{
	struct memtrace_domain *domain;
	struct memtrace_code *code;

	HASH_FREE_ALL(trace->domains, domain, memtrace_codec_release(&domain->codec));
	HASH_FREE_ALL(trace->locations.by_code, code);
	arena_release(&trace->arena);
}
