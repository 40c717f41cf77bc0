/* SPDX-License-Identifier: MIT */
/* Write packets and read events as text. */
#include "tests/unit/decoder/packet_text.h"

#include "decoder/cpu_event.h"

static const struct place {
	char name;
	uint64_t ip;
} places[] = {
	{ 'M', SAMPLE_MAIN },   { 'W', SAMPLE_WORK }, { 'L', SAMPLE_LEAF },
	{ 'C', SAMPLE_CIRCLE }, { 'K', KERNEL },      { 'S', KERNEL_SYS },
	{ 'F', KERNEL_FAULT },  { 'X', 0x900000 },    { 'Y', 0x910000 },
};

#define PLACES (sizeof(places) / sizeof(places[0]))

/* ns: the time between two packets */
#define STEP 10

/* ---- Packets ------------------------------------------------------------- */

static uint64_t ip_of(const char *text)
{
	for (size_t i = 0; *text && i < PLACES; i++)
		if (places[i].name == *text)
			return places[i].ip + strtoul(text + 1, NULL, 10);
	ck_assert_msg(!*text, "%s", text);
	return 0;
}

static void add_tsx(bool begin, bool abort)
{
	struct pt_packet packet = { .type = ppt_mode, .payload.mode.leaf = pt_mol_tsx };

	packet.payload.mode.bits.tsx.intx = begin;
	packet.payload.mode.bits.tsx.abrt = abort;
	pt_packets_add(&run.packets, &packet);
}

static void add_paging(bool guest)
{
	const struct pt_packet packet = { .type = ppt_pip,
					  .payload.pip = { .cr3 = 0x1000, .nr = guest } };

	pt_packets_add(&run.packets, &packet);
}

static const uint8_t psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
			       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

/* A PSB whose header says whether a transaction is open: MODE.TSX, FUP. */
static void add_psb_with_tx(bool in_tx, uint64_t ip)
{
	const uint8_t rest[] = { 0x99, in_tx ? 0x21 : 0x20, 0x7d };

	pt_packets_raw(&run.packets, psb, sizeof(psb));
	pt_packets_raw(&run.packets, rest, sizeof(rest));
	pt_packets_raw(&run.packets, &ip, 6);
	pt_packets_raw(&run.packets, "\x02\x23", 2); /* PSBEND */
}

void add_packet(const char *name, const char *argument)
{
	static const struct {
		const char *name;
		void (*add)(struct pt_packets *packets, uint64_t ip);
	} with_ip[] = {
		{ "tip", pt_packets_tip },
		{ "pge", pt_packets_pge },
		{ "pgd", pt_packets_pgd },
		{ "fup", pt_packets_fup },
	};

	for (size_t i = 0; i < 4; i++)
		if (strcmp(name, with_ip[i].name) == 0)
			with_ip[i].add(&run.packets, ip_of(argument));
	if (strcmp(name, "psb") == 0)
		pt_packets_psb(&run.packets, SAMPLE_START, ip_of(argument));
	else if (strcmp(name, "in") == 0 || strcmp(name, "out") == 0)
		add_psb_with_tx(*name == 'i', ip_of(argument));
	else if (strcmp(name, "tnt") == 0)
		pt_packets_tnt(&run.packets, argument);
	else if (strcmp(name, "ovf") == 0)
		pt_packets_ovf(&run.packets);
	else if (strcmp(name, "half") == 0)
		pt_packets_raw(&run.packets, psb, sizeof(psb));
	else if (strcmp(name, "end") == 0)
		pt_packets_raw(&run.packets, "\x02\x23", 2);
	else if (strcmp(name, "bad") == 0)
		pt_packets_raw(&run.packets, "\x02\xff", 2);
	else if (strcmp(name, "evd") == 0)
		pt_packets_raw(&run.packets, "\x02\x53\x01\x07\0\0\0\0\0\0\0", 11);
	else if (strcmp(name, "host") == 0 || strcmp(name, "guest") == 0)
		add_paging(*name == 'g');
	else if (*name == 'b' || *name == 'c' || *name == 'a')
		add_tsx(*name == 'b', *name == 'a');
}

static void add_piece_up_to_here(size_t *begin, size_t *aux_offset)
{
	size_t size = pt_packets_size(&run.packets) - *begin;

	/* The file has pieces of whole words. */
	pt_packets_raw(&run.packets, (const uint8_t[8]){ 0 }, -size % 8);
	size += -size % 8;
	add_piece(*aux_offset, *begin, size);
	*begin += size;
	*aux_offset += size + 64;
}

/* Splits name:argument; the argument may be empty. */
static const char *cut_argument(char *word)
{
	char *argument = strchr(word, ':');

	if (!argument)
		return "";
	*argument = '\0';
	return argument + 1;
}

void add_packets(const char *text)
{
	char copy[256], *rest;

	strcpy(copy, text);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		const char *argument = cut_argument(word);

		add_packet(word, argument);
	}
}

/* Write a TSC, if the time is known, and a packet. Returns the packet's offset. */
static size_t add_timed_packet(char *word, uint64_t time)
{
	const char *argument = cut_argument(word);
	size_t at;

	if (strcmp(word, "psb") == 0) { /* its header has the TSC */
		at = pt_packets_size(&run.packets);
		pt_packets_psb(&run.packets, time, ip_of(argument));
		return at;
	}
	if (time)
		pt_packets_tsc(&run.packets, time);
	at = pt_packets_size(&run.packets);
	add_packet(word, argument);
	return at;
}

uint64_t add_timed_packets(const char *text)
{
	char copy[256], *rest;
	size_t begin = 0, aux_offset = 0, at;
	uint64_t lost = 0, time = SAMPLE_START, first = 0;
	bool found = false; /* the packet before is the last lost one */
	bool timed = true;

	strcpy(copy, text);
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		bool begins = *word == '[', ends = word[strlen(word) - 1] == ']';

		if (strcmp(word, "||") == 0) {
			stamp(time - STEP / 2);
			perf_data_add_aux_event(&run.data, 0, pt_packets_size(&run.packets),
						PERF_AUX_FLAG_TRUNCATED);
			timed = false;
			continue;
		}
		if (*word == '|') {
			add_piece_up_to_here(&begin, &aux_offset);
			continue;
		}
		if (ends)
			word[strlen(word) - 1] = '\0';
		at = add_timed_packet(word + begins,
				      timed || strncmp(word, "psb", 3) == 0 ? time : 0);
		timed = true;
		lost += found ? at - first : 0;
		first = begins ? at : first;
		found = ends;
		time += STEP;
	}
	lost += found ? pt_packets_size(&run.packets) - first : 0;
	if (begin && run.padded)
		pt_packets_raw(&run.packets, (const uint8_t[128]){ 0 }, 128);
	if (begin)
		add_piece_up_to_here(&begin, &aux_offset);
	return lost;
}

/* ---- Events -------------------------------------------------------------- */

static void put_place(FILE *out, const char *before, uint64_t ip)
{
	size_t i = 0;

	while (i < PLACES && ip - places[i].ip >= 16)
		i++;
	fputs(before, out);
	if (i == PLACES)
		fprintf(out, "%" PRIx64, ip);
	else if (ip == places[i].ip)
		fprintf(out, "%c", places[i].name);
	else
		fprintf(out, "%c+%u", places[i].name, (unsigned)(ip - places[i].ip));
}

static void put_event(FILE *out, const struct branch_event *event)
{
	static const char *const kinds[] = { "none", "call",      "return", "jump",
					     "cond", "syscall",   "sysret", "softint",
					     "iret", "interrupt", "abort" };
	static const char *const gaps[GAP_REASONS] = {
		[GAP_BAD_PACKET] = "bad",    [GAP_NO_CODE] = "missing", [GAP_MISMATCH] = "mismatch",
		[GAP_OVERFLOW] = "overflow", [GAP_LOST] = "lost",       [GAP_ENDLESS] = "endless",
	};
	bool only_ends = event->kind == BRANCH_NONE && event->flags & BRANCH_ASYNC;

	if (event->kind == BRANCH_CPU_EVENT) {
		fputs(event->gap == CPU_EVENT_TX_BEGIN    ? "{begin"
		      : event->gap == CPU_EVENT_TX_COMMIT ? "{commit"
		      : event->gap == CPU_EVENT_TX_ABORT  ? "{abort"
		      : event->gap == CPU_EVENT_TX_LOST   ? "{lost"
							  : "{",
		      out);
		if (event->from)
			put_place(out, ":", event->from);
		putc('}', out);
		return;
	}
	if (event->kind == BRANCH_GAP)
		fputs(gaps[event->gap] ? gaps[event->gap] : "gap", out);
	else
		fputs(event->flags & BRANCH_TRACE_ON ? "on"
		      : only_ends                    ? "off"
		      : branch_is_passage(event)     ? "at"
						     : kinds[event->kind],
		      out);
	if (event->flags & BRANCH_TRACE_ON)
		fprintf(out, "%s%s", event->flags & BRANCH_INDIRECT ? "*" : "",
			event->flags & BRANCH_DIRECT ? "=" : "");
	fprintf(out, "%s%s%s", event->flags & BRANCH_ASYNC ? "!" : "",
		event->flags & BRANCH_GUEST ? "g" : "", event->flags & BRANCH_IN_TX ? "~" : "");
	if (event->flags & BRANCH_TRACE_ON)
		put_place(out, ":", event->to);
	else if (event->from)
		put_place(out, ":", event->from);
	if (event->kind != BRANCH_GAP && !only_ends && !(event->flags & BRANCH_TRACE_ON) &&
	    !branch_is_passage(event))
		put_place(out, ">", event->to);
}

static void put_numbers(FILE *out, const struct branch_event *event)
{
	uint64_t time = event->time - SAMPLE_START;

	fprintf(out, "@%" PRIu64, time / STEP);
	if (time % STEP)
		fprintf(out, ".%" PRIu64, time % STEP);
	if (event->insns && event->kind != BRANCH_GAP)
		fprintf(out, "#%" PRIu32, event->insns);
}

void remove_times(char *text)
{
	char *out = text;

	for (; *text; text++) {
		if (*text == '@')
			text += 1 + strspn(text + 1, "0123456789.");
		*out++ = *text;
		if (!*text)
			return;
	}
	*out = '\0';
}

char *events_as_text(bool numbers)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	for (size_t i = 0; i < run.count; i++) {
		fputs(i ? " " : "", out);
		put_event(out, &run.events[i]);
		if (numbers)
			put_numbers(out, &run.events[i]);
	}
	fclose(out);
	return text;
}
