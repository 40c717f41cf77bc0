/* SPDX-License-Identifier: MIT */
/* Hints for the user: options without a match, missing debug files. */
#include "src/pipeline/recording.h"

#include "src/events/event_output.h"
#include "symbols/files/dso_find.h"

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

/* ---- Time without names -------------------------------------------------- */

struct nameless_time {
	struct pair_table dsos; /* files by a dso's pointer */
	uint64_t *ns;           /* owned: in code without names, by number in `dsos` */
	size_t room;
	uint64_t total; /* ns: in all code of files */
};

/* Take the file with the most time, at least one percent; NULL if there is none. */
static const struct mapped_file *take_most(struct nameless_time *nameless,
					   const struct resolver *resolver,
					   const struct timeline *timeline, unsigned *percent)
{
	const struct mapped_file *most = NULL;
	const struct mapped_file *const *all = timeline->files.files;
	uint64_t *most_ns = &(uint64_t){ 0 };

	for (size_t i = 0; i < timeline->files.count; i++) {
		const struct dso *dso = resolver->dsos[all[i]->index];
		uint32_t file = pair_table_find_pointer(&nameless->dsos, dso);

		if (file >= nameless->room || nameless->ns[file] <= *most_ns ||
		    all[i]->path[0] != '/' || dso->state != DSO_FOUND)
			continue;
		most = all[i];
		most_ns = &nameless->ns[file];
	}
	*percent = (unsigned)(100 * (double)*most_ns / (double)MAX(nameless->total, 1) + 0.5);
	*most_ns = 0;
	return *percent ? most : NULL;
}

char *nameless_hint_make(const struct slice_totals *totals, const struct resolver *resolver,
			 const struct timeline *timeline, const char *symfs)
{
	struct nameless_time nameless = { 0 };
	const struct mapped_file *files[3];
	unsigned percents[COUNT_OF(files)];
	size_t count = 0;

	for (size_t i = 0; i < totals->functions.count; i++) {
		const struct symbol *symbol = totals->functions.functions[i].symbol;
		uint64_t ns = totals->tree.nodes[i + 1].own.ns;
		uint32_t file;

		nameless.total += symbol->kind < SYMBOL_SPECIAL ? ns : 0;
		if (!symbol->dso || symbol->kind < SYMBOL_UNNAMED || symbol->kind >= SYMBOL_SPECIAL)
			continue;
		file = pair_table_find_pointer(&nameless.dsos, symbol->dso);
		ARRAY_GROW_ZEROED(nameless.ns, nameless.room, (size_t)file + 1);
		nameless.ns[file] += ns;
	}
	while (count < COUNT_OF(files) &&
	       (files[count] = take_most(&nameless, resolver, timeline, &percents[count])))
		count++;
	pair_table_release(&nameless.dsos);
	free(nameless.ns);
	return count ? debug_hint_make(files, percents, count, symfs) : NULL;
}
