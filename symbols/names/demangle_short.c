/* SPDX-License-Identifier: MIT */
/* Scans a demangled name once and copies the parts to keep to its front. */
#include "symbols/names/demangle.h"

#include <ctype.h>

/* The text is read at `at` and written at `out`, which is never ahead of `at`. */
struct shortening {
	const char *start, *at;
	char *out;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Returns the length of "operator" and its sign if they are here, else 0. */
static size_t operator_length(const char *start, const char *at)
{
	/* C++ [over.oper]; longer operators precede their prefixes. */
	static const char *const signs[] = {
		"<=>", "<<=", ">>=", "->*", "()", "[]", "<<", ">>",
		"<=",  ">=",  "==",  "!=",  "->", "<",  ">",
	};
	const size_t word = strlen("operator");

	if (!starts_with(at, "operator") || is_word(at[word]) || (at > start && is_word(at[-1])))
		return 0;
	for (size_t i = 0; i < COUNT_OF(signs); i++)
		if (starts_with(at + word, signs[i]))
			return word + strlen(signs[i]);
	return word;
}

/* Returns the text after the group of parentheses that begins here, NULL if it does not end. */
static const char *after_parentheses(const char *at)
{
	size_t depth = 0;

	for (; *at; at++) {
		depth += *at == '(';
		if (*at == ')' && --depth == 0)
			return at + 1;
	}
	return NULL;
}

/* Does the same for angle brackets.  Inside of parentheses '>' may be a comparison. */
static const char *after_angles(const char *at)
{
	const char *start = at;
	size_t depth = 0;

	while (at && *at) {
		size_t length = operator_length(start, at);

		if (*at == '(') {
			at = after_parentheses(at);
		} else if (length || starts_with(at, "->")) {
			at += length ? length : 2; /* "->": a Rust function's result */
		} else {
			depth += *at == '<';
			if (*at++ == '>' && --depth == 0)
				return at;
		}
	}
	return NULL;
}

static void keep_text(struct shortening *s, size_t length)
{
	memmove(s->out, s->at, length);
	s->out += length;
	s->at += length;
}

/* Returns false if the parentheses do not pair. */
static bool skip_parameters(struct shortening *s)
{
	static const char anonymous[] = "(anonymous namespace)";
	const char *after = after_parentheses(s->at);
	static const char *const words[] = { " const", " volatile", " &&", " &" };

	if (starts_with(s->at, anonymous)) {
		keep_text(s, sizeof(anonymous) - 1);
		return true;
	}
	if (!after)
		return false;
	s->at = after;
	/* Skip the qualifiers of a method after its parameter list. */
	for (size_t i = 0; i < COUNT_OF(words); i++) {
		size_t length = strlen(words[i]);

		if (starts_with(s->at, words[i]) && !is_word(s->at[length]))
			s->at += length;
	}
	return true;
}

static bool follows_name(const struct shortening *s, const char *text)
{
	return s->out > text && (is_word(s->out[-1]) || strchr(")]}", s->out[-1]) != NULL);
}

/* Returns false if the brackets do not pair. */
static bool skip_arguments(struct shortening *s, const char *text)
{
	bool turbofish = s->out - text > 2 && s->out[-1] == ':' && s->out[-2] == ':';
	const char *after;

	if (!follows_name(s, text) && !turbofish) {
		keep_text(s, 1);
		return true;
	}
	after = after_angles(s->at);
	if (!after)
		return false;
	if (turbofish)
		s->out -= 2;
	s->at = after;
	return true;
}

/* libiberty writes "operator< <int>", so that the signs do not run together. */
static bool keep_operator(struct shortening *s, size_t length)
{
	const char *arguments, *after;

	keep_text(s, length);
	arguments = s->at + strspn(s->at, " ");
	if (*arguments != '<')
		return true;
	after = after_angles(arguments);
	if (!after)
		return false;
	s->at = after;
	return true;
}

void demangle_shorten(char *text)
{
	struct shortening s = { text, text, text };
	bool sound = true;

	while (sound && *s.at) {
		size_t length = operator_length(s.start, s.at);

		if (length) {
			sound = keep_operator(&s, length);
		} else if (*s.at == '(') {
			sound = skip_parameters(&s);
		} else if (*s.at == '<') {
			sound = skip_arguments(&s, text);
		} else if (*s.at == '!' && follows_name(&s, text)) {
			/* D: "name!(arguments)", "name!argument". */
			s.at++;
			if (*s.at != '(')
				while (is_word(*s.at))
					s.at++;
		} else {
			keep_text(&s, 1);
		}
	}
	keep_text(&s, strlen(s.at));
	*s.out = 0;
}
