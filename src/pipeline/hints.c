/* SPDX-License-Identifier: MIT */
/* Hints for the user: options without a match, missing debug files. */
#include "src/pipeline/recording.h"

#include "src/events/event_output.h"
#include "src/report/summary.h"

/* ---- Time without names -------------------------------------------------- */

/*
 * Sample every branch of small traces; later, every Nth for a prime N, so that the period does not
 * match a loop's.  The time up to the thread's next branch counts for the file at the target.
 */
#define SAMPLED_FIRST 4096u
#define SAMPLED_EVERY 61u

/* Returns the file of code without a name; NULL: the code has a name or no file. */
static const struct mapped_file *nameless_file(struct resolver *resolver,
					       const struct branch_event *event)
{
	/* The call stacks have just looked it up. */
	const struct location_pair *locations = resolver_get_known(resolver, event);
	const struct symbol *symbol =
		locations ? locations->to.symbol
			  : resolver_find(resolver, event->space, event->to).symbol;
	const struct mapping *mapping;

	if (!symbol || symbol->kind == SYMBOL_FUNCTION || symbol->kind == SYMBOL_PLT ||
	    symbol->kind >= SYMBOL_SPECIAL)
		return NULL;
	mapping = address_space_borrow_mapping(event->space, event->to);
	return mapping ? mapping->file : NULL;
}

static void end_sample(struct nameless_time *nameless, const struct branch_event *event)
{
	uint64_t spent = (event->time - nameless->time) * nameless->weight;

	nameless->open = false;
	if (event->thread != nameless->thread || event->time < nameless->time)
		return;
	nameless->total += spent;
	if (nameless->file)
		nameless->ns[nameless->file->index] += spent;
}

static void begin_sample(struct nameless_time *nameless, struct resolver *resolver,
			 const struct branch_event *event)
{
	nameless->weight = nameless->seen < SAMPLED_FIRST ? 1 : SAMPLED_EVERY;
	nameless->next += nameless->weight;
	if (!event->to || event->kind == BRANCH_GAP)
		return;
	nameless->open = true;
	nameless->time = event->time;
	nameless->thread = event->thread;
	nameless->file = nameless_file(resolver, event);
}

void nameless_time_add(struct nameless_time *nameless, struct resolver *resolver,
		       const struct branch_event *events, size_t count)
{
	uint64_t first = nameless->seen, end = first + count;

	if (nameless->open)
		end_sample(nameless, events);
	while (nameless->next < end) {
		size_t index = (size_t)(nameless->next - first);

		nameless->seen = nameless->next;
		begin_sample(nameless, resolver, &events[index]);
		if (nameless->open && index + 1 < count)
			end_sample(nameless, &events[index + 1]);
	}
	nameless->seen = end;
}

/* ---- Empty selections -------------------------------------------------- */

#define THREADS_LISTED 10

static void print_known_threads(const struct timeline *timeline, FILE *out)
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
		for (size_t j = 0; j < COUNT_OF(names); j++)
			if (starts_with(options->words[i], names[j]))
				fprintf(out, " %s", options->words[i]);
	if (event_filter_by_thread(&recording->filter))
		print_known_threads(recording->timeline, out);
	else if (options->select.cpus.count)
		fputs("; `ptrace2ftf list` shows the recorded CPUs", out);
	alloc_close_text(out, &text);
	diag_warn(diag, "nothing-selected", "no recorded data matches%s", text);
	free(text);
}

/* ---- Missing debug files -------------------------------------------------- */

/* Insert a file by its percentage, largest first. Returns the new count. */
static size_t add_hint_file(struct debug_hint_file files[DEBUG_HINT_FILES], size_t count,
			    const struct debug_hint_file *file)
{
	size_t at = count;

	while (at && files[at - 1].percent < file->percent)
		at--;
	if (at == DEBUG_HINT_FILES)
		return count;
	count += count < DEBUG_HINT_FILES;
	for (size_t i = count - 1; i > at; i--)
		files[i] = files[i - 1];
	files[at] = *file;
	return count;
}

char *nameless_hint_make(const struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs)
{
	struct debug_hint_file files[DEBUG_HINT_FILES];
	const struct mapped_file *const *all;
	size_t count = 0, file_count;

	all = timeline_files(timeline, &file_count);
	for (size_t i = 0; i < file_count; i++) {
		double percent = 100 * (double)nameless->ns[i] / (double)MAX(nameless->total, 1);
		const struct debug_hint_file file = { all[i]->path, all[i]->build_id,
						      all[i]->build_id_size,
						      (unsigned)(percent + 0.5) };

		if (file.percent && file.path[0] == '/' &&
		    resolver_borrow_dso(resolver, all[i])->state == DSO_FOUND)
			count = add_hint_file(files, count, &file);
	}
	return count ? debug_hint_make(files, count, symfs) : NULL;
}
