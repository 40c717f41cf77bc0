/* SPDX-License-Identifier: MIT */
/*
 * `--format=branches`: one line per branch, as `perf script --itrace=be -F
 * pid,tid,time,flags,ip,addr,sym,symoff --ns` prints it, except for names of code without symbols
 * (tools/perf/builtin-script.c, perf_sample__fprintf_flags and perf_event__fprintf_auxtrace_error
 * of perf 6.1).
 */

#include "decoder/timeline/timeline.h"
#include "src/callstack/callstack.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/perf_script/perf_script_line.h"

static const char *kind_text(const struct branch_event *event)
{
	if (event->kind > BRANCH_NONE && event->kind < PERF_BRANCH_WORDS)
		return perf_branch_words[event->kind];
	return event->flags & BRANCH_ASYNC ? "async" : "";
}

static char *put_flags(char *at, const struct branch_event *event)
{
	char *end = at;

	memset(at, ' ', 21);
	if (event->flags & BRANCH_TRACE_ON)
		end = mempcpy(end, "tr strt ", 8);
	else if (event->flags & BRANCH_TRACE_OFF)
		end = mempcpy(end, "tr end  ", 8);
	end = stpcpy(end, kind_text(event));
	if (event->flags & BRANCH_IN_TX)
		end = stpcpy(end, " (x)");
	*end = ' ';
	return at + 21;
}

char *format_location(struct line *line, char *at, const struct location *location)
{
	if (!location->symbol)
		return stpcpy(at, "[unknown]");
	at = line_name(line, at, location->symbol->name);
	/* A whole file has no offset. */
	if (location->symbol->kind == SYMBOL_FILE)
		return at;
	return digits_hex(stpcpy(at, "+0x"), location->offset);
}

char *format_moment(char *at, int32_t pid, int32_t tid, uint64_t time)
{
	at = digits_right(at, digits_signed(at, pid), 5);
	*at++ = '/';
	at = digits_left(at, digits_signed(at, tid), 5);
	*at++ = ' ';
	if (digits_work_unit())
		return digits_right(at, digits_decimal(at, time), 15);
	at = digits_right(at, digits_decimal(at, time / NS_PER_S), 5);
	*at++ = '.';
	return digits_fixed(at, time % NS_PER_S, 9);
}

/* Write "pid/tid time:  flags  ip ", with "%-21s  %16x " for the last two. Returns the end. */
static char *put_head(char *at, const struct branch_event *event, uint64_t ip)
{
	const struct thread *thread = event->thread;

	at = format_moment(at, thread ? thread->pid : -1, thread ? thread->tid : -1, event->time);
	at = put_flags(stpcpy(at, ":   "), event);
	at = digits_hex_right(stpcpy(at, "  "), ip);
	*at++ = ' ';
	return at;
}

void format_branch(FILE *out, const struct branch_event *event, const struct location *from,
		   const struct location *to)
{
	struct line line;
	char *at;

	if (event->kind == BRANCH_GAP) {
		const struct thread *thread = event->thread;

		fprintf(out,
			" instruction trace error type 1 time %s cpu %d pid %d tid %d ip %s%" PRIx64
			" code %u: %s\n",
			moment_text(event->time).text, event->cpu, thread ? thread->pid : -1,
			thread ? thread->tid : -1, event->from ? "0x" : "", event->from, event->gap,
			gap_reason_facts((enum gap_reason)event->gap)->text);
		return;
	}
	line.out = out;
	at = format_location(&line, put_head(line.text, event, from->ip), from);
	at = digits_hex_right(stpcpy(at, " => "), to->ip);
	*at++ = ' ';
	at = format_location(&line, at, to);
	*at++ = '\n';
	line_end(&line, at);
}

static void print_branch(struct format_output *output, const struct branch_event *event,
			 const struct location *from, const struct location *to)
{
	format_branch(output->text, event, from, to);
}

const struct output_format format_branches = {
	.name = "branches",
	.lines = true,
	.as_perf = true,
	.all_branches = true,
	.size = sizeof(struct format_output),
	.branch = print_branch,
};
