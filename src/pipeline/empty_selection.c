/* SPDX-License-Identifier: MIT */
/* Prints the options that chose nothing, and the threads of the recording. */
#include "src/pipeline/empty_selection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/events/event_tracks.h"

/* Threads that a warning lists. */
#define THREADS_LISTED 10

static void print_threads(const struct timeline *timeline, FILE *out)
{
	const struct thread *const *threads;
	size_t count, listed = 0, more = 0;

	threads = timeline_threads(timeline, &count);
	for (size_t i = 0; i < count; i++) {
		const char *name = event_thread_name(threads[i]);

		if (threads[i]->tid <= 0)
			continue;
		if (listed == THREADS_LISTED) {
			more++;
			continue;
		}
		fprintf(out, "%s%d/%d (%s)",
			listed++ ? ", " : "; recorded threads: ", threads[i]->pid, threads[i]->tid,
			name ? name : "?");
	}
	if (more)
		fprintf(out, " and %zu more", more);
}

/* "no recorded data matches --tid=1; recorded threads: 1234/1234 (sample)" */
void empty_selection_warn(const struct options *options, const struct perf_recording *recording,
			  struct diag *diag)
{
	static const char *const names[] = { "--time=", "--pid=", "--tid=", "--comm=", "--cpu=" };
	char *text;
	size_t size;
	FILE *out = ALLOC_CHECKED(open_memstream(&text, &size));

	for (int i = 0; i < options->word_count; i++)
		for (size_t j = 0; j < sizeof(names) / sizeof(names[0]); j++)
			if (strncmp(options->words[i], names[j], strlen(names[j])) == 0)
				fprintf(out, " %s", options->words[i]);
	if (event_filter_by_thread(&recording->filter))
		print_threads(recording->timeline, out);
	else if (options->select.cpus.count)
		fputs("; `ptrace2ftf list` shows the recorded CPUs", out);
	alloc_close_text(out, &text);
	diag_warn(diag, "nothing-selected", "no recorded data matches%s", text);
	free(text);
}
