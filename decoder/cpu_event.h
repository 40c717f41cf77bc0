/* SPDX-License-Identifier: MIT */
/*
 * What a processor tells beside the flow of branches: its frequency, values
 * that the program wrote, sleep, transactions, events.
 *
 * Side events come among the branches of a stream, in their place, as struct
 * branch_event of kind BRANCH_SIDE (so that whatever orders, queues or hands on
 * branches does the same with them); side_event_of() looks at one.  A stream
 * gives them if pt_stream_input.side_events asks for them.  Each is made from
 * one packet and where the flow was then; what belongs together, such as the
 * two ends of a sleep, whoever reads them puts together.
 * Source: SDM volume 3, "Intel Processor Trace", packet definitions.
 */
#ifndef DECODER_CPU_EVENT_H
#define DECODER_CPU_EVENT_H

#include <stdbool.h>

#include "decoder/branch_event.h"

enum side_kind {
	SIDE_NONE = 0,
	SIDE_FREQUENCY, /* CBR: value = core clock / bus clock */
	SIDE_PTWRITE,   /* PTW: value = what was written */
	SIDE_MWAIT,     /* MWAIT: value = hints (EAX), extra = extensions (ECX) */
	SIDE_SLEEP,     /* PWRE: value = enum side_sleep fields */
	SIDE_STOP,      /* EXSTOP: the core clock stopped */
	SIDE_WAKE,      /* PWRX: value = enum side_wake fields */
	SIDE_TX_BEGIN,  /* MODE.TSX: a transaction begins */
	SIDE_TX_COMMIT, /* it came to its end */
	SIDE_TX_ABORT,  /* it was rolled back; a BRANCH_TX_ABORT follows */
	SIDE_CONTROL,   /* CFE: value = vector, extra = enum side_control */
	SIDE_DATA,      /* EVD, of the SIDE_CONTROL that follows: extra = type, value = payload */
	SIDE_GUEST,     /* PIP: value = CR3, extra = 1 in a guest, 0 in the host */
	SIDE_VMCS,      /* VMCS: value = base address of the guest's control structure */
	SIDE_KINDS,
};

/* SIDE_SLEEP's value: the layout of PWRE's payload, as perf prints it. */
#define SIDE_SLEEP_STATE(value) ((unsigned)((value) & 15))          /* resolved thread C-state */
#define SIDE_SLEEP_SUB_STATE(value) ((unsigned)((value) >> 4 & 15))
#define SIDE_SLEEP_BY_HARDWARE 0x100                                 /* not asked for by software */

/* SIDE_WAKE's value: core C-states, and why. */
#define SIDE_WAKE_LAST(value) ((unsigned)((value) & 15))             /* when it woke */
#define SIDE_WAKE_DEEPEST(value) ((unsigned)((value) >> 4 & 15))
#define SIDE_WAKE_INTERRUPT 0x100
#define SIDE_WAKE_STORE 0x400     /* to the address that MONITOR watched */
#define SIDE_WAKE_AUTONOMOUS 0x800

/* SIDE_CONTROL's extra: the type field of a CFE packet. */
enum side_control {
	CONTROL_INTERRUPT = 1, /* also exceptions and software interrupts */
	CONTROL_IRET = 2,
	CONTROL_SMI = 3,
	CONTROL_RSM = 4,
	CONTROL_SIPI = 5,
	CONTROL_INIT = 6,
	CONTROL_VMENTRY = 7,
	CONTROL_VMEXIT = 8,
	CONTROL_VMEXIT_INTERRUPT = 9,
	CONTROL_SHUTDOWN = 10,
	CONTROL_USER_INTERRUPT = 12,
	CONTROL_USER_IRET = 13,
};

/* SIDE_DATA's extra: the type field of an EVD packet. */
enum side_data {
	DATA_CR2 = 0,            /* the address of a page fault */
	DATA_EXIT_QUALIFICATION = 1,
	DATA_EXIT_REASON = 2,
};

/* Returns SIDE_SLEEP's value. */
static inline uint64_t side_sleep_value(unsigned state, unsigned sub_state, bool by_hardware)
{
	return (state & 15) | (sub_state & 15) << 4 | (by_hardware ? SIDE_SLEEP_BY_HARDWARE : 0);
}

/* Returns SIDE_WAKE's value; `why`: its flags. */
static inline uint64_t side_wake_value(unsigned last, unsigned deepest, uint64_t why)
{
	return (last & 15) | (deepest & 15) << 4 | why;
}

struct side_event {
	uint64_t time;               /* ns, perf's clock (struct branch_event has it in `tsc`) */
	const struct thread *thread; /* that ran; borrowed from the timeline; NULL: unknown */
	uint64_t ip;                 /* where; 0: not told */
	uint64_t value;              /* by kind */
	uint32_t extra;              /* by kind */
	int32_t cpu;                 /* -1: unknown (buffer per thread) */
	enum side_kind kind;
};

/*
 * Returns whether it belongs to a place among the thread's branches; else it is
 * of the CPU, whoever runs, and stands among the branches where it was read.
 */
static inline bool side_is_of_thread(enum side_kind kind)
{
	return kind == SIDE_PTWRITE || kind == SIDE_CONTROL || kind == SIDE_TX_BEGIN ||
	       kind == SIDE_TX_COMMIT || kind == SIDE_TX_ABORT;
}

/* Returns the side event that a branch event of kind BRANCH_SIDE is. */
static inline struct side_event side_event_of(const struct branch_event *event)
{
	return (struct side_event){
		.time = event->tsc,
		.thread = event->thread,
		.ip = event->from,
		.value = event->to,
		.extra = event->cycles,
		.cpu = event->cpu,
		.kind = (enum side_kind)event->gap,
	};
}

#endif
