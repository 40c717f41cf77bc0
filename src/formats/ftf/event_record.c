/* SPDX-License-Identifier: MIT */
/* Build and write single events with arguments. */
#include "src/formats/ftf/event_record.h"

void event_record_init(struct event_record *record, struct ftf_writer *writer, const char *category,
		       const char *name, uint64_t time)
{
	*record = (struct event_record){ .writer = writer, .event = { .time = time } };
	if (category)
		record->event.category = ftf_text(writer, category);
	if (name)
		record->event.name = ftf_text(writer, name);
	record->event.args = record->args;
}

void event_record_add(struct event_record *record, struct ftf_arg arg)
{
	record->args[record->event.arg_count++] = arg;
}

void event_record_add_number(struct event_record *record, const char *name, int64_t value)
{
	event_record_add(record, ftf_arg_int64(ftf_text(record->writer, name), value));
}

void event_record_add_address(struct event_record *record, const char *name, uint64_t value)
{
	event_record_add(record, ftf_arg_pointer(ftf_text(record->writer, name), value));
}

void event_record_add_double(struct event_record *record, const char *name, double value)
{
	event_record_add(record, ftf_arg_double(ftf_text(record->writer, name), value));
}

void event_record_add_text(struct event_record *record, const char *name, const char *value)
{
	event_record_add(record, ftf_arg_string(ftf_text(record->writer, name),
						ftf_text(record->writer, value)));
}

void event_record_add_part(struct event_record *record, const char *name, const char *value,
			   size_t length)
{
	event_record_add(record, ftf_arg_string(ftf_text(record->writer, name),
						ftf_name(record->writer, value, length)));
}
