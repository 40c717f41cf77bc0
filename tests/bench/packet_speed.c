/* SPDX-License-Identifier: MIT */
/*
 * packet-speed FILE: how fast a recording's packets can be parsed and their payloads summed up,
 * without anything else; the best of nine counts.  This bounds the speed of every decoder that
 * reads all packets on one core.
 *
 * Sizes of packets: SDM volume 3, "Packet Definitions".
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"

enum { RUNS = 9, PSB_SIZE = 16, LONGEST = 16 };

struct counts {
	uint64_t packets, damaged;
	uint64_t sum; /* of payloads, so that the compiler keeps the reads */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Returns the size of a packet that begins with 0x02, 0 for an unknown one. */
static size_t size_of_extended(uint8_t second)
{
	switch (second) {
	case 0x82: /* PSB */
		return PSB_SIZE;
	case 0x23: /* PSBEND */
	case 0xf3: /* OVF */
	case 0x83: /* TraceStop */
	case 0x62: /* EXSTOP */
	case 0xe2:
		return 2;
	case 0x03: /* CBR */
	case 0x22: /* PWRE */
		return 4;
	case 0x73: /* TMA */
	case 0xc8: /* VMCS */
	case 0xa2: /* PWRX */
		return 7;
	case 0xa3: /* TNT, long */
	case 0x43: /* PIP */
		return 8;
	case 0xc2: /* MWAIT */
		return 10;
	case 0xc3: /* MNT */
		return 11;
	default: /* PTW: bits 5 and 6 encode the payload size */
		return (second & 0x1f) == 0x12 ? (second & 0x60 ? 10 : 6) : 0;
	}
}

static size_t size_of_cycles(const uint8_t *at, uint64_t *sum)
{
	uint64_t value = at[0] >> 3;
	size_t size = 1;

	for (uint8_t more = at[0] & 4; more && size < 10; size++) {
		value = value << 7 | at[size] >> 1;
		more = at[size] & 1;
	}
	*sum += value;
	return size;
}

/* Returns the size of the packet at `at`, 0 for an unknown one; LONGEST bytes must be readable. */
static size_t read_packet(const uint8_t *at, uint64_t *sum)
{
	static const uint8_t sizes[8] = { 1, 3, 5, 7, 7, 0, 9, 0 };
	size_t size;

	if (*at == 0x02)
		return size_of_extended(at[1]);
	if (!(*at & 1)) { /* TNT, and PAD */
		*sum += *at;
		return 1;
	}
	if ((*at & 3) == 3)
		return size_of_cycles(at, sum);
	switch (*at) {
	case 0x19: /* TSC */
		return 8;
	case 0x59: /* MTC */
	case 0x99: /* MODE */
		*sum += at[1];
		return 2;
	default: /* TIP, TIP.PGE, TIP.PGD, FUP */
		size = sizes[*at >> 5];
		for (size_t i = 1; i < size; i++)
			*sum += at[i];
		return size;
	}
}

static void read_piece(const struct aux_piece *piece, struct counts *counts)
{
	static const uint8_t psb[] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82,
				       2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };
	const uint8_t *at = piece->bytes, *end = piece->bytes + piece->size;

	while (piece->size > LONGEST && (at = memmem(at, (size_t)(end - at), psb, sizeof(psb)))) {
		size_t size = PSB_SIZE;

		for (; size && at < end - LONGEST; at += size) {
			size = read_packet(at, &counts->sum);
			counts->packets++;
		}
		if (size)
			break;
		counts->damaged++;
	}
}

int main(int argc, char **argv)
{
	struct perf_file file;
	struct auxtrace auxtrace;
	struct error err = { 0 };
	struct counts counts = { 0 };
	double best = 1e9;
	uint64_t bytes = 0;

	if (argc != 2 || perf_file_open(&file, argv[1], NULL, &err) < 0 ||
	    auxtrace_init(&auxtrace, &file, &err) < 0) {
		fprintf(stderr, "packet-speed: %s\n", argc == 2 ? err.text : "one FILE is wanted");
		return 1;
	}
	for (int run = 0; run < RUNS; run++) {
		double begin = now();

		counts = (struct counts){ 0 };
		bytes = 0;
		for (size_t i = 0; i < auxtrace.stream_count; i++) {
			for (size_t k = 0; k < auxtrace.streams[i].piece_count; k++)
				read_piece(&auxtrace.streams[i].pieces[k], &counts);
			bytes += auxtrace.streams[i].size;
		}
		best = now() - begin < best ? now() - begin : best;
	}
	printf("%.4f s, %.0f MB/s, %.2f ns a packet, %llu packets, %llu places without one (sum %llu)\n",
	       best, (double)bytes / best / 1e6, best / (double)counts.packets * 1e9,
	       (unsigned long long)counts.packets, (unsigned long long)counts.damaged,
	       (unsigned long long)counts.sum);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	return 0;
}
