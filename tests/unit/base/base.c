/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/cursor.h"
#include "base/diag.h"
#include "base/message.h"
#include "base/printable.h"
#include "base/tables/name.h"
#include "base/utf8.h"
#include "tests/support/unit.h"

START_TEST(the_first_error_wins_and_context_goes_in_front)
{
	struct error err = { 0 };

	ck_assert_int_eq(error_set_system(&err, ENOENT, "cannot open %s", "x"), -1);
	error_set(&err, ERROR_FORMAT, "something later");
	error_prefix(&err, "cpu %d", 3);
	ck_assert_int_eq(err.kind, ERROR_SYSTEM);
	ck_assert_int_eq(err.system, ENOENT);
	ck_assert_str_eq(err.text, "cpu 3: cannot open x: No such file or directory");
}
END_TEST

/* Whatever its length, a text keeps its begin and its reason, and its characters are whole. */
START_TEST(a_long_text_loses_its_middle)
{
	const char end[] = "z: cannot open: No such file or directory; retry";
	char path[4096] = "context: /a", name[4096];
	struct diag diag;

	diag_init(&diag);
	for (size_t length = strlen(path); length < sizeof(path) - 3; length += 2) {
		struct error err = { 0 };

		snprintf(name, sizeof(name), "%s", path + strlen("context: "));
		error_set_system(&err, ENOENT, "%sz: cannot open", name);
		error_prefix(&err, "context");
		error_suffix(&err, "; retry");
		ck_assert(strncmp(err.text, path, strlen("context: /a")) == 0);
		ck_assert_str_eq(err.text + strlen(err.text) - strlen(end), end);
		for (const char *at = err.text; *at; at += utf8_character(at, 4))
			ck_assert_uint_gt(utf8_character(at, 4), 0);
		if (strlen(path) + strlen(end) >= sizeof(err.text))
			ck_assert(strstr(err.text, "...") == strrchr(err.text, '.') - 2 &&
				  strlen(err.text) > sizeof(err.text) - 8);
		else
			ck_assert(!strchr(err.text, '.'));
		strcat(path, "\u00e4");
	}
	diag_warn(&diag, "long", "%s%s", path, end);
	ck_assert_str_eq(diag.first->text + strlen(diag.first->text) - strlen(end), end);
	diag_release(&diag);
}
END_TEST

START_TEST(equal_texts_are_one_name_with_dense_ids)
{
	struct name_table names;

	name_table_init(&names);
	const struct name *a = name_intern_text(&names, "alpha");
	const struct name *b = name_intern(&names, "beta!", 4);

	ck_assert_uint_eq(a->id, 0);
	ck_assert_uint_eq(b->id, 1);
	ck_assert_str_eq(b->text, "beta");
	ck_assert_ptr_eq(name_intern_text(&names, "beta"), b);
	ck_assert_ptr_ne(name_intern_text(&names, "alphabet"), a);
	ck_assert_uint_eq(names.count, 3);
	name_table_release(&names);
	name_table_release(&names);
}
END_TEST

START_TEST(an_arena_gives_aligned_zeroed_memory_of_any_size)
{
	struct arena arena = { 0 };

	for (size_t size = 0; size < 300000; size = size * 3 + 1) {
		unsigned char *memory = arena_alloc(&arena, size);

		ck_assert_uint_eq((uintptr_t)memory % _Alignof(max_align_t), 0);
		for (size_t i = 0; i < size; i++)
			ck_assert_uint_eq(memory[i], 0);
		memset(memory, 0xff, size);
	}
	arena_release(&arena);
	arena_release(&arena);
}
END_TEST

START_TEST(a_read_past_the_end_gives_zeros_and_is_remembered)
{
	const uint8_t bytes[] = { 1, 2, 3, 4, 5 };
	struct cursor c = cursor_over(bytes, sizeof(bytes));

	ck_assert_uint_eq(cursor_u32(&c), 0x04030201);
	ck_assert(!c.short_);
	ck_assert_uint_eq(cursor_u16(&c), 0);
	ck_assert(c.short_);
	ck_assert_uint_eq(cursor_left(&c), 0);
	ck_assert_ptr_null(cursor_take(&c, 1));
}
END_TEST

START_TEST(warnings_are_one_line_a_kind_and_safe_for_a_terminal)
{
	struct diag diag;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	diag_init(&diag);
	diag_warn(&diag, "odd", "odd name \x1b[31mred\n");
	diag_warn(&diag, "lost", "lost %d", 7);
	diag_warn(&diag, "odd", "another");
	diag_print(&diag, out);
	fclose(out);
	ck_assert_str_eq(text, "ptrace2ftf: warning: odd name ?[31mred? (2 times)\n"
			       "ptrace2ftf: warning: lost 7\n");
	ck_assert_uint_eq(diag_kinds(&diag), 2);
	free(text);
	diag_release(&diag);
}
END_TEST

/* isatty() sets errno for a file, and the rest of a message may be strerror(errno). */
START_TEST(the_begin_of_a_message_keeps_errno)
{
	FILE *file = tmpfile();

	ck_assert_ptr_nonnull(file);
	unsetenv("NO_COLOR");
	setenv("TERM", "xterm", 1);
	errno = ENOSPC;
	message_begin_error(file);
	message_begin_warning(file);
	ck_assert_int_eq(errno, ENOSPC);
	fclose(file);
}
END_TEST

/* The first and last characters of each range of RFC 3629, and invalid ones next to them. */
START_TEST(utf8_characters_differ_from_damage)
{
	static const struct {
		const char *text;
		size_t length; /* of the first character; 0: none */
	} cases[] = {
		{ "a", 1 },
		{ "\x7f", 1 },
		{ "\x80", 0 },
		{ "\xc1\xbf", 0 },
		{ "\xc2\x80", 2 },
		{ "\xc2", 0 },
		{ "\xc2"
		  "a",
		  0 },
		{ "\xdf\xbf", 2 },
		{ "\xe0\x9f\x80", 0 },
		{ "\xe0\xa0\x80", 3 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xed\xa0\x80", 0 },
		{ "\xef\xbf\xbf", 3 },
		{ "\xef\xbf"
		  "a",
		  0 },
		{ "\xf0\x8f\x80\x80", 0 },
		{ "\xf0\x90\x80\x80", 4 },
		{ "\xf0\x90\x80", 0 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xf5\x80\x80\x80", 0 },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ck_assert_uint_eq(utf8_character(cases[i].text, strlen(cases[i].text)),
				  cases[i].length);
}
END_TEST

/* Unicode: Cc, Zl, Zp, and Bidi_Control of PropList.txt. */
START_TEST(controls_are_those_of_unicode)
{
	for (uint32_t c = 1; c < 0x10000; c++) {
		bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x61c || c == 0x200e ||
			       c == 0x200f || (c >= 0x2028 && c <= 0x202e) ||
			       (c >= 0x2066 && c <= 0x2069);
		char text[5] = { (char)c };

		if (c >= 0x800) /* surrogates are not characters */
			snprintf(text, sizeof(text), "%c%c%c", 0xe0 | c >> 12,
				 0x80 | (c >> 6 & 0x3f), 0x80 | (c & 0x3f));
		else if (c >= 0x80)
			snprintf(text, sizeof(text), "%c%c", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
		ck_assert_uint_eq(utf8_control(text, 4), control ? strlen(text) : 0);
	}
}
END_TEST

/* Wherever the text is divided. */
START_TEST(text_for_a_terminal_has_no_controls)
{
	static const char text[] = "a\tb\n\033[31m\x7f\xc2\x9b\xc3\xa9\xe2\x82\xac\xe2\x82x"
				   "\xf0\x9f\x98\x80\xe2\x80\xae\xff\xe0\x80";
	static const char shown[] = "a\tb\n?[31m???\xc3\xa9\xe2\x82\xac??x\xf0\x9f\x98\x80??????";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct printable state = { 0 };
		char out[2 * sizeof(text)];
		size_t used = 0;

		for (size_t at = 0; at < sizeof(text); at += piece) {
			size_t left = sizeof(text) - at;

			used += printable_pass(&state, text + at, left < piece ? left : piece,
					       out + used);
		}
		/* The final NUL is a control and ends the last character. */
		ck_assert_uint_eq(used, sizeof(shown));
		ck_assert_mem_eq(out, shown, sizeof(shown) - 1);
	}
}
END_TEST

/* Only texts of arguments are replaced; numbers are printf()'s. */
START_TEST(texts_of_a_format_are_safe_and_have_columns)
{
	const char *volatile none = NULL;
	char *text, *same;
	FILE *out = OPEN_TEXT(text);

	printable_printf(out, "a\n%s|%5s|%-5s|%.4s|%.*s|%%", "b\n\033", "c", "d", "efghi", 5,
			 "\xe2\x82\xac\xe2\x82\xac");
	escaped_printf(out, "%s%s", "\n\\", none);
	printable_printf(out, "|%-4d|%08" PRIx64 "|%*zu|%.*f|%c|%+5.1f|%td", -1, UINT64_MAX - 15, 7,
			 (size_t)42, 2, 1.5, 'x', 3.14159, (ptrdiff_t)-1);
	alloc_close_text(out, &text);
	same = alloc_text("|%-4d|%08" PRIx64 "|%*zu|%.*f|%c|%+5.1f|%td", -1, UINT64_MAX - 15, 7,
			  (size_t)42, 2, 1.5, 'x', 3.14159, (ptrdiff_t)-1);
	ck_assert(starts_with(text, "a\nb??|    c|d    |ef..|\xe2\x82\xac..|%\\x0a\\x5c"));
	ck_assert(ends_with(text, same));
	free(text);
	free(same);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("base");
	TCase *all = tcase_create("base");

	tcase_add_test(all, the_first_error_wins_and_context_goes_in_front);
	tcase_add_test(all, a_long_text_loses_its_middle);
	tcase_add_test(all, equal_texts_are_one_name_with_dense_ids);
	tcase_add_test(all, an_arena_gives_aligned_zeroed_memory_of_any_size);
	tcase_add_test(all, a_read_past_the_end_gives_zeros_and_is_remembered);
	tcase_add_test(all, warnings_are_one_line_a_kind_and_safe_for_a_terminal);
	tcase_add_test(all, the_begin_of_a_message_keeps_errno);
	tcase_add_test(all, utf8_characters_differ_from_damage);
	tcase_add_test(all, controls_are_those_of_unicode);
	tcase_add_test(all, text_for_a_terminal_has_no_controls);
	tcase_add_test(all, texts_of_a_format_are_safe_and_have_columns);
	suite_add_tcase(suite, all);
	return unit_run_apart(suite);
}
