/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's state, which its files share; pt_flow.c has the table of packets' effects.
 * Private to the engine. The engine's files are a chain, and include only earlier files: flow_state
 * with flow_window.c, flow_code, flow_step with emulated_ptwrite.c, flow_opaque.c and flow_probe.c,
 * flow_checkpoint, flow_packets, flow_follow, flow_record, flow_runs with flow_cached.c and
 * flow_counted.c, flow_frequent, pt_flow, flow_segments.
 */
#pragma once

#include <intel-pt.h>

#include "decoder/aux/pt_packet_read.h"
#include "decoder/clock/packet_clock.h"
#include "decoder/code/address_filter.h"
#include "decoder/code/basic_block.h"
#include "decoder/engine/fast/tnt_bits.h"
#include "decoder/engine/pt_stream_base.h"

#define RETURN_STACK_SIZE 64u

/* Recently used views: most programs alternate between their own code and a few libraries. */
#define VIEW_CACHE_SIZE 8u

/* Maximum pending events: one for each kind of packet with a FUP. More are damage. */
#define PENDING_FUPS_MAX 4u

enum pending {
	PENDING_NONE,    /* nothing: read a packet */
	PENDING_TNT,     /* bits of a TNT */
	PENDING_TIP,     /* a TIP */
	PENDING_TIP_PGD, /* a TIP.PGD without FUP */
	PENDING_FUP,     /* a FUP, or a PSB's: follow the code to its ip */
};

/* Why the flow has to reach the ip of a FUP (PENDING_FUP). */
enum fup_kind { FUP_INTERRUPT, FUP_EVENT, FUP_PSB, FUP_PROBE /* a NOP, not a FUP */ };

/* The state, with struct stream_state, that decoding carries over a cut (flow_checkpoint.h). */
struct flow_state {
	uint64_t ip, last_ip;           /* `last_ip`: for IP compression */
	uint64_t interrupted;           /* ip of the last FUP, if has_interrupt */
	enum insn_mode mode, next_mode; /* `next_mode` takes effect with the next ip */
	bool on;                        /* traced code runs, at ip */
	bool lost;          /* ip is unknown: the next packet with an ip restarts the flow */
	bool has_interrupt; /* a FUP without its TIP: `interrupted` is valid */
	bool guest;         /* a virtual machine runs, not `on` (PIP's NR bit) */
	bool guest_on;      /* the guest's code is traced, and this event was emitted */
	bool after_gap;     /* a gap was emitted, and tracing has not begun since */
	bool gap_guessed;   /* after_gap is a guess */
	bool gap_mattered;  /* the guess was used */
	bool overflowed;    /* tracing resumes at the next FUP */
	bool aborted;       /* the next TIP is the abort handler of a transaction */
	bool emitted;       /* a branch was emitted since tracing or a function began */
	bool calls_missing; /* missing code ran since the PSB: its calls are unknown */
	/* A value whose bits are being read; `left` 0: no value. */
	struct emulated_ptwrite {
		const struct thread *thread; /* the writer; borrowed */
		uint64_t value;              /* bits so far, first bit highest */
		uint64_t ip;                 /* address of the writing function */
		unsigned left;               /* remaining bits */
	} ptwrite;
	struct packet_clock clock;
};

/* Blocks followed in vain between two PSBs to find returns from code without bytes; or 8 times. */
#define OPAQUE_BUDGET 8192u

/* Kept TNT bits of code without bytes and its callers. */
#define OPAQUE_BITS 256u

/* log2 of the slots for calls of such code. */
#define OPAQUE_CALLS_BITS 6

/* A packet with the target of code without bytes. */
enum opaque_exit {
	OPAQUE_TIP,
	OPAQUE_PGD, /* a system call */
	OPAQUE_FUP,
	OPAQUE_PGE,
};

/* Running code without bytes, called by known code (flow_opaque.c). */
struct opaque_code {
	const struct thread *thread; /* runs the code; borrowed */
	uint64_t ip;                 /* last known ip in the code */
	uint64_t called;             /* the last function it called; 0: none */
	struct opaque_call {
		uint64_t entry, back; /* target and return address, or the call's pointer */
	} pointed, /* the last indirect branch, by this pointer, possibly to known code */
		calls[1 << OPAQUE_CALLS_BITS]; /* to such code, or by it (`back` 0); since a PSB */
	bool bits[OPAQUE_BITS];                /* since the code began */
	unsigned count;                        /* bits in `bits` */
	unsigned left;    /* number of last bits, which belong to the code's callers */
	unsigned budget;  /* blocks left to follow up to the next PSB */
	bool returned;    /* the first bit is a return of known code, possibly to it */
	bool jumps;       /* the code recently jumped to known code, without a call */
	bool jumped;      /* the known code returned, or with `direct` begins */
	bool direct;      /* the code reached known code without a bit: no return */
	bool interrupted; /* a FUP was in the code */
	bool guessed;     /* a return from such code since the last PSB is not proved */
	bool active;      /* the code runs: the flow's return stack is its caller's */
	/* The packet with the code's target: */
	enum opaque_exit exit;
	uint64_t to; /* ip */
};

struct pt_flow {
	struct pt_stream stream;
	struct aux_window window;
	struct pt_config config;
	struct pt_packet_decoder *packets; /* owned; over the current window */
	size_t at;                         /* offset in the window of the next packet */
	bool synced;
	uint64_t run_begin;         /* offset of the current run of consecutive pieces */
	struct aux_cuts cuts;       /* the next cut (flow_checkpoint.h), if aux is not NULL */
	struct aux_position passed; /* the last cut */
	bool passing;               /* between a PSB and its PSBEND; only if there are cuts */
	bool at_cut;                /* this PSB is the next cut */
	bool stops_at_cuts;         /* decode one segment only */
	bool paused;                /* at a cut, because of stops_at_cuts */
	struct basic_blocks blocks;
	struct code_view view;                   /* at ip; bytes NULL: not looked up yet */
	uint32_t region;                         /* the region of `view` (struct code_regions) */
	struct code_view views[VIEW_CACHE_SIZE]; /* recently used */
	uint32_t regions[VIEW_CACHE_SIZE];       /* the regions of `views` */
	unsigned next_view;                      /* index of the view to replace */
	const struct address_space *space;       /* the address space of `views` */
	struct flow_state state;
	bool looks_ahead; /* CYC packets without MTCs: flow_look_ahead() */
	struct address_filter filter;
	bool next_guest; /* state.guest at the next ip */
	bool in_header;  /* between PSB and PSBEND */
	bool header_has_ip;
	struct cpu_event_data
		pending_fup[PENDING_FUPS_MAX]; /* the next FUP is their ip, not an interrupt's */
	unsigned pending_fup_count;
	struct cpu_event_data cfe; /* the interrupt whose FUP is next, if has_cfe */
	bool has_cfe;
	struct emulated_ptwrite interrupted_ptwrite; /* continues */
	uint64_t interrupted_ptwrite_ip;             /* at this ip */
	uint64_t mode_end; /* offset after the last MODE.Exec, which owns a FUP there */
	struct pebs_block pebs;

	struct return_address {
		uint64_t ip; /* 0: to code without bytes */
		union {
			struct basic_block *call; /* block that ends with the call; NULL: unknown */
			uint64_t called;          /* if ip is 0: the function */
		};
	} returns[RETURN_STACK_SIZE];
	unsigned return_top, return_count;
	struct opaque_code opaque;
	bool reread;          /* read the packet again after the flow has followed the code to it */
	bool fup_has_next_ip; /* pt_errata_fup_has_next_ip() */
	bool compression;     /* returns may be compressed to TNT bits */
	bool follows_switches; /* stream_follows_switches() */

	bool probed;    /* the address space of `views` has probes that are calls */
	bool may_probe; /* see flow_look_for_probe() */
	/* FUP_PROBE: the packet that is pending after the call, and the page that is called. */
	struct flow_probe {
		enum pending pending;
		uint64_t target, page;
	} probe;

	enum pending pending;
	enum fup_kind fup_kind;
	uint64_t target;     /* ip of the pending TIP or FUP; 0: suppressed */
	uint64_t bits;       /* tnt_bits.h; with PENDING_NONE deferred until the next TIP */
	uint64_t later_bits; /* all but the first bit of a TNT after a CYC, not in `bits`; or 0 */
	unsigned last_bits;  /* number of bits of the last TNT packet in `bits` */
	unsigned branches_followed;    /* branches since the last packet */
	struct basic_block *block;     /* at ip; valid during a step */
	uint32_t cached_block;         /* CFG node at ip, in view; 0: use flow_step_slow() */
	struct run_recorder *recorder; /* borrowed; NULL: no run is recorded */
	/* Last confirmation of ip by a packet, or now without timing packets: time of direct
	 * branches. */
	struct timestamp known;

	uint64_t offset;  /* offset of the last packet */
	uint64_t counted; /* bytes before this offset are in the statistics */
};

/* Count the bytes up to an offset in the statistics: decoded, or lost. */
static inline void flow_count_bytes(struct pt_flow *flow, uint64_t offset)
{
	struct pt_stream_stats *stats = &flow->stream.stats;

	*(flow->state.lost ? &stats->bytes_lost : &stats->bytes_decoded) += offset - flow->counted;
	flow->counted = offset;
}

/*
 * Apply the mode of the last MODE.Exec at a new ip. Code beyond 4 GiB is always 64-bit code, even
 * if a damaged packet contradicts (SDM volume 1, "Memory Organization in 64-Bit Mode").
 */
static inline void flow_apply_mode(struct pt_flow *flow)
{
	flow->state.mode = flow->state.ip >> 32 ? INSN_MODE_64 : flow->state.next_mode;
}

/* Move the flow to another ip, whose block is not looked up yet. */
static inline void flow_move_to(struct pt_flow *flow, uint64_t ip)
{
	flow->state.ip = ip;
	flow->cached_block = 0;
}

/* Note that a gap was emitted. */
static inline void flow_set_after_gap(struct pt_flow *flow)
{
	flow->state.after_gap = true;
	flow->state.gap_guessed = false;
}

/* Returns whether a gap was emitted and tracing has not begun since. */
static inline bool flow_is_after_gap(struct pt_flow *flow)
{
	flow->state.gap_mattered |= flow->state.gap_guessed;
	return flow->state.after_gap;
}

/* Count instructions; without timing packets, they are the time of all branches. */
static inline void flow_count_insns(struct pt_flow *flow, uint32_t insns)
{
	stream_count_insns(&flow->stream, insns);
	if (!stream_is_timed(&flow->stream))
		flow->known = flow->stream.state.now;
}

/* Emit a branch at the time at which a packet last confirmed ip. */
static inline __attribute__((always_inline)) struct branch_event *flow_emit_branch(
	struct pt_flow *flow, const struct insn *insn, uint64_t from, uint64_t to)
{
	return stream_push_insn(&flow->stream, &flow->known, insn, from, to);
}

/* Returns whether the next code is counted. */
static inline bool flow_counts(struct pt_flow *flow)
{
	return flow->blocks.counts && stream_selects(&flow->stream, &flow->known, flow->state.ip);
}

/* ---- The window of bytes, and libipt's packet decoder over it (flow_window.c) -- */

/*
 * Open libipt's decoder over the window. `in_flow`: a packet begins at the window's begin;
 * otherwise libipt must synchronize after its current offset.
 */
void flow_window_open(struct pt_flow *flow, bool in_flow);

/* Returns libipt's offset in the window. */
size_t flow_window_position(const struct pt_flow *flow);

/* Drop the first `used` bytes of the window and fill it up. */
void flow_window_move(struct pt_flow *flow, size_t used, bool in_flow);

/* Read packets at another position of the stream. */
void flow_window_seek(struct pt_flow *flow, const struct aux_position *position);

/*
 * Fill the window from flow->offset, where the current packet begins, so that packets up to
 * AUX_WINDOW_AHEAD bytes after flow->at can be read. Its bytes may move. Returns the end of these
 * bytes in the window.
 */
size_t flow_window_look_ahead(struct pt_flow *flow);
