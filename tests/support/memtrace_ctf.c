/* SPDX-License-Identifier: MIT */
#include "tests/support/memtrace_ctf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CACHE          16384
#define LIST           31
#define IDS_PER_DOMAIN 10000 /* version 3 numbers each domain's ids separately */

struct ctf_list {
	char names[LIST][64];         /* most recently used first; "": empty */
	struct ctf_list *inner[LIST]; /* of files: their functions */
};

struct ctf_domain {
	struct ctf_buffer places, events;
	struct ctf_list files;
	uint64_t cache[CACHE];
	uint16_t next[CACHE];
	uint64_t previous[CTF_BACKTRACE];
	size_t previous_length;
	uint64_t first, last;  /* us: of the packet's events */
	uint64_t first_id, id; /* the packet's ids begin at first_id; the next is id */
	unsigned slot;         /* last used: the next packet's header makes the reader verify it */
	bool used;
};

static void put(struct ctf_buffer *buffer, const void *bytes, size_t size)
{
	if (buffer->size + size > buffer->room) {
		buffer->room = 2 * (buffer->room + size);
		buffer->bytes = realloc(buffer->bytes, buffer->room);
		if (!buffer->bytes)
			abort();
	}
	memcpy(buffer->bytes + buffer->size, bytes, size);
	buffer->size += size;
}

static void put_number(struct ctf_buffer *buffer, uint64_t number, size_t size)
{
	put(buffer, &number, size);
}

static void put_vint(struct ctf_buffer *buffer, int64_t number)
{
	if (number >= 0 && number < 253) {
		put_number(buffer, (uint64_t)number, 1);
	} else if (number >= 0 && number <= UINT16_MAX) {
		put_number(buffer, 253, 1);
		put_number(buffer, (uint64_t)number, 2);
	} else if (number >= INT32_MIN && number <= INT32_MAX) {
		put_number(buffer, 254, 1);
		put_number(buffer, (uint64_t)number, 4);
	} else {
		put_number(buffer, 255, 1);
		put_number(buffer, (uint64_t)number, 8);
	}
}

static void put_text(struct ctf_buffer *buffer, const char *text)
{
	put(buffer, text, strlen(text) + 1);
}

static void put_event(struct ctf_buffer *buffer, unsigned code, uint64_t time)
{
	put_number(buffer, (uint64_t)code << 25 | (time & 0x1ffffff), 4);
}

struct packet {
	uint64_t begin, end, first_id, last_id, verify_code;
	unsigned domain, verify_slot, verify_next;
	const struct ctf_buffer *content;
};

static void put_packet(struct ctf_file *file, const struct packet *packet)
{
	struct ctf_buffer *out = &file->out;
	size_t header = file->version >= 3 ? 68 : 66;

	put_number(out, 0xC1FC1FC1, 4);
	put_number(out, (header + packet->content->size) * 8, 4);
	put_number(out, packet->begin, 8);
	put_number(out, packet->end, 8);
	put_number(out, 0, 4);
	put_number(out, file->version, 2);
	put_number(out, file->pid, 8);
	if (file->version >= 3)
		put_number(out, packet->domain, 2);
	put_number(out, packet->verify_slot, 2);
	put_number(out, packet->verify_next, 2);
	put_number(out, packet->verify_code, 8);
	put_number(out, packet->first_id, 8);
	put_number(out, packet->last_id, 8);
	put(out, packet->content->bytes, packet->content->size);
}

void ctf_init(struct ctf_file *file, unsigned version, double rate, uint64_t pid, uint64_t start)
{
	struct ctf_buffer info = { 0 };
	struct packet packet = {
		.begin = start, .end = start, .verify_slot = 0xffff, .content = &info
	};

	*file = (struct ctf_file){ .version = version, .pid = pid, .start = start };
	put_event(&info, 0, start);
	put(&info, &rate, sizeof(rate));
	put_number(&info, 64, 1);
	put_text(&info, "/bin/program");
	put_text(&info, "host");
	put_text(&info, "v=0x400");
	put_number(&info, pid, 8);
	if (version >= 2)
		put_text(&info, "context");
	put_packet(file, &packet);
	free(info.bytes);
}

static void free_list(struct ctf_list *list)
{
	for (int i = 0; i < LIST; i++)
		free(list->inner[i]);
}

void ctf_release(struct ctf_file *file)
{
	for (int i = 0; i < CTF_DOMAINS; i++) {
		if (!file->domains[i])
			continue;
		free(file->domains[i]->places.bytes);
		free(file->domains[i]->events.bytes);
		free_list(&file->domains[i]->files);
		free(file->domains[i]);
	}
	free(file->out.bytes);
	*file = (struct ctf_file){ 0 };
}

static struct ctf_domain *domain_of(struct ctf_file *file, unsigned number)
{
	struct ctf_domain *domain = file->domains[number];

	if (domain)
		return domain;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		abort();
	domain->id = domain->first_id = (uint64_t)number * IDS_PER_DOMAIN;
	return file->domains[number] = domain;
}

/* ---- Locations ----------------------------------------------------------- */

/* Returns the code of a name and moves it to the front; LIST: new. */
static unsigned use_name(struct ctf_list *list, const char *name)
{
	struct ctf_list *inner;
	unsigned at = 0, last;

	while (at < LIST && strcmp(list->names[at], name) != 0)
		at++;
	last = at < LIST ? at : LIST - 1;
	inner = list->inner[last];
	if (at == LIST && inner)
		memset(inner, 0, sizeof(*inner));
	memmove(&list->names[1], &list->names[0], last * sizeof(list->names[0]));
	memmove(&list->inner[1], &list->inner[0], last * sizeof(list->inner[0]));
	strcpy(list->names[0], name);
	list->inner[0] = inner;
	return at;
}

void ctf_locate(struct ctf_file *file, unsigned number, uint64_t code,
		const struct ctf_location *locations, size_t count)
{
	struct ctf_domain *domain = domain_of(file, number);
	struct ctf_buffer *out = &domain->places;

	put_event(out, 1, domain->used ? domain->first : file->start);
	put_number(out, code, 8);
	put_number(out, count, 1);
	for (size_t i = 0; i < count; i++) {
		const struct ctf_location *place = &locations[i];
		unsigned file_code = use_name(&domain->files, place->file), function_code;

		if (!domain->files.inner[0])
			domain->files.inner[0] = calloc(1, sizeof(struct ctf_list));
		function_code = use_name(domain->files.inner[0], place->function);
		put_number(out,
			   place->line | (uint64_t)place->begin << 20 | (uint64_t)place->end << 28 |
				   (uint64_t)file_code << 38 | (uint64_t)function_code << 43,
			   6);
		if (file_code == LIST)
			put_text(out, place->file);
		if (function_code == LIST)
			put_text(out, place->function);
	}
}

/* ---- Events -------------------------------------------------------------- */

static void note_time(struct ctf_domain *domain, uint64_t time)
{
	if (!domain->used)
		domain->first = time;
	domain->used = true;
	domain->last = time;
}

static unsigned slot_of(uint64_t code)
{
	return (unsigned)(code * 40503 >> 3) % CACHE;
}

/* Returns how many codes from `at` on the chain of predictions of `slot` has. */
static unsigned predicted(const struct ctf_domain *domain, const struct ctf_alloc *alloc, size_t at,
			  unsigned slot)
{
	unsigned count = 0;

	while (at + count < alloc->length && count < 255) {
		slot = domain->next[slot];
		if (domain->cache[slot] != alloc->backtrace[at + count])
			break;
		count++;
	}
	return count;
}

/* Code the backtrace from `at` on.  Returns the number of references. */
static unsigned put_backtrace(struct ctf_domain *domain, const struct ctf_alloc *alloc, size_t at,
			      struct ctf_buffer *out)
{
	unsigned words = 0, slot = 0, ahead;

	for (; at < alloc->length; words++) {
		uint64_t code = alloc->backtrace[at++];
		unsigned bucket = slot_of(code);
		bool hit = domain->cache[bucket] == code;

		domain->next[slot] = (uint16_t)bucket;
		slot = bucket;
		ahead = hit ? predicted(domain, alloc, at, slot) : 0;
		put_number(out, bucket << 2 | (hit ? ahead < 2 ? ahead : 2 : 3), 2);
		if (!hit)
			put_number(out, code, 8);
		domain->cache[bucket] = code;
		if (ahead > 1)
			put_number(out, ahead, 1);
		for (at += ahead; ahead; ahead--)
			slot = domain->next[slot];
	}
	domain->slot = slot;
	return words;
}

uint64_t ctf_alloc(struct ctf_file *file, unsigned number, const struct ctf_alloc *alloc)
{
	struct ctf_domain *domain = domain_of(file, number);
	bool is_short = alloc->words >= 1 && alloc->words <= 16 && alloc->samples == 1 &&
			alloc->source == 0;
	struct ctf_buffer references = { 0 };
	size_t common = 0;
	unsigned words;

	while (common < alloc->length && common < domain->previous_length &&
	       alloc->backtrace[common] == domain->previous[common])
		common++;
	note_time(domain, alloc->time);
	words = put_backtrace(domain, alloc, common, &references);
	put_event(&domain->events, is_short ? 100 + (unsigned)alloc->words : 2, alloc->time);
	if (!is_short) {
		put_vint(&domain->events, (int64_t)alloc->words);
		put_vint(&domain->events, (int64_t)alloc->samples);
		put_number(&domain->events, alloc->source, 1);
	}
	put_vint(&domain->events, (int64_t)common);
	put_number(&domain->events, words, is_short ? 1 : 2);
	put(&domain->events, references.size ? references.bytes : (const uint8_t *)"",
	    references.size);
	free(references.bytes);
	if (alloc->length)
		memcpy(domain->previous, alloc->backtrace,
		       alloc->length * sizeof(*alloc->backtrace));
	domain->previous_length = alloc->length;
	return domain->id++;
}

void ctf_object(struct ctf_file *file, unsigned number, unsigned code, uint64_t time,
		uint64_t object)
{
	struct ctf_domain *domain = domain_of(file, number);

	note_time(domain, time);
	put_event(&domain->events, code, time);
	put_vint(&domain->events, (int64_t)(domain->id - 1 - object));
}

void ctf_flush(struct ctf_file *file, unsigned number)
{
	struct ctf_domain *domain = domain_of(file, number);
	struct packet packet = { .begin = domain->used ? domain->first : file->start,
				 .end = domain->used ? domain->last : file->start,
				 .first_id = domain->first_id,
				 .last_id = domain->first_id,
				 .domain = number,
				 .verify_slot = 0xffff,
				 .content = &domain->places };

	if (packet.begin > file->start)
		packet.begin = file->start;
	if (domain->places.size)
		put_packet(file, &packet);
	packet.begin = domain->first;
	packet.last_id = domain->id;
	packet.content = &domain->events;
	if (domain->events.size)
		put_packet(file, &packet);
	domain->places.size = domain->events.size = 0;
	domain->first_id = domain->id;
	domain->used = false;
}
