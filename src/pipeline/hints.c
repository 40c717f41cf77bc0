/* SPDX-License-Identifier: MIT */
/* Hints for the user: options without a match, missing debug files. */
#include "src/pipeline/recording.h"

#include "src/events/event_output.h"
#include "symbols/files/dso_find.h"

/* ---- Time without names -------------------------------------------------- */

/*
 * Sample every branch of small traces; later, every Nth for a prime N, so that the period does not
 * match a loop's. The file at a branch's target gets the time up to the thread's next branch.
 */
#define SAMPLED_FIRST 4096u
#define SAMPLED_EVERY 61u

/* Returns the file of code without a name; NULL: the code has a name or no file. */
static const struct mapped_file *nameless_file(struct resolver *resolver,
					       const struct branch_event *event)
{
	/* The call stacks have just looked the branch up. */
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
	const struct thread *const *threads = timeline->threads.threads;
	size_t listed = 0, more = 0;

	for (size_t i = 0; i < timeline->threads.count; i++) {
		const char *name = thread_last_name(threads[i]);

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
	FILE *out = OPEN_TEXT(text);

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

/* Returns whether the recorded system is a distribution, or like it, by os-release(5). */
static bool system_is_like(const char *symfs, const char *distribution)
{
	char path[BENEATH_PATH], line[256];
	bool found = false;
	FILE *in;

	if (!dso_find_path(symfs, path, "%s/etc/os-release", symfs ? symfs : "") ||
	    !perf_input_is_file(path))
		return false;
	in = fopen(path, "r");
	while (in && !found && fgets(line, sizeof(line), in))
		found = (starts_with(line, "ID=") || starts_with(line, "ID_LIKE=")) &&
			strstr(line, distribution);
	if (in)
		fclose(in);
	return found;
}

/* Debian's name for the package with glibc's debug files follows no rule. */
static bool is_of_glibc(const char *name)
{
	static const char *const names[] = { "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread",
					     "librt.so.", "libc-2.",   "libm-2.",    "ld-" };

	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (starts_with(name, names[i]))
			return true;
	return false;
}

/* A path, which comes from the recording, that needs no quoting in a shell. */
static bool is_plain(const char *path)
{
	return !path[strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789/._+-")];
}

static void print_command(const struct mapped_file *file, const char *symfs, FILE *out)
{
	const char *servers = getenv("DEBUGINFOD_URLS");
	bool debian = system_is_like(symfs, "debian");
	char id[2 * ELF_BUILD_ID_MAX + 1];

	elf_file_print_id(id, file->build_id, file->build_id_size);
	if (servers && *servers && *id)
		fprintf(out, "--debuginfod, or debuginfod-find debuginfo %s", id);
	else if (debian && is_of_glibc(base_name(file->path)))
		fputs("apt install libc6-dbg", out);
	else if (!is_plain(file->path))
		fputs("--debuginfod or --debug-dir", out);
	else if (debian)
		fprintf(out, "find-dbgsym-packages %s (of debian-goodies)", file->path);
	else if (system_is_like(symfs, "fedora"))
		fprintf(out, "dnf debuginfo-install $(rpm -qf %s)", file->path);
	else
		fputs("--debuginfod with DEBUGINFOD_URLS set, or --debug-dir", out);
}

char *debug_hint_make(const struct mapped_file *const files[], const unsigned percents[],
		      size_t count, const char *symfs)
{
	char *text;
	FILE *out = OPEN_TEXT(text);

	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s%s: %u %%%s", i ? ", " : "", base_name(files[i]->path), percents[i],
			i ? "" : " of the time has no names");
	fputs("; get debug files by: ", out);
	print_command(files[0], symfs, out);
	alloc_close_text(out, &text);
	return text;
}

/* Take the file with the most time, at least one percent; NULL if there is none. */
static const struct mapped_file *take_most(struct nameless_time *nameless,
					   const struct resolver *resolver,
					   const struct timeline *timeline, unsigned *percent)
{
	const struct mapped_file *most = NULL;
	const struct mapped_file *const *all = timeline->files.files;

	for (size_t i = 0; i < timeline->files.count; i++)
		if (nameless->ns[i] > (most ? nameless->ns[most->index] : 0) &&
		    all[i]->path[0] == '/' && resolver->dsos[all[i]->index]->state == DSO_FOUND)
			most = all[i];
	if (!most)
		return NULL;
	*percent = (unsigned)(100 * (double)nameless->ns[most->index] /
				      (double)MAX(nameless->total, 1) +
			      0.5);
	nameless->ns[most->index] = 0;
	return *percent ? most : NULL;
}

char *nameless_hint_make(struct nameless_time *nameless, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs)
{
	const struct mapped_file *files[3];
	unsigned percents[COUNT_OF(files)];
	size_t count = 0;

	while (count < COUNT_OF(files) &&
	       (files[count] = take_most(nameless, resolver, timeline, &percents[count])))
		count++;
	return count ? debug_hint_make(files, percents, count, symfs) : NULL;
}
