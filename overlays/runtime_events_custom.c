/* SPDX-License-Identifier: MIT */
/* Reads payloads of custom events by a table of known names. */
#include "overlays/runtime_events.h"

static const struct known {
	const char *name;
	enum runtime_custom_kind kind;
	/*
	 * The fields of a payload, in order: 'i' id, 'p' parent, 'c' and 'o' type of a context or
	 * an object, 'n' integer, 'r' real, 't' text up to the end.
	 */
	const char *fields;
} known_events[] = {
	{ "trace.span.enter", RUNTIME_CUSTOM_SPAN_BEGIN, "t" },
	{ "trace.span.exit", RUNTIME_CUSTOM_SPAN_END, "t" },
	{ "trace.message", RUNTIME_CUSTOM_OTHER, "t" },
	{ "trace.metric.int", RUNTIME_CUSTOM_COUNTER, "nt" },
	{ "trace.metric.float", RUNTIME_CUSTOM_COUNTER, "rt" },
	{ "eio.create_fiber", RUNTIME_CUSTOM_OTHER, "ip" },
	{ "eio.create_cc", RUNTIME_CUSTOM_OTHER, "ic" },
	{ "eio.create_obj", RUNTIME_CUSTOM_OTHER, "io" },
	{ "eio.name", RUNTIME_CUSTOM_OTHER, "it" },
	{ "eio.error", RUNTIME_CUSTOM_OTHER, "it" },
	{ "eio.log", RUNTIME_CUSTOM_OTHER, "t" },
	{ "eio.enter_span", RUNTIME_CUSTOM_OTHER, "t" },
	{ "eio.suspend_fiber", RUNTIME_CUSTOM_OTHER, "t" },
};

static const char *const context_types[20] = {
	[3] = "switch", [4] = "protect", [5] = "sub", [6] = "root", [7] = "any"
};

static const char *const object_types[20] = {
	[15] = "promise", [16] = "semaphore", [18] = "stream", [19] = "mutex"
};

bool runtime_custom_read(struct runtime_custom *custom, const char *name, const uint8_t *payload,
			 size_t size)
{
	struct cursor in = cursor_over(payload, size);

	*custom = (struct runtime_custom){ 0 };
	for (size_t i = 0; i < COUNT_OF(known_events); i++) {
		if (strcmp(known_events[i].name, name) != 0)
			continue;
		custom->kind = known_events[i].kind;
		for (const char *field = known_events[i].fields; *field; field++) {
			struct runtime_field *read = &custom->fields[custom->count];
			uint8_t type;

			if (*field == 't') {
				custom->text.length = cursor_left(&in);
				custom->text.at =
					(const char *)cursor_take(&in, custom->text.length);
				continue;
			}
			if (*field == 'c' || *field == 'o') {
				type = cursor_u8(&in);
				read->name = "type";
				read->word = type >= 20 ? NULL
							: (*field == 'c' ? context_types
									 : object_types)[type];
				custom->count += read->word != NULL;
				continue;
			}
			read->name = *field == 'i'   ? "id"
				     : *field == 'p' ? "cancellation_context"
						     : "value";
			read->is_real = *field == 'r';
			read->bits = cursor_u64(&in);
			custom->count++;
		}
		if (!in.short_)
			return true;
		*custom = (struct runtime_custom){ 0 };
	}
	return false;
}
