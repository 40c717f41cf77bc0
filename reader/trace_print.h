/* SPDX-License-Identifier: MIT */
/*
 * Text for one record.  Control characters and backslashes of the trace's text are shown as \xNN.
 */
#ifndef READER_TRACE_PRINT_H
#define READER_TRACE_PRINT_H

#include "reader/trace_reader.h"

/* Returns a constant text: "string", "event", ... */
const char *trace_kind_text(enum trace_kind kind);

/* Returns a constant text: "begin", "end", ...; `type` is below EVENT_TYPES. */
const char *trace_event_text(unsigned type);

void trace_print_text(FILE *out, const struct text_view *text);

/* Print " NAME=VALUE" for each argument: pointers in hexadecimal, doubles with 17 digits. */
void trace_print_args(FILE *out, const struct trace_record *record);

/* Print one line: offset, kind, fields, and the problem if there is one. */
void trace_print_record(FILE *out, const struct trace_record *record);

/* Print "process PID NAME ARGS" or "thread TID NAME ARGS" if the record names one. */
void trace_print_name(FILE *out, const struct trace_record *record);

#endif
