/* SPDX-License-Identifier: MIT */
/*
 * Events of a processor that are not branches: frequency, PTWRITE values, sleep, transactions,
 * interrupts, PEBS samples.
 *
 * CPU events are part of the stream of branches, in order, as struct branch_event of kind
 * BRANCH_CPU_EVENT, so code that sorts, queues or forwards branches handles both. cpu_event_of()
 * converts an event. A stream emits CPU events if pt_stream_input.cpu_events is set. Each event has
 * the contents of one packet and the ip of the flow; the reader combines related events, such as
 * both ends of a sleep. Source: SDM volume 3, "Intel Processor Trace", packet definitions.
 */
#pragma once

#include "decoder/branch_event.h"

enum cpu_event_kind {
	CPU_EVENT_NONE = 0,
	CPU_EVENT_CBR,       /* CBR: value = core clock / bus clock */
	CPU_EVENT_PTWRITE,   /* PTW: value = the operand */
	CPU_EVENT_MWAIT,     /* MWAIT: value = hints (EAX), extra = extensions (ECX) */
	CPU_EVENT_PWRE,      /* PWRE: value = PWRE_* below */
	CPU_EVENT_EXSTOP,    /* EXSTOP: the core clock stopped */
	CPU_EVENT_PWRX,      /* PWRX: value = PWRX_* below */
	CPU_EVENT_TX_BEGIN,  /* MODE.TSX: a transaction begins */
	CPU_EVENT_TX_COMMIT, /* the transaction ended */
	CPU_EVENT_TX_ABORT,  /* the transaction was rolled back; a BRANCH_TX_ABORT follows */
	CPU_EVENT_TX_LOST,   /* the end of the transaction is not in the trace */
	CPU_EVENT_CFE,       /* CFE: value = vector, extra = enum cpu_event_control */
	CPU_EVENT_EVD,  /* EVD, of the CPU_EVENT_CFE that follows: extra = type, value = payload */
	CPU_EVENT_PIP,  /* PIP: value = CR3, extra = 1 in a guest, 0 in the host */
	CPU_EVENT_VMCS, /* VMCS: value = base address of the guest's control structure */
	CPU_EVENT_TRIG, /* TRIG: value = TRIG_* below, extra = instructions, if TRIG_COUNTED */
	/* BIP, of the CPU_EVENT_PEBS that follows: value, extra = PEBS_EXTRA() */
	CPU_EVENT_PEBS_ITEM,
	CPU_EVENT_PEBS, /* BEP: a sample that the processor wrote; extra = PEBS_FIRST or 0 */
	CPU_EVENT_KINDS,
};

/* CPU_EVENT_PEBS_ITEM's extra: the type field of the BBP packet and the id of the BIP packet. */
#define PEBS_EXTRA(type, id)   ((uint32_t)(type) << 8 | (id))
#define PEBS_BLOCK_TYPE(extra) ((extra) >> 8 & 31)
#define PEBS_ID(extra)         ((extra)&31)
#define PEBS_FIRST             0x10000 /* earlier items do not belong to this sample */

/* Returns the C-state of MWAIT's encoding (SDM volume 2, "MWAIT"): 0 is C1, 15 is C0. */
#define MWAIT_STATE(encoding) ((unsigned)(((encoding) + 1) & 15))

/* CPU_EVENT_PWRE's value: thread C-states and the cause. */
#define PWRE_STATE(value)     MWAIT_STATE(value) /* resolved thread C-state */
#define PWRE_SUB_STATE(value) ((unsigned)((value) >> 4 & 15))
#define PWRE_BY_HARDWARE      0x100 /* not requested by software */

/* CPU_EVENT_PWRX's value: core C-states and wake reason. */
#define PWRX_LAST(value)    MWAIT_STATE(value) /* C-state at wake-up */
#define PWRX_DEEPEST(value) MWAIT_STATE((value) >> 4)
#define PWRX_INTERRUPT      0x100
#define PWRX_STORE          0x400 /* to the address that MONITOR watched */
#define PWRX_AUTONOMOUS     0x800

/*
 * CPU_EVENT_TRIG's value (Trigger Tracing).  The instruction that fired the triggers is at the
 * packet's FUP, or `extra` instructions after the last FUP, TIP, TNT or counted TRIG, or unknown.
 */
#define TRIG_TRIGGERS(value) ((unsigned)((value)&0xff)) /* TRBV: a bit for each trigger */
#define TRIG_COUNTED         0x100                      /* ICNTV */
#define TRIG_MULTIPLE        0x200                      /* MULT: others fired, without packets */

/* CPU_EVENT_CFE's extra: the type field of a CFE packet. */
enum cpu_event_control {
	CONTROL_INTERRUPT =
		1, /* also exceptions, and software interrupts without a type of their own */
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
	CONTROL_SOFTWARE_INTERRUPT = 14, /* this and the next: FRED events */
	CONTROL_SYSCALL = 15,
};

/* CPU_EVENT_EVD's extra: the type field of an EVD packet. */
enum cpu_event_evd {
	DATA_CR2 = 0, /* the address of a page fault */
	DATA_EXIT_QUALIFICATION = 1,
	DATA_EXIT_REASON = 2,
};

/* Returns CPU_EVENT_PWRE's value. */
static inline uint64_t pwre_value(unsigned state, unsigned sub_state, bool by_hardware)
{
	return (state & 15) | (sub_state & 15) << 4 | (by_hardware ? PWRE_BY_HARDWARE : 0);
}

/* Returns the flags of CPU_EVENT_PWRX's value. */
static inline uint64_t pwrx_why(bool interrupt, bool store, bool autonomous)
{
	return (interrupt ? PWRX_INTERRUPT : 0) | (store ? PWRX_STORE : 0) |
	       (autonomous ? PWRX_AUTONOMOUS : 0);
}

static inline uint64_t pwrx_value(unsigned last, unsigned deepest, uint64_t why)
{
	return (last & 15) | (deepest & 15) << 4 | why;
}

struct cpu_event {
	uint64_t time;               /* ns, perf's clock (struct branch_event has it in `word`) */
	const struct thread *thread; /* running, borrowed from the timeline; NULL: unknown */
	uint64_t ip;                 /* 0: unknown */
	uint64_t value;              /* by kind */
	uint32_t extra;              /* by kind */
	int32_t cpu;                 /* -1: unknown (buffer per thread) */
	enum cpu_event_kind kind;
};

/* Returns whether the event begins or ends a transaction. */
static inline bool cpu_event_is_tx(enum cpu_event_kind kind)
{
	return kind >= CPU_EVENT_TX_BEGIN && kind <= CPU_EVENT_TX_LOST;
}

/*
 * Returns whether the event belongs to a position among the thread's branches. Otherwise it belongs
 * to the CPU, and is among the branches where the decoder read its packet.
 */
static inline bool cpu_event_has_thread(enum cpu_event_kind kind)
{
	return kind == CPU_EVENT_PTWRITE || kind == CPU_EVENT_CFE || kind == CPU_EVENT_PEBS ||
	       cpu_event_is_tx(kind);
}

/* A CPU event without time and ip. */
struct cpu_event_data {
	enum cpu_event_kind kind;
	uint32_t extra;
	uint64_t value;
};

/* Returns the CPU event of a branch event of kind BRANCH_CPU_EVENT. */
static inline struct cpu_event cpu_event_of(const struct branch_event *event)
{
	return (struct cpu_event){
		.time = event->word,
		.thread = event->thread,
		.ip = event->from,
		.value = event->to,
		.extra = event->cycles,
		.cpu = event->cpu,
		.kind = (enum cpu_event_kind)event->gap,
	};
}
