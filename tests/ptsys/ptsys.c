/* SPDX-License-Identifier: MIT */
/*
 * ptsys: an Intel PT recorder of a whole machine, user code and kernel.
 *
 *	qemu-system-x86_64 -accel tcg,one-insn-per-tb=on -d exec,cpu,int,nochain ... 2>&1 >/dev/null
 *| ptsys --kernel=FILE --user=FILE -o DIR
 *
 * Reads QEMU's log of each instruction of the guest in tests/ptsys/guest, and
 * writes the files that perf record -a --kcore -e intel_pt// would have written in it.
 */
#include <argp.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/ptsys/guest.h"

enum option_key {
	OPTION_KERNEL = 0x100,
	OPTION_USER,
	OPTION_TRUTH,
	OPTION_CYC,
	OPTION_NO_MTC,
	OPTION_NO_RETCOMP,
	OPTION_PSB,
	OPTION_MTC_PERIOD,
	OPTION_CYC_THRESHOLD,
	OPTION_CLOCK_CHANGES,
	OPTION_UNTIL_POKE
};

static const struct argp_option option_list[] = {
	{ .name = "output", .key = 'o', .arg = "DIR", .doc = "the recording" },
	{ .name = "kernel", .key = OPTION_KERNEL, .arg = "FILE", .doc = "the guest's kernel" },
	{ .name = "user", .key = OPTION_USER, .arg = "FILE", .doc = "its user program" },
	{ .name = "truth", .key = OPTION_TRUTH, .arg = "DIR", .doc = "truth.branches and others" },
	{ .name = "cyc", .key = OPTION_CYC, .doc = "CYC packets" },
	{ .name = "no-mtc", .key = OPTION_NO_MTC, .doc = "no MTC packets" },
	{ .name = "no-retcomp", .key = OPTION_NO_RETCOMP, .doc = "no RET compression" },
	{ .name = "psb-period", .key = OPTION_PSB, .arg = "BYTES", .doc = "about (4096)" },
	{ .name = "mtc-period",
	  .key = OPTION_MTC_PERIOD,
	  .arg = "N",
	  .doc = "2^N crystal clock ticks (3)" },
	{ .name = "cyc-threshold",
	  .key = OPTION_CYC_THRESHOLD,
	  .arg = "N",
	  .doc = "CYC packets of at least 2^(N - 1) cycles (0: of any)" },
	{ .name = "clock-changes",
	  .key = OPTION_CLOCK_CHANGES,
	  .arg = "N",
	  .doc = "the core clock changes about every N TSC ticks (100000, 0: never)" },
	{ .name = "until-poke",
	  .key = OPTION_UNTIL_POKE,
	  .doc = "stop when the kernel first changes its code" },
	{ 0 },
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct guest_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case OPTION_KERNEL:
		options->kernel = arg;
		return 0;
	case OPTION_USER:
		options->user = arg;
		return 0;
	case OPTION_TRUTH:
		options->truth = arg;
		return 0;
	case OPTION_CYC:
		options->side.pt.cyc = true;
		return 0;
	case OPTION_NO_MTC:
		options->side.pt.mtc = false;
		return 0;
	case OPTION_UNTIL_POKE:
		options->until_poke = true;
		return 0;
	case OPTION_NO_RETCOMP:
		options->side.pt.ret_compression = false;
		return 0;
	case OPTION_PSB:
		options->side.pt.psb_bytes = strtoull(arg, NULL, 0);
		return 0;
	case OPTION_MTC_PERIOD:
		options->side.pt.mtc_period = (unsigned)strtoul(arg, NULL, 0);
		return 0;
	case OPTION_CYC_THRESHOLD:
		options->side.pt.cyc_threshold = (unsigned)strtoul(arg, NULL, 0);
		return 0;
	case OPTION_CLOCK_CHANGES:
		options->side.pt.clock_changes = strtoull(arg, NULL, 0);
		return 0;
	case ARGP_KEY_END:
		if (!options->output || !options->kernel || !options->user)
			argp_error(state, "give --output, --kernel and --user");
		return 0;
	}
	return ARGP_ERR_UNKNOWN;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse,
	.doc = "Write what perf record -a --kcore -e intel_pt// would have written in a guest of "
	       "QEMU, whose log is the input.\n",
};

int main(int argc, char **argv)
{
	static char name[] = "qemu";
	static char *const command[] = { name, NULL };
	struct guest_options options = {
		.side = {
			.cpus = 1,
			.kernel = true,
			.command = command,
			.pt = {
				.tsc = true,
				.mtc = true,
				.ret_compression = true,
				.mtc_period = 3,
				.clock_changes = 100000,
				.psb_bytes = 4096,
				.tnt = PT_TNT_SHORT,
			},
		},
	};
	struct qemu_log log = { .in = stdin };
	struct guest guest;
	int status = -1;

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (guest_open(&guest, &options) == 0) {
		while (qemu_log_next(&log) != LOG_END)
			guest_take(&guest, &log);
		fprintf(stderr,
			"ptsys: %" PRIu64 " instructions, %" PRIu64 " branches, %zu bytes, %" PRIu64
			" interrupts and faults, %" PRIu64 " switches, %" PRIu64 " pokes\n",
			guest.insns, guest.truth.count, guest.out.size, guest.vectors,
			guest.switches, guest.pokes);
		status = guest.insns && !guest.traced ? guest_write(&guest) : -1;
	}
	guest_release(&guest);
	return status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
