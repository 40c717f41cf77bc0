/* SPDX-License-Identifier: MIT */
/*
 * The events of a recording: from the attribute section of a file, or from
 * records of a stream.
 */
#ifndef DECODER_PERF_DATA_PERF_ATTRS_H
#define DECODER_PERF_DATA_PERF_ATTRS_H

#include "decoder/perf_data/perf_types.h"

/* Add an event; `size` bytes of struct perf_event_attr as that perf knew it. */
void perf_attrs_add(struct perf_file *file, struct perf_bytes attr, struct perf_bytes ids);

/* Read a HEADER_ATTR or EVENT_UPDATE record (tools/perf/util/event.h) of a stream. */
void perf_attrs_read_record(struct perf_file *file, const struct perf_record *record);

/* Make perf_file_borrow_attr() work, after all are added. */
void perf_attrs_finish(struct perf_file *file);

/* Returns whether two recordings have the same events with the same counters. */
bool perf_attrs_equal(const struct perf_file *a, const struct perf_file *b);

/* Returns the attribute that an id belongs to, borrowed, or NULL. */
const struct perf_attr *perf_file_borrow_attr(const struct perf_file *file, uint64_t id);

#endif
