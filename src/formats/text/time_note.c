/* SPDX-License-Identifier: MIT */
/* Times and instructions of answers. */
#include "src/formats/text/time_note.h"

#include "src/formats/text/any_text.h"

static const struct {
	const char *word, *text;
} notes[] = {
	[TIMES_OF_PERF] = { "perf", "times are those of perf script\n" },
	[TIMES_MEASURED] = { "measured", "times are those of timing packets" },
	[TIMES_ESTIMATED] = { "estimated", "times are estimates: the trace has no timing packets "
					   "between PSBs; compare instructions\n" },
	[TIMES_INVENTED] = { "invented",
			     "times are invented, 1 ns an instruction: the trace has none; "
			     "compare instructions\n" },
	[TIMES_OF_LINES] = { "invented",
			     "times are invented, 1 ns a line: the text has no times\n" },
	[TIMES_OF_WORK] = { "insns", "times are instructions of the thread since its first one\n" },
	[TIMES_OF_CYCLES] = { "cycles",
			      "times are core cycles of the thread since its first one\n" },
};

struct short_text amount_text(bool by_insns, uint64_t amount)
{
	struct short_text number;

	if (!by_insns)
		return short_time(amount);
	*digits_decimal(number.text, amount) = 0;
	return number;
}

struct short_text extra_text(bool by_insns, double extra)
{
	extra = extra > 0 ? extra + 0.5 : 0;
	return amount_text(by_insns, extra < 0x1p63 ? (uint64_t)extra : INT64_MAX);
}

const char *amount_unit(bool by_insns)
{
	const char *unit = digits_work_unit();

	if (!by_insns && !unit)
		return "";
	return by_insns || *unit == 'i' ? " instructions" : " cycles";
}

void amount_set(json_t *object, const char *name, bool by_insns, uint64_t amount)
{
	char key[24];

	snprintf(key, sizeof(key), "%s_%s", name, by_insns ? "insns" : digits_work_unit() ?: "ns");
	json_object_set_new(object, key, json_integer(json_value_of(amount)));
}

void time_note_print(const struct callstack_machine *machine, FILE *out)
{
	fputs(notes[machine->times].text, out);
	if (machine->times != TIMES_MEASURED)
		return;
	if (machine->resolution)
		fprintf(out, ", to %s", short_time(machine->resolution).text);
	putc('\n', out);
}

void time_note_add(json_t *answer, const struct callstack_machine *machine)
{
	bool known = machine->times == TIMES_MEASURED && machine->resolution;

	json_object_set_new(answer, "times", json_string(notes[machine->times].word));
	json_object_set_new(answer, "resolution_ns",
			    known ? json_integer((json_int_t)machine->resolution) : json_null());
}
