/* SPDX-License-Identifier: MIT */
/*
 * Code without bytes: how known code enters it, what it does, and how it ends. The trace has its
 * TNT bits, and a bit for its return (SDM volume 3, "RET Compression"); where it returned is known
 * only if its caller's code explains all later packets (packet_text.h has the text).
 */
#include "tests/unit/decoder/packet_text.h"

/* L, or M and more, has one of these forms; W: call L; jne W; ret, M: call W; call W; syscall. */
enum form {
	SAMPLE,  /* ret */
	RETURNS, /* call *%rax; ret */
	LOOPS,   /* call *%rax; jne to itself; ret */
	AGAIN,   /* call *%rax; jne to the next; call *%rax; ret */
	STUBS,   /* jne L+8; jmp *pointer; L+8: call *%rax; bnd jmp *pointer */
	JUMPS,   /* jmp *%rax */
	SYSTEM,  /* call *%rax; jne to the next; syscall */
	DIRECT,  /* call X; ret */
	GOES,    /* jmp X */
	NOPS,    /* call *%rax; nop of 3 bytes; nop; ret */
	ENDLESS, /* call *%rax; jne L+6; L+4: jmp to itself; L+6: ret */
	CALLS,   /* call *%rax; call C; ret, and C: ret */
	SKIPS,   /* call *%rax; call the next; jmp over a nop; ret */
	WAITS,   /* M: call L; syscall   W: jne to the next; ret   L: call *%rax; ret */
	CHOOSES, /* the same, but L: call *%rax; jne to the next; call *%rax; ret */
	TURNS,   /* the same, but L: call *%rax; jne to itself; ret */
};

static const struct {
	uint64_t at;
	size_t size;
	const char *bytes;
} forms[] = {
	[RETURNS] = { SAMPLE_LEAF, 3, "\xff\xd0\xc3" },
	[LOOPS] = { SAMPLE_LEAF, 5, "\xff\xd0\x75\xfe\xc3" },
	[AGAIN] = { SAMPLE_LEAF, 7, "\xff\xd0\x75\0\xff\xd0\xc3" },
	[STUBS] = { SAMPLE_LEAF, 17,
		    "\x75\x06\xff\x25\x08\x10\0\0\xff\xd0\xf2\xff\x25\xff\x0f\0\0" },
	[JUMPS] = { SAMPLE_LEAF, 2, "\xff\xe0" },
	[SYSTEM] = { SAMPLE_LEAF, 6, "\xff\xd0\x75\0\x0f\x05" },
	[DIRECT] = { SAMPLE_LEAF, 6, "\xe8\xbb\xef\x4f\0\xc3" },
	[GOES] = { SAMPLE_LEAF, 5, "\xe9\xbb\xef\x4f\0" },
	[NOPS] = { SAMPLE_LEAF, 7, "\xff\xd0\x0f\x1f\0\x90\xc3" },
	[ENDLESS] = { SAMPLE_LEAF, 7, "\xff\xd0\x75\x02\xeb\xfe\xc3" },
	[CALLS] = { SAMPLE_LEAF, 17, "\xff\xd0\xe8\x09\0\0\0\xc3\0\0\0\0\0\0\0\0\xc3" },
	[SKIPS] = { SAMPLE_LEAF, 11, "\xff\xd0\xe8\0\0\0\0\xeb\x01\x90\xc3" },
	[WAITS] = { SAMPLE_MAIN, 67,
		    "\xe8\x3b\0\0\0\x0f\x05\0\0\0\0\0\0\0\0\0"
		    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		    "\x75\0\xc3\0\0\0\0\0\0\0\0\0\0\0\0\0"
		    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xd0\xc3" },
	[CHOOSES] = { SAMPLE_MAIN, 71,
		      "\xe8\x3b\0\0\0\x0f\x05\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\x75\0\xc3\0\0\0\0\0\0\0\0\0\0\0\0\0"
		      "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xd0\x75\0\xff\xd0\xc3" },
	[TURNS] = { SAMPLE_MAIN, 69,
		    "\xe8\x3b\0\0\0\x0f\x05\0\0\0\0\0\0\0\0\0"
		    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
		    "\x75\0\xc3\0\0\0\0\0\0\0\0\0\0\0\0\0"
		    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\xff\xd0\x75\xfe\xc3" },
};

/* The kernel is traced, too. */
#define ALL 1
/* Only calls are wanted: code without bytes may be guessed to return. */
#define ONLY_CALLS 2
/* Returns are not compressed. */
#define UNCOMPRESSED 4
/* X is on the stack. */
#define STACK 8
/* libipt follows these packets, too. */
#define BOTH 16

static const struct row {
	enum form form;
	int how;
	const char *packets, *events;
} rows[] = {
	/* A return is proved by the next one, to the caller of the known code. */
	{ RETURNS, 0, "psb pge:W tip:X tnt:nnt tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	{ DIRECT, 0, "psb pge:W tnt:nnt tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+5 return:L+5>W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:W tip:X tnt:nnt tip:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:W+7 return:W+7>0" },
	/* No bit is a return, so the address is that of a call, a jump or a return to it. */
	{ RETURNS, 0, "psb pge:W tip:X tip:L+2 tnt:tn pgd",
	  "on:W call:W>L call:L>X missing:X on=:L+2 return:L+2>W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:W tip:X tnt:n tip:L+2 tnt:tn pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	/* A return that is not compressed has an address, too. */
	{ RETURNS, UNCOMPRESSED, "psb pge:W tip:X tnt:t tip:L+2 tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on=:L+2 return:L+2>W+5 return:W+7>0" },
	{ RETURNS, UNCOMPRESSED, "psb pge:W tip:X tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on=:W+5 return:W+7>0" },
	/* A tail call: the caller is that of the jump's code. */
	{ JUMPS, 0, "psb pge:M tip:X tnt:tnt tip:X pgd",
	  "on:M call:M>W call:W>L jump:L>X missing:X on:W+5 return:W+7>M+5 call:M+5>W "
	  "call:W>L jump:L>X missing:X" },
	{ JUMPS, BOTH, "psb pge:M tip:X tnt:tnt tip:Y pgd",
	  "on:M call:M>W call:W>L jump:L>X missing:X" },
	{ GOES, 0, "psb pge:M tnt:tn tip:M+5 pgd",
	  "on:M call:M>W call:W>L jump:L>X missing:X on:W+5 return:W+7>M+5 call:M+5>W "
	  "call:W>L jump:L>X missing:X" },
	/* A FUP proves a return at an instruction of the code after the call. */
	{ NOPS, 0, "psb pge:W tip:X tnt:t fup:L+2 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 off!:L+2" },
	{ NOPS, 0, "psb pge:W tip:X tnt:t fup:L+5 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 off!:L+5" },
	{ NOPS, 0, "psb pge:W tip:X tnt:t fup:L+6 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 off!:L+6" },
	{ NOPS, 0, "psb pge:W tip:X tnt:t fup:L+3 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+3 off!:L+3" },
	{ NOPS, 0, "psb pge:W tip:X tnt:tt fup:W+5 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+6>W+5 off!:W+5" },
	{ NOPS, 0, "psb pge:W tip:X tnt:tt fup:L+2 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 off!:L+2" },
	/* Calls of known code after the return. */
	{ CALLS, 0, "psb pge:W tip:X tnt:tt tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 call:L+2>C return:C>L+7 return:L+7>W+5 "
	  "return:W+7>0" },
	{ SKIPS, 0, "psb pge:W tip:X tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 call:L+2>L+7 jump:L+7>L+10 "
	  "return:L+10>W+5 return:W+7>0" },
	/* Code that calls other code, or the same. */
	{ AGAIN, 0, "psb pge:W tip:X tnt:tn tip:X tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 return:W+7>0" },
	{ AGAIN, ONLY_CALLS, "psb pge:W tip:X tnt:tn tip:X tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 call:L+4>X missing:X on:L+6 "
	  "return:L+6>W+5 return:W+7>0" },
	/* The system call of the caller, or of the code. */
	{ SYSTEM, 0, "psb pge:W tip:X tnt:tn pgd pge:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:W+7 return:W+7>0" },
	{ SYSTEM, ONLY_CALLS, "psb pge:W tip:X tnt:tn pgd pge:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 syscall:L+4>0 on:W+7 "
	  "return:W+7>0" },
	/* It called known code, which returns to it, and then it returned. */
	{ WAITS, 0, "psb pge:M tip:X tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:L+2 return:L+2>M+5 syscall:M+5>0" },
	/* It jumped there. */
	{ WAITS, 0, "psb pge:M tip:X tip:W tnt:nt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on*:L+2 return:L+2>M+5 "
	  "syscall:M+5>0" },
	{ WAITS, STACK, "psb pge:M tip:X tip:W tnt:nt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on*=:W return:W+2>L+2 return:L+2>M+5 syscall:M+5>0" },
	{ WAITS, 0, "psb pge:M tip:X tnt:n tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on:W missing on:L+2 return:L+2>M+5 syscall:M+5>0" },
	{ WAITS, 0, "psb pge:M tip:X tip:W tnt:ntn tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:W missing on:L+2 return:L+2>M+5 "
	  "syscall:M+5>0" },
	/* An interrupt in it. */
	{ RETURNS, ALL, "psb pge:W tip:X tnt:t fup:L+2 tip:F tip:L+2 tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 interrupt!:L+2>F iret:F+1>L+2 "
	  "return:L+2>W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:W tip:X fup:X+2 pgd pge:X+2 tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:X+2 missing:X+2 on:L+2 return:L+2>W+5 return:W+7>0" },
	/* The end of tracing in it. */
	{ RETURNS, 0, "psb pge:W tip:X tnt:t pgd pge:X tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:W tip:X tnt:n pgd pge:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 return:W+7>0" },
	/* An overflow, a header, a hole. */
	{ RETURNS, 0, "psb pge:W tip:X tnt:t ovf fup:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X overflow on:W+5 return:W+7>0" },
	{ RETURNS, BOTH, "psb pge:W tip:X tnt:n psb:L+2 tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	{ RETURNS, BOTH, "psb pge:W tip:X tnt:n | psb pge:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:W tip:X tip:L+2 ovf fup:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on=:L+2 overflow on:W+5 return:W+7>0" },
	/* A transaction begins in it, and aborts. */
	{ SAMPLE, 0, "psb pge:X tnt:n begin fup:X+2 abort fup:X+4 tip:W+7 pgd",
	  "on:X missing:X on:W+7 return:W+7>0" },
	/* A mismatch shows once that a guess was wrong. */
	{ AGAIN, ONLY_CALLS, "psb pge:W tip:X tnt:tn tip:Y tip:L+6 end pge:L end pge:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 call:L+4>Y missing:Y on=:L+6 missing on:L "
	  "mismatch:L on:W+7 return:W+7>0" },
	/* The caller's code may go round without a bit: to follow it costs the budget. */
	{ ENDLESS, 0, "psb pge:W tip:X tnt:tt tip:W+5 tnt:t tip:X tnt:tt tip:W+5 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 cond:L+2>L+6 return:L+6>W+5 cond:W+5>W call:W>L "
	  "call:L>X missing:X on:L+2 cond:L+2>L+6 return:L+6>W+5 cond:W+5>0" },
	{ ENDLESS, 0, "psb pge:W tip:X tnt:tn tip:W+5 tnt:t tip:X tnt:tt tip:W+5 pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 cond:W+5>W call:W>L "
	  "call:L>X missing:X on:W+5 cond:W+5>0" },
	{ ENDLESS, 0, "psb pge:W tip:X tnt:tn tip:W+5 psb:W+5 tnt:t tip:X tnt:tt tip:W+5 pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 cond:W+5>W call:W>L "
	  "call:L>X missing:X on:L+2 cond:L+2>L+6 return:L+6>W+5 cond:W+5>0" },
	/* Several bits may be the return: for call stacks, the first one. */
	{ LOOPS, 0, "psb pge:W tip:X tnt:tttn tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:W+5 return:W+7>0" },
	{ LOOPS, ONLY_CALLS, "psb pge:W tip:X tnt:tttn tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 cond:L+2>L+2 cond:L+2>L+2 "
	  "return:L+4>W+5 return:W+7>0" },
	{ LOOPS, 0, "psb pge:W tip:X tnt:tntt tip:X pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+4>W+5 cond:W+5>W call:W>L "
	  "call:L>X missing:X" },
	{ LOOPS, ONLY_CALLS, "psb pge:W tip:X tnt:tttntt tip:X pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 cond:L+2>L+2 cond:L+2>L+2 "
	  "return:L+4>W+5 call:W>L call:L>X missing:X" },
	/* A stub jumps by its pointer, which led to code without bytes before, or may lead there.
	 */
	{ STUBS, 0, "psb pge:L tnt:n tip:Y tip:W tnt:t tip:X tnt:t tip:Y tip:W+5 tnt:n pgd",
	  "on:L jump:L+2>Y missing:Y on:W call:W>L cond:L>L+8 call:L+8>X missing:X "
	  "on:L+10 jump:L+10>Y missing:Y on=:W+5 return:W+7>0" },
	{ STUBS, 0, "psb pge:L tnt:n tip:Y tip:W tnt:t tip:X tnt:t tip:X tip:W+5 tnt:n pgd",
	  "on:L jump:L+2>Y missing:Y on:W call:W>L cond:L>L+8 call:L+8>X missing:X "
	  "on:W+5 return:W+7>0" },
	{ STUBS, 0, "psb pge:W tnt:t tip:X tnt:nt tip:Y tnt:n tip:W+5 tnt:n pgd",
	  "on:W call:W>L cond:L>L+8 call:L+8>X missing:X on:W+5 return:W+7>0" },
	{ STUBS, 0, "psb pge:W tnt:t tip:X tnt:t tip:W tnt:t tip:X pgd",
	  "on:W call:W>L cond:L>L+8 call:L+8>X missing:X on:W call:W>L cond:L>L+8 "
	  "call:L+8>X missing:X" },
	{ STUBS, ONLY_CALLS, "psb pge:W tnt:t tip:X tnt:t tip:W tnt:t tip:X pgd",
	  "on:W call:W>L cond:L>L+8 call:L+8>X missing:X on:W call:W>L cond:L>L+8 "
	  "call:L+8>X missing:X" },
	/* Code on a stack is a trampoline: without a bit, it jumps. */
	{ WAITS, STACK, "psb pge:M tip:X tnt:n tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on:W missing on:L+2 return:L+2>M+5 "
	  "syscall:M+5>0" },
	{ WAITS, STACK, "psb pge:M tip:X tip:W+2 tnt:t tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on*=:W+2 missing on:M+5 syscall:M+5>0" },
	/* It jumped before, and jumps again, or calls. */
	{ WAITS, 0, "psb pge:M tip:X tip:W tnt:nt tip:M+5 pgd pge:M tip:X tip:W tnt:nt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on*:L+2 return:L+2>M+5 "
	  "syscall:M+5>0 on:M call:M>L call:L>X missing:X on=:W missing on*:L+2 "
	  "return:L+2>M+5 syscall:M+5>0" },
	{ WAITS, 0,
	  "psb pge:M tip:X tip:W tnt:nt tip:M+5 pgd pge:M tip:X tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on*:L+2 return:L+2>M+5 "
	  "syscall:M+5>0 on:M call:M>L call:L>X missing:X on=:W missing on:L+2 "
	  "return:L+2>M+5 syscall:M+5>0" },
	{ WAITS, 0, "psb pge:M tip:X tip:W tnt:nt tip:W tnt:ntt tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:W missing on:L+2 "
	  "return:L+2>M+5 syscall:M+5>0" },
	/* The function that it called last is called by it again, rather than by its caller. */
	{ CHOOSES, ONLY_CALLS, "psb pge:M tip:X tnt:tn tip:W tnt:n fup:W+2 pgd",
	  "on:M call:M>L call:L>X missing:X on:L+2 call:L+4>W off!:W+2" },
	{ CHOOSES, ONLY_CALLS, "psb pge:M tip:X tip:W tnt:nttn tip:W tnt:n fup:W+2 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:W off!:W+2" },
	{ CHOOSES, ONLY_CALLS,
	  "psb pge:M tip:X tip:W tnt:nt pge:M tip:X tnt:tn tip:W tnt:n fup:W+2 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:M call:M>L call:L>X missing:X "
	  "on:L+2 call:L+4>W off!:W+2" },
	{ CHOOSES, ONLY_CALLS,
	  "psb pge:M tip:X tip:W tnt:nttn tip:X tnt:t tip:M+5 pgd "
	  "pge:M tip:X tnt:tn tip:W tnt:n fup:W+2 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:L+2 call:L+4>X missing:X on:L+6 "
	  "return:L+6>M+5 syscall:M+5>0 on:M call:M>L call:L>X missing:X on:W off!:W+2" },
	{ TURNS, 0, "psb pge:M tip:X tip:W tnt:nttn tip:M+5 pgd",
	  "on:M call:M>L call:L>X missing:X on=:W missing on:L+2 return:L+4>M+5 "
	  "syscall:M+5>0" },
	/* The kernel is not entered by a call or a return, and returns to unknown code. */
	{ RETURNS, ALL, "psb pge:K tnt:t tip:W tip:X tnt:t tip:W+5 tnt:n pgd",
	  "on:K call:K>S return:S>K+5 sysret:K+5>W call:W>L call:L>X missing:X on:L+2 "
	  "return:L+2>W+5 return:W+7>0" },
	{ RETURNS, ALL, "psb pge:W tip:X tnt:n tip:K tnt:t tip:X+5 tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:K call:K>S return:S>K+5 sysret:K+5>X+5 "
	  "missing:X+5 on:W+5 return:W+7>0" },
	{ SYSTEM, ALL | ONLY_CALLS, "psb pge:W tip:X tnt:tn tip:K tnt:t tip:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:K call:K>S return:S>K+5 sysret:K+5>W+7 "
	  "return:W+7>0" },
	/* A second FUP, and one to which known code does not lead. */
	{ RETURNS, 0, "psb pge:W tip:X fup:X+2 fup:L+2 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 off!:L+2" },
	{ RETURNS, 0, "psb pge:W fup:X tip:L tip:X tip:L+2 pgd",
	  "on:W call:W>L mismatch:L on:L call:L>X missing:X on=:L+2 return:L+2>0" },
	/* Known code returns to it, or has no known caller. */
	{ RETURNS, 0, "psb pge:L+2 tip:X tnt:nt tip:L+2 tip:W+5 tnt:n pgd",
	  "on:L+2 return:L+2>X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	{ RETURNS, 0, "psb pge:X tnt:n tip:W tip:X tnt:ttn tip:M+5 pgd",
	  "on:X missing:X on:W call:W>L call:L>X missing:X on:M+5 call:M+5>W call:W>L "
	  "call:L>0" },
	/* If a return is possible, but not proved, the callers are forgotten. */
	{ NOPS, 0, "psb pge:L tip:X tnt:t tip:Y tnt:t fup:L+5 pgd",
	  "on:L call:L>X missing:X on:L+5 off!:L+5" },
	{ NOPS, 0, "psb pge:L tip:X tnt:ttn tip:Y tnt:t fup:L+5 pgd",
	  "on:L call:L>X missing:X on:L+5 off!:L+5" },
	{ NOPS, 0, "psb pge:L tip:X tnt:n tip:Y tnt:t fup:L+5 pgd",
	  "on:L call:L>X missing:X on:L+2 off!:L+5" },
	{ AGAIN, 0, "psb pge:W tip:X tnt:tn tip:L+2 tnt:n tip:L+6 tnt:tt tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 call:L+4>L+6 return:L+6>L+6 missing on:W+5 "
	  "return:W+7>0" },
	{ AGAIN, 0, "psb pge:W tip:X tnt:tn tip:Y tnt:tn tip:L+6 tnt:t pge:W+7 pgd",
	  "on:W call:W>L call:L>X missing:X on:L+6 missing on:W+7 return:W+7>0" },
	{ RETURNS, ALL, "psb pge:W tip:X tnt:t tip:K+256 tip:X+5 tnt:t tip:W+5 tnt:n pgd",
	  "on:W call:W>L call:L>X missing:X on:L+2 return:L+2>W+5 return:W+7>0" },
	{ SYSTEM, ALL | BOTH, "psb pge:W tip:X tnt:tn tip:K+256 tip:X+5 tnt:tntn tip:X pgd",
	  "on:W call:W>L call:L>X missing:X" },
};

static void map_stack(void)
{
	struct perf_data_mmap map = { .pid = SAMPLE_PID,
				      .tid = SAMPLE_PID,
				      .address = 0x900000,
				      .length = 0x1000,
				      .path = "[stack]",
				      .prot = 7 };

	perf_data_add_mmap2(&run.data, 0, &map);
}

static void begin_row(const struct row *row, enum pt_engine engine, char path[PERF_DATA_PATH])
{
	begin(engine);
	memcpy(run.program_bytes + TINY_ELF_CODE_OFFSET + (forms[row->form].at - SAMPLE_CODE),
	       forms[row->form].bytes, forms[row->form].size);
	run.skip = row->how & ONLY_CALLS;
	if (row->how & ALL)
		add_kernel(path);
	if (row->how & UNCOMPRESSED)
		run.data.events[0].attr.config |= 0x800;
	if (row->how & STACK)
		map_stack();
}

/* Also if the file has the trace in pieces of eight bytes, and if padding follows. */
START_TEST(code_without_bytes_ends_where_its_caller_explains_the_packets)
{
	const struct row *row = &rows[_i / 4];
	bool holes = strchr(row->packets, '|');
	char path[PERF_DATA_PATH] = "", *events;

	if ((_i % 4 == 1 && !(row->how & BOTH)) || (_i % 4 == 2 && holes))
		return;
	begin_row(row, _i % 4 == 1 ? PT_ENGINE_LIBIPT : PT_ENGINE_FAST, path);
	run.in_pieces = _i % 4 == 2;
	run.padded = _i % 4 == 3;
	if (holes)
		add_timed_packets(row->packets);
	else
		add_packets(row->packets);
	finish();
	if (row->how & ALL)
		unlink(path);
	events = events_as_text(false);
	ck_assert_str_eq(events, row->events);
	free(events);
	expect_all_bytes_counted();
}
END_TEST

/*
 * main calls code without bytes, which returns at once; `jumps` jumps lead to the conditional jump
 * back to main. To follow the code proves each of the returns, and costs an eighth of a block that
 * proves nothing.
 */
START_TEST(returns_are_found_as_long_as_they_are_proved)
{
	enum { JUMPS_MAX = 43 };
	static const struct {
		unsigned jumps, rounds;
		bool all;
	} trials[] = { { 43, 200, true }, { 43, 1200, false }, { 0, 600, true } };
	uint8_t code[2 + 2 * JUMPS_MAX + 2] = { 0xff, 0xd0 }; /* call *%rax */
	uint8_t *end = code + 2;

	begin(PT_ENGINE_FAST);
	run.padded = true;
	for (unsigned i = 0; i < trials[_i].jumps; i++, end += 2)
		memcpy(end, "\xeb\x00", 2);
	end[0] = 0x75; /* jne main */
	end[1] = (uint8_t)(code - (end + 2));
	write_program(code, (size_t)(end + 2 - code));
	add_packets("psb pge:M");
	for (unsigned i = 0; i < trials[_i].rounds; i++)
		add_packets("tip:X tnt:tt");
	add_packets("tip:X psb:M tip:X tnt:tt tip:X");
	finish();
	/* After a return that is not found, all code is unknown up to the header. */
	if (trials[_i].all)
		ck_assert_uint_eq(run.stats.gaps[GAP_NO_CODE], trials[_i].rounds + 2);
	else
		ck_assert_uint_lt(run.stats.gaps[GAP_NO_CODE], trials[_i].rounds);
	ck_assert_uint_eq(run.last.to, 0x900000);
	ck_assert_int_eq(run.last.kind, BRANCH_CALL);
}
END_TEST

/* Only the last bits are kept: the return is then at the first of them that is possible. */
START_TEST(the_last_bits_of_long_code_count)
{
	const struct row loops = { .form = LOOPS, .how = ONLY_CALLS };
	unsigned rounds = 0;

	begin_row(&loops, PT_ENGINE_FAST, NULL);
	add_packets("psb pge:W tip:X");
	for (int i = 0; i < 100; i++)
		add_packets("tnt:n");
	for (int i = 0; i < 200; i++)
		add_packets("tnt:t");
	add_packets("tnt:n tip:W+5 tnt:n pgd");
	finish();
	for (size_t i = 0; i < run.count; i++)
		rounds +=
			run.events[i].kind == BRANCH_COND && run.events[i].from == SAMPLE_LEAF + 2;
	ck_assert_uint_ge(rounds, 127);
	expect(4, BRANCH_NONE, 0, SAMPLE_LEAF + 2);
	expect(run.count - 2, BRANCH_RETURN, SAMPLE_LEAF + 4, SAMPLE_WORK + 5);
	expect(run.count - 1, BRANCH_RETURN, SAMPLE_WORK + 7, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("missing_code");
	TCase *all = tcase_create("missing_code");

	tcase_add_loop_test(all, code_without_bytes_ends_where_its_caller_explains_the_packets, 0,
			    4 * COUNT_OF(rows));
	tcase_add_loop_test(all, returns_are_found_as_long_as_they_are_proved, 0, 3);
	tcase_add_test(all, the_last_bits_of_long_code_count);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
