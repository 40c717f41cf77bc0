/* SPDX-License-Identifier: MIT */
/* Find what slow calls share, and usual calls do not. */
#include <math.h>

#include "src/formats/answers/slow_causes.h"

#include "src/formats/text/any_text.h"
#include "symbols/dso/dso_store.h"

/* Minimum number of slow calls, and of sampled usual ones. */
#define SLOW_LEAST  3
#define USUAL_LEAST 8
/* Shares of the slow calls, at least, and of the usual ones, less than that. */
#define SLOW_SHARE  0.9
#define USUAL_SHARE 0.5
/* Probability that slow calls have something in common by chance. */
#define CHANCE_MOST 0.001
/* Ratio of the pause before slow calls to the usual one. */
#define PAUSE_RATIO 2
/* ns: a shorter pause is one only if it is longer than the extra time of a slow call. */
#define PAUSE_LEAST 1000000

enum trait_kind { TRAIT_CALLER, TRAIT_SITE, TRAIT_THREAD, TRAIT_CPU, TRAIT_PAUSE };

/* Calls of one kind, and their known values of a trait. */
struct trait_calls {
	struct sampled_call *calls; /* owned */
	uint64_t *values;           /* owned; of `known` calls */
	size_t count, known;
};

struct trait_search {
	const struct slow_answer *answer;
	struct slow_cluster *cluster;
	const struct timeline *timeline; /* NULL: no records of switches */
	struct trait_calls slow, usual;
};

/* ---- Values -------------------------------------------------------------- */

static uint32_t function_of(const struct trait_search *search, uint32_t path)
{
	return search->answer->calls->paths[path].function;
}

static uint32_t caller_of(const struct trait_search *search, uint32_t path)
{
	return search->answer->calls->tree.nodes[path].caller;
}

/* Returns the value of a trait; 0: unknown. */
static uint64_t value_of(const struct trait_search *search, enum trait_kind kind,
			 const struct sampled_call *call)
{
	uint32_t caller = caller_of(search, call->traits.path);

	switch (kind) {
	case TRAIT_CALLER:
		return caller ? (uint64_t)function_of(search, caller) + 1 : 0;
	case TRAIT_SITE:
		return call->traits.site;
	case TRAIT_THREAD:
		return (uint64_t)call->track->index + 1;
	case TRAIT_CPU:
		return (uint64_t)(timeline_cpu_at(search->timeline, call->track->tid, call->begin) +
				  1);
	default:
		return call->traits.since;
	}
}

static void fill_values(const struct trait_search *search, enum trait_kind kind,
			struct trait_calls *of)
{
	of->known = 0;
	for (size_t i = 0; i < of->count; i++)
		if ((of->values[of->known] = value_of(search, kind, &of->calls[i])))
			of->known++;
}

static size_t count_value(const struct trait_calls *of, uint64_t value)
{
	size_t count = 0;

	for (size_t i = 0; i < of->known; i++)
		count += of->values[i] == value;
	return count;
}

/* Returns the value that most calls have; 0: no value has most. */
static uint64_t majority(const struct trait_calls *of)
{
	uint64_t value = 0;
	size_t votes = 0;

	for (size_t i = 0; i < of->known; i++) {
		value = votes ? value : of->values[i];
		votes += of->values[i] == value ? 1 : (size_t)-1;
	}
	return 2 * count_value(of, value) > of->known ? value : 0;
}

/* ---- Evidence ------------------------------------------------------------ */

/* Returns the probability of `same` or more of `all`, each of which has probability p. */
static double binomial_tail(size_t same, size_t all, double p)
{
	double term = pow(p, (double)all), sum = term;

	for (size_t i = all; i > same; i--) {
		term *= (double)i / (double)(all - i + 1) * (1 - p) / p;
		sum += term;
	}
	return sum;
}

/* Returns whether the slow calls share something, of which the usual ones have `usual_same`. */
static bool is_clear(const struct trait_search *search, size_t same, size_t usual_same)
{
	const struct trait_calls *slow = &search->slow, *usual = &search->usual;
	double p = ((double)usual_same + 1) / ((double)usual->known + 1);

	return slow->known >= SLOW_LEAST && usual->known >= USUAL_LEAST &&
	       (double)same >= SLOW_SHARE * (double)slow->count &&
	       (double)usual_same < USUAL_SHARE * (double)usual->known &&
	       binomial_tail(same, slow->known, p) <= CHANCE_MOST * p;
}

/* Insert a trait with its words, the one that the fewest usual calls have first. */
static struct shared_trait *add_trait(struct trait_search *search, const char *kind, char *words,
				      size_t same, size_t usual_same)
{
	struct slow_cluster *cluster = search->cluster;
	double usual = mean_of((double)usual_same, search->usual.known);
	size_t at = 0;

	while (at < cluster->trait_count && cluster->traits[at].usual <= usual)
		at++;
	memmove(&cluster->traits[at + 1], &cluster->traits[at],
		(cluster->trait_count++ - at) * sizeof(*cluster->traits));
	cluster->traits[at] = (struct shared_trait){ .kind = kind,
						     .words = words,
						     .same = same,
						     .of = search->slow.known,
						     .usual = usual,
						     .sampled = search->usual.known,
						     .value = -1 };
	return &cluster->traits[at];
}

/* ---- Callers ------------------------------------------------------------- */

static size_t count_inside(const struct trait_search *search, const struct trait_calls *of,
			   uint32_t function)
{
	size_t count = 0;

	for (size_t i = 0; i < of->count; i++) {
		uint32_t path = of->calls[i].traits.path;

		while ((path = caller_of(search, path)) && function_of(search, path) != function)
			;
		count += path != 0;
	}
	return count;
}

/* Print the call site that most slow calls share, if it is in a function. */
static void print_site(struct trait_search *search, struct shared_trait *trait, uint32_t function,
		       FILE *out)
{
	const struct symbol *symbol = slow_symbol(search->answer, function);
	uint64_t offset;
	struct source_line line;

	fill_values(search, TRAIT_SITE, &search->slow);
	offset = majority(&search->slow) - symbol->start;
	if (!symbol->dso || offset >= symbol->size ||
	    (double)count_value(&search->slow, offset + symbol->start) <
		    SLOW_SHARE * (double)search->slow.count)
		return;
	line = dso_line(symbol, offset);
	trait->file = line.file;
	trait->line = line.line;
	if (line.file && line.line)
		escaped_printf(out, " (%s:%" PRIu32 ")", base_name(line.file->text), line.line);
	else if (symbol->kind == SYMBOL_UNNAMED)
		fprintf(out, " at 0x%" PRIx64, symbol->start + offset);
	else
		fprintf(out, "+0x%" PRIx64, offset);
}

/* Print how many of the usual calls share a trait. */
static void print_usual(const struct shared_trait *trait, FILE *out)
{
	if (trait->usual > 0)
		fprintf(out, ", usually %.0f %%", 100 * trait->usual);
	else
		fputs(", usually never", out);
}

/* Fill the words of a trait that names a function: "from F (f.c:12), usually from G". */
static void set_caller(struct trait_search *search, struct shared_trait *trait, uint32_t function,
		       bool direct)
{
	uint64_t usually = 0;
	FILE *out = OPEN_TEXT(trait->words);

	trait->function = slow_name(search->answer, function);
	fputs(direct ? "from " : "inside of ", out);
	short_name_print(trait->function, out);
	fill_values(search, TRAIT_CALLER, &search->usual);
	if (direct) {
		usually = majority(&search->usual);
		print_site(search, trait, function, out);
	}
	if (usually && usually != (uint64_t)function + 1) {
		fputs(", usually from ", out);
		short_name_print(slow_name(search->answer, (uint32_t)usually - 1), out);
	} else {
		print_usual(trait, out);
	}
	alloc_close_text(out, &trait->words);
}

/* Find the function that called the slow calls, directly or not, and the fewest usual ones. */
static void find_caller(struct trait_search *search)
{
	uint32_t first = caller_of(search, search->slow.calls->traits.path), found = 0;
	size_t least = SIZE_MAX, most = 0;

	search->slow.known = search->slow.count;
	search->usual.known = search->usual.count;
	for (uint32_t path = first; path; path = caller_of(search, path)) {
		uint32_t function = function_of(search, path);
		size_t same, usual_same;

		if (slow_symbol(search->answer, function)->kind >= SYMBOL_SPECIAL)
			continue;
		same = count_inside(search, &search->slow, function);
		usual_same = count_inside(search, &search->usual, function);
		if (usual_same >= least || !is_clear(search, same, usual_same))
			continue;
		found = path;
		least = usual_same;
		most = same;
	}
	if (found)
		set_caller(search, add_trait(search, "caller", NULL, most, least),
			   function_of(search, found), found == first);
}

/* ---- Other traits -------------------------------------------------------- */

/* Find a value of a trait that the slow calls share. */
static void find_value(struct trait_search *search, enum trait_kind kind)
{
	const struct track *track = search->slow.calls->track;
	struct shared_trait *trait;
	uint64_t value;
	size_t same, usual_same;
	FILE *out;

	fill_values(search, kind, &search->slow);
	fill_values(search, kind, &search->usual);
	value = majority(&search->slow);
	same = count_value(&search->slow, value);
	usual_same = count_value(&search->usual, value);
	if (!value || !is_clear(search, same, usual_same))
		return;
	if (kind == TRAIT_SITE) {
		uint32_t caller = caller_of(search, search->slow.calls->traits.path);

		if (caller)
			set_caller(search, add_trait(search, "call site", NULL, same, usual_same),
				   function_of(search, caller), true);
		return;
	}
	for (size_t i = 0; i < search->slow.count; i++)
		if (search->slow.calls[i].track->index + 1 == value)
			track = search->slow.calls[i].track;
	trait = add_trait(search, kind == TRAIT_CPU ? "cpu" : "thread", NULL, same, usual_same);
	trait->value = kind == TRAIT_CPU ? (int64_t)value - 1 : track->tid;
	out = OPEN_TEXT(trait->words);
	if (kind == TRAIT_CPU)
		fprintf(out, "on CPU %" PRId64, trait->value);
	else
		escaped_printf(out, "in thread %s/%" PRId32, track->thread_name ?: "", track->tid);
	print_usual(trait, out);
	alloc_close_text(out, &trait->words);
}

COMPARE_WITH(compare_values, uint64_t, COMPARE(*a, *b))

/* Find whether slow calls come after a longer time without such a call. */
static void find_pause(struct trait_search *search)
{
	struct trait_calls *slow = &search->slow, *usual = &search->usual;
	size_t first, after;
	uint64_t least, median;

	fill_values(search, TRAIT_PAUSE, slow);
	fill_values(search, TRAIT_PAUSE, usual);
	if (!slow->known || !usual->known)
		return;
	SORT(slow->values, slow->known, compare_values);
	SORT(usual->values, usual->known, compare_values);
	first = slow->known - (size_t)ceil(SLOW_SHARE * (double)slow->known);
	least = slow->values[first];
	median = usual->values[usual->known / 2];
	after = usual->known - LOWER_BOUND(i, usual->known, usual->values[i] < least);
	if (least >= PAUSE_RATIO * median &&
	    (double)least >= MIN(search->cluster->extra, PAUSE_LEAST) &&
	    is_clear(search, slow->known - first, after))
		add_trait(search, "pause",
			  alloc_text("after %s or more without such a call in the thread, usually "
				     "%s",
				     short_time(least).text, short_time(median).text),
			  slow->known - first, after)
			->value = (int64_t)least;
}

void shared_traits_find(const struct slow_answer *answer, struct slow_cluster *cluster,
			const struct timeline *timeline)
{
	const struct slow_function *of = answer->of;
	struct trait_search search = { .answer = answer,
				       .cluster = cluster,
				       .timeline = timeline };
	struct trait_calls *slow = &search.slow, *usual = &search.usual;

	if (cluster->count < SLOW_LEAST)
		return;
	slow->calls = alloc_zeroed(cluster->count, sizeof(*slow->calls));
	slow->values = alloc_zeroed(cluster->count, sizeof(*slow->values));
	usual->calls = alloc_zeroed(SAMPLES_MOST, sizeof(*usual->calls));
	usual->values = alloc_zeroed(SAMPLES_MOST, sizeof(*usual->values));
	for (; slow->count < cluster->count; slow->count++) {
		const struct slow_call *call = cluster->calls[slow->count];

		slow->calls[slow->count] = (struct sampled_call){
			.track = call->track, .begin = call->begin, .traits = call->traits
		};
	}
	for (size_t i = 0; i < of->sample_count; i++)
		if (of->samples[i].amount <= answer->bound)
			usual->calls[usual->count++] = of->samples[i];
	find_caller(&search);
	if (!cluster->trait_count)
		find_value(&search, TRAIT_SITE);
	find_value(&search, TRAIT_THREAD);
	if (timeline)
		find_value(&search, TRAIT_CPU);
	if (!answer->calls->by_insns && !of->recursive && !cluster->alike &&
	    !cluster->wait.hop_count)
		find_pause(&search);
	free(slow->calls);
	free(slow->values);
	free(usual->calls);
	free(usual->values);
}
