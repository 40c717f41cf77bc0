/* SPDX-License-Identifier: MIT */
/* ftfdump: shows and checks Fuchsia traces. */
#include <argp.h>

#include "config.h"
#include "reader/trace_print.h"

#define EXIT_USAGE 64
#define HELP_KEY   'h'

/* The output to print, by the option's key. */
enum show {
	SHOW_RECORDS = 0,
	SHOW_CHECK = 'c',
	SHOW_NAMES = 'n',
	SHOW_SLICES = 's',
	SHOW_STATS = 't',
};

struct dump_options {
	const char *path;
	enum show show;
};

struct stats {
	uint64_t records, bytes, events, first, last;
	uint64_t kinds[TRACE_KINDS], kind_bytes[TRACE_KINDS], types[EVENT_TYPES];
};

static const struct argp_option argp_options[] = {
	{ "check", SHOW_CHECK, NULL, 0,
	  "Print one line if all is well, also for Perfetto, nothing else", 0 },
	{ "names", SHOW_NAMES, NULL, 0, "Print the names of processes and threads", 0 },
	{ "slices", SHOW_SLICES, NULL, 0,
	  "Print a line per slice: PID/TID DEPTH BEGIN END NAME ARG=VALUE..., sorted", 0 },
	{ "stats", SHOW_STATS, NULL, 0, "Print the number of records and bytes of each kind", 0 },
	{ .key = HELP_KEY, .flags = OPTION_HIDDEN, .group = -1 },
	{ 0 }
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct dump_options *options = state->input;

	switch (key) {
	case SHOW_CHECK:
	case SHOW_NAMES:
	case SHOW_SLICES:
	case SHOW_STATS:
		options->show = (enum show)key;
		return 0;
	case HELP_KEY:
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	case ARGP_KEY_ARG:
		if (options->path)
			argp_error(state, "cannot read two traces at a time; leave out '%s'", arg);
		options->path = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "no trace; name a file");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void count_record(struct stats *stats, const struct trace_record *record)
{
	stats->records++;
	stats->bytes += record->words * 8;
	stats->kinds[record->kind]++;
	stats->kind_bytes[record->kind] += record->words * 8;
	if (record->kind != TRACE_EVENT || record->type >= EVENT_TYPES)
		return;
	stats->types[record->type]++;
	if (!stats->events++ || record->time < stats->first)
		stats->first = record->time;
	stats->last = MAX(stats->last, record->time);
}

/* Unknown parts are not errors, but are listed: "event type 12 (3 times)". */
static void print_unknown(const char *path, const struct trace_reader *reader)
{
	const char *before = "skipped unknown parts: ";
	bool any = false;

	for (unsigned i = 0; i < UNKNOWN_KINDS * UNKNOWN_NUMBERS; i++) {
		unsigned kind = i / UNKNOWN_NUMBERS, number = i % UNKNOWN_NUMBERS;
		uint64_t count = reader->unknown[kind][number];

		if (!count)
			continue;
		if (!any)
			fprintf(stderr, "ftfdump: %s: ", path);
		any = true;
		fprintf(stderr, "%s%s", before, trace_unknown_texts[kind]);
		if (kind < UNKNOWN_TYPES)
			fprintf(stderr, " %u", number);
		if (count > 1)
			fprintf(stderr, " (%" PRIu64 " times)", count);
		before = ", ";
	}
	if (any)
		putc('\n', stderr);
}

/* Returns 0; -1 with err filled: the first violation. */
static int read_all(const struct dump_options *options, struct trace_reader *reader,
		    struct trace_slices *slices, struct stats *stats, struct error *err)
{
	static struct trace_record record;
	int status, result = 0;

	while ((status = trace_reader_next(reader, &record, err)) == 1) {
		trace_slices_add(slices, &record);
		count_record(stats, &record);
		if (options->show == SHOW_RECORDS)
			trace_print_record(stdout, &record);
		if (options->show == SHOW_NAMES)
			trace_print_name(stdout, &record);
		if (record.problem[0])
			result = error_set_at(err, record.offset, "%s", record.problem);
		else if (record.refusal[0] && options->show == SHOW_CHECK)
			result = error_set_at(err, record.offset, "%s", record.refusal);
		if (result < 0 && options->show != SHOW_RECORDS)
			return -1;
	}
	if (status < 0 || result < 0)
		return -1;
	return trace_slices_finish(slices, err);
}

static int dump(const struct dump_options *options, struct error *err)
{
	struct trace_slices slices = { .keep = options->show == SHOW_SLICES };
	struct trace_reader reader;
	struct stats stats = { 0 };
	int status = -1;

	if (trace_reader_open(&reader, options->path, err) == 0 &&
	    trace_reader_check_magic(&reader, err) == 0)
		status = read_all(options, &reader, &slices, &stats, err);
	if (status == 0 && options->show == SHOW_SLICES)
		trace_slices_print(&slices, stdout);
	if (status == 0 && options->show == SHOW_STATS) {
		printf("%-22s %12" PRIu64 " %14" PRIu64 " bytes\n", "records", stats.records,
		       stats.bytes);
		for (size_t i = 0; i < TRACE_KINDS; i++) {
			if (stats.kinds[i])
				printf("%-22s %12" PRIu64 " %14" PRIu64 " bytes\n",
				       trace_kind_texts[i], stats.kinds[i], stats.kind_bytes[i]);
		}
		for (unsigned i = 0; i < EVENT_TYPES; i++) {
			if (stats.types[i])
				printf("  %-20s %12" PRIu64 "\n", trace_event_texts[i],
				       stats.types[i]);
		}
		printf("%-22s %12" PRIu64 "\n", "slices", slices.total);
		printf("%-22s %12zu\n", "deepest", slices.deepest);
		if (stats.events)
			printf("%-22s %12" PRIu64 " .. %" PRIu64 "\n", "times of events",
			       stats.first, stats.last);
	}
	if (status == 0 && options->show == SHOW_CHECK)
		printf("%" PRIu64 " records, %" PRIu64 " slices, deepest %zu\n", stats.records,
		       slices.total, slices.deepest);
	print_unknown(options->path, &reader);
	trace_slices_release(&slices);
	trace_reader_close(&reader);
	return status;
}

const char *argp_program_version = "ftfdump (" PACKAGE_STRING ")";

int main(int argc, char **argv)
{
	static const char doc[] =
		"Print the records of a Fuchsia trace (also .gz and .zst), and check them "
		"strictly.\v"
		"Exit status: 0 the trace is sound; 1 it is not, or cannot be read: the first "
		"reason and its offset are on standard error; 64 wrong usage.";
	static const struct argp argp = {
		argp_options, parse_option, "FILE", doc, NULL, NULL, NULL
	};
	struct dump_options options = { 0 };
	struct error err = { 0 };

	argp_err_exit_status = EXIT_USAGE;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &options);
	if (dump(&options, &err) < 0) {
		fflush(stdout);
		fprintf(stderr, "ftfdump: %s: %s\n", options.path, err.text);
		return EXIT_FAILURE;
	}
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr, "ftfdump: cannot write\n");
		return EXIT_FAILURE;
	}
	return EXIT_SUCCESS;
}
