/* SPDX-License-Identifier: MIT */
/* Replace packets that libipt 2.0 cannot follow, in a copy of the trace. */
#include "decoder/engine/libipt/pt_blocks.h"

#include "decoder/aux/pt_packet_read.h"

/* Opcodes (SDM volume 3, packet definitions). */
#define EXTENDED       0x02
#define EXSTOP         0x62
#define HAS_IP         0x80 /* flag in the second byte of EXSTOP and PTW */
#define TIP_PGD        0x01 /* the ip suppressed */
#define TIP_PGE        0x11
#define FUP            0x1d
#define IP_OPCODE_MASK 0x1f /* the opcode of TIP, FUP etc.; IPBytes is above */
#define UNKNOWN        0xff /* not a second byte of any packet */
#define TSC            0x19
#define TSC_BYTES      7u
#define MODE           0x99
#define PSBEND         0x23 /* second byte */
#define TIP_PGE_MAX    7u   /* bytes, as leave_guest() writes it */

struct rewriter {
	struct pt_rewrite *rewrite;
	uint8_t *bytes;
	uint64_t size;
	uint64_t at, next; /* offset of the packet, and of the next one */
	uint64_t out;      /* output offset: `at`, except in a guest */
	struct pt_packet_decoder *packets;
	struct pebs_block pebs;
	size_t first_bound;  /* the first note that still needs a FUP */
	uint64_t last_ip;    /* the CPU's last IP */
	uint64_t kept_ip;    /* libipt's last IP: it reads the kept packets only */
	uint64_t header_fup; /* 1 + offset of the header's FUP; 0 if absent */
	uint64_t header_fup_size;
	bool in_header, guest, next_guest;
	bool guest_on;   /* the guest's code is traced */
	bool overflowed; /* tracing resumes at the next FUP */
};

/* ---- Writing ------------------------------------------------------------- */

/* Keep the packet; it moves forward if packets before it were dropped. */
static void keep_packet(struct rewriter *rewriter)
{
	uint64_t size = rewriter->next - rewriter->at;

	if (rewriter->out != rewriter->at)
		memmove(rewriter->bytes + rewriter->out, rewriter->bytes + rewriter->at, size);
	rewriter->out += size;
}

/* Replace the packets up to the next one by padding. */
static void pad_packets(struct rewriter *rewriter)
{
	memset(rewriter->bytes + rewriter->out, 0, rewriter->next - rewriter->out);
	rewriter->out = rewriter->next;
}

/* Drop the packet. In a guest, its bytes are padded later. */
static void drop_packet(struct rewriter *rewriter)
{
	if (!rewriter->guest)
		pad_packets(rewriter);
}

static void add_note(struct rewriter *rewriter, struct pt_rewrite_note note)
{
	struct pt_rewrite *rewrite = rewriter->rewrite;

	note.offset = rewriter->out;
	*ARRAY_ADD(rewrite->notes, rewrite->count, rewrite->room) = note;
}

/* Replace the packet by an EXSTOP, which is invalid in a PSB's header. */
static void replace_by_exstop(struct rewriter *rewriter, struct pt_rewrite_note note)
{
	if (rewriter->in_header) {
		drop_packet(rewriter);
		return;
	}
	note.bound = note.bound && !rewriter->guest;
	add_note(rewriter, note);
	rewriter->bytes[rewriter->out++] = EXTENDED;
	rewriter->bytes[rewriter->out++] = (uint8_t)(EXSTOP | (note.bound ? HAS_IP : 0));
	drop_packet(rewriter);
}

/* ---- Guests -------------------------------------------------------------- */

/* The trace of a guest's code begins or ends at the next packet, invisible to the host. */
static void switch_guest(struct rewriter *rewriter, bool on)
{
	if (rewriter->guest_on == on || rewriter->next - rewriter->out < 2)
		return;
	rewriter->guest_on = on;
	add_note(rewriter, (struct pt_rewrite_note){ .is_guest = true, .guest = on });
	rewriter->bytes[rewriter->out++] = EXTENDED;
	rewriter->bytes[rewriter->out++] = EXSTOP;
}

/* Returns the size of ip in a TIP.PGE; *compression is its IPBytes field. */
static unsigned ip_size(const struct rewriter *rewriter, uint64_t ip, unsigned *compression)
{
	uint64_t changed = ip ^ rewriter->kept_ip;

	*compression = changed >> 16 ? changed >> 32 ? pt_ipc_sext_48 : pt_ipc_update_32
				     : pt_ipc_update_16;
	return changed >> 16 ? changed >> 32 ? 6 : 4 : 2;
}

/* The host resumes at ip: write a TIP.PGE that ends where the packet did. */
static void leave_guest(struct rewriter *rewriter, uint64_t ip)
{
	unsigned compression, size = ip_size(rewriter, ip, &compression);
	uint64_t end = rewriter->next;

	rewriter->guest = rewriter->guest_on = false;
	if (end - rewriter->out < size + 1) {
		/*
		 * No space, as the guest did nothing: write damage, for a gap and no wrong branch.
		 */
		pad_packets(rewriter);
		rewriter->bytes[end - 2] = EXTENDED;
		rewriter->bytes[end - 1] = UNKNOWN;
		return;
	}
	pad_packets(rewriter);
	rewriter->bytes[end - size - 1] = (uint8_t)(TIP_PGE | compression << 5);
	memcpy(rewriter->bytes + end - size, &ip, size);
	rewriter->kept_ip = ip;
}

/* ---- Packets ------------------------------------------------------------- */

static bool read_ip(struct rewriter *rewriter, const struct pt_packet_ip *packet)
{
	if (packet->ipc == pt_ipc_suppressed)
		return false;
	rewriter->last_ip = pt_packet_full_ip(rewriter->last_ip, packet->ipc, packet->ip);
	return true;
}

static void keep_ip(struct rewriter *rewriter)
{
	keep_packet(rewriter);
	rewriter->kept_ip = rewriter->last_ip;
}

static void drop_bound(struct rewriter *rewriter)
{
	for (; rewriter->first_bound < rewriter->rewrite->count; rewriter->first_bound++) {
		struct pt_rewrite_note *note = &rewriter->rewrite->notes[rewriter->first_bound];

		note->dropped = note->bound;
	}
}

static void on_psb(struct rewriter *rewriter)
{
	drop_bound(rewriter);
	rewriter->in_header = true;
	rewriter->header_fup = 0;
	rewriter->pebs.bip_size = 0;
	rewriter->last_ip = rewriter->kept_ip = 0;
	keep_packet(rewriter);
}

/* For libipt, tracing is off at a PSB in a guest. */
static void on_psbend(struct rewriter *rewriter)
{
	keep_packet(rewriter);
	rewriter->in_header = false;
	if (rewriter->next_guest && rewriter->header_fup) {
		uint8_t *fup = rewriter->bytes + rewriter->header_fup - 1;
		uint8_t *after = fup + rewriter->header_fup_size;

		/* Move the packets after the header's FUP over it, up to the end of the header. */
		memmove(fup, after, (size_t)(rewriter->bytes + rewriter->out - after));
		rewriter->out -= rewriter->header_fup_size;
	}
	if (rewriter->next_guest)
		switch_guest(rewriter, rewriter->header_fup);
	rewriter->kept_ip = rewriter->next_guest ? 0 : rewriter->kept_ip;
	if (rewriter->guest && !rewriter->next_guest)
		pad_packets(rewriter);
	rewriter->guest = rewriter->next_guest;
	rewriter->guest_on &= rewriter->guest;
}

/* Drop a packet's FUP in a guest. */
static void on_event_packet(struct rewriter *rewriter, bool has_ip)
{
	if (rewriter->guest && has_ip)
		rewriter->bytes[rewriter->at + 1] &= (uint8_t)~HAS_IP;
	keep_packet(rewriter);
}

static void on_ip_packet(struct rewriter *rewriter, const struct pt_packet *packet)
{
	bool has_ip = read_ip(rewriter, &packet->payload.ip);

	if (packet->type == ppt_fup) {
		rewriter->first_bound = rewriter->rewrite->count;
		if (rewriter->in_header) {
			rewriter->header_fup = 1 + rewriter->out;
			rewriter->header_fup_size = rewriter->next - rewriter->at;
			keep_ip(rewriter);
		} else if (rewriter->guest) {
			switch_guest(rewriter, rewriter->guest_on || rewriter->overflowed);
			rewriter->overflowed = false;
			drop_packet(rewriter);
		} else {
			keep_ip(rewriter);
		}
	} else if (packet->type == ppt_tip_pgd) {
		if (rewriter->guest)
			switch_guest(rewriter, false);
		else
			keep_packet(rewriter);
		rewriter->guest_on |= !rewriter->guest && rewriter->next_guest;
		rewriter->guest = rewriter->next_guest;
		if (!rewriter->guest)
			pad_packets(rewriter);
	} else if (packet->type == ppt_tip && (rewriter->guest || rewriter->next_guest)) {
		if (!rewriter->guest) {
			rewriter->guest = rewriter->guest_on = true;
			rewriter->bytes[rewriter->out++] = TIP_PGD;
		} else if (!rewriter->next_guest && has_ip) {
			leave_guest(rewriter, rewriter->last_ip);
		}
	} else if (packet->type == ppt_tip_pge && rewriter->guest && !rewriter->next_guest &&
		   has_ip) {
		leave_guest(rewriter, rewriter->last_ip);
	} else if (packet->type == ppt_tip_pge && rewriter->next_guest) {
		rewriter->guest = true;
		switch_guest(rewriter, true);
	} else {
		keep_ip(rewriter);
	}
}

/* Returns whether a MODE.Exec has its own FUP (event trace: IF changed): libipt expects a TIP. */
static bool changes_interrupt_flag(const struct rewriter *rewriter,
				   const struct pt_packet_mode *mode)
{
	return mode->leaf == pt_mol_exec && !rewriter->in_header &&
	       rewriter->next < rewriter->size &&
	       (rewriter->bytes[rewriter->next] & IP_OPCODE_MASK) == FUP;
}

static void on_packet(struct rewriter *rewriter, const struct pt_packet *packet)
{
	switch (packet->type) {
	case ppt_tip:
	case ppt_fup:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		on_ip_packet(rewriter, packet);
		break;
	case ppt_mode:
		if (packet->payload.mode.leaf == pt_mol_exec)
			rewriter->rewrite->exec_mode = rewriter->bytes[rewriter->at + 1];
		if (changes_interrupt_flag(rewriter, &packet->payload.mode)) {
			replace_by_exstop(rewriter, (struct pt_rewrite_note){ .bound = true });
			break;
		}
		__attribute__((fallthrough));
	case ppt_tnt_8:
	case ppt_tnt_64:
		if (rewriter->guest && (rewriter->next_guest || packet->type != ppt_mode) &&
		    !rewriter->in_header)
			drop_packet(rewriter);
		else
			keep_packet(rewriter);
		break;
	case ppt_pip:
		rewriter->next_guest = packet->payload.pip.nr && rewriter->rewrite->has_guests;
		keep_packet(rewriter);
		break;
	case ppt_psb:
		on_psb(rewriter);
		break;
	case ppt_psbend:
		on_psbend(rewriter);
		break;
	case ppt_exstop:
		add_note(rewriter, (struct pt_rewrite_note){ .note.kind = CPU_EVENT_EXSTOP,
							     .bound = packet->payload.exstop.ip &&
								      !rewriter->guest });
		on_event_packet(rewriter, packet->payload.exstop.ip);
		break;
	case ppt_ptw:
		on_event_packet(rewriter, packet->payload.ptw.ip);
		break;
	case ppt_pwre: /* HW, as in pt_packet_by_libipt() */
		rewriter->bytes[rewriter->at + 2] |= rewriter->bytes[rewriter->at + 2] >> 4;
		keep_packet(rewriter);
		break;
	case ppt_mwait: /* libipt 2.0 assigns the next FUP to it, even an interrupt's */
		replace_by_exstop(rewriter,
				  (struct pt_rewrite_note){
					  .note = { CPU_EVENT_MWAIT, packet->payload.mwait.ext,
						    packet->payload.mwait.hints } });
		break;
	case ppt_ovf:
		drop_bound(rewriter);
		rewriter->pebs.bip_size = 0; /* its BEP may be dropped */
		rewriter->in_header = rewriter->guest_on = false;
		rewriter->overflowed = true;
		rewriter->kept_ip = 0; /* libipt forgets it */
		keep_packet(rewriter);
		if (rewriter->guest && !rewriter->next_guest) {
			/* The host resumes with kept packets. */
			pad_packets(rewriter);
			rewriter->guest = rewriter->guest_on = false;
		}
		break;
	default:
		keep_packet(rewriter);
		break;
	}
}

static void on_extended_packet(struct rewriter *rewriter, const struct extended_packet *packet)
{
	struct pt_rewrite_note note = { .bound = packet->has_ip };

	note.note = (struct cpu_event_data){ CPU_EVENT_NONE, packet->kind, packet->value };
	switch (packet->type) {
	case EXTENDED_CFE:
		note.note.kind = CPU_EVENT_CFE;
		note.of_interrupt = packet->of_far;
		break;
	case EXTENDED_EVD:
		note.note.kind = CPU_EVENT_EVD;
		break;
	case EXTENDED_TRIG:
		note.note.kind = CPU_EVENT_TRIG;
		break;
	case EXTENDED_BBP:
	case EXTENDED_BIP:
	case EXTENDED_BEP:
		note.note = pebs_block_follow(&rewriter->pebs, packet);
		break;
	}
	if (note.note.kind == CPU_EVENT_NONE)
		drop_packet(rewriter);
	else
		replace_by_exstop(rewriter, note);
}

/* ---- Steps --------------------------------------------------------------- */

/* Keep bytes that are not a packet, up to the next PSB: libipt will also skip them. */
static bool synchronise(struct rewriter *rewriter)
{
	rewriter->next = rewriter->at;
	pad_packets(rewriter);
	rewriter->guest = rewriter->next_guest = rewriter->in_header = rewriter->guest_on = false;
	rewriter->overflowed = false;
	rewriter->pebs.bip_size = 0;
	drop_bound(rewriter);
	if (pt_pkt_sync_forward(rewriter->packets) < 0 ||
	    pt_pkt_get_offset(rewriter->packets, &rewriter->at) < 0)
		return false;
	rewriter->out = rewriter->at;
	return true;
}

/* Returns false at the end. */
static bool rewrite_packet(struct rewriter *rewriter)
{
	struct extended_packet extended;
	struct pt_packet packet;
	size_t size = extended_packet_read(&extended, rewriter->bytes + rewriter->at,
					   rewriter->size - rewriter->at, rewriter->pebs.bip_size);
	int status = 0;

	if (!size && pt_pkt_sync_set(rewriter->packets, rewriter->at) >= 0) {
		status = pt_pkt_next(rewriter->packets, &packet, sizeof(packet));
		if (status < 0)
			return pt_errcode(status) != pte_eos && synchronise(rewriter);
	}
	if (!size && !status)
		return false;
	rewriter->next = rewriter->at + size;
	/* Do not use packet.size: errata change libipt's reading. */
	if (!size && pt_pkt_get_offset(rewriter->packets, &rewriter->next) < 0)
		return false;
	if (rewriter->next > rewriter->size)
		return false;
	if (size)
		on_extended_packet(rewriter, &extended);
	else
		on_packet(rewriter, &packet);
	rewriter->at = rewriter->next;
	if (!rewriter->guest)
		rewriter->out = rewriter->at;
	return true;
}

void pt_rewrite_header(const struct pt_rewrite *rewrite, uint64_t tsc, uint8_t *bytes)
{
	memset(bytes, 0, PT_REWRITE_HEADER);
	memcpy(bytes, AUX_PSB, AUX_PSB_SIZE);
	bytes += AUX_PSB_SIZE;
	if (tsc) {
		*bytes++ = TSC;
		for (unsigned i = 0; i < TSC_BYTES; i++)
			*bytes++ = (uint8_t)(tsc >> 8 * i);
	}
	if (rewrite->exec_mode) {
		*bytes++ = MODE;
		*bytes++ = rewrite->exec_mode;
	}
	*bytes++ = EXTENDED;
	*bytes = PSBEND;
}

/* Begin to rewrite; after a header, as in a guest that the next ip leaves. */
static bool begin_rewriting(struct rewriter *rewriter, uint64_t header)
{
	if (!header)
		return synchronise(rewriter);
	rewriter->at = header;
	rewriter->out = header - TIP_PGE_MAX;
	rewriter->last_ip = rewriter->rewrite->last_ip;
	rewriter->guest = true;
	return true;
}

void pt_rewrite_bytes(struct pt_rewrite *rewrite, const struct pt_errata *errata, uint8_t *bytes,
		      uint64_t size, uint64_t header)
{
	struct rewriter rewriter = { .rewrite = rewrite, .bytes = bytes, .size = size };
	struct pt_config config;

	rewrite->count = rewrite->next = 0;
	pt_config_init(&config);
	config.errata = *errata;
	config.begin = bytes;
	config.end = bytes + size;
	rewriter.packets = ALLOC_CHECKED(pt_pkt_alloc_decoder(&config));
	if (!rewriter.packets)
		return;
	if (begin_rewriting(&rewriter, header)) {
		while (rewrite_packet(&rewriter))
			;
	}
	if (rewriter.guest) {
		rewriter.next = rewriter.at;
		pad_packets(&rewriter);
	}
	rewrite->last_ip = rewriter.last_ip;
	pt_pkt_free_decoder(rewriter.packets);
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
