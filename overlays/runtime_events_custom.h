/* SPDX-License-Identifier: MIT */
/*
 * The payloads of well-known custom events of OCaml programs.
 *
 * The program's own code writes the bytes of a custom event, and the file has no
 * description of them, so only events of known names can be read: those of Eio
 * (lib_eio/runtime_events/eio_runtime_events.ml) and of ocaml-trace
 * (src/runtime-events).
 */
#ifndef OVERLAYS_RUNTIME_EVENTS_CUSTOM_H
#define OVERLAYS_RUNTIME_EVENTS_CUSTOM_H

#include "base/common.h"

enum runtime_custom_kind {
	RUNTIME_CUSTOM_OTHER = 0,  /* an instant; the fields that are known */
	RUNTIME_CUSTOM_SPAN_BEGIN, /* of the slice that `text` names */
	RUNTIME_CUSTOM_SPAN_END,
	RUNTIME_CUSTOM_COUNTER, /* `text` names it; its value is `integer` or `real` */
};

struct runtime_custom {
	enum runtime_custom_kind kind;
	const char *text;   /* borrowed from the payload, not NUL-terminated; may be NULL */
	size_t text_length; /* bytes */
	const char *id_name, *parent_name, *type_name; /* names of the numbers; NULL: absent */
	int64_t id, parent;
	const char *type; /* a word; NULL: not known */
	bool is_real;     /* of a COUNTER: the value is `real` */
	int64_t integer;
	double real;
};

/*
 * Read the payload of a custom event by the event's name.
 * Returns whether the name is known and the payload is long enough; if not,
 * `custom` is zeroed.
 */
bool runtime_custom_read(struct runtime_custom *custom, const char *name, const uint8_t *payload,
			 size_t size);

#endif
