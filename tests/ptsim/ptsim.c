/* SPDX-License-Identifier: MIT */
/*
 * ptsim: a software Intel PT recorder.
 *
 *	ptsim record [OPTION...] -o perf.data -- PROGRAM ARGS
 *	ptsim help record
 */
#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "config.h"
#include "tests/ptsim/recorder.h"

#define EXIT_USAGE 64

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
	OPTION_HOST,
	OPTION_WALL,
};

static const struct argp_option option_list[] = {
	{ .doc = "Output:" },
	{ .name = "output", .key = 'o', .arg = "FILE", .doc = "The recording (perf.data)" },
	{ .name = "truth",
	  .key = OPTION_TRUTH,
	  .arg = "DIR",
	  .doc = "Write truth.branches, truth.slices and truth.counts there" },
	{ .name = "repeat",
	  .key = OPTION_REPEAT,
	  .arg = "BYTES",
	  .doc = "Repeat the trace, later each time, to this size (one thread, --per-thread)" },
	{ .name = "apart",
	  .key = OPTION_APART,
	  .doc = "With --repeat: an overflow after each, so that the program begins anew" },
	{ .doc = "Machine:" },
	{ .name = "cpus", .key = OPTION_CPUS, .arg = "N", .doc = "1 to 4 CPUs (1)" },
	{ .name = "per-thread",
	  .key = OPTION_PER_THREAD,
	  .doc = "A buffer for each thread, not for each CPU" },
	{ .name = "seed",
	  .key = OPTION_SEED,
	  .arg = "N",
	  .doc = "The seed of all that is random (1)" },
	{ .name = "quantum",
	  .key = OPTION_QUANTUM,
	  .arg = "N",
	  .doc = "Instructions that a task runs when others wait (20000)" },
	{ .name = "interrupts",
	  .key = OPTION_INTERRUPTS,
	  .arg = "N",
	  .doc = "An interrupt about every N instructions (5000, 0: none)" },
	{ .name = "faults",
	  .key = OPTION_FAULTS,
	  .doc = "A page fault at the first instruction in each page" },
	{ .name = "memory",
	  .key = OPTION_MEMORY,
	  .doc = "A cache of 32 KiB, and a page fault at the first access to each page of data; "
		 "with single steps" },
	{ .name = "instructions",
	  .key = OPTION_INSTRUCTIONS,
	  .arg = "N",
	  .doc = "Stop after so many" },
	{ .name = "single-step",
	  .key = OPTION_SINGLE_STEP,
	  .doc = "Step each instruction: five times as slow, the same recording" },
	{ .name = "lose-traps",
	  .key = OPTION_LOSE_TRAPS,
	  .doc = "With --single-step, as some hypervisors: a step over cpuid executes the next "
		 "instruction, too" },
	{ .name = "time-limit",
	  .key = OPTION_TIME_LIMIT,
	  .arg = "SECONDS",
	  .doc = "Fail if the program runs longer (600)" },
	{ .doc = "Trace:" },
	{ .name = "no-tsc", .key = OPTION_NO_TSC, .doc = "No time stamps" },
	{ .name = "no-clock",
	  .key = OPTION_NO_CLOCK,
	  .doc = "An unstable TSC: the kernel does not relate it to perf's clock" },
	{ .name = "no-mtc", .key = OPTION_NO_MTC, .doc = "No MTC packets" },
	{ .name = "cyc", .key = OPTION_CYC, .doc = "CYC packets" },
	{ .name = "no-retcomp", .key = OPTION_NO_RETCOMP, .doc = "No RET compression" },
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
	  .doc = "The core clock changes about every N TSC ticks (100000, 0: never)" },
	{ .name = "psb-period",
	  .key = OPTION_PSB,
	  .arg = "BYTES",
	  .doc = "A PSB about every so many bytes (4096)" },
	{ .name = "long-tnt", .key = OPTION_LONG_TNT, .doc = "TNT packets of up to 47 bits" },
	{ .name = "early-psb",
	  .key = OPTION_EARLY_PSB,
	  .doc = "A PSB+ that is due before TIP.PGE says that code runs (erratum BDM70)" },
	{ .name = "overflows",
	  .key = OPTION_OVERFLOW,
	  .arg = "N",
	  .doc = "An internal overflow about every N instructions" },
	{ .name = "overflow-length",
	  .key = OPTION_OVERFLOW_LENGTH,
	  .arg = "N",
	  .doc = "Instructions that are lost, at most (500)" },
	{ .name = "lose",
	  .key = OPTION_LOSE,
	  .arg = "N",
	  .doc = "A full buffer about every N instructions" },
	{ .name = "lose-length",
	  .key = OPTION_LOSE_LENGTH,
	  .arg = "N",
	  .doc = "Instructions that are lost, at most (2000)" },
	{ .name = "snapshot",
	  .key = OPTION_SNAPSHOT,
	  .arg = "BYTES",
	  .doc = "Buffers are rings of this size" },
	{ .name = "code",
	  .key = OPTION_CODE,
	  .doc = "Save the code that processes make, as `ptrace2ftf record` does; with --as-is" },
	{ .name = "as-is",
	  .key = OPTION_AS_IS,
	  .doc = "The program has ptsim's environment, random addresses, and its own ids in the "
		 "recording; without it recordings of one seed are equal" },
	{ .name = "wakings",
	  .key = OPTION_WAKINGS,
	  .doc = "The tracepoint sched_waking, of futexes" },
	{ .name = "map-pages", .key = OPTION_MAP_PAGES, .doc = "A mapping for each page of code" },
	{ .name = "host", .key = OPTION_HOST, .arg = "NAME", .doc = "The recorded host (ptsim)" },
	{ .name = "wall",
	  .key = OPTION_WALL,
	  .arg = "NS",
	  .doc = "ns since 1970 at the time 0 of perf's clock, as perf record -k has them" },
	{ .name = "inodes", .key = OPTION_INODES, .doc = "Mappings have no build ids" },
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

/* Limits of numbers; of all others: 0 to UINT32_MAX. */
static const struct limits {
	int key;
	uint64_t least, most;
} limits[] = {
	{ OPTION_CPUS, 1, PERF_DATA_IDS },      { OPTION_QUANTUM, 1, UINT32_MAX },
	{ OPTION_MTC_PERIOD, 0, 15 }, /* SDM: IA32_RTIT_CTL.MTCFreq */
	{ OPTION_CYC_THRESHOLD, 0, 15 },        { OPTION_PSB, 1, UINT32_MAX },
	{ OPTION_SNAPSHOT, 1, UINT32_MAX },     { OPTION_OVERFLOW_LENGTH, 1, UINT32_MAX },
	{ OPTION_LOSE_LENGTH, 1, UINT32_MAX },  { OPTION_SEED, 0, UINT64_MAX },
	{ OPTION_INSTRUCTIONS, 0, UINT64_MAX }, { OPTION_WALL, 0, UINT64_MAX },
};

static uint64_t number(struct argp_state *state, int key, const char *text)
{
	struct limits of = { key, 0, UINT32_MAX };
	unsigned long long value;
	char *end;

	for (size_t i = 0; i < sizeof(limits) / sizeof(*limits); i++)
		if (limits[i].key == key)
			of = limits[i];
	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end || end == text || errno || strchr(text, '-') || value < of.least ||
	    value > of.most)
		argp_error(state, "not a number from %llu to %llu: '%s'",
			   (unsigned long long)of.least, (unsigned long long)of.most, text);
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
	case OPTION_HOST:
		options->side.host = arg;
		return 0;
	case OPTION_WALL:
		options->side.wall = number(state, key, arg);
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
			argp_error(state, "no program to record; name it after --");
		if (!options->output)
			argp_error(state, "no output; name it by -o FILE");
		return 0;
	}
	if (!arg)
		return ARGP_ERR_UNKNOWN;
	parse_machine(options, key, number(state, key, arg));
	return 0;
}

#define EXIT_STATUS                                                                                \
	"\vExit status: 0 recorded, whatever the program's status; 1 failed, with the reason on "  \
	"standard error; 64 wrong usage.  A signal that ends the recording ends ptsim as well, "   \
	"once the recording is written.  See ptsim(1)."

static const struct argp record_argp = {
	.options = option_list,
	.parser = parse,
	.args_doc = "-- PROGRAM [ARG...]",
	.doc = "Run a program from branch to branch and write what perf record -e intel_pt//u would "
	       "have written." EXIT_STATUS,
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

	argp_parse(&record_argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
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

/* ---- Commands ------------------------------------------------------------ */

const char *argp_program_version = "ptsim (" PACKAGE_STRING ")";

static error_t parse_command(int key, char *arg, struct argp_state *state)
{
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "no command; `ptsim help` lists all");
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (strcmp(arg, "help") || state->argv[state->next])
		argp_error(state, "unknown command '%s'; `ptsim help` lists all",
			   strcmp(arg, "help") ? arg : state->argv[state->next]);
	argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
	return 0;
}

static const struct argp command_argp = {
	.parser = parse_command,
	.args_doc = "record [OPTION...] -o FILE -- PROGRAM [ARG...]\nhelp [record]",
	.doc = "Record programs as Intel PT would, in software, with the true branches and calls."
	       "\vCommands:\n"
	       "  record   Run a program and write a recording of it\n"
	       "  help     Show the options of a command\n\n"
	       "See ptsim(1).",
};

int main(int argc, char **argv)
{
	char name[] = "ptsim record", help[] = "--help";
	char *help_argv[] = { name, help, NULL };

	argp_err_exit_status = EXIT_USAGE;
	if (argc > 1 && strcmp(argv[1], "record") == 0) {
		argv[1] = name;
		return record(argc - 1, argv + 1);
	}
	if (argc == 3 && strcmp(argv[1], "help") == 0 && strcmp(argv[2], "record") == 0)
		return record(2, help_argv);
	argp_parse(&command_argp, argc, argv, ARGP_IN_ORDER, NULL, NULL);
	return EXIT_USAGE;
}
