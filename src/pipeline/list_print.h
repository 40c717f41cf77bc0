/* SPDX-License-Identifier: MIT */
/* The text of `ptrace2ftf list`, from the answer for programs. */
#ifndef SRC_PIPELINE_LIST_PRINT_H
#define SRC_PIPELINE_LIST_PRINT_H

#include <jansson.h>
#include <stdio.h>

/* Print the answer of `ptrace2ftf list` (doc/summary.schema.json); `input` is its path. */
void list_print(const json_t *list, const char *input, FILE *out);

#endif
