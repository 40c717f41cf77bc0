/* SPDX-License-Identifier: MIT */
/*
 * Stretches that are followed ahead and joined, and known branches fed together, give the same
 * slices as branches fed one by one with notes, which take no shortcut: random programs of near
 * branches, with interruptions.
 */
#include "src/callstack/call_stretch.h"

#include <string.h>

#include "src/callstack/callstack.h"
#include "src/callstack/precise/callstack_precise_stack.h"
#include "symbols/dso/dso_store.h"
#include "tests/support/unit.h"
#include "tests/unit/src/slice_log.h"

#define BASE      UINT64_C(1000000)
#define EVENTS    6000
#define FUNCTIONS 12
#define DEPTH     200
#define PART      5 /* a part of the function before it */
#define NOTES     (1 << 20)

/* A function has 0x1000 bytes; the last one is a PLT stub. Each is in a file of its own. */
static struct symbol symbols[FUNCTIONS];
static struct dso_store store = { .lock = PTHREAD_MUTEX_INITIALIZER };
static struct dso files[FUNCTIONS];
static struct branch_event program[EVENTS], events[EVENTS];
static struct known_branch known[EVENTS];
static struct slice_log one_by_one, joined;
static uint64_t seed;
static size_t joined_branches, together; /* fed in a stretch; at once, as known branches */
static bool has_root;                    /* the program is traced from its start */
static bool has_details;
static bool local_jumps; /* the program has jumps within functions, which streams leave out */
static uint64_t details; /* checksum */

/*
 * The state that matters later, at each interruption: whether a jump entered a frame's function or
 * left its code, and the number of flushed segments, whose slices precede those of other threads.
 */
static struct frame_notes {
	char text[NOTES];
	size_t count;
} notes_one_by_one, notes_joined;

static void note_frames(struct frame_notes *notes, const struct callstack *stack)
{
	const struct frame_list *now = &((const struct precise_stack *)stack)->now;
	const struct slice_log *log = stack->machine->sink->context;

	for (size_t i = 0; i < now->depth && notes->count < NOTES; i++)
		notes->text[notes->count++] = now->frames[i].jumped ? 'j'
					      : now->frames[i].left ? 'l'
								    : '-';
	ck_assert_uint_lt(notes->count, NOTES);
	notes->text[notes->count++] = (char)('0' + log->flushes % 10);
}

static unsigned pick(unsigned count)
{
	seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
	return (unsigned)(seed >> 33) % count;
}

static struct location place(uint64_t ip)
{
	const struct symbol *symbol = &symbols[(ip >> 12) - 1];

	return (struct location){ ip, symbol, ip & 0xfff };
}

static uint64_t entry_of(unsigned function)
{
	return ((uint64_t)function + 1) << 12;
}

/* The program's position and its return addresses. */
struct runner {
	uint64_t ip, stack[DEPTH];
	size_t depth;
	uint64_t time;
};

/* Returns the target of a near branch of a kind. */
static uint64_t follow(struct runner *runner, enum branch_kind kind, uint64_t from)
{
	if (kind == BRANCH_CALL) {
		if (runner->depth < DEPTH)
			runner->stack[runner->depth++] = from + 5;
		return entry_of(pick(local_jumps || !pick(16) ? FUNCTIONS : PART));
	}
	if (kind == BRANCH_RETURN && runner->depth && pick(300))
		return runner->stack[--runner->depth];
	if (kind == BRANCH_RETURN) /* out of the trace, or chosen by hand */
		return entry_of(pick(FUNCTIONS - 1)) + 0x100 + pick(0x100);
	if (!local_jumps || pick(3) == 0)
		return entry_of(pick(FUNCTIONS));
	if (from >> 12 == PART && pick(4) == 0)
		return entry_of(PART) + 0x200 + pick(0x100);
	if (from >> 12 == PART + 1 && pick(4) == 0)
		return entry_of(PART - 1) + 0x200 + pick(0x100);
	return (pick(200) ? from & ~UINT64_C(0xfff) : entry_of(pick(FUNCTIONS - 1))) + 0x200 +
	       pick(0x100);
}

static void make_branch(struct runner *runner, struct branch_event *event,
			struct known_branch *branch)
{
	static const enum branch_kind kinds[] = { BRANCH_CALL, BRANCH_CALL,   BRANCH_RETURN,
						  BRANCH_JUMP, BRANCH_RETURN, BRANCH_COND };
	enum branch_kind kind = kinds[pick(local_jumps || !pick(8) ? 6 : 3)];
	struct location from, to;

	from = place(runner->ip + 1 + pick(4));
	runner->ip = follow(runner, kind, from.ip);
	to = place(runner->ip);
	branch->locations = location_pair_of(&from, &to, NULL);
	branch->locations.reached = true;
	if (pick(200) == 0) {
		branch->locations.call = kind == BRANCH_CALL ? CALL_SETJMP : SWITCHES_STACK;
		branch->locations.plain = 0;
	}
	*event = (struct branch_event){ .time = runner->time,
					.known = branch,
					.from = from.ip,
					.to = to.ip,
					.kind = (uint8_t)kind,
					.insns = pick(8) ? 1 + pick(9) : pick(2000),
					.cycles = pick(4) ? 0 : pick(100),
					.from_length = pick(100) ? 5 : 0,
					.cpu = -1 };
}

/* The trace ends, resumes or is lost. */
static void make_break(struct runner *runner, struct branch_event *event,
		       struct known_branch *branch)
{
	make_branch(runner, event, branch);
	if (pick(2))
		event->kind = BRANCH_GAP;
	else
		event->flags = pick(2) ? BRANCH_TRACE_OFF : BRANCH_TRACE_ON;
	event->gap = GAP_OVERFLOW;
}

static void make_program(void)
{
	struct runner runner = { .ip = entry_of(0) + 0x300, .time = BASE };
	unsigned pace = 1 + pick(4), others = 20 + pick(pick(2) ? 20 : 2000);

	for (size_t i = 0; i < EVENTS; i++) {
		if (pick(pace) == 0)
			runner.time += pick(40);
		if (pick(others))
			make_branch(&runner, &program[i], &known[i]);
		else
			make_break(&runner, &program[i], &known[i]);
	}
}

/* Returns the locations of any event. */
static struct resolved_branch named(const struct branch_event *event, size_t index)
{
	return (struct resolved_branch){ event, &known[index].locations };
}

static bool has_file(const struct call_stretch *stretch, const struct dso *file)
{
	for (size_t i = 0; i < stretch->file_count; i++)
		if (stretch->files[i] == file)
			return true;
	return false;
}

/* The reader notes these files, as it does not look at the branches. */
static void check_files(const struct call_stretch *stretch, size_t begin)
{
	bool met[FUNCTIONS] = { false };
	size_t count = 0;

	for (size_t i = begin; i < begin + stretch->count; i++) {
		const struct location_pair *locations = &known[i].locations;

		ck_assert(has_file(stretch, locations->from.symbol->dso));
		ck_assert(has_file(stretch, locations->to.symbol->dso));
		met[locations->from.symbol - symbols] = met[locations->to.symbol - symbols] = true;
	}
	for (size_t i = 0; i < FUNCTIONS; i++)
		count += met[i];
	ck_assert_uint_eq(stretch->file_count, count);
}

/* Feed the near branches up to the next interruption. Returns how many were fed. */
static size_t feed_near(struct callstack *stack, size_t begin, size_t end)
{
	size_t at = begin, fed;

	while (at < end && branch_is_near(&events[at]))
		at++;
	fed = at > begin ? callstack_feed_plain(stack, &events[begin], at - begin, true) : 0;
	together += fed > 1 ? fed : 0;
	return fed;
}

/* Feed a segment's events; those followed ahead together, and others if they are `near`. */
static void feed_segment(struct callstack *stack, struct frame_notes *frames, size_t begin,
			 size_t end, bool near)
{
	size_t fed;

	for (size_t at = begin; at < end; at++) {
		struct resolved_branch branch = named(&events[at], at);
		struct branch_notes notes = { .has_no_caller = at == 0 && has_root };
		struct call_stretch *stretch =
			events[at].kind == BRANCH_FOLLOWED ? events[at].followed : NULL;

		if (stretch)
			call_stretch_restore(stretch);
		if (stretch && callstack_join(stack, stretch)) {
			check_files(stretch, at);
			joined_branches += stretch->count;
			at += stretch->count - 1;
			continue;
		}
		fed = near && at ? feed_near(stack, at, end) : 0;
		if (fed) {
			at += fed - 1;
			continue;
		}
		callstack_feed(stack, &branch, &notes);
		if (!branch_is_near(&events[at]))
			note_frames(frames, stack);
		ck_assert(memcmp(&events[at], &program[at], sizeof(events[at])) == 0);
	}
}

/* Count a detail in a checksum of all. */
static void add_detail(struct slice_log *log, const struct slice_event *event,
		       const struct slice_detail *detail)
{
	uint64_t values[] = { event->kind, event->ip, 0, 0, 0, 0 };

	(void)log;
	if (event->kind == SLICE_END)
		values[1] = 0;
	if (detail)
		memcpy(&values[2], (uint64_t[]){ detail->insns, detail->cycles, 0, 0 },
		       4 * sizeof(values[0]));
	if (detail && event->kind == SLICE_BEGIN) {
		values[4] = (uintptr_t)detail->caller;
		values[5] = detail->caller_offset;
	}
	for (size_t i = 0; i < COUNT_OF(values); i++)
		details = (details ^ values[i]) * UINT64_C(0x100000001b3);
}

/* Follow a segment's events, in one or two pieces. */
static void follow_ahead(const struct segment_follower *follower, void *state, size_t begin,
			 size_t end)
{
	size_t middle = begin + pick((unsigned)(end - begin));

	follower->begin(state);
	follower->follow(state, events + begin, middle - begin);
	follower->follow(state, events + middle, end - middle);
	follower->end(state);
}

/*
 * Convert the program in segments of at most `most` events; 0: nothing is followed ahead. `near`:
 * feed near branches together.
 */
static void convert(struct slice_log *log, struct frame_notes *frames, struct name_table *names,
		    unsigned most, bool near)
{
	const struct callstack_options options = { .mode = TRACE_MODE_USER,
						   .sink = &log->sink,
						   .names = names,
						   .tail_calls = seed % 3 ? TAIL_CALLS_NEST
									  : TAIL_CALLS_REPLACE,
						   .flows = seed % 6 == 0 };
	struct callstack_machine *machine;
	struct call_follower follower;
	struct callstack *stack;
	void *state;

	slice_log_init(log);
	frames->count = 0;
	log->sink.immediate = false;
	log->sink.details = has_details;
	log->before = add_detail;
	details = 0;
	machine = callstack_precise_open(&options);
	machine->resolution = seed % 5 ? 20 : 0;
	/* No stretch may need more frames than the stack has room for. */
	if (seed % 7 == 0)
		machine->open_most = 0;
	stack = callstack_open(machine, NULL);
	call_follower_init(&follower, machine, NULL);
	state = follower.base.open(&follower.base);
	memcpy(events, program, sizeof(events));
	for (size_t at = 0, end; at < EVENTS; at = end) {
		end = most ? at + 1 + pick(most) : EVENTS;
		if (end > EVENTS)
			end = EVENTS;
		if (most)
			follow_ahead(&follower.base, state, at, end);
		feed_segment(stack, frames, at, end, near);
	}
	callstack_finish(stack);
	follower.base.close(state);
	callstack_close(stack);
	callstack_machine_close(machine);
}

static void make_functions(struct name_table *names)
{
	for (size_t i = 0; i < FUNCTIONS; i++) {
		char text[2] = { (char)('a' + i), 0 };

		files[i].store = &store;
		symbols[i] = (struct symbol){ .name = name_intern_text(names, text),
					      .dso = &files[i],
					      .start = entry_of((unsigned)i),
					      .kind = i == FUNCTIONS - 1 ? SYMBOL_PLT
									 : SYMBOL_FUNCTION };
		symbols[i].linkage = symbols[i].name;
	}
	symbols[PART].function = &symbols[PART - 1];
}

/* Compare the slices and frames, with segments of `most` events. */
static void compare(int round, unsigned most)
{
	struct name_table names;
	uint64_t round_seed = (uint64_t)round * 7919 + 1, expected;

	name_table_init(&names);
	make_functions(&names);
	joined_branches = together = 0;
	has_root = round % 2;
	seed = round_seed;
	make_program();
	seed = round_seed;
	convert(&one_by_one, &notes_one_by_one, &names, 0, false);
	expected = details;
	seed = round_seed;
	convert(&joined, &notes_joined, &names, most, true);
	ck_assert(strcmp(slice_log_take(&one_by_one), slice_log_take(&joined)) == 0);
	ck_assert_uint_eq(details, expected);
	ck_assert_uint_eq(notes_one_by_one.count, notes_joined.count);
	ck_assert(memcmp(notes_one_by_one.text, notes_joined.text, notes_joined.count) == 0);
	name_table_release(&names);
}

START_TEST(joined_stretches_give_the_slices_of_single_branches)
{
	local_jumps = _i % 3 == 0;
	compare(_i, _i % 4 < 2 ? 3000 : 300);
	/* Tail calls end a stretch where they are marked, in a third of the rounds. */
	ck_assert(local_jumps || joined_branches > EVENTS / 40);
}
END_TEST

START_TEST(known_branches_fed_together_give_the_slices_of_single_branches)
{
	has_details = _i % 3 == 0;
	local_jumps = true;
	compare(_i, 0);
	ck_assert_uint_gt(together, EVENTS / 3);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("call stretch");
	TCase *tcase = tcase_create("joining");

	tcase_add_loop_test(tcase, joined_stretches_give_the_slices_of_single_branches, 0, 60);
	tcase_add_loop_test(tcase, known_branches_fed_together_give_the_slices_of_single_branches,
			    0, 60);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
