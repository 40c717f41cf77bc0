/* SPDX-License-Identifier: MIT */
/*
 * One change of control flow as the CPU made it: the decoder's output.
 *
 * Events of one stream are in program order with non-decreasing times. Functions receive an event
 * by const pointer, and copy it if they need it later. Missing or damaged trace is an event as well
 * (BRANCH_GAP).
 */
#pragma once

#include "base/common.h"

struct thread;
struct address_space;
struct known_branch;

/*
 * The kinds follow perf's branch flags, by the instruction that caused the
 * change (SDM volume 3, "Intel Processor Trace", change-of-flow instructions).
 */
enum branch_kind {
	BRANCH_NONE = 0,  /* no branch: tracing starts or stops, or branch_is_passage() */
	BRANCH_CALL,      /* near call, direct or indirect */
	BRANCH_RETURN,    /* near ret */
	BRANCH_JUMP,      /* unconditional near jump, direct or indirect */
	BRANCH_COND,      /* a taken conditional jump (also loop, jrcxz) */
	BRANCH_SYSCALL,   /* syscall, sysenter */
	BRANCH_SYSRET,    /* sysret, sysexit */
	BRANCH_SOFTINT,   /* int n, int3, into, far call or jump */
	BRANCH_IRET,      /* iret, far return */
	BRANCH_INTERRUPT, /* asynchronous: interrupt, exception, signal */
	BRANCH_TX_ABORT,  /* a transaction was rolled back */
	BRANCH_GAP,       /* trace lost or not decodable: see enum gap_reason */
	BRANCH_CPU_EVENT, /* no branch: an event of the CPU, see cpu_event.h */
	BRANCH_FOLLOWED,  /* near branch marked by a struct segment_follower */
	BRANCH_COUNTS,    /* `to` local jumps were omitted up to the time `word`; or the end of
			   * the packet after a CYC */
};

/* Why a stretch of the trace is missing; the numbers are perf's error codes
 * (util/intel-pt-decoder). */
enum gap_reason {
	GAP_NONE = 0,
	GAP_INTERNAL = 2, /* the decoder library failed */
	GAP_BAD_PACKET = 3,
	GAP_NO_DATA = 4,  /* the data ends too early */
	GAP_NO_CODE = 5,  /* no code bytes for the address */
	GAP_MISMATCH = 6, /* the trace does not fit the code */
	GAP_OVERFLOW = 7, /* the CPU dropped packets (OVF) */
	GAP_LOST = 8,     /* the kernel or perf dropped data (AUX truncated) */
	GAP_UNKNOWN = 9,
	GAP_ENDLESS = 10,      /* the flow loops without using trace */
	GAP_NOT_RECORDED = 11, /* between two snapshots or samples: no damage */
	GAP_PAUSED = 12,       /* paused by another event (timeline/trace_pauses.h): no damage */
};

#define GAP_REASONS (GAP_PAUSED + 1)

struct gap_facts {
	const char *text;  /* perf's: tools/perf/util/intel-pt-decoder, intel_pt__strerror() */
	const char *word;  /* the reason in JSON, such as "overflow" */
	const char *cause; /* with a remedy; NULL: no damage, which is not counted as a gap */
};

/* Returns the facts of a gap's reason; a constant, never NULL. */
const struct gap_facts *gap_reason_facts(enum gap_reason reason);

enum branch_flags {
	BRANCH_TRACE_ON = 1,        /* tracing begins here: `from` is 0 */
	BRANCH_TRACE_OFF = 2,       /* tracing ends here: `to` is 0 or where execution continued */
	BRANCH_ASYNC = 4,           /* with TRACE_OFF: not caused by the instruction at `from` */
	BRANCH_IN_TX = 8,           /* inside a transaction */
	BRANCH_TIME_ESTIMATED = 16, /* no timing packet supports `time` */
	BRANCH_INDIRECT = 32, /* call or jump through a register or memory; with TRACE_ON: code
			       * without bytes had jumped to a function, which returned */
	BRANCH_INT80 = 64,    /* with TRACE_OFF: "int $0x80", Linux's old system call */
	BRANCH_DIRECT = 64,   /* with TRACE_ON: from code without bytes, which called `to`, or with
			       * BRANCH_INDIRECT jumped to it; nothing returned in between */
	BRANCH_GUEST = 128,   /* with TRACE_OFF: a guest runs, whose code is not followed */
	BRANCH_NOT_NEAR = 255 - BRANCH_INDIRECT - BRANCH_TIME_ESTIMATED, /* mask */
};

struct branch_event {
	uint64_t time; /* ns, perf's clock */
	union {
		/*
		 * Branches and gaps: the known branch from `from` to `to` in `space`
		 * (known_branches.h), borrowed; or NULL.
		 */
		struct known_branch *known;
		uint64_t word;  /* other kinds: a value (cpu_event.h) or a time */
		void *followed; /* BRANCH_FOLLOWED: data of the follower, borrowed */
	};
	uint64_t from; /* ip of the branch; 0: not traced. Gaps: where it begins, if known */
	uint64_t to;   /* ip of the target; 0: not traced */
	const struct thread *thread; /* borrowed from the timeline; NULL: unknown */
	const struct address_space
		*space; /* space of both ends, borrowed from the timeline; NULL: unknown */
	uint32_t insns; /* instructions retired since the stream's previous event */
	/* Near branches, BRANCH_COUNTS: core cycles of traced code since the last event with
	 * cycles, up to after this one; 0: no CYC */
	uint32_t cycles;
	int32_t cpu; /* -1: unknown (buffer per thread) */
	union {
		struct {
			uint8_t kind;        /* enum branch_kind */
			uint8_t from_length; /* bytes of the instruction at `from`; 0: unknown */
			/*
			 * BRANCH_GAP: enum gap_reason; BRANCH_CPU_EVENT: enum cpu_event_kind;
			 * BRANCH_COUNTS: whether `insns` and `cycles` are set
			 */
			uint8_t gap;
			uint8_t flags; /* enum branch_flags */
		};
		uint32_t all; /* all four, for copying */
	};
};

/* The kernel's addresses have their top bit set (Documentation/arch/x86/x86_64/mm.rst). */
static inline bool ip_is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/*
 * Returns whether an event only marks an address (`from`, equal to `to`) that straight-line code
 * passes.
 */
static inline bool branch_is_passage(const struct branch_event *event)
{
	return event->kind == BRANCH_NONE && event->from && event->from == event->to &&
	       !(event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF));
}

/* Returns the time of an event, or the time up to which a BRANCH_COUNTS counts. */
static inline uint64_t branch_event_time(const struct branch_event *event)
{
	return event->kind == BRANCH_COUNTS && event->word > event->time ? event->word
									 : event->time;
}

/* Returns whether an event is a near call, return or jump outside of transactions. */
static inline bool branch_is_near(const struct branch_event *event)
{
	return event->kind >= BRANCH_CALL && event->kind <= BRANCH_COND &&
	       !(event->flags & BRANCH_NOT_NEAR);
}
