/* SPDX-License-Identifier: MIT */
/*
 * `--format=slices`: one line per finished slice,
 * `pid/tid depth begin_ns end_ns name key=value...`, in the order of slice_list.h.
 *
 * In names and values, control characters and backslashes become \xNN.
 *
 * `--format=csv`: the same slices as rows for pandas and DuckDB (RFC 4180), with names as recorded.
 * `--format=jsonl`: these rows as lines of JSON.
 */

#include "src/formats/slice_list.h"
#include "src/formats/text/json_print.h"

static void print_slice(struct slice_list *list, struct track *track,
			const struct listed_slice *slice, uint64_t number)
{
	struct line line;
	char *at = digits_signed(line.text, track->pid);

	(void)number;
	line.out = list->output.text;
	*at++ = '/';
	at = digits_signed(at, track->tid);
	*at++ = ' ';
	at = digits_decimal(at, slice->depth);
	*at++ = ' ';
	at = digits_decimal(at, slice->begin);
	*at++ = ' ';
	at = digits_decimal(at, slice->end);
	*at++ = ' ';
	at = line_name(&line, at, listed_name(slice));
	if (slice->symbol)
		at = slice_list_args(list, slice, &line, at, false);
	*at++ = '\n';
	line_end(&line, at);
}

static void print_slices(struct format_output *output)
{
	slice_list_print((struct slice_list *)output, print_slice);
}

const struct output_format format_slices = {
	.name = "slices",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct slice_list),
	.open = slice_list_open,
	.finish = print_slices,
	.release = slice_list_release,
};

/* ---- CSV, lines of JSON -------------------------------------------------- */

static const char csv_columns[] =
	"pid,tid,depth,begin_ns,duration_ns,name,location,insns,cycles,marks\n";

static const struct name *location_of(struct slice_list *list, const struct listed_slice *slice)
{
	return slice->symbol && list->level != OPTION_ARGS_NONE
		       ? call_sites_find(&list->sites, slice->symbol, CALL_SITES_FUNCTION)
		       : NULL;
}

static void print_csv_name(const struct name *name, FILE *out)
{
	if (name)
		csv_text_print(name->text, name->length, out);
	putc_unlocked(',', out);
}

/* Write the marks of inferred and estimated slices, by the names of other formats' arguments. */
static char *put_marks(const struct listed_slice *slice, char *at)
{
	struct slice_args args = { .count = 0 };
	char *begin = at;

	if (slice->symbol)
		slice_args_add_begin(&args, slice->symbol, slice->ip, slice->flags,
				     OPTION_ARGS_LOC);
	for (size_t i = 0; i < args.count; i++)
		if (args.list[i].type == SLICE_ARG_TRUE)
			at = stpcpy(stpcpy(at, slice_arg_text(args.list[i].key)), " ");
	if (slice->cut)
		at = stpcpy(at, "cut ");
	return at - (at > begin);
}

static void print_csv_row(struct slice_list *list, struct track *track,
			  const struct listed_slice *slice, uint64_t number)
{
	FILE *out = list->output.text;
	const uint64_t numbers[] = { slice->depth, slice->begin, slice->end - slice->begin };
	char text[256], *at = digits_signed(text, track->pid);

	(void)number;
	*at++ = ',';
	at = digits_signed(at, track->tid);
	for (size_t i = 0; i < COUNT_OF(numbers); i++) {
		*at++ = ',';
		at = digits_decimal(at, numbers[i]);
	}
	*at++ = ',';
	fwrite(text, 1, (size_t)(at - text), out);
	print_csv_name(listed_name(slice), out);
	print_csv_name(location_of(list, slice), out);
	if (list->level == OPTION_ARGS_FULL)
		fprintf(out, "%" PRIu64 ",%" PRIu64 ",", slice->cost.insns, slice->cost.cycles);
	else
		fputs(",,", out);
	at = put_marks(slice, text);
	*at++ = '\n';
	fwrite(text, 1, (size_t)(at - text), out);
}

static void print_csv(struct format_output *output)
{
	fputs(csv_columns, output->text);
	slice_list_print((struct slice_list *)output, print_csv_row);
}

const struct output_format format_csv = {
	.name = "csv",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct slice_list),
	.open = slice_list_open,
	.finish = print_csv,
	.release = slice_list_release,
};

static char *put_count(char *at, const char *key, const struct slice_list *list, uint64_t count)
{
	at = stpcpy(at, key);
	return list->level == OPTION_ARGS_FULL ? digits_decimal(at, count) : stpcpy(at, "null");
}

static void print_json_row(struct slice_list *list, struct track *track,
			   const struct listed_slice *slice, uint64_t number)
{
	const struct name *location = location_of(list, slice);
	struct line line;
	char *at;

	(void)number;
	line.out = list->output.text;
	at = digits_signed(stpcpy(line.text, "{\"pid\":"), track->pid);
	at = digits_signed(stpcpy(at, ",\"tid\":"), track->tid);
	at = digits_decimal(stpcpy(at, ",\"depth\":"), slice->depth);
	at = digits_decimal(stpcpy(at, ",\"begin_ns\":"), slice->begin);
	at = digits_decimal(stpcpy(at, ",\"duration_ns\":"), slice->end - slice->begin);
	at = line_json_name(&line, stpcpy(at, ",\"name\":"), listed_name(slice));
	at = stpcpy(at, ",\"location\":");
	at = location ? line_json_name(&line, at, location) : stpcpy(at, "null");
	at = put_count(at, ",\"insns\":", list, slice->cost.insns);
	at = put_count(at, ",\"cycles\":", list, slice->cost.cycles);
	at = put_marks(slice, stpcpy(at, ",\"marks\":\""));
	line_end(&line, stpcpy(at, "\"}\n"));
}

static void print_json_lines(struct format_output *output)
{
	slice_list_print((struct slice_list *)output, print_json_row);
}

const struct output_format format_jsonl = {
	.name = "jsonl",
	.lines = true,
	.slices = SLICES_SORTED,
	.cpu_events = true,
	.size = sizeof(struct slice_list),
	.open = slice_list_open,
	.finish = print_json_lines,
	.release = slice_list_release,
};
