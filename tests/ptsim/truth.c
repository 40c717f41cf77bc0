/* SPDX-License-Identifier: MIT */
#include "tests/ptsim/truth.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

static FILE *create(const char *folder, const char *name)
{
	char path[PATH_MAX];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "we");
	if (!file)
		fprintf(stderr, "ptsim: cannot write %s: %m\n", path);
	return file;
}

int truth_open(struct truth *truth, const char *folder)
{
	*truth = (struct truth){ .folder = folder };
	name_table_init(&truth->names);
	diag_init(&truth->diag);
	truth->store =
		dso_store_open(&(struct dso_store_options){ 0 }, &truth->names, &truth->diag);
	dso_store_set_kernel(truth->store, NULL, 0, RUNNING_BUILD);
	if (folder)
		mkdir(folder, 0777); /* it may exist */
	if (folder && !(truth->branches = create(folder, "truth.branches")))
		return -1;
	return 0;
}

static int finish(FILE *file)
{
	if (!file)
		return -1;
	if (ferror(file) | fclose(file)) {
		fprintf(stderr, "ptsim: the truth cannot be written\n");
		return -1;
	}
	return 0;
}

static int print_slices(struct truth *truth, const char *name, bool counts)
{
	FILE *file = create(truth->folder, name);

	if (file)
		true_slices_print(&truth->slices, file, counts);
	return finish(file);
}

int truth_close(struct truth *truth)
{
	int status = 0;

	if (truth->folder) {
		status = finish(truth->branches);
		status |= print_slices(truth, "truth.slices", false);
		status |= print_slices(truth, "truth.counts", true);
	}
	true_slices_release(&truth->slices);
	dso_store_close(truth->store);
	diag_release(&truth->diag);
	name_table_release(&truth->names);
	return status;
}

void truth_branch(struct truth *truth, const struct clock_point *now, const char *kind,
		  uint64_t from, uint64_t to)
{
	truth->count++;
	if (truth->branches)
		fprintf(truth->branches,
			"%" PRIu64 " %" PRIu64 " %d %d %d %s %" PRIx64 " %" PRIx64 "\n",
			side_band_time(now->tsc), now->tsc, now->cpu, now->pid, now->tid, kind,
			from, to);
}

const struct symbol *truth_symbol(struct truth *truth, const struct mappings *maps, uint64_t ip,
				  uint64_t *offset)
{
	const struct mapping *map = mappings_find(maps, ip);
	struct dso *dso = dso_store_borrow(truth->store, map ? map->path : "[unknown]", NULL, 0);

	return dso_borrow_symbol(dso, map ? ip - map->begin + map->offset : 0, offset);
}
