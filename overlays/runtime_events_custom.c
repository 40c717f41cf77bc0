/* SPDX-License-Identifier: MIT */
/* Reads payloads of custom events by a table of known names. */
#include "overlays/runtime_events.h"

#include "base/cursor.h"

/* The fields of a payload, in order. */
enum shape {
	SHAPE_TEXT,    /* the text */
	SHAPE_ID_TEXT, /* an id and a text */
	SHAPE_FIBER,   /* the ids of a fiber and of its cancellation context */
	SHAPE_CONTEXT, /* an id and a type */
	SHAPE_OBJECT,
	SHAPE_INT_METRIC, /* a value and the metric's name */
	SHAPE_REAL_METRIC,
};

static const struct known {
	const char *name;
	enum shape shape;
	enum runtime_custom_kind kind;
} known_events[] = {
	{ "trace.span.enter", SHAPE_TEXT, RUNTIME_CUSTOM_SPAN_BEGIN },
	{ "trace.span.exit", SHAPE_TEXT, RUNTIME_CUSTOM_SPAN_END },
	{ "trace.message", SHAPE_TEXT, RUNTIME_CUSTOM_OTHER },
	{ "trace.metric.int", SHAPE_INT_METRIC, RUNTIME_CUSTOM_COUNTER },
	{ "trace.metric.float", SHAPE_REAL_METRIC, RUNTIME_CUSTOM_COUNTER },
	{ "eio.create_fiber", SHAPE_FIBER, RUNTIME_CUSTOM_OTHER },
	{ "eio.create_cc", SHAPE_CONTEXT, RUNTIME_CUSTOM_OTHER },
	{ "eio.create_obj", SHAPE_OBJECT, RUNTIME_CUSTOM_OTHER },
	{ "eio.name", SHAPE_ID_TEXT, RUNTIME_CUSTOM_OTHER },
	{ "eio.error", SHAPE_ID_TEXT, RUNTIME_CUSTOM_OTHER },
	{ "eio.log", SHAPE_TEXT, RUNTIME_CUSTOM_OTHER },
	{ "eio.enter_span", SHAPE_TEXT, RUNTIME_CUSTOM_OTHER },
	{ "eio.suspend_fiber", SHAPE_TEXT, RUNTIME_CUSTOM_OTHER },
};

static const char *context_type(unsigned type)
{
	static const char *const types[] = {
		[3] = "switch", [4] = "protect", [5] = "sub", [6] = "root", [7] = "any"
	};

	return type < COUNT_OF(types) ? types[type] : NULL;
}

static const char *object_type(unsigned type)
{
	static const char *const types[] = {
		[15] = "promise", [16] = "semaphore", [18] = "stream", [19] = "mutex"
	};

	return type < COUNT_OF(types) ? types[type] : NULL;
}

static void read_id(struct runtime_custom *custom, struct cursor *in)
{
	custom->id_name = "id";
	custom->id = (int64_t)cursor_u64(in);
}

static void read_text(struct runtime_custom *custom, struct cursor *in)
{
	custom->text_length = cursor_left(in);
	custom->text = (const char *)cursor_take(in, custom->text_length);
}

static void read_shape(struct runtime_custom *custom, enum shape shape, struct cursor *in)
{
	uint64_t bits;

	if (shape == SHAPE_INT_METRIC || shape == SHAPE_REAL_METRIC) {
		bits = cursor_u64(in);
		custom->is_real = shape == SHAPE_REAL_METRIC;
		custom->integer = (int64_t)bits;
		memcpy(&custom->real, &bits, sizeof(bits));
	} else if (shape != SHAPE_TEXT) {
		read_id(custom, in);
	}
	if (shape == SHAPE_FIBER) {
		custom->parent_name = "cancellation_context";
		custom->parent = (int64_t)cursor_u64(in);
	} else if (shape == SHAPE_CONTEXT || shape == SHAPE_OBJECT) {
		custom->type_name = "type";
		custom->type = shape == SHAPE_CONTEXT ? context_type(cursor_u8(in))
						      : object_type(cursor_u8(in));
	} else {
		read_text(custom, in);
	}
}

bool runtime_custom_read(struct runtime_custom *custom, const char *name, const uint8_t *payload,
			 size_t size)
{
	struct cursor in = cursor_over(payload, size);

	*custom = (struct runtime_custom){ 0 };
	for (size_t i = 0; i < COUNT_OF(known_events); i++) {
		if (strcmp(known_events[i].name, name) != 0)
			continue;
		custom->kind = known_events[i].kind;
		read_shape(custom, known_events[i].shape, &in);
		if (!in.short_)
			return true;
		*custom = (struct runtime_custom){ 0 };
	}
	return false;
}
