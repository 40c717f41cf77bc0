/* SPDX-License-Identifier: MIT */
/*
 * What packets mean to the fast engine: each sets what is to be walked
 * (pt_flow.c has the table), the time, or what is told beside the flow.  Private
 * to the engine.  Meanings: SDM volume 3, "Intel Processor Trace", "Packet
 * Definitions".
 */
#ifndef DECODER_PT_PACKETS_H
#define DECODER_PT_PACKETS_H

#include "decoder/pt_newer_packets.h"
#include "decoder/pt_walk.h"

/* A packet as libipt reads it. */
void flow_on_packet(struct pt_flow *flow, const struct pt_packet *packet);

/* The same, of one kind: bits of TNT; TIP, TIP.PGE, TIP.PGD and FUP; any of those with times. */
void flow_on_tnt(struct pt_flow *flow, const struct pt_packet_tnt *packet);
void flow_on_tip(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_enable(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_disable(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_fup(struct pt_flow *flow, const struct pt_packet_ip *packet);
void flow_on_timing(struct pt_flow *flow, const struct pt_packet *packet);

/* CYC, where the time is reckoned our own way: the most frequent packet with a time. */
void flow_on_cycles(struct pt_flow *flow, uint64_t cycles);

/* A packet that libipt does not know. */
void flow_on_newer_packet(struct pt_flow *flow, const struct newer_packet *packet);

#endif
