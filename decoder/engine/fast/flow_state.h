/* SPDX-License-Identifier: MIT */
/*
 * The fast engine's state, which its parts share; see pt_flow.c for the table of what packets
 * do.  Private to the engine.  Its files are a chain, each knowing those before it:
 * flow_state, flow_window and flow_code, emulated_ptwrite, flow_cached, flow_step,
 * flow_checkpoint and flow_perf_time, flow_packets, flow_frequent, pt_flow, flow_segments.
 */
#ifndef DECODER_ENGINE_FAST_FLOW_STATE_H
#define DECODER_ENGINE_FAST_FLOW_STATE_H

#include <intel-pt.h>

#include "decoder/aux/aux_cuts.h"
#include "decoder/aux/aux_window.h"
#include "decoder/clock/packet_clock.h"
#include "decoder/clock/perf_clock.h"
#include "decoder/code/address_filter.h"
#include "decoder/code/basic_block.h"
#include "decoder/engine/fast/tnt_bits.h"
#include "decoder/engine/pt_stream_base.h"

#define RETURN_STACK_SIZE 64u

/* Mappings seen last: a program goes to and fro between itself and a few libraries. */
#define VIEW_CACHE_SIZE 4u

/* Packets that wait for a FUP at a time: one is of all (an MWAIT, an EXSTOP), or it is lost. */
#define PENDING_FUPS_MAX 4u

enum pending {
	PENDING_NONE,    /* nothing: read a packet */
	PENDING_TNT,     /* bits of a TNT */
	PENDING_TIP,     /* a TIP */
	PENDING_TIP_PGD, /* a TIP.PGD without FUP */
	PENDING_FUP,     /* walk to an ip */
};

/* Where a place (PENDING_FUP) comes from. */
enum fup_kind { FUP_INTERRUPT, FUP_EVENT, FUP_PSB };

/* A value that is being told; `left` 0: none. */
struct emulated_ptwrite {
	const struct thread *thread; /* whose it is; borrowed */
	uint64_t value;              /* bits so far, the first highest */
	uint64_t ip;                 /* ip: of the function that tells it */
	unsigned left;               /* bits that are to come */
};

/* What the flow takes along over a cut (flow_checkpoint.h), beside the stream's state. */
struct flow_state {
	uint64_t ip, last_ip;           /* `last_ip`: for IP compression */
	uint64_t interrupted;           /* ip of the last FUP, if has_interrupt */
	enum insn_mode mode, next_mode; /* `next_mode` takes effect with the next ip */
	bool on;                        /* user code runs that is traced, at ip */
	bool lost;          /* ip is not known: the next packet with an ip restarts the flow */
	bool has_interrupt; /* a FUP without its TIP: `interrupted` is valid */
	bool guest;         /* a virtual machine runs, not `on` */
	bool after_gap;     /* a gap was emitted, and tracing has not begun since */
	bool gap_guessed;   /* after_gap is a guess */
	bool gap_mattered;  /* the guess was used */
	bool overflowed;    /* the next FUP is where tracing resumes */
	bool aborted;       /* the next TIP is the abort handler of a transaction */
	bool emitted;       /* a branch was emitted since tracing began */
	struct emulated_ptwrite ptwrite;
	struct packet_clock clock;
};

struct pt_flow {
	struct pt_stream stream;
	struct aux_window window;
	struct pt_config config;
	struct pt_packet_decoder *packets; /* owned; of the window as it is */
	size_t at;                         /* where the next packet is, in the window */
	bool synced;
	struct aux_cuts cuts;       /* at the next cut (flow_checkpoint.h) */
	struct aux_position passed; /* the last one */
	bool cutting;               /* between its PSB and where that is passed */
	bool stops_at_cuts;         /* pause there, */
	bool paused;                /* as is done */
	struct basic_blocks blocks;
	struct code_view view; /* of the code at ip; bytes NULL: to be looked up */
	uint32_t region;       /* that it shows: code_regions.h */
	struct code_view views[VIEW_CACHE_SIZE]; /* the same, of places seen last, */
	uint32_t regions[VIEW_CACHE_SIZE];       /* and their areas */
	unsigned next_view;                      /* to be replaced */
	const struct address_space *space;       /* that the views are of */
	struct flow_state state;
	struct perf_clock perf;  /* replaces state.clock with input.perf_times (flow_perf_time.h) */
	uint64_t perf_cyc_end;   /* offset behind the last CYC; UINT64_MAX: forgotten */
	uint64_t perf_piece_end; /* offset behind the piece before `perf_piece` */
	size_t perf_piece;
	struct address_filter filter;
	bool next_guest;            /* state.guest as of the next ip */
	uint64_t erratum_resume_ip; /* tracing is on there, or an erratum tells so (flow_packets.c);
				       0: none */
	bool in_header;             /* between PSB and PSBEND */
	bool header_has_ip;
	struct cpu_event_data
		pending_fup[PENDING_FUPS_MAX]; /* for FUPs of their own, which are no interrupts */
	unsigned pending_fup_count;
	struct cpu_event_data cfe; /* of the interrupt whose FUP is next, if has_cfe */
	bool has_cfe;
	struct emulated_ptwrite interrupted_ptwrite; /* was interrupted, */
	uint64_t interrupted_ptwrite_ip;             /* at this ip */
	uint64_t mode_end;  /* offset just behind the last MODE.Exec: a FUP there is its own */
	unsigned item_size; /* bytes of a BIP's value; 0: not between BBP and BEP */

	struct return_address {
		uint64_t ip;
		struct basic_block *call; /* that is returned behind; NULL: not known */
	} returns[RETURN_STACK_SIZE];
	unsigned return_top, return_count;
	bool compression;      /* returns may be TNT bits */
	bool follows_switches; /* time tells who runs: stream_follows_switches() */

	enum pending pending;
	enum fup_kind fup_kind;
	uint64_t target;            /* of the task; 0: suppressed */
	uint64_t bits;              /* tnt_bits.h; with PENDING_NONE: those that wait for a TIP */
	unsigned last_bits;         /* of the last TNT packet that is among them */
	unsigned branches_followed; /* branches since the last packet */
	struct basic_block *block;  /* that is walked; valid during a step */
	uint32_t cached_block;  /* the hop of the run at ip, which is in view; 0: look closely */
	struct timestamp known; /* when ip was told last: direct branches follow at once */

	uint64_t offset;  /* of the packet read last */
	uint64_t counted; /* offset up to where bytes are counted, as decoded or as lost */
};

/* Count the bytes up to this offset as what they are since the last time: decoded, or lost. */
static inline void flow_count_bytes(struct pt_flow *flow, uint64_t offset)
{
	struct pt_stream_stats *stats = &flow->stream.stats;

	*(flow->state.lost ? &stats->bytes_lost : &stats->bytes_decoded) += offset - flow->counted;
	flow->counted = offset;
}

/*
 * The mode of the last MODE.Exec holds at the flow's ip, which is new.  A place beyond 4
 * GiB is of 64-bit code, whatever a damaged packet tells (SDM volume 1, "Memory
 * Organization in 64-Bit Mode").
 */
static inline void flow_apply_mode(struct pt_flow *flow)
{
	flow->state.mode = flow->state.ip >> 32 ? INSN_MODE_64 : flow->state.next_mode;
}

/* A gap was told. */
static inline void flow_set_after_gap(struct pt_flow *flow)
{
	flow->state.after_gap = true;
	flow->state.gap_guessed = false;
}

/* Returns whether a gap was told and tracing did not begin since. */
static inline bool flow_is_after_gap(struct pt_flow *flow)
{
	flow->state.gap_mattered |= flow->state.gap_guessed;
	return flow->state.after_gap;
}

/* Emit a branch at the time when ip was known last. */
static inline struct branch_event *flow_emit_branch(struct pt_flow *flow, const struct insn *insn,
						    uint64_t from, uint64_t to)
{
	return stream_push_insn(&flow->stream, &flow->known, insn, from, to);
}

#endif
