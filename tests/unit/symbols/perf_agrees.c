/* SPDX-License-Identifier: MIT */
/*
 * Names and offsets equal those of `perf script -F ip,sym,symoff,dso`, for every address in the
 * recordings with ground truth, except in linkage stubs: perf 6.1 names some wrongly (it counts
 * them) and most not at all; for those we follow objdump.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"

struct mapping {
	int pid;
	uint64_t begin, size, offset;
	char path[512];
};

static struct mapping *mappings;
static size_t mapping_count, mapping_room;
static struct dso_store *store;
static unsigned asked, stubs;

/* Returns the absolute path of the recordings (perf takes no other for --symfs), NULL: absent. */
static const char *shared(void)
{
	static char path[PATH_MAX];
	const char *source = getenv("top_srcdir");
	char *relative;

	if (asprintf(&relative, "%s/../shared/recordings", source ? source : ".") < 0)
		return NULL;
	if (!realpath(relative, path))
		path[0] = 0;
	free(relative);
	return path[0] ? path : NULL;
}

static FILE *run_perf(const char *directory, const char *recording, const char *options)
{
	char *command;
	FILE *perf;

	ck_assert_int_gt(asprintf(&command,
				  "perf script -i %s/%s/perf.data --symfs %s/symfs %s "
				  "2>/dev/null",
				  directory, recording, directory, options),
			 0);
	perf = popen(command, "r");
	free(command);
	return perf;
}

static void read_mappings(const char *directory, const char *recording)
{
	FILE *perf = run_perf(directory, recording, "--show-mmap-events -F pid,event");
	char line[4096];

	while (fgets(line, sizeof(line), perf)) {
		const char *record = strstr(line, "PERF_RECORD_MMAP2");
		struct mapping map = { 0 };

		if (!record ||
		    sscanf(record, "PERF_RECORD_MMAP2 %d/%*d: [%" SCNx64 "(%" SCNx64 ") @ %" SCNi64,
			   &map.pid, &map.begin, &map.size, (int64_t *)&map.offset) != 4)
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(map.path, sizeof(map.path), "%s", strrchr(line, ' ') + 1);
		mappings = alloc_grow(mappings, &mapping_room, mapping_count + 1, sizeof(map));
		mappings[mapping_count++] = map;
	}
	pclose(perf);
}

static const struct mapping *find_mapping(int pid, uint64_t ip, const char *path)
{
	for (size_t i = mapping_count; i-- > 0;)
		if (mappings[i].pid == pid && ip - mappings[i].begin < mappings[i].size &&
		    strcmp(mappings[i].path, path) == 0)
			return &mappings[i];
	return NULL;
}

static void compare(int pid, uint64_t ip, const char *perfs, const char *path)
{
	const struct mapping *map = find_mapping(pid, ip, path);
	const struct symbol *symbol;
	char ours[1200] = "[unknown]";
	uint64_t offset;

	if (!map)
		return;
	symbol = dso_borrow_symbol(dso_store_borrow(store, path, NULL, 0),
				   ip - map->begin + map->offset, &offset);
	asked++;
	if (symbol->kind == SYMBOL_PLT || strstr(perfs, "@plt")) {
		stubs++;
		ck_assert_msg(symbol->kind == SYMBOL_PLT, "%s is %s", perfs, symbol->name->text);
		return;
	}
	if (symbol->kind == SYMBOL_FUNCTION)
		snprintf(ours, sizeof(ours), "%s+0x%" PRIx64, symbol->name->text, offset);
	ck_assert_msg(strcmp(perfs, ours) == 0, "%s %" PRIx64 ": perf %s, we %s", path, ip, perfs,
		      ours);
}

/* One side of a branch: "  7f41ec87d7b8 name+0x12 (/path/of/the/file) ". */
static void compare_side(int pid, char *side)
{
	char *name, *path, *end = strrchr(side, ')');
	uint64_t ip = strtoull(side, &name, 16);

	path = strstr(side, " (/");
	/* A name may have parentheses: the path is in the last pair. */
	for (char *more = path; more; more = strstr(more + 1, " (/"))
		path = more;
	if (!path || !end || end < path || *name != ' ')
		return;
	*path = *end = 0;
	compare(pid, ip, name + 1, path + 2);
}

static void compare_line(char *line)
{
	char *sides = strchr(line, ':'), *arrow = strstr(line, "=>");
	int pid = atoi(line);

	if (!sides || !arrow || strstr(line, "instruction trace error"))
		return;
	*arrow = 0;
	compare_side(pid, sides + 1);
	compare_side(pid, arrow + 2);
}

static void compare_recording(const char *directory, const char *recording)
{
	struct dso_store_options options = { .demangle = DEMANGLE_PERF };
	struct name_table names;
	char line[8192], symfs[3 * PATH_MAX];
	FILE *perf;

	snprintf(symfs, sizeof(symfs), "%s/symfs", directory);
	options.find.symfs = symfs;
	name_table_init(&names);
	store = dso_store_open(&options, &names, NULL);
	mapping_count = 0;
	read_mappings(directory, recording);
	perf = run_perf(directory, recording, "--itrace=be -F pid,time,ip,addr,sym,symoff,dso");
	while (fgets(line, sizeof(line), perf))
		compare_line(line);
	pclose(perf);
	dso_store_close(store);
	name_table_release(&names);
}

START_TEST(names_and_offsets_are_those_of_perf_script)
{
	static const char *const recordings[][2] = {
		{ "truth", "tiny-default" },  { "truth", "except" },
		{ "truth", "pipeline-2cpu" }, { "truth", "ls-l" },
		{ "truth", "dlopen" },        { "hase-2018-04", "control_flow" },
		{ "hase-2018-04", "loopy" },  { "dynamorio-cyc", "" },
		{ "lldb-multicore", "" },
	};
	const char *all = shared();
	char directory[2 * PATH_MAX];

	for (size_t i = 0; i < sizeof(recordings) / sizeof(recordings[0]); i++) {
		snprintf(directory, sizeof(directory), "%s/%s", all, recordings[i][0]);
		compare_recording(directory, recordings[i][1]);
	}
	ck_assert_uint_gt(asked, 1000000);
	ck_assert_uint_lt(stubs, asked / 20);
	free(mappings);
}
END_TEST

int main(void)
{
	Suite *suite;
	TCase *all;

	if (!shared() || system("perf --version >/dev/null 2>&1") != 0) {
		puts("1..0 # SKIP needs perf and the shared recordings");
		return 0;
	}
	suite = suite_create("perf_agrees");
	all = tcase_create("perf_agrees");
	tcase_add_test(all, names_and_offsets_are_those_of_perf_script);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
