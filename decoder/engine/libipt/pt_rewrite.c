/* SPDX-License-Identifier: MIT */
#include "decoder/engine/libipt/pt_rewrite.h"

#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "decoder/engine/pt_evd_pebs_packets.h"

/* Opcodes (SDM volume 3, packet definitions). */
#define EXTENDED       0x02
#define EXSTOP         0x62
#define HAS_PLACE      0x80 /* of EXSTOP's and PTW's second byte */
#define TIP_PGD        0x01 /* the ip suppressed */
#define TIP_PGE        0x11
#define FUP            0x1d
#define IP_OPCODE_MASK 0x1f /* of TIP, FUP and their like; IPBytes is above */
#define UNKNOWN        0xff /* no second byte of a packet */

struct walk {
	struct pt_rewrite *rewrite;
	uint8_t *bytes;
	uint64_t size;
	uint64_t at, next; /* the packet, and what is behind it */
	uint64_t out;      /* where packets go: `at`, but in a guest */
	struct pt_packet_decoder *packets;
	unsigned item_size;  /* of a block of PEBS */
	size_t first_bound;  /* notes from here on wait for a FUP */
	uint64_t last_ip;    /* as the CPU has it */
	uint64_t kept_ip;    /* as libipt has it: of the packets that stay */
	uint64_t header_fup; /* 1 + where the header's FUP went; 0: it has none */
	uint64_t header_fup_size;
	bool in_header, guest, next_guest;
};

/* ---- Writing ------------------------------------------------------------- */

/* The packet stays, further in front if something before it is gone. */
static void keep(struct walk *walk)
{
	uint64_t size = walk->next - walk->at;

	if (walk->out != walk->at)
		memmove(walk->bytes + walk->out, walk->bytes + walk->at, size);
	walk->out += size;
}

/* What was packets before is none from here to the next one. */
static void pad(struct walk *walk)
{
	memset(walk->bytes + walk->out, 0, walk->next - walk->out);
	walk->out = walk->next;
}

/* The packet is gone.  In a guest its place is filled later. */
static void drop(struct walk *walk)
{
	if (!walk->guest)
		pad(walk);
}

static void put_note(struct walk *walk, struct pt_rewrite_note note)
{
	struct pt_rewrite *rewrite = walk->rewrite;

	note.offset = walk->out;
	rewrite->notes = alloc_grow(rewrite->notes, &rewrite->room, rewrite->count + 1,
				    sizeof(*rewrite->notes));
	rewrite->notes[rewrite->count++] = note;
}

/* An EXSTOP in the packet's place.  None may be in the header of a PSB. */
static void put_stop(struct walk *walk, struct pt_rewrite_note note)
{
	if (walk->in_header) {
		drop(walk);
		return;
	}
	note.bound = note.bound && !walk->guest;
	put_note(walk, note);
	walk->bytes[walk->out++] = EXTENDED;
	walk->bytes[walk->out++] = (uint8_t)(EXSTOP | (note.bound ? HAS_PLACE : 0));
	drop(walk);
}

/* ---- Guests -------------------------------------------------------------- */

/* The size of a TIP.PGE by which libipt knows ip; *compression is its IPBytes field. */
static unsigned ip_size(const struct walk *walk, uint64_t ip, unsigned *compression)
{
	uint64_t changed = ip ^ walk->kept_ip;

	*compression = changed >> 16 ? changed >> 32 ? pt_ipc_sext_48 : pt_ipc_update_32
				     : pt_ipc_update_16;
	return changed >> 16 ? changed >> 32 ? 6 : 4 : 2;
}

/* The host goes on at ip: tracing begins there.  The packet ends where the one that said so did. */
static void leave_guest(struct walk *walk, uint64_t ip)
{
	unsigned compression, size = ip_size(walk, ip, &compression);
	uint64_t end = walk->next;

	walk->guest = false;
	if (end - walk->out < size + 1) {
		/* No room, since the guest did nothing: it is a gap, and no wrong way. */
		pad(walk);
		walk->bytes[end - 2] = EXTENDED;
		walk->bytes[end - 1] = UNKNOWN;
		return;
	}
	pad(walk);
	walk->bytes[end - size - 1] = (uint8_t)(TIP_PGE | compression << 5);
	memcpy(walk->bytes + end - size, &ip, size);
	walk->kept_ip = ip;
}

static void enter_guest(struct walk *walk)
{
	walk->guest = true;
	walk->bytes[walk->out++] = TIP_PGD;
}

static void on_guest_tip(struct walk *walk, bool told)
{
	if (!walk->guest)
		enter_guest(walk);
	else if (!walk->next_guest && told)
		leave_guest(walk, walk->last_ip);
}

static void on_guest_disable(struct walk *walk)
{
	if (walk->guest)
		pad(walk);
	else
		keep(walk);
	walk->guest = walk->next_guest = false;
}

/* ---- Packets ------------------------------------------------------------- */

static bool read_ip(struct walk *walk, const struct pt_packet_ip *packet)
{
	static const unsigned bits[] = {
		[pt_ipc_update_16] = 16, [pt_ipc_update_32] = 32, [pt_ipc_update_48] = 48
	};

	switch (packet->ipc) {
	case pt_ipc_suppressed:
		return false;
	case pt_ipc_update_16:
	case pt_ipc_update_32:
	case pt_ipc_update_48:
		walk->last_ip =
			walk->last_ip >> bits[packet->ipc] << bits[packet->ipc] | packet->ip;
		break;
	case pt_ipc_sext_48:
		walk->last_ip = (uint64_t)((int64_t)(packet->ip << 16) >> 16);
		break;
	default:
		walk->last_ip = packet->ip;
		break;
	}
	return true;
}

static void keep_ip(struct walk *walk)
{
	keep(walk);
	walk->kept_ip = walk->last_ip;
}

static void on_fup(struct walk *walk)
{
	walk->first_bound = walk->rewrite->count;
	if (walk->in_header) {
		walk->header_fup = 1 + walk->out;
		walk->header_fup_size = walk->next - walk->at;
		keep_ip(walk);
	} else if (walk->guest) {
		drop(walk);
	} else {
		keep_ip(walk);
	}
}

static void drop_bound(struct walk *walk)
{
	for (; walk->first_bound < walk->rewrite->count; walk->first_bound++) {
		struct pt_rewrite_note *note = &walk->rewrite->notes[walk->first_bound];

		note->dropped = note->bound;
	}
}

static void on_psb(struct walk *walk)
{
	drop_bound(walk);
	walk->in_header = true;
	walk->header_fup = 0;
	walk->item_size = 0;
	walk->last_ip = walk->kept_ip = 0;
	keep(walk);
}

/* To libipt tracing is off at a PSB whose ip is the guest's. */
static void on_psbend(struct walk *walk)
{
	keep(walk);
	walk->in_header = false;
	if (walk->next_guest && walk->header_fup)
		memset(walk->bytes + walk->header_fup - 1, 0, walk->header_fup_size);
	walk->kept_ip = walk->next_guest ? 0 : walk->kept_ip;
	if (walk->guest && !walk->next_guest)
		pad(walk);
	walk->guest = walk->next_guest;
}

/* What tells its place by a FUP has none in a guest. */
static void on_placed(struct walk *walk, bool has_ip)
{
	if (walk->guest && has_ip)
		walk->bytes[walk->at + 1] &= (uint8_t)~HAS_PLACE;
	keep(walk);
}

static void on_stop(struct walk *walk, bool has_ip)
{
	put_note(walk, (struct pt_rewrite_note){ .note.kind = CPU_EVENT_EXSTOP,
						 .bound = has_ip && !walk->guest });
	on_placed(walk, has_ip);
}

static void on_ip_packet(struct walk *walk, const struct pt_packet *packet)
{
	bool told = read_ip(walk, &packet->payload.ip);

	if (packet->type == ppt_fup)
		on_fup(walk);
	else if (packet->type == ppt_tip_pgd)
		on_guest_disable(walk);
	else if (packet->type == ppt_tip && (walk->guest || walk->next_guest))
		on_guest_tip(walk, told);
	else if (packet->type == ppt_tip_pge && walk->guest && !walk->next_guest && told)
		leave_guest(walk, walk->last_ip);
	else if (packet->type == ppt_tip_pge && walk->next_guest)
		walk->guest = true;
	else
		keep_ip(walk);
}

/* With event trace; libipt wants a TIP behind it.  What code is, stays what it was. */
static bool changes_interrupt_flag(const struct walk *walk, const struct pt_packet_mode *mode)
{
	return mode->leaf == pt_mol_exec && !walk->in_header && walk->next < walk->size &&
	       (walk->bytes[walk->next] & IP_OPCODE_MASK) == FUP;
}

static void on_packet(struct walk *walk, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tip:
	case ppt_fup:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		on_ip_packet(walk, packet);
		break;
	case ppt_mode:
		if (changes_interrupt_flag(walk, &packet->payload.mode)) {
			put_stop(walk, (struct pt_rewrite_note){ .bound = true });
			break;
		}
		__attribute__((fallthrough));
	case ppt_tnt_8:
	case ppt_tnt_64:
		if (walk->guest && (walk->next_guest || packet->type != ppt_mode) &&
		    !walk->in_header)
			drop(walk);
		else
			keep(walk);
		break;
	case ppt_pip:
		walk->next_guest = packet->payload.pip.nr;
		keep(walk);
		break;
	case ppt_psb:
		on_psb(walk);
		break;
	case ppt_psbend:
		on_psbend(walk);
		break;
	case ppt_exstop:
		on_stop(walk, packet->payload.exstop.ip);
		break;
	case ppt_ptw:
		on_placed(walk, packet->payload.ptw.ip);
		break;
	case ppt_mwait: /* its FUP always follows */
		if (walk->guest)
			put_stop(walk, (struct pt_rewrite_note){
					       .note = { CPU_EVENT_MWAIT, packet->payload.mwait.ext,
							 packet->payload.mwait.hints } });
		else
			keep(walk);
		break;
	case ppt_ovf:
		drop_bound(walk);
		walk->in_header = false;
		keep(walk);
		break;
	default:
		keep(walk);
		break;
	}
}

static void on_newer_packet(struct walk *walk, const struct newer_packet *packet)
{
	struct pt_rewrite_note note = { .bound = packet->has_ip };

	switch (packet->type) {
	case NEWER_CONTROL:
		note.note = (struct cpu_event_data){ CPU_EVENT_CFE, packet->kind, packet->value };
		note.of_interrupt = !packet->has_ip;
		put_stop(walk, note);
		break;
	case NEWER_DATA:
		note.note = (struct cpu_event_data){ CPU_EVENT_EVD, packet->kind, packet->value };
		put_stop(walk, note);
		break;
	case NEWER_BLOCK_BEGIN:
		walk->item_size = (unsigned)packet->value;
		drop(walk);
		break;
	case NEWER_BLOCK_ITEM:
		drop(walk);
		break;
	case NEWER_BLOCK_END:
		walk->item_size = 0;
		if (packet->has_ip)
			put_stop(walk, note);
		else
			drop(walk);
		break;
	}
}

/* ---- The walk ------------------------------------------------------------ */

/* Bytes that are no packet stay as they are, up to the next PSB: libipt will see that, too. */
static bool synchronise(struct walk *walk)
{
	walk->next = walk->at;
	pad(walk);
	walk->guest = walk->next_guest = walk->in_header = false;
	walk->item_size = 0;
	drop_bound(walk);
	if (pt_pkt_sync_forward(walk->packets) < 0 ||
	    pt_pkt_get_offset(walk->packets, &walk->at) < 0)
		return false;
	walk->out = walk->at;
	return true;
}

/* Returns false at the end. */
static bool step(struct walk *walk)
{
	struct newer_packet newer;
	struct pt_packet packet;
	size_t size = newer_packet_read(&newer, walk->bytes + walk->at, walk->size - walk->at,
					walk->item_size);
	int status = 0;

	if (!size && pt_pkt_sync_set(walk->packets, walk->at) >= 0) {
		status = pt_pkt_next(walk->packets, &packet, sizeof(packet));
		if (status < 0)
			return pt_errcode(status) != pte_eos && synchronise(walk);
	}
	if (!size && (status < 0 || !status))
		return false;
	walk->next = walk->at + (size ? size : packet.size);
	if (size)
		on_newer_packet(walk, &newer);
	else
		on_packet(walk, &packet);
	walk->at = walk->next;
	if (!walk->guest)
		walk->out = walk->at;
	return true;
}

void pt_rewrite_bytes(struct pt_rewrite *rewrite, uint8_t *bytes, uint64_t size)
{
	struct walk walk = { .rewrite = rewrite, .bytes = bytes, .size = size };
	struct pt_config config;

	rewrite->count = rewrite->next = 0;
	pt_config_init(&config);
	config.begin = bytes;
	config.end = bytes + size;
	walk.packets = pt_pkt_alloc_decoder(&config);
	if (!walk.packets)
		return;
	if (synchronise(&walk)) {
		while (step(&walk))
			;
	}
	if (walk.guest) {
		walk.next = walk.at;
		pad(&walk);
	}
	pt_pkt_free_decoder(walk.packets);
}

void pt_rewrite_seek(struct pt_rewrite *rewrite, uint64_t offset)
{
	while (rewrite->next < rewrite->count && rewrite->notes[rewrite->next].offset < offset)
		rewrite->next++;
}

const struct pt_rewrite_note *pt_rewrite_next(struct pt_rewrite *rewrite)
{
	while (rewrite->next < rewrite->count && rewrite->notes[rewrite->next].dropped)
		rewrite->next++;
	return rewrite->next < rewrite->count ? &rewrite->notes[rewrite->next++] : NULL;
}

void pt_rewrite_release(struct pt_rewrite *rewrite)
{
	free(rewrite->notes);
	*rewrite = (struct pt_rewrite){ 0 };
}
