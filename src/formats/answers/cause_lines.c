/* SPDX-License-Identifier: MIT */
/* The tree of a cluster, as lines. */
#include "src/formats/answers/slow_causes.h"

/* Shares of a row with which a callee joins its line, and a branch gets its own line. */
#define NEARLY_ALL   0.95
#define BRANCH_SHARE 0.05

struct line_maker {
	const struct slow_answer *answer;
	const struct row_extra *extras;
	struct slow_cluster *cluster;
	uint32_t *children, *next; /* by row: its first callee, the next one of its caller */
	double least;              /* extra of a line */
};

static bool is_shown(const struct line_maker *maker, uint32_t row)
{
	return maker->extras[row].all >= maker->least;
}

static bool add_line(struct line_maker *maker, const struct cause_line *line)
{
	struct slow_cluster *cluster = maker->cluster;

	if (cluster->line_count == CAUSE_LINES)
		return false;
	cluster->lines[cluster->line_count++] = *line;
	return true;
}

/* Returns the only callee that has nearly all of a row; 0: no such callee. */
static uint32_t main_child(const struct line_maker *maker, uint32_t row)
{
	for (uint32_t i = maker->children[row]; i; i = maker->next[i])
		if (maker->extras[i].all >= NEARLY_ALL * maker->extras[row].all)
			return i;
	return 0;
}

/* Returns false if there is no room. */
static bool add_lines(struct line_maker *maker, uint32_t row, unsigned depth)
{
	struct cause_line line = { .first = row, .last = row, .depth = depth, .leaf = true };
	struct cause_line rest;
	uint32_t child;

	line.extra = maker->extras[row].all;
	while ((child = main_child(maker, line.last)))
		line.last = child;
	for (child = maker->children[line.last]; child; child = maker->next[child])
		line.leaf &= !is_shown(maker, child);
	if (!add_line(maker, &line))
		return false;
	if (line.leaf)
		return true;
	rest = line;
	for (child = maker->children[line.last]; child; child = maker->next[child]) {
		if (!is_shown(maker, child))
			continue;
		rest.extra -= maker->extras[child].all;
		if (!add_lines(maker, child, depth + 1))
			return false;
	}
	rest.depth++;
	rest.leaf = rest.remainder = true;
	if (rest.extra >= maker->least)
		return add_line(maker, &rest);
	maker->cluster->rest += rest.extra;
	return true;
}

/* Make the tree of a cluster, with only the larger branches if not all fit. */
void cause_lines_make(const struct slow_answer *answer, const struct row_extra *extras,
		      struct slow_cluster *cluster)
{
	struct line_maker maker = {
		.answer = answer,
		.extras = extras,
		.cluster = cluster,
		.children = alloc_zeroed(answer->rows.count, sizeof(uint32_t)),
		.next = alloc_zeroed(answer->rows.count, sizeof(uint32_t)),
		.least = BRANCH_SHARE * cluster->extra,
	};

	/* Insert each row into the list of its parent, the largest extra first. */
	for (uint32_t i = (uint32_t)maker.answer->rows.count - 1; i > 1; i--) {
		uint32_t *at = &maker.children[maker.answer->info[i].parent];

		if (maker.extras[i].all < maker.least)
			continue;
		while (*at && maker.extras[*at].all > maker.extras[i].all)
			at = &maker.next[*at];
		maker.next[i] = *at;
		*at = i;
	}
	for (; cluster->extra > 0; maker.least *= 1.5) {
		cluster->line_count = 0;
		cluster->rest = 0;
		if (add_lines(&maker, 1, 0))
			break;
	}
	free(maker.children);
	free(maker.next);
}
