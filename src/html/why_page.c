/* SPDX-License-Identifier: MIT */
/*
 * `ptrace2ftf why -o FILE.html`: the answer as a page for a ticket.  It has no script: charts are
 * SVG, and the whole page can be read and searched as text.
 */
#include <math.h>

#include "src/formats/answers/why.h"
#include "src/formats/text/source_file.h"
#include "src/formats/text/time_note.h"
#include "src/html/html_page.h"
#include "src/slices/slice_args.h"

/* Pixels: of a chart, of a histogram's highest bar, of a call. */
#define CHART_WIDTH 960
#define BAR_HEIGHT  120
#define CALL_HEIGHT 18
/* Narrower calls are not drawn. */
#define LEAST_WIDTH 0.5
#define LETTER      7

#define DEPTH_MOST 32
/* A name, which may have any length. */
#define NAME "%.200s"
/* Classes of durations in an octave: 2^BAR_BITS. */
#define BAR_BITS 2
/* Pixels above the highest bar, for its count; ticks, at most. */
#define COUNT_HEIGHT 14
#define TICKS_MOST   12
/* Clusters with separate colours. */
#define COLORS 4

/* Lines of source before and after the line of the cause. */
#define SOURCE_BEFORE 3
#define SOURCE_AFTER  16

static size_t color_of(size_t cluster)
{
	return MIN(cluster, (size_t)COLORS - 1);
}

static const char *label(const struct slow_answer *answer, const struct symbol *symbol)
{
	return function_label(&answer->calls->labels, symbol)->text;
}

/* Print a cluster's cause in words. */
static void print_cause(const struct slow_answer *answer, size_t number, FILE *out)
{
	char *text = why_cause_text(answer, &answer->clusters[number]);

	html_printf(out, "<b>%s</b>", text);
	free(text);
}

/* Print the command that shows a panel's data, of a function or of all. */
static void print_command(const struct why_output *why, const char *command,
			  const struct symbol *function, FILE *out)
{
	char *text;
	FILE *words = OPEN_TEXT(text);

	why_command_print(why, command, function, words);
	alloc_close_text(words, &text);
	text[strlen(text) - 1] = '\0';
	html_printf(out, "<p><code>%s</code></p>\n", text);
	free(text);
}

/* Print the begin of a link to the panel of the other thread of a cluster's wait. */
static void print_wait_begin(const struct why_output *why, const struct slow_answer *answer,
			     const struct slow_cluster *cluster, FILE *out)
{
	fprintf(out, "<a href=\"#wait-%td-%td\">", answer - why->answers,
		cluster - answer->clusters);
}

/* ---- The top ------------------------------------------------------------- */

static void print_verdict(const struct why_output *why, FILE *out)
{
	const struct slow_answer *answer = why->answers;
	char *verdict = why->count ? why_verdict_text(answer) : NULL;
	double extra = 0;

	fputs("<p class=\"verdict\">", out);
	if (verdict && *verdict)
		html_printf(out, "<b>" NAME "</b>: %s. ", slow_name(answer, answer->function)->text,
			    verdict);
	else if (!why->count || !answer->count)
		fputs("No slow calls were found.", out);
	free(verdict);
	if (!why->count || !answer->count) {
		fputs("</p>\n", out);
		if (why->most.calls) {
			char *most = why_most_text(why);

			fputs("<p>", out);
			html_text_print(most, strlen(most), out);
			fputs(".</p>\n", out);
			free(most);
		}
		return;
	}
	for (size_t i = 0; i < answer->count; i++)
		extra += answer->clusters[i].more * (double)answer->clusters[i].count;
	html_printf(out,
		    "%" PRIu64 " of %" PRIu64 " calls of <b>" NAME
		    "</b> took %s%s%s more than usual, together, mainly because of ",
		    answer->slow, answer->all, slow_name(answer, answer->function)->text,
		    answer->slow > answer->compared + answer->outer || answer->slow_cut
			    ? "at least "
			    : "",
		    extra_text(answer->calls->by_insns, extra).text,
		    amount_unit(answer->calls->by_insns));
	print_cause(answer, 0, out);
	fputs("</p>\n", out);
}

/* Print lines of text, which it releases, as a list. */
static void print_lines(const char *heading, char *lines, FILE *out)
{
	fprintf(out, "<h3>%s</h3>\n<ul>\n", heading);
	for (char *line = lines, *end; (end = strchr(line, '\n')); line = end + 1) {
		fputs("<li>", out);
		html_text_print(line, (size_t)(end - line), out);
		fputs("</li>\n", out);
	}
	fputs("</ul>\n", out);
	free(lines);
}

/* ---- The histogram ------------------------------------------------------- */

static void print_bar(double x, double width, double from, double to, const char *class, FILE *out)
{
	if (to > from)
		fprintf(out,
			"<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
			"height=\"%.1f\"/>\n",
			class, x, BAR_HEIGHT - to, width, to - from);
}

/* Print the bar of a class of durations: calls of each cluster, above calls of no cluster. */
static void print_class(const struct slow_answer *answer, const struct durations *all,
			uint32_t class, double x, double width, FILE *out)
{
	static const char *const colors[COLORS] = { "c0", "c1", "c2", "c3" };
	uint64_t begin = log_class_begin(class, BAR_BITS);
	uint64_t above = begin ? durations_longer(all, begin - 1) : all->count, slow = 0, count;
	double to, from;

	count = above - durations_longer(all, log_class_begin(class + 1, BAR_BITS) - 1);
	if (!count)
		return;
	fprintf(out, "<g><title>calls from %s to below %s: %" PRIu64 "</title>\n",
		amount_text(answer->calls->by_insns, begin).text,
		amount_text(answer->calls->by_insns, log_class_begin(class + 1, BAR_BITS)).text,
		count);
	to = BAR_HEIGHT * log1p((double)count) / log1p((double)all->count);
	from = to;
	for (size_t i = 0; i < answer->count; i++) {
		const struct slow_cluster *cluster = &answer->clusters[i];
		double before = from;

		for (size_t j = 0; j < cluster->count; j++)
			slow += log_class(slow_call_whole(cluster->calls[j]), BAR_BITS) == class;
		from = to * (double)(count - MIN(slow, count)) / (double)count;
		print_bar(x, width, from, before, colors[color_of(i)], out);
	}
	print_bar(x, width, 0, from, "usual", out);
	fprintf(out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\">%" PRIu64 "</text></g>\n",
		x + width / 2, BAR_HEIGHT - to - 2, count);
}

/* Print the begins of octaves below the bars, as many as have room. */
static void print_ticks(const struct slow_answer *answer, uint32_t first, uint32_t last,
			double width, FILE *out)
{
	uint32_t octaves = (last - first + 1) >> BAR_BITS;
	uint32_t step = MAX(octaves / TICKS_MOST + 1, 1u) << BAR_BITS;

	for (uint32_t class = first; class <= last; class ++) {
		double x = (class - first) * width;

		if (class % step)
			continue;
		fprintf(out,
			"<line class=\"tick\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\"/>"
			"<text x=\"%.1f\" y=\"%d\">%s</text>\n",
			x, x, BAR_HEIGHT, BAR_HEIGHT + 4, x, BAR_HEIGHT + 16,
			amount_text(answer->calls->by_insns, log_class_begin(class, BAR_BITS))
				.text);
	}
}

static void print_clusters(const struct why_output *why, struct slow_answer *answer, FILE *out)
{
	fputs("<table>\n<tr><th></th><th>calls</th><th>extra each</th><th>cause</th></tr>\n", out);
	for (size_t i = 0; i < answer->count; i++) {
		struct slow_cluster *cluster;

		fprintf(out,
			"<tr><td><span class=\"key c%zu\"></span></td><td>%zu</td><td>%s%s</td><td>",
			color_of(i), answer->clusters[i].count,
			answer->clusters[i].cut ? "&gt;" : "",
			extra_text(answer->calls->by_insns, answer->clusters[i].more).text);
		print_cause(answer, i, out);
		/* Print the facts about a cluster; the one about another thread leads to that
		 * thread. */
		cluster = &answer->clusters[i];
		for (size_t j = 0; j < cluster->fact_count; j++) {
			size_t hops = cluster->wait.hop_count;
			bool waits = hops && j + hops == cluster->fact_count;

			fputs("<br>", out);
			if (waits)
				print_wait_begin(why, answer, cluster, out);
			html_printf(out, "%s", cluster->facts[j].words);
			fputs(waits ? "</a>" : "", out);
		}
		fputs("</td></tr>\n", out);
	}
	fputs("</table>\n", out);
}

/* ---- The slowest call ---------------------------------------------------- */

struct icicle {
	const struct why_output *why;       /* borrowed */
	const struct slow_answer *answer;   /* borrowed */
	const struct slow_cluster *cluster; /* borrowed: of the slowest call */
	uint32_t wait;                      /* row whose box leads to the other thread; 0: none */
	struct box {
		double slow, usual; /* with callees */
		double at, next;    /* left ends: its own, and of the next callee */
	} * boxes;                  /* owned; by row */
	double scale;               /* pixels of a unit */
};

static void print_box(const struct icicle *icicle, uint32_t row, bool typical, FILE *out)
{
	const struct slow_answer *answer = icicle->answer;
	const struct box *box = &icicle->boxes[row];
	double amount = typical ? box->usual : box->slow;
	double x = box->at * icicle->scale, width = amount * icicle->scale;
	double red = typical ? 0 : (box->slow - box->usual) * icicle->scale;
	unsigned y = answer->info[row].depth * CALL_HEIGHT;
	const char *name = slow_name(answer, answer->info[row].function)->text;

	if (width < LEAST_WIDTH || answer->info[row].depth > DEPTH_MOST)
		return;
	if (row == icicle->wait && !typical)
		print_wait_begin(icicle->why, answer, icicle->cluster, out);
	html_printf(
		out,
		"<g><title>" NAME
		": %s, usually %s</title><rect class=\"usual\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>",
		name, extra_text(answer->calls->by_insns, amount).text,
		extra_text(answer->calls->by_insns, box->usual).text, x, y, width, CALL_HEIGHT - 1);
	if (red >= LEAST_WIDTH)
		fprintf(out,
			"<rect class=\"extra\" x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"/>",
			x + width - red, y, red, CALL_HEIGHT - 1);
	if (width >= 4 * LETTER)
		html_printf(out, "<text x=\"%.1f\" y=\"%u\">%.*s</text>", x + 2,
			    y + CALL_HEIGHT - 5, MAX((int)(width / LETTER), 6), name);
	fputs(row == icicle->wait && !typical ? "</g></a>\n" : "</g>\n", out);
}

/* Callees are next to each other in the order in which they were found; own code is at the end. */
static void print_icicle(struct icicle *icicle, bool typical, FILE *out)
{
	const struct slow_answer *answer = icicle->answer;
	struct box *boxes = icicle->boxes;
	unsigned depth = 0;

	for (uint32_t i = 1; i < answer->rows.count; i++)
		if ((typical ? boxes[i].usual : boxes[i].slow) * icicle->scale >= LEAST_WIDTH)
			depth = MAX(depth, answer->info[i].depth);
	fprintf(out,
		"<p>%s: %s</p>\n<svg class=\"icicle\" viewBox=\"0 0 %d %u\" width=\"%d\" "
		"role=\"img\" aria-label=\"calls\">\n",
		typical ? "A usual call, on the same scale" : "The slowest call",
		extra_text(answer->calls->by_insns, typical ? boxes[1].usual : boxes[1].slow).text,
		CHART_WIDTH, (MIN(depth, (unsigned)DEPTH_MOST) + 1) * CALL_HEIGHT, CHART_WIDTH);
	for (uint32_t i = 1; i < answer->rows.count; i++) {
		struct box *parent = &boxes[answer->info[i].parent];

		boxes[i].at = boxes[i].next = i > 1 ? parent->next : 0;
		parent->next += typical ? boxes[i].usual : boxes[i].slow;
		print_box(icicle, i, typical, out);
	}
	fputs("</svg>\n", out);
}

static void print_slowest(const struct why_output *why, const struct slow_answer *answer, FILE *out)
{
	const struct slow_cluster *cluster = answer->clusters;
	const struct slow_call *call = cluster->calls[0];
	size_t rows = answer->rows.count;
	struct box *boxes = alloc_zeroed(rows, sizeof(*boxes));
	struct icicle icicle = { .why = why, .answer = answer, .cluster = cluster, .boxes = boxes };
	bool by_insns = answer->calls->by_insns;
	const char *unit = digits_work_unit() ? amount_unit(by_insns) : "";

	EACH_COST(cost, call->costs, call->count)
	boxes[answer->row_of[cost->path]].slow +=
		(double)(by_insns ? cost->own.insns : cost->own.ns);
	for (size_t i = rows - 1; i > 0; i--) {
		const struct call_costs *own = &answer->rows.nodes[i].own;

		boxes[i].usual += (double)(by_insns ? own->insns : own->ns) /
				  (double)MAX(answer->others, (uint64_t)1);
		boxes[answer->info[i].parent].slow += boxes[i].slow;
		boxes[answer->info[i].parent].usual += boxes[i].usual;
		if (cluster->wait.hop_count && answer->info[i].function == cluster->leaf &&
		    boxes[i].slow > boxes[icicle.wait].slow)
			icicle.wait = (uint32_t)i;
	}
	icicle.scale = CHART_WIDTH / MAX(MAX(boxes[1].slow, boxes[1].usual), 1);
	fputs("<h3>The slowest call of the first cause beside a usual one</h3>\n", out);
	print_command(why,
		      "ptrace2ftf --slowest=1 --symbol=", slow_symbol(answer, answer->function),
		      out);
	fprintf(out,
		"<p>It began at %s%s in thread %" PRId32
		". Callees are below their callers; the extra is red.%s</p>\n",
		moment_text(call->begin).text, *unit ? unit : " s", call->track->tid,
		icicle.wait ? " The wait leads to the other thread." : "");
	print_icicle(&icicle, false, out);
	print_icicle(&icicle, true, out);
	free(boxes);
}

/* ---- Source -------------------------------------------------------------- */

/* Returns whether a line is near that of the cause or one with extra time; adds its extra. */
static bool shows_line(const struct source_line *at, uint32_t number, const struct code_line *lines,
		       size_t count, double *extra)
{
	bool near = number + SOURCE_BEFORE >= at->line && number <= at->line + SOURCE_AFTER;

	for (size_t i = 0; i < count; i++) {
		near |= number + SOURCE_BEFORE >= lines[i].line &&
			number <= lines[i].line + SOURCE_BEFORE;
		*extra += lines[i].line == number ? lines[i].extra : 0;
	}
	return near;
}

/* Print the source of the main cause, if the file can be read, with the extra time of its lines. */
static void print_cause_source(const struct why_output *why, struct slow_answer *answer, FILE *out)
{
	const struct symbol *cause = slow_symbol(answer, answer->clusters[0].cause);
	struct source_line at = answer->clusters[0].line;
	struct source_file source = { 0 };
	struct code_line lines[CODE_LINES];
	size_t found = slow_source_lines(answer, &answer->clusters[0], lines), count = 0;
	uint32_t shown = 0;

	/* With --symfs, read no file outside of it. */
	if (!why->options->symfs && at.file && at.line)
		source_file_read(&source, at.file->text);
	if (!source.count) {
		source_file_release(&source);
		return;
	}
	for (size_t i = 0; i < found; i++)
		if (lines[i].file == at.file)
			lines[count++] = lines[i];
	html_printf(out, "<h3>Source of %s" NAME "</h3>\n", cause->inlined ? "the call of " : "",
		    label(answer, cause));
	if (why_symbol_of_code(answer, answer->clusters[0].cause))
		print_command(why, "ptrace2ftf annotate ",
			      why_symbol_of_code(answer, answer->clusters[0].cause), out);
	fputs(count ? "<p>Before the number of a line: the extra time of its own code in a slow "
		      "call.</p>\n"
		    : "",
	      out);
	fputs("<pre class=\"source\">", out);
	for (uint32_t number = 1; number <= source.count; number++) {
		double extra = 0;
		size_t length;
		const char *line = source_file_line(&source, number, &length);

		if (!shows_line(&at, number, lines, count, &extra))
			continue;
		fputs(shown && shown + 1 < number ? "...\n" : "", out);
		shown = number;
		fputs(number == at.line ? "<mark>" : "", out);
		fprintf(out, "%10s %6" PRIu32 "  ", extra > 0 ? extra_text(false, extra).text : "",
			number);
		html_text_print(line, length, out);
		fputs(number == at.line ? "</mark>\n" : "\n", out);
	}
	fputs("</pre>\n", out);
	source_file_release(&source);
}

/* ---- Waits --------------------------------------------------------------- */

/* Print the sentences about the threads for which a cluster waited, and their calls. */
static void print_other_threads(const struct why_output *why, struct slow_answer *answer,
				size_t number, FILE *out)
{
	const struct slow_cluster *cluster = &answer->clusters[number];
	const struct thread_wait *wait = &cluster->wait;

	for (size_t hop = 0; hop < wait->hop_count; hop++) {
		/* The last facts are those of the hops. */
		const char *words =
			cluster->facts[cluster->fact_count - wait->hop_count + hop].words;

		if (hop)
			html_printf(out, "<h3>%s</h3>\n", words);
		else
			html_printf(out, "<h3 id=\"wait-%td-%zu\">%s</h3>\n", answer - why->answers,
				    number, words);
		if (!hop)
			print_command(why, "ptrace2ftf -o slow/ --slowest=1 --symbol=",
				      slow_symbol(answer, answer->function), out);
		fputs("<p>Calls of this thread during the wait, the outer one first:</p>\n<ol>\n",
		      out);
		for (size_t i = 0; i < wait->hops[hop].path_count; i++) {
			const struct symbol *symbol = wait->hops[hop].path[i];
			struct source_line at = slice_source_line(symbol);

			if (wait->hops[hop].path_cut && i == WAIT_PATH_OUTER)
				fputs("<li>...</li>\n", out);
			html_printf(out, "<li>" NAME, label(answer, symbol));
			if (at.file && at.line)
				html_printf(out, ", %s:%" PRIu32, at.file->text, at.line);
			fputs("</li>\n", out);
		}
		fputs("</ol>\n", out);
	}
}

/* ---- The page ------------------------------------------------------------ */

static void print_section(const struct why_output *why, struct slow_answer *answer, FILE *out)
{
	struct durations all;
	uint32_t first, last;
	double width, bound;

	html_printf(out, "<h2>" NAME "</h2>\n", slow_name(answer, answer->function)->text);
	if (!answer->all)
		return;
	if (answer->count) {
		print_clusters(why, answer, out);
		print_cause_source(why, answer, out);
	}
	fputs("<h3>How long calls take</h3>\n", out);
	slow_function_durations(answer->of, &all);
	for (size_t i = 0; i < answer->count; i++)
		for (size_t j = 0; answer->clusters[i].cut && j < answer->clusters[i].count; j++)
			durations_add(&all, answer->clusters[i].calls[j]->amount);
	first = log_class(all.min, BAR_BITS);
	last = log_class(all.max, BAR_BITS);
	width = CHART_WIDTH / (double)(last - first + 1);
	/* With --slow, the bound may be anywhere. */
	bound = (log_class(MIN(MAX(answer->bound, all.min), all.max), BAR_BITS) - first + 1) *
		width;
	print_command(why, "ptrace2ftf --format=histogram --symbol=",
		      slow_symbol(answer, answer->function), out);
	fprintf(out,
		"<svg class=\"histogram\" viewBox=\"0 -%d %d %d\" "
		"width=\"%d\" role=\"img\" aria-label=\"histogram\">\n",
		COUNT_HEIGHT, CHART_WIDTH, COUNT_HEIGHT + BAR_HEIGHT + 20, CHART_WIDTH);
	for (uint32_t class = first; class <= last; class ++)
		print_class(answer, &all, class, (class - first) * width, width * 0.9, out);
	print_ticks(answer, first, last, width, out);
	fprintf(out,
		"<line class=\"bound\" x1=\"%.1f\" x2=\"%.1f\" y1=\"0\" y2=\"%d\"/>\n</svg>\n"
		"<p>The fastest call takes %s, and the slowest one %s. Each octave has four bars; "
		"heights are logarithmic, and counts above the bars. Calls to the right of the "
		"line take longer than %s.</p>\n",
		bound, bound, BAR_HEIGHT, amount_text(answer->calls->by_insns, all.min).text,
		amount_text(answer->calls->by_insns, all.max).text,
		extra_text(answer->calls->by_insns, (double)answer->bound).text);
	durations_release(&all);
	if (!answer->count)
		return;
	print_slowest(why, answer, out);
	for (size_t i = 0; i < answer->count; i++)
		print_other_threads(why, answer, i, out);
	print_lines("Commands that show more", why_commands(why, answer), out);
}

static void print_page(const struct why_output *why, const char *text, size_t size, FILE *out)
{
	const char *input = why->options->input ? why->options->input : "ptrace2ftf";

	html_why_begin(out);
	html_printf(out, "<title>%s</title>\n</head>\n<body>\n<h1>Slow calls in %s</h1>\n", input,
		    input);
	print_verdict(why, out);
	print_lines("How far to trust this", why_doubts_text(why), out);
	fputs("<h2>Functions by their slow calls</h2>\n", out);
	print_command(why, "ptrace2ftf why", NULL, out);
	fputs("<table>\n<tr><th>beyond the median</th><th>calls</th><th>slow</th><th>function</th>"
	      "</tr>\n",
	      out);
	for (size_t i = 0; i < why->count; i++) {
		const struct slow_answer *answer = &why->answers[i];

		html_printf(out,
			    "<tr><td>%s</td><td>%" PRIu64 "</td><td>%" PRIu64 "</td><td>" NAME
			    "</td></tr>\n",
			    extra_text(answer->calls->by_insns, answer->excess).text, answer->all,
			    answer->slow, slow_name(answer, answer->function)->text);
	}
	fputs("</table>\n", out);
	for (size_t i = 0; i < why->count; i++)
		print_section(why, &why->answers[i], out);
	fputs("<h2>The answer of ptrace2ftf why</h2>\n<pre>", out);
	html_text_print(text, size, out);
	fputs("</pre>\n</body>\n</html>\n", out);
}

static void print_why_page(struct format_output *output)
{
	FILE *page = output->text;
	char *text;
	size_t size;

	output->text = ALLOC_CHECKED(open_memstream(&text, &size));
	format_why.finish(output);
	alloc_close_text(output->text, &text);
	output->text = page;
	print_page((struct why_output *)output, text, size, page);
	free(text);
}

const struct output_format format_why_page = { WHY_FORMAT, .suffix = "html",
					       .finish = print_why_page };
