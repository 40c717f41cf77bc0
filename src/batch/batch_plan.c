/* SPDX-License-Identifier: MIT */
/* Decide which inputs are converted together, and name the outputs. */
#include "src/batch/batch.h"

#include "base/io/output_path.h"
#include "src/formats/output_format.h"

/* ---- Names in a directory ------------------------------------------------ */

/* A name: a piece [front, end) of its input's path, which can be extended to the front. */
struct piece {
	const char *path; /* borrowed */
	size_t front, end;
	size_t job;
};

static size_t component_before(const char *path, size_t end)
{
	while (end > 0 && path[end - 1] != '/')
		end--;
	return end;
}

/* Extend the piece by the directory above.  Returns whether there is one. */
static bool extend_piece(struct piece *piece)
{
	size_t end = piece->front;

	while (end > 0 && piece->path[end - 1] == '/')
		end--;
	if (end == 0)
		return false;
	piece->front = component_before(piece->path, end);
	return true;
}

static bool is_text(const char *path, size_t begin, size_t end, const char *text)
{
	return end - begin == strlen(text) && memcmp(path + begin, text, end - begin) == 0;
}

static struct piece first_piece(const char *path, size_t job)
{
	struct piece piece = { .path = path, .end = output_path_length(path), .job = job };
	struct piece above;

	piece.front = component_before(path, piece.end);
	above = piece;
	if (is_text(path, piece.front, piece.end, "perf.data") && extend_piece(&above)) {
		size_t end = above.front + strcspn(path + above.front, "/");

		if (!is_text(path, above.front, end, ".") &&
		    !is_text(path, above.front, end, "..")) {
			above.end = end;
			return above;
		}
	}
	piece.end = output_path_base(path);
	return piece;
}

static int compare_pieces(const void *left, const void *right)
{
	const struct piece *a = left, *b = right;
	size_t size = a->end - a->front, other = b->end - b->front;
	int order = memcmp(a->path + a->front, b->path + b->front, MIN(size, other));

	if (order == 0 && size != other)
		order = size < other ? -1 : 1;
	return order;
}

/* Extend all pieces that are not unique.  Returns whether one was extended. */
static bool extend_equal_pieces(struct piece *pieces, size_t count)
{
	bool extended = false;

	SORT(pieces, count, compare_pieces);
	for (size_t begin = 0, end; begin < count; begin = end) {
		for (end = begin + 1; end < count; end++)
			if (compare_pieces(&pieces[begin], &pieces[end]) != 0)
				break;
		for (size_t i = begin; end - begin > 1 && i < end; i++)
			extended |= extend_piece(&pieces[i]);
	}
	return extended;
}

/* "dir/a/b.data" with the piece a/b: DIRECTORY/a-b.SUFFIX */
static char *path_of_piece(const struct piece *piece, const char *directory, const char *suffix)
{
	size_t room = strlen(directory) + (piece->end - piece->front) + strlen(suffix) + 4;
	char *path = alloc_zeroed(1, room), *at;

	snprintf(path, room, "%.*s/", (int)output_path_length(directory), directory);
	if (strcmp(path, "//") == 0)
		path[1] = 0;
	at = path + strlen(path);
	for (size_t i = piece->front; i < piece->end; i++) {
		if (piece->path[i] != '/')
			*at++ = piece->path[i];
		else if (at[-1] != '-')
			*at++ = '-';
	}
	*at++ = '.';
	strcpy(at, suffix);
	return path;
}

/* ---- Names by a pattern -------------------------------------------------- */

/* A {word} of a pattern and its value for one input. */
struct pattern_word {
	const char *name, *value; /* borrowed */
	size_t length;            /* bytes of the value */
};

enum { WORD_DIR, WORD_NAME, WORD_BASE, WORD_NUMBER, PATTERN_WORDS };

/* Returns the word that a part of a pattern, up to its brace, names, or NULL. */
static const struct pattern_word *find_word(const struct pattern_word *words, const char *part)
{
	const char *close = strchr(part, '}');

	for (size_t i = 0; close && i < PATTERN_WORDS; i++)
		if (is_text(part, 0, (size_t)(close - part), words[i].name))
			return &words[i];
	return NULL;
}

/* Returns the pattern with its words replaced, owned; NULL with err filled. */
static char *expand_pattern(const char *pattern, const struct pattern_word *words,
			    struct error *err)
{
	char *text = NULL;
	size_t room = 0, used = 0;

	for (const char *at = pattern; *at; at++) {
		struct pattern_word literal = { .value = at, .length = 1 };
		const struct pattern_word *part = *at == '{' ? find_word(words, at + 1) : &literal;

		if (!part) {
			error_set(err, ERROR_FORMAT,
				  "--output: '%s' at '%s': only {dir}, {base}, {name} and "
				  "{n} are known",
				  pattern, at);
			free(text);
			return NULL;
		}
		text = alloc_grow(text, &room, used + part->length + 1, 1);
		memcpy(text + used, part->value, part->length);
		used += part->length;
		text[used] = 0;
		if (part != &literal)
			at = strchr(at, '}');
	}
	return text;
}

static int name_by_pattern(struct batch_plan *plan, const char *pattern, struct error *err)
{
	int width = snprintf(NULL, 0, "%zu", plan->count);

	for (size_t i = 0; i < plan->count; i++) {
		struct pattern_word words[PATTERN_WORDS];
		const char *input = plan->jobs[i].inputs[0];
		char number[24];
		size_t end, front, dir, dot;

		snprintf(number, sizeof(number), "%0*zu", width, i + 1);
		/* `number` has the text of {n}. */
		end = output_path_length(input);
		front = component_before(input, end);
		dir = front;
		dot = end;
		while (dir > 1 && input[dir - 1] == '/')
			dir--;
		while (dot > front && input[dot - 1] != '.')
			dot--;
		/* A dot at the front begins a hidden file's name, not a suffix. */
		dot = dot > front + 1 ? dot - 1 : end;
		words[WORD_DIR] = (struct pattern_word){ "dir", dir ? input : ".", dir ? dir : 1 };
		words[WORD_NAME] = (struct pattern_word){ "name", input + front, end - front };
		words[WORD_BASE] = (struct pattern_word){ "base", input + front, dot - front };
		words[WORD_NUMBER] = (struct pattern_word){ "n", number, strlen(number) };
		plan->jobs[i].output = expand_pattern(pattern, words, err);
		if (!plan->jobs[i].output)
			return -1;
	}
	return 0;
}

/* ---- All names ----------------------------------------------------------- */

static int name_outputs(struct batch_plan *plan, const struct options *options, struct error *err)
{
	const char *suffix = output_format_suffix(options->format);

	if (options->format->default_output == DEFAULT_NONE ||
	    (options->format->sideband && !options->output))
		return 0;
	if (options->output_pattern && name_by_pattern(plan, options->output_pattern, err) < 0)
		return -1;
	if (!options->output_pattern && options->output) {
		struct piece *pieces = alloc_zeroed(plan->count, sizeof(*pieces));

		for (size_t i = 0; i < plan->count; i++)
			pieces[i] = first_piece(plan->jobs[i].inputs[0], i);
		while (extend_equal_pieces(pieces, plan->count))
			continue;
		for (size_t i = 0; i < plan->count; i++)
			plan->jobs[pieces[i].job].output =
				path_of_piece(&pieces[i], options->output, suffix);
		free(pieces);
	}
	for (size_t i = 0; i < plan->count; i++)
		if (!plan->jobs[i].output)
			plan->jobs[i].output = output_path_beside(plan->jobs[i].inputs[0], suffix);
	return 0;
}

int batch_plan_make(struct batch_plan *plan, const struct options *options, struct error *err)
{
	*plan = (struct batch_plan){ 0 };
	plan->jobs = alloc_zeroed((size_t)options->input_count, sizeof(*plan->jobs));
	if (!options_is_batch(options)) {
		/* All inputs are files of one recording. */
		plan->jobs->inputs = options->inputs;
		plan->jobs->input_count = options->input_count;
		plan->jobs->output = options->output ? alloc_text("%s", options->output) : NULL;
		plan->count = 1;
		return 0;
	}
	plan->count = (size_t)options->input_count;
	for (size_t i = 0; i < plan->count; i++) {
		plan->jobs[i].inputs = &options->inputs[i];
		plan->jobs[i].input_count = 1;
	}
	if (name_outputs(plan, options, err) == 0)
		return 0;
	batch_plan_release(plan);
	return -1;
}

void batch_plan_release(struct batch_plan *plan)
{
	for (size_t i = 0; i < plan->count; i++)
		free(plan->jobs[i].output);
	free(plan->jobs);
	*plan = (struct batch_plan){ 0 };
}
