/* SPDX-License-Identifier: MIT */
/* Decode pieces of a stream with both engines and compare the branches. */
#include "decoder/streams/pt_verify.h"

#include <intel-pt.h>

#include "decoder/streams/pt_streams.h"

/* A PSB with its header is shorter. */
#define HEADER_MAX 256

/* ---- Segments ------------------------------------------------------------ */

static bool is_of_flow(enum pt_packet_type type)
{
	return type == ppt_tnt_8 || type == ppt_tnt_64 || type == ppt_tip || type == ppt_tip_pge ||
	       type == ppt_tip_pgd || type == ppt_fup || type == ppt_psb || type == ppt_ovf;
}

/*
 * Returns the size of a PSB+, up to PSBEND; 0 if it straddles pieces. If the next packet begins
 * tracing, that packet is included: the header's position is an erratum then (BDM70).
 */
static uint64_t header_size(const struct aux_stream *aux, const struct aux_position *position)
{
	const struct aux_piece *piece = &aux->pieces[position->piece];
	uint8_t bytes[HEADER_MAX + AUX_WINDOW_PADDING] = { 0 };
	uint64_t skip = position->at - piece->begin, offset = 0;
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	size_t size = piece->size - skip;

	size = MIN(size, HEADER_MAX);
	memcpy(bytes, piece->bytes + skip, size);
	pt_config_init(&config);
	config.begin = bytes;
	config.end = bytes + size;
	decoder = ALLOC_CHECKED(pt_pkt_alloc_decoder(&config));
	if (!decoder)
		return 0;
	pt_pkt_sync_set(decoder, 0);
	do {
		packet.type = ppt_invalid;
	} while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0 && packet.type != ppt_psbend);
	if (packet.type == ppt_psbend)
		pt_pkt_get_offset(decoder, &offset);
	while (offset && pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0 &&
	       !is_of_flow(packet.type))
		;
	if (offset && packet.type == ppt_tip_pge)
		pt_pkt_get_offset(decoder, &offset);
	pt_pkt_free_decoder(decoder);
	return offset;
}

/* ---- Comparing ----------------------------------------------------------- */

/* Flags in which the engines must agree. */
#define SAME_FLAGS (BRANCH_TRACE_ON | BRANCH_TRACE_OFF | BRANCH_ASYNC | BRANCH_INDIRECT)

static bool is_damage(const struct branch_event *event)
{
	return event->kind == BRANCH_GAP && event->gap != GAP_OVERFLOW;
}

static bool is_overflow(const struct branch_event *event)
{
	return event->kind == BRANCH_GAP && event->gap == GAP_OVERFLOW;
}

static bool is_direct_branch(const struct branch_event *event)
{
	return (event->kind == BRANCH_CALL || event->kind == BRANCH_JUMP) &&
	       !(event->flags & BRANCH_INDIRECT);
}

/* Branches of one packet: 47 TNT bits, and direct branches between them. */
#define KEPT_BACK_MAX 200

struct comparison {
	struct side {
		struct pt_stream *stream;
		bool has; /* an event */
		struct branch_event event;
		uint64_t branches; /* read so far */
	} fast, libipt;
	bool after_overflow; /* the event before was an overflow, on both sides */
	uint64_t index;
	uint64_t same;          /* branches */
	bool filtered;          /* recorded with an address filter */
	uint64_t overflow_time; /* ns: of the last overflow, by libipt */
	uint64_t period;        /* ns: greatest difference of times */
	/* The last branches, those with libipt's time `held`: */
	uint64_t held;
	uint64_t held_apart;      /* branches whose times differ by more than `period` */
	uint64_t held_most_apart; /* ns: greatest difference */
	struct pt_verdict *verdict;
};

/* Read a side's next event; all reads are counted here. Returns whether there is one. */
static bool side_next(struct side *side, struct branch_event *event)
{
	bool has = pt_stream_next(side->stream, event) > 0;

	side->branches += has && event->kind < BRANCH_GAP;
	return has;
}

/* Returns whether a side reports damage, now or later. */
static bool reports_damage(struct side *side)
{
	struct branch_event event = side->event;
	bool has = side->has;

	while (has && !is_damage(&event))
		has = side_next(side, &event);
	return has;
}

/* ---- Differences that do not count --------------------------------------- */

/* libipt keeps the last branches back at the end. */
static bool has_only_last_branches(struct comparison *c)
{
	struct branch_event event;

	for (int i = 0; !c->libipt.has && i < KEPT_BACK_MAX; i++)
		if (!side_next(&c->fast, &event))
			return true;
	return false;
}

/* One engine reports damage, the other one later. */
static bool is_damaged_later(struct comparison *c)
{
	if (c->libipt.has && is_damage(&c->libipt.event))
		return reports_damage(&c->fast);
	return c->fast.has && is_damage(&c->fast.event) && reports_damage(&c->libipt);
}

/* libipt follows direct branches after the last packet. */
static bool has_only_direct_branches(struct comparison *c)
{
	struct branch_event event = c->libipt.event;
	bool has = c->libipt.has;

	while (!c->fast.has && has && is_direct_branch(&event) && !(event.flags & BRANCH_TRACE_OFF))
		has = side_next(&c->libipt, &event);
	return !c->fast.has && !has;
}

/*
 * Returns whether two unequal events are a known deviation, or a difference. The order of the
 * checks matters, because later checks read the streams further. At an overflow, libipt alone
 * forgets the last ip, which IP compression needs.
 */
static enum verify_stop explain(struct comparison *c)
{
	if (c->after_overflow)
		return VERIFY_OVERFLOW;
	/* libipt does not know the filter. */
	if (c->filtered && c->fast.has && c->fast.event.flags & BRANCH_TRACE_OFF &&
	    is_direct_branch(&c->fast.event))
		return VERIFY_FILTER;
	if (has_only_last_branches(c))
		return VERIFY_END;
	if (is_damaged_later(c))
		return VERIFY_DAMAGE;
	if (has_only_direct_branches(c))
		return VERIFY_END;
	/*
	 * Each return pops the stack of compressed returns (SDM volume 3, "RET Compression");
	 * libipt keeps the address of an uncompressed return, such as a signal handler's, and uses
	 * it for the next return.
	 */
	if (c->fast.has && c->libipt.has && c->fast.event.kind == BRANCH_RETURN &&
	    c->libipt.event.kind == BRANCH_RETURN && c->fast.event.from == c->libipt.event.from)
		return VERIFY_RETURN;
	/* Damage can be detected later than it begins. */
	return reports_damage(&c->fast) && reports_damage(&c->libipt) ? VERIFY_DAMAGE
								      : VERIFY_DIFFERENCE;
}

/*
 * Compare the times of a branch that both engines found. A difference counts once libipt's time
 * changes, so that direct branches after the last packet, which have its time, are ignored.
 */
static void compare_times(struct comparison *c)
{
	uint64_t a = c->fast.event.time, b = c->libipt.event.time;
	uint64_t apart = a > b ? a - b : b - a;

	/*
	 * One engine has the time at which the loss began, the other the time at which it ended.
	 * libipt 2.1 keeps the former up to the next packet that decides a branch.
	 */
	if (b == c->overflow_time)
		return;
	if (b != c->held) {
		c->verdict->most_apart = MAX(c->verdict->most_apart, c->held_most_apart);
		c->verdict->apart += c->held_apart;
		c->held_apart = c->held_most_apart = 0;
		c->held = b;
	}
	c->held_apart += apart > c->period;
	c->held_most_apart = MAX(c->held_most_apart, apart);
}

/* Compare both streams up to their end, or up to the first event that is not the same. */
static enum verify_stop compare(struct comparison *c)
{
	for (;; c->index++) {
		c->fast.has = side_next(&c->fast, &c->fast.event);
		c->libipt.has = side_next(&c->libipt, &c->libipt.event);
		if (c->libipt.has && is_overflow(&c->libipt.event))
			c->overflow_time = c->libipt.event.time;
		if (!c->fast.has && !c->libipt.has)
			return VERIFY_END;
		if (!c->fast.has || !c->libipt.has ||
		    !(c->fast.event.kind == c->libipt.event.kind &&
		      c->fast.event.from == c->libipt.event.from &&
		      c->fast.event.to == c->libipt.event.to &&
		      (c->fast.event.kind < BRANCH_GAP ||
		       c->fast.event.gap == c->libipt.event.gap) &&
		      (c->fast.event.flags & SAME_FLAGS) == (c->libipt.event.flags & SAME_FLAGS)) ||
		    is_damage(&c->fast.event))
			return explain(c);
		c->after_overflow = is_overflow(&c->fast.event);
		c->same += c->fast.event.kind < BRANCH_GAP;
		compare_times(c);
	}
}

/* Print a side of a difference, such as "call 401000 => 401020". */
static void print_side(const struct side *side, char text[VERIFY_TEXT])
{
	const struct branch_event *event = &side->event;
	static const char *const kinds[] = {
		[BRANCH_NONE] = "no branch",    [BRANCH_CALL] = "call",
		[BRANCH_RETURN] = "return",     [BRANCH_JUMP] = "jump",
		[BRANCH_COND] = "conditional",  [BRANCH_SYSCALL] = "syscall",
		[BRANCH_SYSRET] = "sysret",     [BRANCH_SOFTINT] = "int",
		[BRANCH_IRET] = "iret",         [BRANCH_INTERRUPT] = "interrupt",
		[BRANCH_TX_ABORT] = "tx abort", [BRANCH_GAP] = "gap",
	};

	if (!side->has)
		snprintf(text, VERIFY_TEXT, "nothing");
	else if (event->kind == BRANCH_GAP)
		snprintf(text, VERIFY_TEXT, "gap (reason %d) at %" PRIx64, event->gap, event->from);
	else
		snprintf(text, VERIFY_TEXT, "%s %" PRIx64 " => %" PRIx64 "%s%s", kinds[event->kind],
			 event->from, event->to, event->flags & BRANCH_TRACE_ON ? ", trace on" : "",
			 event->flags & BRANCH_TRACE_OFF ? ", trace off" : "");
}

static void note_difference(struct pt_verdict *verdict, const struct comparison *c,
			    const struct aux_stream *part)
{
	bool one_sided = !c->fast.has || !c->libipt.has || c->fast.event.kind == BRANCH_GAP ||
			 c->libipt.event.kind == BRANCH_GAP;
	bool preferred = verdict->differences == verdict->one_sided && !one_sided;

	verdict->one_sided += one_sided;
	if (verdict->differences++ && !preferred)
		return;
	verdict->file_offset = part->pieces->file_offset;
	verdict->index = c->index;
	print_side(&c->fast, verdict->fast);
	print_side(&c->libipt, verdict->libipt);
}

/* ns from one MTC to the next, and one for rounding; no limit without MTCs. */
static uint64_t timing_period(const struct pt_info *info)
{
	struct tsc_clock clock = pt_info_tsc_clock(info);
	uint64_t period = pt_info_mtc_period(info);

	return period ? 1 + tsc_clock_ns(&clock, period) - clock.zero : UINT64_MAX;
}

static int verify_part(const struct pt_stream_input *input, const struct aux_stream *part,
		       struct pt_verdict *verdict, struct error *err)
{
	struct pt_stream_input one = *input;
	struct comparison c = {
		.period = timing_period(input->info),
		.filtered = input->info->filter,
		.verdict = verdict,
	};
	int status = -1;

	one.aux = part;
	one.workers = NULL;
	one.skip_local_jumps = one.pieces = one.cpu_events = false;
	one.count_jumps = one.cycles = false;
	one.period = 0;
	one.counter = NULL;
	one.begin = one.end = 1; /* losses belong to the stream, not to the engines */
	one.diag = NULL;
	one.engine = PT_ENGINE_FAST;
	c.fast.stream = pt_stream_open(&one, err);
	one.engine = PT_ENGINE_LIBIPT;
	c.libipt.stream = pt_stream_open(&one, err);
	if (c.fast.stream && c.libipt.stream) {
		enum verify_stop stop = compare(&c);
		struct branch_event event;

		verdict->segments++;
		if (stop == VERIFY_DIFFERENCE)
			note_difference(verdict, &c, part);
		/* Count the branches of a segment. */
		while (side_next(&c.fast, &event) || side_next(&c.libipt, &event))
			;
		c.verdict->branches += c.same;
		c.verdict->rest[stop].fast += c.fast.branches - c.same;
		c.verdict->rest[stop].libipt += c.libipt.branches - c.same;
		status = 0;
	}
	pt_stream_close(c.fast.stream);
	pt_stream_close(c.libipt.stream);
	return status;
}

int pt_verify(const struct pt_stream_input *input, uint64_t every, struct pt_verdict *verdict,
	      struct error *err)
{
	struct aux_cuts cuts;
	int status = 0;

	aux_cuts_init(&cuts, input->aux, 0);
	cuts.distance = 1;
	for (uint64_t number = 0; status == 0 && cuts.position.at != AUX_CUTS_NONE; number++) {
		struct aux_position begin = cuts.position;
		struct arena arena = { 0 };
		struct aux_stream part;
		uint64_t end;

		aux_cuts_next(&cuts);
		end = input->aux->size;
		/* The next header shows the end of the flow before it. */
		if (cuts.position.at != AUX_CUTS_NONE)
			end = cuts.position.at + header_size(input->aux, &cuts.position);
		if (number % every)
			continue;
		/* Cut out the part [begin, end), or less if data is missing in between. */
		for (size_t i = begin.piece + 1;
		     i < input->aux->piece_count && input->aux->pieces[i].begin < end; i++)
			if (input->aux->pieces[i].apart)
				end = input->aux->pieces[i].begin;
		part = *input->aux;
		aux_stream_cut(input->aux, begin.at, end, &arena, &part);
		part.end_missing = 0;
		status = verify_part(input, &part, verdict, err);
		arena_release(&arena);
	}
	return status;
}
