/* SPDX-License-Identifier: MIT */
/*
 * Packets and events as text, for tables of tests. The code is the sample's, at places:
 *
 *	M: call W; call W; syscall    W: call L; jne W; ret    L: ret    C: jmp C
 *	kernel: K: call S; sysret     S: ret                   F: nop; iret    X, Y: no code
 *
 * Packets: name, or name:place. "host" and "guest" are PIPs; "begin", "commit" and "abort" are
 * MODE.TSXs; "in" and "out" are PSBs with one; "half" is a PSB without its PSBEND, which is "end";
 * "bad" is bytes of no packet.
 *
 * Events: kind:from>to, at:place (code without a branch begins there), on:place, off:place, gap's
 * reason:place. ! not caused by the code, g a guest runs, ~ in a transaction; = code without bytes
 * led there by no compressed return, * code to which it had jumped returned; *= it jumps.
 */
#pragma once

#include "tests/unit/decoder/stream_run.h"

/* Write a packet, or all packets of a text. */
void add_packet(const char *name, const char *argument);
void add_packets(const char *text);

/*
 * Write packets, with a TSC before each except PSBs, so that the time of an event is the number of
 * a packet: of 0, 1 and so on. "|" is a hole of 64 bytes in the trace, and "||" a full buffer: the
 * CPU continues after it, without a TSC. Returns the number of bytes from each "[" up to the packet
 * after "]".
 */
uint64_t add_timed_packets(const char *text);

/*
 * Returns the run's events as text, owned by the caller. `numbers`: with @ and the number of the
 * packet that has their time, and except for gaps # and the number of instructions, if any.
 */
char *events_as_text(bool numbers);

/* Remove the times from such a text. */
void remove_times(char *text);
