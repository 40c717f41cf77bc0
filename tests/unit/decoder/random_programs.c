/* SPDX-License-Identifier: MIT */
/*
 * The engines on random programs: a small machine executes them, writes the packets that a
 * processor writes (SDM volume 3, "Intel Processor Trace"), and notes what it did.
 */
#include "tests/unit/decoder/stream_run.h"

#define BLOCKS     32
#define SLOT       16 /* bytes of a block */
#define CODE_SIZE  (BLOCKS * SLOT)
#define CALLS_MAX  64 /* that a processor keeps */
#define WORK_FIRST ((SAMPLE_WORK - SAMPLE_CODE) / SLOT)
#define WORK_SIZE  (12 * SLOT)

enum ending { FALLS, DECIDES, JUMPS, CALLS, RETURNS, JUMPS_FAR, CALLS_FAR, ENTERS_KERNEL };

static const struct machine_rules {
	enum pt_engine engine;
	bool skip;       /* leave out local jumps */
	bool counts;     /* count executions */
	bool cycles;     /* write and show cycles */
	bool interrupts; /* and faults, which end the trace for a while */
	bool headers;    /* PSBs in the middle */
	bool overflows;
	bool pieces;
	bool untimed;    /* no TSCs */
	bool inlined;    /* each block has its own inlined calls */
	uint64_t period; /* ns */
	bool kernel;     /* its code is traced, too (stream_run.c) */
	bool transactions;
	bool switches; /* of two threads, at TSCs */
	bool missing;  /* half of the blocks have no bytes */
} rules[] = {
	{ .engine = PT_ENGINE_FAST },
	{ .engine = PT_ENGINE_LIBIPT },
	{ .engine = PT_ENGINE_FAST, .interrupts = true, .headers = true },
	{ .engine = PT_ENGINE_LIBIPT, .interrupts = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .skip = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .interrupts = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .counts = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .counts = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .counts = true, .untimed = true },
	{ .engine = PT_ENGINE_FAST, .untimed = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .inlined = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .inlined = true, .skip = true, .counts = true },
	{ .engine = PT_ENGINE_FAST, .cycles = true, .counts = true },
	{ .engine = PT_ENGINE_FAST, .overflows = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .interrupts = true, .pieces = true },
	{ .engine = PT_ENGINE_LIBIPT, .counts = true, .interrupts = true },
	{ .engine = PT_ENGINE_LIBIPT, .counts = true, .headers = true, .pieces = true },
	{ .engine = PT_ENGINE_LIBIPT, .untimed = true },
	{ .engine = PT_ENGINE_LIBIPT, .overflows = true },
	{ .engine = PT_ENGINE_FAST, .cycles = true, .skip = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .cycles = true, .headers = true, .pieces = true },
	{ .engine = PT_ENGINE_FAST, .cycles = true, .inlined = true, .skip = true },
	{ .engine = PT_ENGINE_FAST, .cycles = true, .counts = true, .skip = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .inlined = true, .untimed = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .counts = true, .overflows = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .overflows = true, .pieces = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .period = 100 },
	{ .engine = PT_ENGINE_FAST, .skip = true, .period = 1000, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .period = 300, .headers = true, .counts = true },
	{ .engine = PT_ENGINE_FAST, .kernel = true, .interrupts = true },
	{ .engine = PT_ENGINE_LIBIPT, .kernel = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .kernel = true, .skip = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .kernel = true, .cycles = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .kernel = true, .switches = true },
	{ .engine = PT_ENGINE_FAST, .kernel = true, .switches = true, .skip = true },
	{ .engine = PT_ENGINE_LIBIPT, .kernel = true, .interrupts = true, .switches = true },
	{ .engine = PT_ENGINE_FAST, .transactions = true, .headers = true },
	{ .engine = PT_ENGINE_LIBIPT, .transactions = true },
	{ .engine = PT_ENGINE_FAST, .transactions = true, .cycles = true, .skip = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .period = 100, .cycles = true },
	{ .engine = PT_ENGINE_FAST, .skip = true, .period = 50, .cycles = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .missing = true },
	{ .engine = PT_ENGINE_FAST, .missing = true, .headers = true },
	{ .engine = PT_ENGINE_FAST, .missing = true, .interrupts = true },
	{ .engine = PT_ENGINE_FAST, .missing = true, .overflows = true, .pieces = true },
};

#define RULES    ((int)(sizeof(rules) / sizeof(rules[0])))
#define PROGRAMS 4

static struct machine {
	const struct machine_rules *rules;
	uint32_t number; /* random */
	struct {
		enum ending ending;
		unsigned before; /* instructions of a byte before the ending */
		unsigned target; /* a block */
	} blocks[BLOCKS];
	bool in_tx;
	int32_t tid;
	uint64_t ip, calls[CALLS_MAX];
	unsigned call_count;
	char bits[8]; /* decisions without a packet */
	uint64_t time, cycles, insns;
	uint64_t executed[CODE_SIZE];
	struct branch_event done[EVENTS_MAX];
	bool has_packet[EVENTS_MAX]; /* its time is that of a packet */
	int32_t tids[EVENTS_MAX];
	size_t count;
} machine;

static unsigned random_below(unsigned limit)
{
	machine.number = machine.number * 1103515245 + 12345;
	return (machine.number >> 16) % limit;
}

#define HOLE UINT64_C(0x100000) /* from the first half of the blocks to one that is not mapped */

static uint64_t address_of(unsigned block)
{
	uint64_t moved = machine.rules->missing && block >= BLOCKS / 2 ? HOLE : 0;

	return SAMPLE_CODE + moved + (uint64_t)block * SLOT;
}

/* Returns the offset in the blocks. */
static uint64_t offset_of(uint64_t ip)
{
	return ip - SAMPLE_CODE - (ip - SAMPLE_CODE < HOLE ? 0 : HOLE);
}

/* ---- The program --------------------------------------------------------- */

static void write_block(unsigned i)
{
	static const struct {
		uint8_t bytes[2];
		unsigned size;
		bool has_distance;
	} codes[] = {
		[DECIDES] = { { 0x0f, 0x85 }, 2, true },
		[JUMPS] = { { 0xe9 }, 1, true },
		[CALLS] = { { 0xe8 }, 1, true },
		[RETURNS] = { { 0xc3 }, 1, false },
		[JUMPS_FAR] = { { 0xff, 0xe0 }, 2, false }, /* jmp *%rax */
		[CALLS_FAR] = { { 0xff, 0xd0 }, 2, false }, /* call *%rax */
		[ENTERS_KERNEL] = { { 0x0f, 0x05 }, 2, false },
	};
	static const uint8_t often[] = { FALLS,   DECIDES, DECIDES,   DECIDES,
					 DECIDES, JUMPS,   CALLS,     CALLS,
					 RETURNS, RETURNS, JUMPS_FAR, CALLS_FAR,
					 DECIDES, CALLS,   DECIDES,   ENTERS_KERNEL };
	uint8_t *code = run.program_bytes + TINY_ELF_CODE_OFFSET + (size_t)i * SLOT;
	bool last = i == BLOCKS - 1 || (machine.rules->missing && i == BLOCKS / 2 - 1);
	enum ending ending = last ? RETURNS : often[random_below(sizeof(often))];
	unsigned before = random_below(5), at = before + codes[ending].size;
	/* Another file's code does not jump directly into this one's. */
	unsigned first = machine.rules->missing && i >= BLOCKS / 2 ? BLOCKS / 2 : 0;
	/* Direct calls and unconditional jumps lead forward, so that decisions end each loop. */
	unsigned target = ending == DECIDES
				  ? first + random_below(BLOCKS - first)
				  : i + 1 + random_below(BLOCKS - 1 - i + (i == BLOCKS - 1));
	int32_t distance = (int32_t)(address_of(target) - address_of(i)) - (int32_t)at - 4;

	memset(code, 0x90, SLOT);
	memcpy(code + before, codes[ending].bytes, codes[ending].size);
	if (codes[ending].has_distance)
		memcpy(code + at, &distance, sizeof(distance));
	machine.blocks[i].ending = ending;
	machine.blocks[i].before = before;
	machine.blocks[i].target = target;
}

static void write_blocks(void)
{
	run.program_size = TINY_ELF_CODE_OFFSET + 0x1000;
	run.program_bytes = realloc(run.program_bytes, run.program_size);
	ck_assert_ptr_nonnull(run.program_bytes);
	memset(run.program_bytes + TINY_ELF_CODE_OFFSET, 0x90, 0x1000);
	for (unsigned i = 0; i < BLOCKS; i++)
		write_block(i);
}

/* ---- The machine --------------------------------------------------------- */

/* Tracing begins without a place before it, and ends without one after it. */
static unsigned flags_of(enum branch_kind kind, uint64_t from, uint64_t to)
{
	unsigned flags = machine.rules->untimed ? BRANCH_TIME_ESTIMATED : 0;

	flags |= machine.in_tx ? BRANCH_IN_TX : 0;
	if (kind == BRANCH_GAP)
		return flags;
	flags |= from ? 0 : BRANCH_TRACE_ON;
	flags |= to ? 0 : BRANCH_TRACE_OFF;
	flags |= !to && kind == BRANCH_NONE ? BRANCH_ASYNC : 0;
	return flags;
}

static void note(enum branch_kind kind, uint64_t from, uint64_t to, bool has_packet)
{
	ck_assert_uint_lt(machine.count, EVENTS_MAX);
	machine.has_packet[machine.count] = has_packet;
	machine.tids[machine.count] = machine.tid;
	machine.done[machine.count++] = (struct branch_event){
		/* Without times, instructions are the time since the buffer was opened. */
		.time = machine.rules->untimed ? SAMPLE_START + machine.insns : machine.time,
		.from = from,
		.to = to,
		.kind = (uint8_t)kind,
		.flags = (uint8_t)flags_of(kind, from, to),
	};
}

/* Each packet of the flow may have its cycles before it. */
static void begin_packet(void)
{
	struct pt_packet cycles = { .type = ppt_cyc, .payload.cyc.value = 1 + random_below(300) };

	if (!machine.rules->cycles)
		return;
	pt_packets_add(&run.packets, &cycles);
	machine.cycles += cycles.payload.cyc.value;
}

static void write_bits(void)
{
	if (!machine.bits[0])
		return;
	begin_packet();
	pt_packets_tnt(&run.packets, machine.bits);
	memset(machine.bits, 0, sizeof(machine.bits));
}

static void switch_thread(void)
{
	int32_t next = SAMPLE_PID + (machine.tid == SAMPLE_PID);

	perf_data_stamp(&run.data, (struct perf_data_stamp){ .time = machine.time,
							     .pid = SAMPLE_PID,
							     .tid = machine.tid });
	perf_data_add_switch(&run.data, true, SAMPLE_PID, next);
	machine.tid = next;
}

static void pass_time(void)
{
	if (machine.bits[0] || machine.rules->untimed ||
	    (machine.rules->cycles && !machine.rules->period) || random_below(4))
		return;
	machine.time += 10 + random_below(90);
	pt_packets_tsc(&run.packets, machine.time);
	if (machine.rules->switches && !random_below(4))
		switch_thread();
}

static void decide(bool taken)
{
	if (strlen(machine.bits) == 6)
		write_bits();
	pass_time();
	machine.bits[strlen(machine.bits)] = taken ? 't' : 'n';
}

/* A packet of the flow that has an address. */
static void write_target(void (*write)(struct pt_packets *, uint64_t), uint64_t ip)
{
	write_bits();
	pass_time();
	if (write != pt_packets_pge) /* untraced code has no cycles */
		begin_packet();
	write(&run.packets, ip);
}

static void go(enum branch_kind kind, uint64_t to, bool has_packet)
{
	note(kind, machine.ip, to, has_packet);
	machine.ip = to;
}

static void push_call(uint64_t back)
{
	if (machine.call_count == CALLS_MAX)
		memmove(machine.calls, machine.calls + 1, sizeof(machine.calls) - sizeof(back));
	else
		machine.call_count++;
	machine.calls[machine.call_count - 1] = back;
}

static void leave_trace(uint64_t resume)
{
	go(BRANCH_NONE, 0, true);
	write_target(pt_packets_pge, resume);
	go(BRANCH_NONE, resume, true);
}

/* An interrupt's handler in the kernel: nop; iret. */
static void interrupt_in_kernel(void)
{
	uint64_t back = machine.ip;

	write_target(pt_packets_fup, back);
	pt_packets_tip(&run.packets, KERNEL_FAULT);
	go(BRANCH_INTERRUPT, KERNEL_FAULT, true);
	machine.done[machine.count - 1].flags |= BRANCH_ASYNC;
	machine.ip++;
	write_target(pt_packets_tip, back);
	go(BRANCH_IRET, back, true);
	machine.insns += 2;
}

/* A system call in the kernel: call; ret; sysret. */
static void enter_kernel(uint64_t back)
{
	write_target(pt_packets_tip, KERNEL);
	go(BRANCH_SYSCALL, KERNEL, true);
	push_call(KERNEL + 5);
	go(BRANCH_CALL, KERNEL_SYS, false);
	decide(true);
	machine.call_count--;
	go(BRANCH_RETURN, KERNEL + 5, true);
	write_target(pt_packets_tip, back);
	go(BRANCH_SYSRET, back, true);
	machine.insns += 3;
}

static void interrupt(void)
{
	if (machine.rules->kernel) {
		interrupt_in_kernel();
		return;
	}
	write_target(pt_packets_fup, machine.ip);
	pt_packets_pgd(&run.packets, 0);
	leave_trace(machine.ip);
}

/* The processor forgets calls, so that returns to them have a target.  ip 0: tracing is off. */
static void write_header(uint64_t ip)
{
	static const struct pt_packet psb = { .type = ppt_psb }, end = { .type = ppt_psbend };
	struct pt_packet mode = { .type = ppt_mode, .payload.mode.leaf = pt_mol_exec };

	write_bits();
	machine.time += 10;
	machine.call_count = 0;
	if (!machine.rules->untimed) {
		pt_packets_psb(&run.packets, machine.time, ip);
		return;
	}
	mode.payload.mode.bits.exec.csl = 1;
	pt_packets_add(&run.packets, &psb);
	pt_packets_add(&run.packets, &mode);
	if (ip)
		pt_packets_fup(&run.packets, ip);
	pt_packets_add(&run.packets, &end);
}

static void overflow(void)
{
	write_bits();
	pt_packets_ovf(&run.packets);
	note(BRANCH_GAP, 0, 0, false);
	machine.ip = 0;
	machine.call_count = 0;
	go(BRANCH_NONE, address_of(random_below(BLOCKS)), true);
	pt_packets_fup(&run.packets, machine.ip);
}

/* A transaction begins, commits, or is aborted, which continues the program elsewhere. */
static void change_transaction(void)
{
	struct pt_packet packet = { .type = ppt_mode, .payload.mode.leaf = pt_mol_tsx };
	bool aborts = machine.in_tx && random_below(2);
	uint64_t target;

	packet.payload.mode.bits.tsx.intx = !machine.in_tx;
	packet.payload.mode.bits.tsx.abrt = aborts;
	write_bits();
	pt_packets_add(&run.packets, &packet);
	pt_packets_fup(&run.packets, machine.ip);
	machine.in_tx = !machine.in_tx;
	if (!aborts)
		return;
	target = address_of(random_below(BLOCKS));
	pt_packets_tip(&run.packets, target);
	go(BRANCH_TX_ABORT, target, true);
	machine.done[machine.count - 1].flags |= BRANCH_ASYNC;
}

static void end_block(unsigned i)
{
	uint64_t target = address_of(machine.blocks[i].target), back;

	switch (machine.blocks[i].ending) {
	case FALLS:
		break;
	case DECIDES:
		decide(random_below(8));
		if (machine.bits[strlen(machine.bits) - 1] == 't')
			go(BRANCH_COND, target, true);
		else
			machine.ip += 6;
		break;
	case JUMPS:
		go(BRANCH_JUMP, target, false);
		break;
	case CALLS:
		push_call(machine.ip + 5);
		go(BRANCH_CALL, target, false);
		break;
	case RETURNS:
		if (machine.call_count) {
			decide(true);
			go(BRANCH_RETURN, machine.calls[--machine.call_count], true);
			break;
		}
		target = address_of(random_below(BLOCKS));
		write_target(pt_packets_tip, target);
		go(BRANCH_RETURN, target, true);
		break;
	case JUMPS_FAR:
	case CALLS_FAR:
		target = address_of(random_below(BLOCKS));
		if (machine.blocks[i].ending == CALLS_FAR)
			push_call(machine.ip + 2);
		write_target(pt_packets_tip, target);
		go(machine.blocks[i].ending == CALLS_FAR ? BRANCH_CALL : BRANCH_JUMP, target, true);
		machine.done[machine.count - 1].flags |= BRANCH_INDIRECT;
		break;
	case ENTERS_KERNEL:
		back = machine.ip + 2;
		if (machine.rules->kernel) {
			enter_kernel(back);
			break;
		}
		write_target(pt_packets_pgd, 0);
		note(BRANCH_SYSCALL, machine.ip, 0, true);
		machine.ip = 0;
		write_target(pt_packets_pge, back);
		go(BRANCH_NONE, back, true);
		break;
	}
}

static void execute(void)
{
	unsigned i = (unsigned)offset_of(machine.ip) / SLOT;
	bool ends = machine.blocks[i].ending != FALLS &&
		    machine.ip == address_of(i) + machine.blocks[i].before;
	size_t count;

	if (machine.rules->interrupts && !random_below(60)) {
		interrupt();
		machine.ip = machine.done[machine.count - 1].to;
	}
	if (machine.rules->transactions && !random_below(40)) {
		change_transaction();
		if (machine.done[machine.count - 1].kind == BRANCH_TX_ABORT)
			return;
	}
	if (machine.rules->headers && !machine.in_tx && !random_below(200))
		write_header(machine.ip);
	machine.executed[offset_of(machine.ip)]++;
	machine.insns++;
	count = machine.count;
	if (ends)
		end_block(i);
	else
		machine.ip++;
	if (machine.rules->inlined && machine.ip == address_of(i + 1) && machine.count == count)
		note(BRANCH_NONE, machine.ip, machine.ip, false);
	if (machine.rules->overflows && machine.has_packet[machine.count - 1] &&
	    machine.done[machine.count - 1].to == machine.ip && !random_below(50))
		overflow();
}

static void execute_program(void)
{
	enum { BRANCHES = 2000 };

	machine.time = SAMPLE_START;
	write_header(0);
	pt_packets_pge(&run.packets, SAMPLE_CODE);
	go(BRANCH_NONE, SAMPLE_CODE, true);
	while (machine.count < BRANCHES && pt_packets_size(&run.packets) < PT_PACKETS_ROOM / 2)
		execute();
	write_bits();
	begin_packet();
	pt_packets_fup(&run.packets, machine.ip);
	pt_packets_pgd(&run.packets, 0);
	note(BRANCH_NONE, machine.ip, 0, true);
}

/* ---- What the decoder says ----------------------------------------------- */

static bool is_in_work(uint64_t ip)
{
	return ip - SAMPLE_WORK < WORK_SIZE;
}

static bool is_local(const struct branch_event *event)
{
	if (machine.rules->inlined && event->from / SLOT != event->to / SLOT)
		return false;
	return (event->kind == BRANCH_COND || event->kind == BRANCH_JUMP) &&
	       is_in_work(event->from) && is_in_work(event->to);
}

/* Leave out, if asked, local jumps; and counts, which are no branches. */
static size_t next_event(const struct branch_event *events, size_t count, size_t i)
{
	while (i < count &&
	       (events[i].kind == BRANCH_COUNTS || (machine.rules->skip && is_local(&events[i]))))
		i++;
	return i;
}

static void compare_events(void)
{
	/* libipt's time may be that of the next packet. */
	const bool has_times = machine.rules->engine == PT_ENGINE_FAST && !machine.rules->cycles;
	size_t at = 0;

	for (size_t i = next_event(machine.done, machine.count, 0); i < machine.count;
	     i = next_event(machine.done, machine.count, i + 1), at++) {
		const struct branch_event *done = &machine.done[i];

		at = next_event(run.events, run.count, at);
		expect(at, done->kind, done->from, done->to);
		ck_assert_uint_eq(run.events[at].flags, done->flags);
		if (machine.has_packet[i] && machine.rules->engine == PT_ENGINE_FAST)
			ck_assert_int_eq(run.tids[at], machine.tids[i]);
		if (machine.has_packet[i] && has_times)
			ck_assert_uint_eq(run.events[at].time, done->time);
	}
	ck_assert_uint_eq(next_event(run.events, run.count, at), run.count);
}

/* Returns whether the machine did a branch about when the decoder shows it. */
static bool was_done(const struct branch_event *event)
{
	const uint64_t slack = 500; /* of direct branches, which have the time of a packet */

	for (size_t i = 0; i < machine.count; i++)
		if (machine.done[i].from == event->from && machine.done[i].to == event->to &&
		    machine.done[i].kind == event->kind &&
		    machine.done[i].time + slack - event->time <= 2 * slack)
			return true;
	return false;
}

/*
 * Code is missing. Nearly all branches that the decoder shows were done: packets may fit a wrong
 * return by chance.
 */
static void expect_true_branches(void)
{
	size_t known = 0, shown = 0, wrong = 0;

	for (size_t i = 0; i < machine.count; i++)
		known += machine.done[i].from && machine.done[i].from < SAMPLE_CODE + HOLE;
	for (size_t i = 0; i < run.count; i++) {
		const struct branch_event *event = &run.events[i];

		if (!event->from || event->kind == BRANCH_GAP) /* it begins anywhere */
			continue;
		wrong += !was_done(event);
		shown++;
	}
	ck_assert_uint_gt(shown, known / 20);
	ck_assert_uint_le(wrong, shown / 100);
}

static void compare_local_jumps(void)
{
	uint64_t done = 0, shown = 0;

	for (size_t i = 0; i < machine.count; i++)
		done += is_local(&machine.done[i]);
	for (size_t i = 0; i < run.count; i++)
		shown += is_local(&run.events[i]);
	ck_assert_uint_eq(shown + run.stats.local_jumps, done);
}

/* The jumps and instructions of each period are in counts and branches of its time. */
static void compare_periods(void)
{
	uint64_t period = machine.rules->period;

	for (uint64_t at = SAMPLE_START / period; at <= machine.time / period + 1; at++) {
		uint64_t limit = at * period, done = 0, shown = 0;

		for (size_t i = 0; i < machine.count; i++)
			done += is_local(&machine.done[i]) && machine.done[i].time < limit;
		for (size_t i = 0; i < run.count; i++)
			if (branch_event_time(&run.events[i]) < limit)
				shown += run.events[i].kind == BRANCH_COUNTS
						 ? run.events[i].to
						 : is_local(&run.events[i]);
		ck_assert_uint_eq(shown, done);
	}
}

/* Each byte of the code is an instruction's first, or in the middle of one. */
static void compare_executions(void)
{
	static uint64_t counted[CODE_SIZE];

	memset(counted, 0, sizeof(counted));
	for (size_t i = 0; i < run.code_count; i++)
		for (uint64_t ip = run.code[i].begin; ip < run.code[i].last + !run.code[i].stopped;
		     ip++)
			counted[ip - SAMPLE_CODE] += run.code[i].count;
	for (size_t i = 0; i < CODE_SIZE; i++)
		if (machine.executed[i])
			ck_assert_uint_eq(counted[i], machine.executed[i]);
}

/* The same for jumps between two places. */
static void compare_taken(void)
{
	for (size_t i = 0; i < machine.count; i++) {
		const struct branch_event *jump = &machine.done[i];
		uint64_t done = 0, counted = 0;

		if (jump->kind != BRANCH_COND && jump->kind != BRANCH_JUMP)
			continue;
		for (size_t k = 0; k < machine.count; k++)
			done += machine.done[k].from == jump->from &&
				machine.done[k].to == jump->to &&
				machine.done[k].kind == jump->kind;
		for (size_t k = 0; k < run.code_count; k++)
			if (run.code[k].last == jump->from && run.code[k].to == jump->to)
				counted += run.code[k].taken;
		ck_assert_uint_eq(counted, done);
	}
}

static void compare_sums(void)
{
	uint64_t insns = 0, cycles = 0;

	for (size_t i = 0; i < run.count; i++) {
		insns += run.events[i].insns;
		cycles += run.events[i].cycles;
	}
	ck_assert_uint_eq(run.stats.insns, machine.insns);
	ck_assert_uint_eq(insns, machine.insns);
	if (machine.rules->cycles)
		ck_assert_uint_eq(cycles, machine.cycles);
}

START_TEST(a_program_of_any_form_gives_what_the_machine_did)
{
	const struct machine_rules *rule = &rules[_i / PROGRAMS];
	char kernel[PERF_DATA_PATH];

	memset(&machine, 0, sizeof(machine));
	machine.rules = rule;
	machine.number = (uint32_t)_i + 1;
	begin((int)rule->engine);
	run.skip = rule->skip;
	run.counts = rule->counts;
	run.cycles = rule->cycles;
	run.in_pieces = rule->pieces;
	run.work_size = rule->missing ? SLOT : WORK_SIZE; /* other files enter functions */
	run.period = rule->period;
	run.piece_size = rule->inlined ? SLOT : 0;
	if (rule->untimed)
		run.data.events[0].attr.config &= ~UINT64_C(0x400);
	if (rule->kernel)
		add_kernel(kernel);
	machine.tid = SAMPLE_PID;
	if (rule->switches)
		perf_data_add_fork(&run.data, SAMPLE_PID, SAMPLE_PID + 1, SAMPLE_PID);
	write_blocks();
	execute_program();
	finish();
	if (rule->kernel)
		unlink(kernel);
	ck_assert_uint_lt(run.count, EVENTS_MAX);
	expect_all_bytes_counted();
	if (rule->missing) {
		expect_true_branches();
		return;
	}
	compare_events();
	ck_assert_uint_eq(run.stats.bytes_lost, 0);
	if (rule->skip)
		compare_local_jumps();
	if (rule->period && !rule->cycles)
		compare_periods();
	if (rule->counts) {
		compare_executions();
		compare_taken();
	}
	if (!rule->overflows)
		compare_sums();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("random_programs");
	TCase *all = tcase_create("random_programs");

	tcase_add_loop_test(all, a_program_of_any_form_gives_what_the_machine_did, 0,
			    RULES * PROGRAMS);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
