/* SPDX-License-Identifier: MIT */
/* --format=branches: lines as perf script prints them. */
#include "src/formats/format_branches.h"

#include "decoder/timeline/timeline.h"
#include "src/formats/output_format.h"
#include "src/formats/text/any_text.h"

#define NS_PER_S UINT64_C(1000000000)

static const char *kind_text(const struct branch_event *event)
{
	switch ((enum branch_kind)event->kind) {
	case BRANCH_CALL:
		return "call";
	case BRANCH_RETURN:
		return "return";
	case BRANCH_JUMP:
		return "jmp";
	case BRANCH_COND:
		return "jcc";
	case BRANCH_SYSCALL:
		return "syscall";
	case BRANCH_SYSRET:
		return "sysret";
	case BRANCH_SOFTINT:
		return "int";
	case BRANCH_IRET:
		return "iret";
	case BRANCH_INTERRUPT:
		return "hw int";
	case BRANCH_TX_ABORT:
		return "tx abrt";
	default:
		return event->flags & BRANCH_ASYNC ? "async" : "";
	}
}

static void print_flags(FILE *out, const struct branch_event *event)
{
	const char *state = "";
	char flags[64];

	if (event->flags & BRANCH_TRACE_ON)
		state = "tr strt ";
	else if (event->flags & BRANCH_TRACE_OFF)
		state = "tr end  ";
	snprintf(flags, sizeof(flags), "%s%s%s", state, kind_text(event),
		 event->flags & BRANCH_IN_TX ? " (x)" : "");
	fprintf(out, "  %-21s  ", flags);
}

void format_location(FILE *out, const struct location *location)
{
	if (!location->symbol) {
		fputs("[unknown]", out);
		return;
	}
	escaped_text_print(location->symbol->name->text, location->symbol->name->length, out);
	/* All of a file has no begin. */
	if (location->symbol->kind != SYMBOL_FILE)
		fprintf(out, "+0x%" PRIx64, location->offset);
}

static void print_gap(FILE *out, const struct branch_event *event)
{
	const struct thread *thread = event->thread;

	fprintf(out,
		" instruction trace error type 1 time %" PRIu64 ".%09" PRIu64
		" cpu %d pid %d tid %d ip ",
		event->time / NS_PER_S, event->time % NS_PER_S, event->cpu,
		thread ? thread->pid : -1, thread ? thread->tid : -1);
	fprintf(out, event->from ? "0x%" PRIx64 : "%" PRIx64, event->from);
	fprintf(out, " code %u: %s\n", event->gap, callstack_gap_text((enum gap_reason)event->gap));
}

void format_branch(FILE *out, const struct branch_event *event, const struct location *from,
		   const struct location *to)
{
	const struct thread *thread = event->thread;

	if (event->kind == BRANCH_GAP) {
		print_gap(out, event);
		return;
	}
	fprintf(out, "%5d/%-5d %5" PRIu64 ".%09" PRIu64 ": ", thread ? thread->pid : -1,
		thread ? thread->tid : -1, event->time / NS_PER_S, event->time % NS_PER_S);
	print_flags(out, event);
	fprintf(out, "%16" PRIx64 " ", from->ip);
	format_location(out, from);
	fprintf(out, " => %16" PRIx64 " ", to->ip);
	format_location(out, to);
	putc('\n', out);
}

static struct format_output *open_branches(const struct format_request *request, struct error *err)
{
	struct format_output *branches = alloc_zeroed(1, sizeof(*branches));

	(void)err;
	branches->text = request->text;
	return branches;
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
	.open = open_branches,
	.branch = print_branch,
};
