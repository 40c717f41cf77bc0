/* SPDX-License-Identifier: MIT */
/* Matches the patterns of --dso with files, once each, and keeps the results. */
#ifndef SRC_SELECT_FILE_VERDICTS_H
#define SRC_SELECT_FILE_VERDICTS_H

#include <stdbool.h>

#include "src/options/selection.h"

struct dso;
struct file_verdict;

/* Usable when it is zeroed but for `selection`. */
struct file_verdicts {
	const struct selection *selection; /* borrowed */
	struct file_verdict *table;        /* owned; hash by dso */
};

/* Returns whether --dso selects a file (NULL: code of none); without the option it does. */
bool file_verdicts_keep(struct file_verdicts *verdicts, const struct dso *dso);

/* Idempotent, also on zeroed memory. */
void file_verdicts_release(struct file_verdicts *verdicts);

#endif
