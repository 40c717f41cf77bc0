/* SPDX-License-Identifier: MIT */
/*
 * libptflow: decodes Intel PT, as libptflow(3) explains. In: the trace of one CPU or thread, and
 * the code that ran. Out: branches in program order, with times and counts of instructions; missing
 * parts are events, too. One thread at a time uses a decoder. Nothing prints or ends the program.
 */
#ifndef PTFLOW_H
#define PTFLOW_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

/* clang-format off */
enum ptflow_kind {
	PTFLOW_NONE = 0, /* tracing begins or ends without a branch */
	PTFLOW_CALL, PTFLOW_RETURN, PTFLOW_JUMP, /* near */
	PTFLOW_COND, /* a conditional jump that was taken */
	PTFLOW_SYSCALL, PTFLOW_SYSRET,
	PTFLOW_SOFTINT, PTFLOW_IRET, /* also far calls and jumps, far returns */
	PTFLOW_INTERRUPT, PTFLOW_TX_ABORT,
	PTFLOW_GAP, /* a part is missing: `detail` is an enum ptflow_reason */
	PTFLOW_COUNTS = 14, /* no branch: instructions and cycles up to `from` */
	/* Packets: `to` and `detail` are their fields, `from` is the ip or 0. */
	PTFLOW_CBR = 33, PTFLOW_PTWRITE, PTFLOW_MWAIT, PTFLOW_PWRE, PTFLOW_EXSTOP, PTFLOW_PWRX,
	PTFLOW_TX_BEGIN, PTFLOW_TX_COMMIT, PTFLOW_TX_ROLLBACK, PTFLOW_TX_LOST,
	PTFLOW_CFE, PTFLOW_EVD, /* vector or value, and type */
	PTFLOW_PIP, PTFLOW_VMCS, /* CR3, and 1 in a guest; the base address */
};

enum ptflow_reason {
	PTFLOW_GAP_LIBRARY = 2, PTFLOW_GAP_BAD_PACKET, PTFLOW_GAP_NO_DATA, PTFLOW_GAP_NO_CODE,
	PTFLOW_GAP_MISMATCH, PTFLOW_GAP_OVERFLOW, PTFLOW_GAP_ENDLESS = 10,
	PTFLOW_GAP_NO_MEMORY = 32, /* the last event */
};

enum ptflow_flag {
	PTFLOW_TRACE_ON = 1, PTFLOW_TRACE_OFF = 2, /* tracing begins at `to`, ends at `from` */
	PTFLOW_ASYNC = 4, /* with TRACE_OFF: not by the instruction at `from` */
	PTFLOW_IN_TX = 8, PTFLOW_ESTIMATED = 16, /* in a transaction; no packet supports `time` */
	PTFLOW_INDIRECT = 32, /* the target of a call or jump is not in the code */
	PTFLOW_GUEST = 128, /* with TRACE_OFF: a guest runs, which is not followed */
};
/* clang-format on */

struct ptflow_event {
	uint64_t time;     /* never decreases, except for packets */
	uint64_t from, to; /* ip of the branch and of its target; 0: not traced */
	uint32_t insns;    /* instructions since the previous event, including the branch */
	uint32_t cycles;   /* since the previous event with cycles; 0: unknown */
	uint32_t detail;   /* reason of a gap; field of a packet */
	uint8_t kind;      /* enum ptflow_kind; others may follow */
	uint8_t flags;     /* enum ptflow_flag */
	uint8_t length;    /* bytes of the instruction at `from`; 0: unknown */
};

/* What a decoder reads, borrowed until it is closed; 0: unknown. */
struct ptflow_input {
	const void *trace; /* without a gap */
	size_t trace_size;
	/*
	 * Find code that contains an ip, the more the better. Returns its bytes, constant as long
	 * as the trace, with the first one's ip and the size; NULL if there is none.
	 */
	const void *(*find)(void *context, uint64_t ip, uint64_t *begin, size_t *size);
	void *context;
	uint64_t ctl; /* IA32_RTIT_CTL; perf: attr.config, with 4 if the kernel is traced */
	uint32_t family, model;        /* an Intel CPU's, for its errata */
	uint32_t crystal_n, crystal_d; /* TSC / crystal clock: CPUID.15H, EBX and EAX */
	uint32_t max_ratio;            /* TSC / bus clock: MSR_PLATFORM_INFO, bits 15:8 */
	/* As in struct perf_event_mmap_page, for times in ns; time_mult 0: times are TSC ticks. */
	uint32_t time_mult, time_shift;
	uint64_t time_zero;
	uint64_t tsc; /* a TSC near the trace's, for the byte that packets lack */
};

/* Returns a decoder, owned by the caller; NULL without memory for it. */
struct ptflow *ptflow_open(const struct ptflow_input *input);

/* Returns the next event, borrowed until the next call; NULL at the end. */
const struct ptflow_event *ptflow_next(struct ptflow *flow);

/* Returns words for a reason, such as "Overflow packet"; never NULL. */
const char *ptflow_reason_text(unsigned reason);

/* NULL is allowed. */
void ptflow_close(struct ptflow *flow);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
