/* SPDX-License-Identifier: MIT */
/*
 * A page of HTML that needs nothing else: no network, no other file.
 *
 * The page's text, style and script are page.html, page.css and page.js, which the build turns into
 * lines of the program.  A page has a title, a summary in HTML, and data in JSON, which the script
 * shows.  Names of a recording may hold any bytes: html_text_print() and html_json_print() escape
 * them.
 */
#ifndef SRC_HTML_HTML_PAGE_H
#define SRC_HTML_HTML_PAGE_H

#include <jansson.h>

#include "base/common.h"

/* A page that is being printed. */
struct html_page {
	FILE *out;               /* borrowed */
	const char *const *next; /* borrowed: the next line */
};

/* Print the page's begin, up to the summary in HTML, which the caller prints next. */
void html_page_begin(struct html_page *page, const char *title, FILE *out);

/* Print on, up to the JSON of the data, which the caller prints next. */
void html_page_data(struct html_page *page);

/* Print the rest, with the script. */
void html_page_end(struct html_page *page);

/*
 * Print text of any bytes as HTML, also in quotes: controls other than '\n' and each byte of
 * invalid UTF-8 become U+FFFD.
 */
void html_text_print(const char *text, size_t length, FILE *out);

/* Print JSON without '<', which may end a script, and release `value`. */
void html_json_print(json_t *value, FILE *out);

/* Numbers as a JSON string: LEB128 (DWARF 5, 7.6), unsigned, in base64 (RFC 4648, 4). */
struct html_numbers {
	FILE *out; /* borrowed */
	uint32_t bits;
	unsigned bytes; /* in `bits`, which are not printed yet */
};

/* Print the begin of the string. */
void html_numbers_begin(struct html_numbers *numbers, FILE *out);

void html_numbers_print(struct html_numbers *numbers, uint64_t number);

/* Print its end. */
void html_numbers_end(struct html_numbers *numbers);

#endif
