/* SPDX-License-Identifier: MIT */
/*
 * ptsim: a software Intel PT recorder.
 *
 *	ptsim record [OPTION...] -o perf.data -- PROGRAM ARGS
 *	ptsim record --help
 */
#include <argp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/ptsim/recorder.h"

enum option_key {
	OPTION_CPUS = 0x100,
	OPTION_PER_THREAD,
	OPTION_SEED,
	OPTION_QUANTUM,
	OPTION_INTERRUPTS,
	OPTION_OVERFLOW,
	OPTION_OVERFLOW_LENGTH,
	OPTION_LOSE,
	OPTION_LOSE_LENGTH,
	OPTION_SNAPSHOT,
	OPTION_INSTRUCTIONS,
	OPTION_REPEAT,
	OPTION_TRUTH,
	OPTION_NO_TSC,
	OPTION_NO_CLOCK,
	OPTION_NO_MTC,
	OPTION_CYC,
	OPTION_NO_RETCOMP,
	OPTION_MTC_PERIOD,
	OPTION_CYC_THRESHOLD,
	OPTION_CLOCK_CHANGES,
	OPTION_PSB,
	OPTION_LONG_TNT,
	OPTION_EARLY_PSB,
	OPTION_INODES,
	OPTION_MAP_PAGES,
	OPTION_CODE,
	OPTION_AS_IS,
	OPTION_APART,
	OPTION_SINGLE_STEP,
	OPTION_LOSE_TRAPS,
	OPTION_FAULTS,
	OPTION_TIME_LIMIT,
	OPTION_WAKINGS,
	OPTION_MEMORY,
};

static const struct argp_option option_list[] = {
	{ .doc = "Output:" },
	{ .name = "output", .key = 'o', .arg = "FILE", .doc = "the recording (perf.data)" },
	{ .name = "truth",
	  .key = OPTION_TRUTH,
	  .arg = "DIR",
	  .doc = "write truth.branches, truth.slices and truth.counts there" },
	{ .name = "repeat",
	  .key = OPTION_REPEAT,
	  .arg = "BYTES",
	  .doc = "repeat the trace, later each time, to this size (one thread, --per-thread)" },
	{ .name = "apart",
	  .key = OPTION_APART,
	  .doc = "with --repeat: an overflow after each, so that the program begins anew" },
	{ .doc = "Machine:" },
	{ .name = "cpus", .key = OPTION_CPUS, .arg = "N", .doc = "1 to 4 CPUs (1)" },
	{ .name = "per-thread",
	  .key = OPTION_PER_THREAD,
	  .doc = "a buffer for each thread, not for each CPU" },
	{ .name = "seed", .key = OPTION_SEED, .arg = "N", .doc = "of all that is random (1)" },
	{ .name = "quantum",
	  .key = OPTION_QUANTUM,
	  .arg = "N",
	  .doc = "instructions that a task runs when others wait (20000)" },
	{ .name = "interrupts",
	  .key = OPTION_INTERRUPTS,
	  .arg = "N",
	  .doc = "an interrupt about every N instructions (5000, 0: none)" },
	{ .name = "faults",
	  .key = OPTION_FAULTS,
	  .doc = "a page fault at the first instruction in each page" },
	{ .name = "memory",
	  .key = OPTION_MEMORY,
	  .doc = "a cache of 32 KiB, and a page fault at the first access to each page of data; "
		 "with single steps" },
	{ .name = "instructions",
	  .key = OPTION_INSTRUCTIONS,
	  .arg = "N",
	  .doc = "stop after so many" },
	{ .name = "single-step",
	  .key = OPTION_SINGLE_STEP,
	  .doc = "step each instruction: five times as slow, the same recording" },
	{ .name = "lose-traps",
	  .key = OPTION_LOSE_TRAPS,
	  .doc = "with --single-step, as some hypervisors: a step over cpuid executes the next "
		 "instruction, too" },
	{ .name = "time-limit",
	  .key = OPTION_TIME_LIMIT,
	  .arg = "SECONDS",
	  .doc = "fail if the program runs longer (600)" },
	{ .doc = "Trace:" },
	{ .name = "no-tsc", .key = OPTION_NO_TSC, .doc = "no time stamps" },
	{ .name = "no-clock",
	  .key = OPTION_NO_CLOCK,
	  .doc = "an unstable TSC: the kernel does not relate it to perf's clock" },
	{ .name = "no-mtc", .key = OPTION_NO_MTC, .doc = "no MTC packets" },
	{ .name = "cyc", .key = OPTION_CYC, .doc = "CYC packets" },
	{ .name = "no-retcomp", .key = OPTION_NO_RETCOMP, .doc = "no RET compression" },
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
	{ .name = "psb-period",
	  .key = OPTION_PSB,
	  .arg = "BYTES",
	  .doc = "a PSB about every so many bytes (4096)" },
	{ .name = "long-tnt", .key = OPTION_LONG_TNT, .doc = "TNT packets of up to 47 bits" },
	{ .name = "early-psb",
	  .key = OPTION_EARLY_PSB,
	  .doc = "a PSB+ that is due before TIP.PGE says that code runs (erratum BDM70)" },
	{ .name = "overflows",
	  .key = OPTION_OVERFLOW,
	  .arg = "N",
	  .doc = "an internal overflow about every N instructions" },
	{ .name = "overflow-length",
	  .key = OPTION_OVERFLOW_LENGTH,
	  .arg = "N",
	  .doc = "instructions that are lost, at most (500)" },
	{ .name = "lose",
	  .key = OPTION_LOSE,
	  .arg = "N",
	  .doc = "a full buffer about every N instructions" },
	{ .name = "lose-length",
	  .key = OPTION_LOSE_LENGTH,
	  .arg = "N",
	  .doc = "instructions that are lost, at most (2000)" },
	{ .name = "snapshot",
	  .key = OPTION_SNAPSHOT,
	  .arg = "BYTES",
	  .doc = "buffers are rings of this size" },
	{ .name = "code",
	  .key = OPTION_CODE,
	  .doc = "save the code that processes make, as `ptrace2ftf record` does; with --as-is" },
	{ .name = "as-is",
	  .key = OPTION_AS_IS,
	  .doc = "the program has ptsim's environment, random addresses, and its own ids in the "
		 "recording; without it recordings of one seed are equal" },
	{ .name = "wakings",
	  .key = OPTION_WAKINGS,
	  .doc = "the tracepoint sched_waking, of futexes" },
	{ .name = "map-pages", .key = OPTION_MAP_PAGES, .doc = "a mapping for each page of code" },
	{ .name = "inodes", .key = OPTION_INODES, .doc = "mappings have no build ids" },
	{ 0 },
};

/* The signal that ends the recording, as it ends perf record; SIGALRM: the time limit; 0: none. */
static volatile sig_atomic_t stop_signal;

static time_t time_limit = 600, deadline; /* seconds */

static void stop(int number)
{
	stop_signal = number;
}

/* A recording that has not ended by then is stuck in a system call of ptsim. */
#define GRACE_SECONDS 10

static void tick(int number)
{
	static const char message[] = "ptsim: the time limit is over, and a thread never stops\n";
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (now.tv_sec > deadline)
		stop_signal = number;
	if (now.tv_sec > deadline + GRACE_SECONDS &&
	    write(STDERR_FILENO, message, sizeof(message) - 1))
		_exit(EXIT_FAILURE);
}

/* A second signal ends ptsim itself and the program.  Ticks interrupt waits (tracee_poll()). */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = stop, .sa_flags = (int)SA_RESETHAND };
	struct sigaction ticking = { .sa_handler = tick };
	struct itimerval period = { { 0, 20000 }, { 0, 20000 } };
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	deadline = now.tv_sec + time_limit;
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGALRM, &ticking, NULL);
	setitimer(ITIMER_REAL, &period, NULL);
}

static uint64_t number(struct argp_state *state, const char *text)
{
	char *end;
	unsigned long long value = strtoull(text, &end, 0);

	if (*end || end == text)
		argp_error(state, "not a number: %s", text);
	return value;
}

static void parse_machine(struct recorder_options *options, int key, uint64_t value)
{
	switch (key) {
	case OPTION_CPUS:
		options->side.cpus = (int)value;
		break;
	case OPTION_SEED:
		options->seed = value;
		break;
	case OPTION_QUANTUM:
		options->quantum = (unsigned)value;
		break;
	case OPTION_INTERRUPTS:
		options->interrupt_every = (unsigned)value;
		break;
	case OPTION_TIME_LIMIT:
		time_limit = (time_t)value;
		break;
	case OPTION_INSTRUCTIONS:
		options->instructions = value;
		break;
	case OPTION_REPEAT:
		options->repeat_bytes = value;
		break;
	case OPTION_MTC_PERIOD:
		options->side.pt.mtc_period = (unsigned)value;
		break;
	case OPTION_CYC_THRESHOLD:
		options->side.pt.cyc_threshold = (unsigned)value;
		break;
	case OPTION_CLOCK_CHANGES:
		options->side.pt.clock_changes = value;
		break;
	case OPTION_PSB:
		options->side.pt.psb_bytes = value;
		break;
	case OPTION_OVERFLOW:
		options->overflow_every = (unsigned)value;
		break;
	case OPTION_OVERFLOW_LENGTH:
		options->overflow_length = (unsigned)value;
		break;
	case OPTION_LOSE:
		options->lose_every = (unsigned)value;
		break;
	case OPTION_LOSE_LENGTH:
		options->lose_length = (unsigned)value;
		break;
	case OPTION_SNAPSHOT:
		options->snapshot_size = value;
		options->side.snapshot = true;
		break;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct recorder_options *options = state->input;

	switch (key) {
	case 'o':
		options->output = arg;
		return 0;
	case OPTION_TRUTH:
		options->truth = arg;
		return 0;
	case OPTION_PER_THREAD:
		options->side.per_thread = true;
		return 0;
	case OPTION_NO_TSC:
		options->side.pt.tsc = false;
		return 0;
	case OPTION_NO_MTC:
		options->side.pt.mtc = false;
		return 0;
	case OPTION_CYC:
		options->side.pt.cyc = true;
		return 0;
	case OPTION_NO_RETCOMP:
		options->side.pt.ret_compression = false;
		return 0;
	case OPTION_LONG_TNT:
		options->side.pt.tnt = PT_TNT_LONG;
		return 0;
	case OPTION_EARLY_PSB:
		options->side.pt.early_psb = true;
		return 0;
	case OPTION_SINGLE_STEP:
		options->single_step = true;
		return 0;
	case OPTION_LOSE_TRAPS:
		options->lose_traps = true;
		return 0;
	case OPTION_FAULTS:
		options->faults = true;
		return 0;
	case OPTION_CODE:
		options->code = options->as_is = true;
		return 0;
	case OPTION_AS_IS:
		options->as_is = true;
		return 0;
	case OPTION_MEMORY:
		options->memory = options->single_step = true;
		return 0;
	case OPTION_WAKINGS:
		options->side.wakings = true;
		return 0;
	case OPTION_NO_CLOCK:
		options->side.no_clock = true;
		return 0;
	case OPTION_INODES:
		options->side.map_inodes = true;
		return 0;
	case OPTION_MAP_PAGES:
		options->side.map_pages = true;
		return 0;
	case OPTION_APART:
		options->repeat_apart = true;
		return 0;
	case ARGP_KEY_ARG:
		return ARGP_ERR_UNKNOWN; /* it comes again as ARGP_KEY_ARGS */
	case ARGP_KEY_ARGS:
		options->side.command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		if (!options->side.command)
			argp_error(state, "no program to record");
		if (!options->output)
			argp_error(state, "no output: give -o FILE");
		if (options->side.cpus < 1 || options->side.cpus > PERF_DATA_IDS)
			argp_error(state, "--cpus takes 1 to %d", PERF_DATA_IDS);
		return 0;
	}
	if (!arg)
		return ARGP_ERR_UNKNOWN;
	parse_machine(options, key, number(state, arg));
	return 0;
}

static const struct argp argp = {
	.options = option_list,
	.parser = parse,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Run a program from branch to branch and write what perf record -e intel_pt//u would "
	       "have written.\n",
};

static int record(int argc, char **argv)
{
	struct recorder_options options = {
		.side = {
			.cpus = 1,
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
		.seed = 1,
		.quantum = 20000,
		.interrupt_every = 5000,
		.overflow_length = 500,
		.lose_length = 2000,
		.stop = &stop_signal,
	};
	int status;

	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	catch_signals();
	status = recorder_run(&options) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
	if (stop_signal == SIGALRM)
		return EXIT_FAILURE;
	if (stop_signal) {
		signal(stop_signal, SIG_DFL);
		raise(stop_signal);
	}
	return status;
}

int main(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "record") == 0) {
		argv[1] = argv[0];
		return record(argc - 1, argv + 1);
	}
	fprintf(stderr, "usage: ptsim record [OPTION...] -o FILE -- PROGRAM [ARG...]\n");
	return 2;
}
