/* SPDX-License-Identifier: MIT */
/* Parts of the answer of `ptrace2ftf why`. */
#pragma once

#include "src/formats/answers/slow_causes.h"

struct why_output {
	struct format_output output;   /* first */
	const struct options *options; /* borrowed */
	struct slow_calls calls;
	struct slow_answer *answers; /* owned; NULL: not made */
	size_t count;
	struct slow_answer most; /* where most of the time is; calls NULL: slow calls matter */
	size_t noise;            /* causes with the same code and more time, if they are noise */
	struct slow_look look;
	struct name_table *names; /* borrowed */
};

static inline bool why_has_chosen(const struct options *options)
{
	return options->select.symbols.count || options->select.dsos.count;
}

/* Functions that all formats of the answer share: as in struct output_format. */
void why_open(struct format_output *output, const struct format_request *request);
bool why_look(struct format_output *output, struct look_window *window);
void why_see(struct format_output *output, const struct branch_event *event,
	     const struct location_pair *places);
json_t *why_answer(const struct format_output *output);
void why_release(struct format_output *output);

#define WHY_FORMAT                                                                                 \
	.name = "why", .slices = SLICES_SORTED, .chooses_calls = true, .sites = true,              \
	.size = sizeof(struct why_output), .open = why_open, .look = why_look, .seen = why_see,    \
	.answer = why_answer, .release = why_release

/*
 * Returns the cause of a cluster in words, owned by the caller: a function, its share, and what
 * differs.
 */
char *why_cause_text(const struct slow_answer *answer, const struct slow_cluster *cluster);

/* Returns the verdict on the distribution of all calls, owned by the caller; "" for a plain tail.
 */
char *why_verdict_text(const struct slow_answer *answer);

/* Returns in which function most of the time is, of `most`, owned by the caller. */
char *why_most_text(const struct why_output *why);

/* Returns whether a cluster is shown: the first one, and those with a part that counts. */
bool why_shows(const struct slow_answer *answer, size_t number);

/* ---- Doubts -------------------------------------------------------------- */

/*
 * Returns a line for each reason to doubt the answers, owned by the caller: times, gaps, calls that
 * were cut, code without bytes, and functions that call one another.
 */
char *why_doubts_text(const struct why_output *why);

/* Returns their numbers as an object, owned by the caller. */
json_t *why_doubts(const struct why_output *why);

/* ---- Commands ------------------------------------------------------------ */

/*
 * Print a word of a command for a shell: a name is a pattern that matches nothing else, except that
 * a control character is "?".
 */
void why_word_print(const char *text, bool is_name, FILE *out);

/* Print the options of a run that choose its input and symbols, and its inputs, after blanks. */
void why_input_words_print(const struct options *options, FILE *out);

/* Print a command with the options and inputs of the run; function NULL: of all. */
void why_command_print(const struct why_output *why, const char *command,
		       const struct symbol *function, FILE *out);

/* Returns the symbol whose code contains a function of the answer; NULL: unknown. */
const struct symbol *why_symbol_of_code(const struct slow_answer *answer, uint32_t function);

/*
 * Returns commands that show more, a line each, owned by the caller: traces of the slowest calls,
 * the branches of the slowest call of the first cause, the lines of a function whose own code is
 * the cause, and traces of further clusters; of a function that is called once, an answer about a
 * callee. Empty if the input can be read only once.
 */
char *why_commands(const struct why_output *why, const struct slow_answer *answer);
