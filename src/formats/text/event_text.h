/* SPDX-License-Identifier: MIT */
/* The arguments of events that are not slices of calls, as text. */
#pragma once

#include "src/slices/event_sink.h"

/* Print " NAME=VALUE" for each argument: escaped text, pointers in hexadecimal. */
void event_args_print(const struct track_event *event, FILE *out);

/* Print the arguments as an object of JSON: pointers are texts. */
void event_args_print_json(const struct track_event *event, FILE *out);
