/* SPDX-License-Identifier: MIT */
/*
 * magic-trace's own test dumps through the slice sorter: for every folder of
 * $top_srcdir/../shared/oracles/magic-trace, no thread's time goes back, and begins and ends
 * balance. TAP on stdout; skipped where the folder is absent.
 */
#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "src/callstack/callstack.h"
#include "src/perf_script/perf_script.h"
#include "src/slices/slice_sorter.h"

#define ORACLES "../shared/oracles/magic-trace"

struct checked_track {
	uint64_t last_time;
	unsigned long depth, slices;
	unsigned long backward, unbalanced;
	struct checked_track *next;
};

struct check {
	struct slice_sorter sorter;
	struct arena arena;
	struct checked_track *tracks;
};

static void see_event(struct checked_track *track, const struct slice_event *event)
{
	track->backward += event->time < track->last_time;
	track->last_time = event->time;
	if (event->kind == SLICE_BEGIN) {
		track->depth++;
		track->slices++;
	} else if (event->kind == SLICE_END && !track->depth) {
		track->unbalanced++;
	} else if (event->kind == SLICE_END) {
		track->depth--;
	}
}

static void see_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink;
	for (size_t i = 0; i < batch->count; i++)
		see_event(track, &batch->events[i]);
}

static void *new_track(void *context, int32_t pid, int32_t tid)
{
	struct check *check = context;
	struct checked_track *track = arena_alloc(&check->arena, sizeof(*track));

	(void)pid;
	(void)tid;
	track->next = check->tracks;
	check->tracks = track;
	return slice_sorter_track(&check->sorter, track);
}

/*
 * Dumps that the sorter must change: an end has no begin because all events share a timestamp, and
 * a branch moves before the second of two errors of one timestamp.
 */
static const struct {
	const char *name;
	uint64_t unmatched_ends, backward;
} known[] = {
	{ "branch-misses", 0, 0 },    { "btree-two-errors", 0, 0 },    { "hello-musl", 0, 0 },
	{ "memmove-overflow", 0, 0 }, { "page-fault", 0, 0 },          { "synth-kernel", 0, 0 },
	{ "synth-two-errors", 0, 1 }, { "synth-one-timestamp", 1, 0 },
};

static bool has_known_counts(const struct slice_sorter *counts, const char *name)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].name, name))
			return counts->unmatched_ends == known[i].unmatched_ends &&
			       counts->backward == known[i].backward && !counts->too_deep;
	return true;
}

/* Returns whether all tracks are in order and balanced. */
static bool is_in_order(const struct check *check, const char *name)
{
	const struct slice_sorter *counts = &check->sorter;
	bool fine = has_known_counts(counts, name);

	printf("# %s: %lu ends without begin, %lu times held\n", name,
	       (unsigned long)counts->unmatched_ends, (unsigned long)counts->backward);
	for (const struct checked_track *track = check->tracks; track; track = track->next)
		fine = fine && !track->backward && !track->unbalanced && !track->depth;
	return fine;
}

static bool check_file(FILE *in, const char *name)
{
	static const struct slice_sink checker = { .events = see_events };
	struct check check = { 0 };
	struct name_table names;
	struct callstack_options stacks = { .mode = TRACE_MODE_GUESS,
					    .sink = &check.sorter.sink,
					    .names = &names };
	struct perf_script_options script = {
		.names = &names,
		.arena = &check.arena,
		.context = &check,
		.track = new_track,
	};
	struct error err = { 0 };
	bool fine;

	name_table_init(&names);
	check.arena = (struct arena){ 0 };
	slice_sorter_init(&check.sorter, &checker, NULL);
	script.machine = callstack_magic_trace_open(&stacks);
	fine = !perf_script_convert(in, &script, NULL, &err);
	slice_sorter_finish(&check.sorter);
	fine = is_in_order(&check, name) && fine;
	callstack_machine_close(script.machine);
	slice_sorter_release(&check.sorter);
	arena_release(&check.arena);
	name_table_release(&names);
	return fine;
}

static bool check_folder(const char *folder, const char *name)
{
	char path[PATH_MAX];
	int length = snprintf(path, sizeof(path), "%s/%s/input.perf", folder, name);
	FILE *in = length < (int)sizeof(path) ? fopen(path, "r") : NULL;
	bool fine = in && check_file(in, name);

	if (in)
		fclose(in);
	return fine;
}

static int is_shown(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(void)
{
	const char *top = getenv("top_srcdir");
	struct dirent **entries = NULL;
	char folder[PATH_MAX / 2];
	int count;

	snprintf(folder, sizeof(folder), "%s/" ORACLES, top ? top : ".");
	count = scandir(folder, &entries, is_shown, alphasort);
	if (count < 1) {
		printf("1..0 # SKIP no " ORACLES "\n");
		return EXIT_SUCCESS;
	}
	printf("1..%d\n", count);
	for (int i = 0; i < count; i++) {
		printf("%s %d - %s gives balanced slices in order\n",
		       check_folder(folder, entries[i]->d_name) ? "ok" : "not ok", i + 1,
		       entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return EXIT_SUCCESS;
}
