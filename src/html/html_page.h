/* SPDX-License-Identifier: MIT */
/*
 * A self-contained page of HTML: no network, no other files. Its text, style and script are
 * page.html, page.css and page.js, which the build embeds in the program. It has a title, a summary
 * in HTML, and data in JSON, which the script shows. Names in a recording may have any bytes:
 * html_text_print() and html_json_print() escape them.
 */
#pragma once

#include <jansson.h>

#include "base/io/output.h"
#include "src/slices/event_store.h"
#include "src/slices/track.h"

/*
 * Print the page from `line` (NULL: its beginning) up to the summary in HTML, up to the data in
 * JSON, which the caller prints next, or to the end.  Returns the line to continue with.
 */
const char *const *html_page_print(const char *const *line, const char *title, FILE *out);

/*
 * Print why.html, the beginning of the page of slow calls up to its title. trace_kind_open()
 * recognises both pages by their first lines.
 */
void html_why_begin(FILE *out);

/* Print text of any bytes as HTML, also for use in quotes: valid_text(), as shown. */
text_print_fn html_text_print;

#define html_printf(out, ...) text_printf(out, html_text_print, __VA_ARGS__)

/* Print JSON without '<', which could end a script, and utf8_control(); releases `value`. */
void html_json_print(json_t *value, FILE *out);

/* Numbers as a JSON string: LEB128 (DWARF 5, 7.6), unsigned, in base64 (RFC 4648, 4). */
struct html_numbers {
	FILE *out;     /* borrowed */
	uint32_t bits; /* the last bytes */
	unsigned left; /* number of bytes in `bits` without digits */
	unsigned used;
	char text[1024]; /* digits to print */
};

/* Write LEB128 of up to ten bytes. Returns its end. */
static inline uint8_t *html_number_put(uint8_t *at, uint64_t number)
{
	for (; number > 0x7f; number >>= 7)
		*at++ = (uint8_t)(number | 0x80);
	*at++ = (uint8_t)number;
	return at;
}

/* Print the start of the string. */
void html_numbers_begin(struct html_numbers *numbers, FILE *out);

void html_numbers_print(struct html_numbers *numbers, uint64_t number);

/* Print bytes of html_number_put(). */
void html_numbers_copy(struct html_numbers *numbers, const uint8_t *bytes, size_t count);

/* Print its end. */
void html_numbers_end(struct html_numbers *numbers);

/* ---- Events other than calls ---------------------------------------------- */

/*
 * The page's events other than calls: CPU events, hits, perf's records, overlays.
 *
 * Slices, switches of CPUs and instants become tracks of the page, counters curves. Arrows, async
 * slices and wakeups are left out: as slices they would take the place of calls in --fit.
 */

struct page_events {
	struct event_store store;
	bool args;                     /* show arguments of slices */
	struct track *tracks;          /* owned; by index of the store's tracks */
	struct page_symbol *symbols;   /* owned: hash */
	struct page_counter *counters; /* owned: hash, in the order of their first values */
	uint64_t begin, end;           /* ns: of all that is shown */
};

/*
 * Emit the slices and instants to `sink`, and keep the counters. `first_index` is the index of the
 * first new track. `events` owns the tracks and their symbols.
 */
void page_events_show(struct page_events *events, const struct slice_sink *sink,
		      uint32_t first_index);

/*
 * "counters": for each its name, unit, process, pid, ns from `origin` to its first value, and
 * "points": ns since the value before, value, and so on.
 */
void page_events_print_counters(struct page_events *events, uint64_t origin, struct output *output,
				FILE *out);

void page_events_release(struct page_events *events);
