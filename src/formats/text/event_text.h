/* SPDX-License-Identifier: MIT */
/* The arguments of events that are not slices of calls, as text. */
#pragma once

#include "src/slices/event_sink.h"

/*
 * Print " NAME=VALUE" for each argument, with escaped text and pointers in hexadecimal; or all, of
 * which there must be one, as an object of JSON, in which pointers are texts.
 */
void event_args_print(const struct track_event *event, bool json, FILE *out);
