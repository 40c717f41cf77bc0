/* SPDX-License-Identifier: MIT */
/*
 * Compares the precise stack machine with the ground truth of recordings: after each call and
 * return of each thread, the number of open frames must be the true one.  Frames from before the
 * trace are unknown to the machine and are subtracted.
 *
 * precise_truth RECORDINGS NAME [gaps]: prints "N compared, M wrong" and the first differences;
 * exits with 1 if there are any.  `gaps`: stretches of the trace are missing, so only decoded ones
 * are compared.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/streams/pt_streams.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/callstack/thread_stacks.h"
#include "src/resolve/code_files.h"
#include "src/resolve/resolve.h"
#include "tests/support/precise_depth.h"

#define SHOWN 12

/* A true call or return of one thread, read step by step. */
struct true_call {
	uint64_t from, to;
	int32_t tid;
	long depth;
	char kind; /* C or R */
};

struct true_calls {
	struct true_call *calls;
	size_t count, room;
};

/* A decoded call or return, and the number of frames open after it. */
struct seen_call {
	uint64_t from, to;
	size_t depth;
};

/* One thread's events between two gaps. */
struct stretch {
	struct stretch *next;
	struct seen_call *calls;
	size_t count, room;
};

struct followed {
	int32_t tid;
	struct stretch *first, **last; /* NULL: no event yet */
	size_t next;                   /* in the true calls, of any thread */
	const struct callstack *stack; /* borrowed */
};

struct check {
	struct true_calls truth;
	struct followed *threads;
	bool gaps; /* stretches are missing, also at the start */
	uint64_t compared, wrong, unmatched, stretches;
};

static void load_truth(struct true_calls *truth, const char *path)
{
	gzFile file = gzopen(path, "r");
	char line[300];

	if (!file) {
		perror(path);
		exit(77);
	}
	while (gzgets(file, line, sizeof(line))) {
		struct true_call call;

		if (sscanf(line, "%*s %*s %" SCNd32 " %c %ld %" SCNx64 " %" SCNx64, &call.tid,
			   &call.kind, &call.depth, &call.from, &call.to) != 5 ||
		    (call.kind != 'C' && call.kind != 'R'))
			continue;
		truth->calls = alloc_grow(truth->calls, &truth->room, truth->count + 1,
					  sizeof(*truth->calls));
		truth->calls[truth->count++] = call;
	}
	gzclose(file);
}

static void begin_stretch(struct followed *thread)
{
	if (thread->last && !(*thread->last)->count)
		return; /* gaps in a row */
	thread->last = thread->last ? &(*thread->last)->next : &thread->first;
	*thread->last = alloc_zeroed(1, sizeof(**thread->last));
}

static void note(struct check *check, const struct branch_event *event, size_t depth)
{
	struct followed *thread = &check->threads[event->thread->index];
	struct stretch *stretch;

	if (!thread->last)
		begin_stretch(thread);
	thread->tid = event->thread->tid;
	stretch = *thread->last;
	stretch->calls = alloc_grow(stretch->calls, &stretch->room, stretch->count + 1,
				    sizeof(*stretch->calls));
	stretch->calls[stretch->count++] = (struct seen_call){ event->from, event->to, depth };
}

/* ---- Comparing ----------------------------------------------------------- */

/* Returns the index of the thread's next true call or return from `at` on, or `count`. */
static size_t next_true(const struct check *check, size_t at, int32_t tid)
{
	while (at < check->truth.count && check->truth.calls[at].tid != tid)
		at++;
	return at;
}

/* Returns how many calls of the stretch equal the true ones from `at` on. */
static size_t match(const struct check *check, const struct stretch *stretch, int32_t tid,
		    size_t at)
{
	size_t count = 0;

	for (at = next_true(check, at, tid); at < check->truth.count && count < stretch->count;
	     at = next_true(check, at + 1, tid), count++) {
		const struct true_call *call = &check->truth.calls[at];

		if (call->from != stretch->calls[count].from ||
		    call->to != stretch->calls[count].to)
			break;
	}
	return count;
}

/* After a gap: find the first position where the whole stretch matches. */
static void find_place(const struct check *check, struct followed *thread,
		       const struct stretch *stretch)
{
	size_t at = next_true(check, thread->next, thread->tid);

	while (at < check->truth.count && match(check, stretch, thread->tid, at) < stretch->count)
		at = next_true(check, at + 1, thread->tid);
	if (at < check->truth.count)
		thread->next = at;
}

/*
 * At a stretch's start the two depths are set equal: older frames are unknown, and gone once the
 * true depth falls below theirs.
 */
static void compare_depths(struct check *check, struct followed *thread,
			   const struct stretch *stretch, size_t matched)
{
	long unseen = 0;

	for (size_t i = 0; i < matched; i++) {
		const struct true_call *call;
		long depth = (long)stretch->calls[i].depth, after;

		thread->next = next_true(check, thread->next, thread->tid);
		call = &check->truth.calls[thread->next++];
		after = call->depth + (call->kind == 'C');
		if (i == 0)
			unseen = after - depth;
		else if (call->depth < unseen)
			unseen = call->depth;
		if (after - unseen != depth && check->wrong++ < SHOWN)
			printf("# %d %c %" PRIx64 " -> %" PRIx64 ": %ld frames, truly %ld\n",
			       thread->tid, call->kind, call->from, call->to, depth,
			       after - unseen);
	}
	check->compared += matched;
}

static void compare(struct check *check, struct followed *thread, const struct stretch *stretch)
{
	size_t matched;

	if (check->gaps)
		find_place(check, thread, stretch);
	matched = match(check, stretch, thread->tid, thread->next);
	compare_depths(check, thread, stretch, matched);
	check->stretches++;
	check->unmatched += stretch->count - matched;
	if (matched < stretch->count)
		printf("# unmatched: %" PRIx64 " -> %" PRIx64 "\n", stretch->calls[matched].from,
		       stretch->calls[matched].to);
}

static void compare_all(struct check *check, size_t thread_count)
{
	for (size_t i = 0; i < thread_count; i++) {
		while (check->threads[i].first) {
			struct stretch *stretch = check->threads[i].first;

			compare(check, &check->threads[i], stretch);
			check->threads[i].first = stretch->next;
			free(stretch->calls);
			free(stretch);
		}
	}
}

/* ---- Spans go nowhere ---------------------------------------------------- */

static void drop_events(const struct slice_sink *sink, void *track, const struct slice_batch *batch)
{
	(void)sink, (void)track, (void)batch;
}

static const struct slice_sink nowhere = { .events = drop_events, .immediate = true };

/* ---- The pipeline -------------------------------------------------------- */

struct pipeline {
	struct perf_file file;
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct name_table names;
	struct diag diag;
	struct resolver resolver;
	struct code_files files;
	struct code_source source;
	struct thread_stacks stacks;
};

static void *track_of(void *context, const struct thread *thread)
{
	struct check *check = context;

	return thread ? &check->threads[thread->index] : NULL;
}

static struct callstack_ops noting_ops;
static struct callstack *(*precise_open)(struct callstack_machine *machine, void *track);

static struct callstack *open_and_note(struct callstack_machine *machine, void *track)
{
	struct callstack *stack = precise_open(machine, track);
	struct followed *thread = track;

	if (thread)
		thread->stack = stack;
	return stack;
}

static void note_stacks(struct callstack_machine *machine)
{
	precise_open = machine->ops->open;
	noting_ops = *machine->ops;
	noting_ops.open = open_and_note;
	machine->ops = &noting_ops;
}

static void feed(struct pipeline *p, struct check *check, const struct branch_event *event)
{
	thread_stacks_feed(&p->stacks, event, 1);
	if (event->thread && event->kind == BRANCH_GAP && check->gaps)
		begin_stretch(&check->threads[event->thread->index]);
	if (event->thread && !(event->flags & (BRANCH_TRACE_ON | BRANCH_TRACE_OFF)) &&
	    (event->kind == BRANCH_RETURN || event->kind == BRANCH_CALL))
		note(check, event,
		     precise_physical_depth(check->threads[event->thread->index].stack));
}

static void run(struct pipeline *p, struct check *check)
{
	struct callstack_options options = { .sink = &nowhere, .names = &p->names };
	struct callstack_machine *machine = callstack_precise_open(&options);
	struct pt_stream **streams = alloc_zeroed(p->auxtrace.stream_count, sizeof(*streams));
	struct branch_merge merge;
	const struct branch_event *events;
	size_t count;

	for (size_t i = 0; i < p->auxtrace.stream_count; i++) {
		struct pt_stream_input input = {
			.info = &p->auxtrace.info,
			.aux = &p->auxtrace.streams[i],
			.history = &p->timeline->history,
			.code = &p->source,
			.skip_local_jumps =
				true, /* as for slices: needed for returns from JIT code */
			.diag = &p->diag,
			.engine = PT_ENGINE_FAST,
		};

		streams[i] = pt_stream_open(&input, NULL);
	}
	note_stacks(machine);
	p->stacks = (struct thread_stacks){ .machine = machine,
					    .resolver = &p->resolver,
					    .add_track = track_of,
					    .context = check };
	thread_stacks_init(&p->stacks, p->timeline);
	branch_merge_init(&merge, streams, p->auxtrace.stream_count, false);
	while ((count = branch_merge_next(&merge, &events)) > 0)
		for (size_t i = 0; i < count; i++)
			feed(p, check, &events[i]);
	branch_merge_release(&merge);
	for (size_t i = 0; i < p->auxtrace.stream_count; i++)
		pt_stream_close(streams[i]);
	free(streams);
	thread_stacks_release(&p->stacks);
	callstack_machine_close(machine);
}

static void close_all(struct pipeline *p, struct check *check)
{
	free(check->threads);
	free(check->truth.calls);
	code_files_release(&p->files);
	dso_store_close(p->resolver.store);
	resolver_release(&p->resolver);
	timeline_close(p->timeline);
	auxtrace_release(&p->auxtrace);
	perf_file_close(&p->file);
	name_table_release(&p->names);
	diag_release(&p->diag);
}

int main(int argc, char **argv)
{
	char path[PATH_MAX], symfs[PATH_MAX], vdso[PATH_MAX];
	struct dso_store_options options = { .find.symfs = symfs, .vdso = vdso };
	struct pipeline p = { 0 };
	struct check check = { 0 };
	struct error err = { 0 };
	size_t count, thread_count;

	if (argc != 3 && argc != 4)
		return 2;
	check.gaps = argc == 4;
	snprintf(symfs, sizeof(symfs), "%s/symfs", argv[1]);
	snprintf(vdso, sizeof(vdso), "%s/%s/vdso.so", argv[1], argv[2]);
	snprintf(path, sizeof(path), "%s/%s/truth.calls.gz", argv[1], argv[2]);
	load_truth(&check.truth, path);
	snprintf(path, sizeof(path), "%s/%s/perf.data", argv[1], argv[2]);
	diag_init(&p.diag);
	if (perf_file_open(&p.file, path, &p.diag, &err) < 0 ||
	    auxtrace_init(&p.auxtrace, &p.file, &err) < 0) {
		printf("# %s\n", err.text);
		return 1;
	}
	p.timeline = timeline_open(&p.file, NULL, 0, &p.diag);
	thread_count = p.timeline->threads.count;
	check.threads = alloc_zeroed(thread_count, sizeof(*check.threads));
	resolver_init(&p.resolver, p.timeline, dso_store_open(&options, &p.names, &p.diag),
		      &p.names);
	count = p.timeline->files.count;
	code_files_init(&p.files, &p.resolver, count);
	p.source = code_files_source(&p.files);
	run(&p, &check);
	compare_all(&check, thread_count);
	printf("%s: %" PRIu64 " of %zu compared in %" PRIu64 " stretches, %" PRIu64
	       " wrong, %" PRIu64 " unmatched\n",
	       argv[2], check.compared, check.truth.count, check.stretches, check.wrong,
	       check.unmatched);
	close_all(&p, &check);
	return check.wrong || check.unmatched || !check.compared;
}
