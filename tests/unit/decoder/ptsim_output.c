/* SPDX-License-Identifier: MIT */
/* ptsim's packets, read by libipt's packet decoder. */
#include "tests/ptsim/pt_output.h"

#include <intel-pt.h>

#include "tests/support/unit.h"

#define LIBRARY UINT64_C(0x7ffff7e01000)
#define PROGRAM UINT64_C(0x401000)

/* Find the first packet with an address after the overflow. */
static void find_address(const struct pt_output *out, struct pt_packet *packet)
{
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	bool overflowed = false;

	pt_config_init(&config);
	config.begin = out->bytes;
	config.end = out->bytes + out->size;
	decoder = pt_pkt_alloc_decoder(&config);
	ck_assert_ptr_nonnull(decoder);
	ck_assert_int_eq(pt_pkt_sync_set(decoder, 0), 0);
	do {
		ck_assert_int_ge(pt_pkt_next(decoder, packet, sizeof(*packet)), 0);
		overflowed |= packet->type == ppt_ovf;
	} while (!overflowed || (packet->type != ppt_fup && packet->type != ppt_tip_pge));
	pt_pkt_free_decoder(decoder);
}

/*
 * The last address before an overflow is the reference of the next one (SDM volume 3, OVF packet),
 * also for perf; libipt resets it to 0. A whole address is the same for all.
 */
START_TEST(the_address_after_an_overflow_is_whole)
{
	const struct pt_output_options options = { .psb_bytes = 4096, .tnt = PT_TNT_SHORT };
	struct pt_output out;
	struct pt_packet packet = { 0 };

	pt_output_init(&out, &options);
	pt_output_start(&out, 0, 1);
	pt_output_enable(&out, 10, LIBRARY);
	pt_output_overflow(&out);
	pt_output_recover(&out, 20, _i ? PROGRAM : 0);
	if (!_i)
		pt_output_enable(&out, 30, PROGRAM);
	pt_output_size(&out);
	find_address(&out, &packet);
	ck_assert_int_eq(packet.type, _i ? ppt_fup : ppt_tip_pge);
	ck_assert_int_eq(packet.payload.ip.ipc, pt_ipc_sext_48);
	ck_assert_uint_eq(packet.payload.ip.ip, PROGRAM);
	pt_output_release(&out);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("ptsim_output");
	TCase *all = tcase_create("ptsim_output");

	tcase_add_loop_test(all, the_address_after_an_overflow_is_whole, 0, 2);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
