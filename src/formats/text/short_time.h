/* SPDX-License-Identifier: MIT */
/* Times as magic-trace prints them (OCaml's Time_ns.Span): the largest unit, three decimals. */
#ifndef SRC_FORMATS_TEXT_SHORT_TIME_H
#define SRC_FORMATS_TEXT_SHORT_TIME_H

#include "base/common.h"

/* Room for any time, with its NUL. */
#define SHORT_TIME_SIZE 32

/* Write `ns` as "19ns", "1.639us", "2us", "1.5m" into `text`.  Returns it. */
const char *short_time(char text[SHORT_TIME_SIZE], int64_t ns);

#endif
