/* SPDX-License-Identifier: MIT */
/* Find what distinguishes functions of one name. */
#include "src/select/function_labels.h"

#include "src/select/name_forms.h"
#include "src/slices/slice_args.h"

/* ---- Facts --------------------------------------------------------------- */

struct fact_text {
	const char *text;
	size_t index;
};

COMPARE_WITH(compare_texts, struct fact_text, strcmp(a->text, b->text))

void function_facts_distinguish(struct function_facts *facts, size_t count)
{
	struct fact_text *texts = alloc_zeroed(count + 1, sizeof(*texts));

	for (size_t i = 0; i < count; i++)
		facts[i].distinct = FACTS;
	for (enum function_fact fact = 0; fact < FACTS && count > 1; fact++) {
		size_t found = 0;

		/* Mark the functions whose text of a kind no other function has. */
		for (size_t i = 0; i < count; i++)
			if (facts[i].texts[fact] &&
			    (fact == FACT_BARE || strcmp(facts[i].texts[fact], facts[i].name) != 0))
				texts[found++] = (struct fact_text){ facts[i].texts[fact], i };
		SORT(texts, found, compare_texts);
		for (size_t i = 0; i < found; i++)
			if ((i == 0 || strcmp(texts[i - 1].text, texts[i].text) != 0) &&
			    (i + 1 == found || strcmp(texts[i + 1].text, texts[i].text) != 0))
				facts[texts[i].index].distinct =
					MIN(fact, facts[texts[i].index].distinct);
	}
	free(texts);
}

char *function_facts_label(const struct function_facts *facts)
{
	const char *text = facts->distinct < FACTS ? facts->texts[facts->distinct] : NULL;

	if (!text || facts->distinct == FACT_SIGNATURE || facts->distinct == FACT_LINKAGE ||
	    facts->distinct == FACT_BARE)
		return alloc_text("%s", text ? text : facts->name);
	return alloc_text("%s (%s)", facts->name, text);
}

char *function_facts_pattern(const struct function_facts *facts)
{
	const char *text = facts->distinct < FACTS ? facts->texts[facts->distinct] : NULL;

	switch (facts->distinct) {
	case FACT_SIGNATURE:
		return alloc_text("%s", strchr(text, '(') ? text : facts->linkage);
	case FACT_LINKAGE:
		return alloc_text("%s", text);
	case FACT_SOURCE:
	case FACT_SOURCE_PATH:
		return alloc_text("%s@%s", facts->name, text);
	case FACT_LIBRARY:
	case FACT_LIBRARY_PATH:
		return alloc_text("%s:%s", text, facts->name);
	default:
		return alloc_text("%s", facts->name);
	}
}

void function_facts_release(struct function_facts *facts)
{
	for (int i = 0; i < FACTS; i++)
		free(facts->texts[i]);
}

/* ---- Symbols ------------------------------------------------------------- */

const struct name *function_source(const struct symbol *symbol)
{
	return symbol->inlined ? symbol->inlined->declared.file : slice_source_line(symbol).file;
}

static char *copy_name(const struct name *name)
{
	return name ? alloc_text("%s", name->text) : NULL;
}

static void find_facts(struct function_facts *facts, const struct symbol *symbol,
		       struct name_forms *forms, struct name_table *names)
{
	const struct name *source = function_source(symbol);
	const struct dso *dso = symbol->dso;

	*facts = (struct function_facts){ .name = symbol->name->text,
					  .linkage = symbol->linkage->text };
	name_forms_set(forms, symbol->linkage->text);
	if (forms->parameters)
		facts->texts[FACT_SIGNATURE] = alloc_text("%s", forms->parameters);
	facts->texts[FACT_LINKAGE] = copy_name(symbol->linkage);
	facts->texts[FACT_BARE] = copy_name(symbol->linkage);
	if (source) {
		facts->texts[FACT_SOURCE] = alloc_text("%s", base_name(source->text));
		facts->texts[FACT_SOURCE_PATH] = copy_name(source);
	}
	if (dso) {
		facts->texts[FACT_LIBRARY] = copy_name(dso->short_name);
		facts->texts[FACT_LIBRARY_PATH] = alloc_text("%s", dso->path);
		facts->texts[FACT_VERSION] = copy_name(dso_build_id_name(dso, names));
	}
	if (symbol->inlined && source)
		facts->texts[FACT_PLACE] = alloc_text("%s:%" PRIu32, facts->texts[FACT_SOURCE],
						      symbol->inlined->declared.line);
	else if (dso && !symbol->inlined)
		facts->texts[FACT_PLACE] =
			alloc_text("%s+0x%" PRIx64, dso->short_name->text, symbol->start);
}

static const struct name *intern_text(struct name_table *names, char *text)
{
	const struct name *name = name_intern_text(names, text);

	free(text);
	return name;
}

void function_labels_make(struct function_labels *labels, const struct function_table *table,
			  struct name_table *names)
{
	if (labels->table && labels->count == table->count)
		return;
	function_labels_release(labels);
	*labels = (struct function_labels){ .table = table, .names = names, .count = table->count };
	labels->made = alloc_zeroed(table->count + 1, sizeof(*labels->made));
}

static struct function_label find_label(const struct function_labels *labels,
					const struct symbol *symbol)
{
	const struct function_table *table = labels->table;
	uint32_t number =
		table && symbol->kind < SYMBOL_SPECIAL ? function_table_look(table, symbol) : 0;
	uint32_t last = number ? table->by_name[symbol->name->id].last : 0;

	if (!last || number > labels->count || !table->functions[last - 1].next_named)
		return (struct function_label){ symbol->name, symbol->name };
	if (!labels->made[number - 1].shown) {
		const struct table_function *functions = labels->table->functions;
		struct name_forms forms = { 0 };
		struct function_facts *facts;
		size_t count = 0, i = 0;

		/* Label the functions of one name, from function `last` - 1 along `next_named`. */
		for (uint32_t at = last; at; at = functions[at - 1].next_named)
			count++;
		facts = alloc_zeroed(count, sizeof(*facts));
		for (uint32_t at = last; at; at = functions[at - 1].next_named)
			find_facts(&facts[i++], functions[at - 1].symbol, &forms, labels->names);
		function_facts_distinguish(facts, count);
		i = 0;
		for (uint32_t at = last; at; at = functions[at - 1].next_named, i++) {
			labels->made[at - 1] = (struct function_label){
				intern_text(labels->names, function_facts_label(&facts[i])),
				intern_text(labels->names, function_facts_pattern(&facts[i])),
			};
			function_facts_release(&facts[i]);
		}
		name_forms_release(&forms);
		free(facts);
	}
	return labels->made[number - 1];
}

const struct name *function_label(const struct function_labels *labels, const struct symbol *symbol)
{
	return find_label(labels, symbol).shown;
}

const struct name *function_pattern(const struct function_labels *labels,
				    const struct symbol *symbol)
{
	return find_label(labels, symbol).pattern;
}

/* ---- Other recordings ---------------------------------------------------- */

/* Returns the length of a linkage name before Rust's hash, "17h", 16 digits and "E". */
static int linkage_length(const struct name *linkage)
{
	const char *hash = linkage->text + MAX(linkage->length, 20) - 20;
	bool found = starts_with(hash, "17h") && strspn(hash + 3, "0123456789abcdef") == 16;

	return linkage->length - (found ? 20 : 0);
}

static const char *local_source(const struct symbol *symbol)
{
	bool local = symbol->inlined || symbol->binding == SYMBOL_LOCAL;
	const struct name *source = local ? function_source(symbol) : NULL;

	return source ? base_name(source->text) : "";
}

char *function_identity(const struct function_labels *labels, const struct symbol *symbol)
{
	const struct function_table *table = labels->table;
	const char *source = local_source(symbol);
	size_t count = 0, number = 1;
	char text[48] = "";

	for (uint32_t at = table->by_name[symbol->name->id].last; at;
	     at = table->functions[at - 1].next_named) {
		const struct symbol *other = table->functions[at - 1].symbol;
		bool alike;
		int length = linkage_length(other->linkage);

		alike = other->dso == symbol->dso && length == linkage_length(symbol->linkage) &&
			memcmp(other->linkage->text, symbol->linkage->text, (size_t)length) == 0 &&
			strcmp(local_source(other), local_source(symbol)) == 0;
		count += alike;
		number += alike &&
			  (other->inlined && symbol->inlined
				   ? other->inlined->declared.line < symbol->inlined->declared.line
				   : other->start < symbol->start);
	}
	if (count > 1)
		snprintf(text, sizeof(text), "#%zu/%zu", number, count);
	return alloc_text("%.*s%s%s%s", linkage_length(symbol->linkage), symbol->linkage->text,
			  *source ? "@" : "", source, text);
}

void function_labels_release(struct function_labels *labels)
{
	free(labels->made);
	*labels = (struct function_labels){ 0 };
}
