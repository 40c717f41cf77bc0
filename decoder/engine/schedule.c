/* SPDX-License-Identifier: MIT */
/* Follow context switches and epochs, and correct coarse times by addresses. */
#include "decoder/engine/schedule.h"

void schedule_init(struct schedule *schedule, const struct history *history, int32_t cpu,
		   int32_t tid)
{
	*schedule = (struct schedule){ .history = history, .end = UINT64_MAX, .fresh = UINT64_MAX };
	if (tid != -1)
		schedule->thread = history->find_thread(history->context, tid, 0);
	else
		schedule->switches = history_switches(history, cpu, &schedule->count);
	if (schedule->count)
		schedule->end = schedule->switches[0].time;
	if (schedule->thread)
		schedule->space = schedule->thread->process->epochs[0].space;
}

static bool is_idle(const struct thread *thread)
{
	return thread && thread->tid == 0;
}

/* Returns the epoch of a process at a time, not before `epoch`. */
static size_t epoch_at(const struct process *process, size_t epoch, uint64_t time)
{
	const struct epoch *later = &process->epochs[epoch + 1];

	return epoch + LOWER_BOUND(i, process->epoch_count - epoch - 1, later[i].begin <= time);
}

/* In a buffer per thread: an exec up to `epoch` made the thread the leader (execve(2)). */
static void follow_exec(struct schedule *schedule, size_t epoch)
{
	const struct thread *thread = schedule->thread;
	const struct epoch *epochs = thread->process->epochs;
	size_t next = epochs[schedule->epoch].next_exec;

	while (next && next <= epoch && epochs[next].begin < thread->begin)
		next = epochs[next].next_exec;
	if (next && next <= epoch)
		schedule->thread =
			schedule->history->find_thread(schedule->history->context,
						       thread->process->pid, epochs[next].begin)
				?: thread;
}

static void enter_epoch(struct schedule *schedule, size_t epoch)
{
	if (!schedule->count && schedule->thread->tid != schedule->thread->process->pid)
		follow_exec(schedule, epoch);
	schedule->epoch = epoch;
	schedule->space = schedule->thread->process->epochs[epoch].space;
}

static uint64_t stop_bit(const struct thread *thread)
{
	return UINT64_C(1) << thread->index % SCHEDULE_STOPS;
}

static void set_stop(struct schedule *schedule, const struct thread *thread,
		     struct schedule_stop stop)
{
	schedule->stops[thread->index % SCHEDULE_STOPS] = stop;
	schedule->fresh |= stop_bit(thread);
}

static const struct schedule_stop *read_stop(struct schedule *schedule, const struct thread *thread)
{
	const struct schedule_stop *stop;

	if (!thread)
		return NULL;
	schedule->asked |= stop_bit(thread) & ~schedule->fresh;
	stop = &schedule->stops[thread->index % SCHEDULE_STOPS];
	return stop->thread == thread ? stop : NULL;
}

static const struct schedule_stop *stop_of(struct schedule *schedule, const struct thread *thread)
{
	const struct schedule_stop *stop = read_stop(schedule, thread);

	return stop && stop->ip ? stop : NULL;
}

void schedule_stop_user(struct schedule *schedule, uint64_t ip)
{
	const struct thread *thread = schedule->thread;

	if (thread && !is_idle(thread))
		set_stop(schedule, thread, (struct schedule_stop){ thread, schedule->space, ip });
}

/* The trace can lag by an MTC period; twice this allows for the rates of both clocks. */
static bool clock_excludes(const struct schedule *schedule, uint64_t time, uint64_t begin)
{
	return schedule->clock_bound && begin > time && begin - time > 2 * schedule->clock_bound;
}

const struct address_space *schedule_next_program(const struct schedule *schedule, uint64_t time)
{
	const struct thread *thread = schedule->thread;
	const struct epoch *epochs;
	size_t next;

	if (!thread || is_idle(thread))
		return NULL;
	epochs = thread->process->epochs;
	next = epochs[schedule->epoch].next_exec;
	if (!next || epochs[next].begin > schedule->end || epochs[next].begin > thread->end ||
	    clock_excludes(schedule, time, epochs[next].begin))
		return NULL;
	return epochs[next].space;
}

/* Returns the index of the last epoch before the next program. */
static size_t last_of_program(const struct process *process, size_t epoch)
{
	size_t next = process->epochs[epoch].next_exec;

	return (next ? next : process->epoch_count) - 1;
}

bool schedule_stopped_elsewhere(struct schedule *schedule, uint64_t ip)
{
	const struct schedule_stop *stop = read_stop(schedule, schedule->thread);

	return stop && stop->space == schedule->space && stop->ip != ip;
}

/* The thread runs since its switch, for any time of the trace. */
static void take_switch(struct schedule *schedule)
{
	const struct cpu_switch *taken = &schedule->switches[schedule->next++];

	/* A thread that ran on another CPU also stopped there. */
	if (!taken->stayed)
		set_stop(schedule, taken->thread, (struct schedule_stop){ 0 });
	schedule->begin = taken->time;
	schedule->end = schedule->next < schedule->count ? schedule->switches[schedule->next].time
							 : UINT64_MAX;
	if (schedule->thread && schedule->thread->process == taken->thread->process) {
		schedule->thread = taken->thread;
		return;
	}
	schedule->thread = taken->thread;
	enter_epoch(schedule, epoch_at(taken->thread->process, 0, taken->time));
}

/* Enter a later epoch.  If its exec gave the thread the leader's tid, take that switch as well. */
static void advance_to_epoch(struct schedule *schedule, size_t epoch)
{
	const struct process *process = schedule->thread->process;
	const struct cpu_switch *next = &schedule->switches[schedule->next];

	if (schedule->next < schedule->count && next->time == process->epochs[epoch].begin &&
	    next->thread->process == process)
		take_switch(schedule);
	enter_epoch(schedule, epoch);
}

void schedule_begin_program(struct schedule *schedule)
{
	const struct process *process = schedule->thread->process;
	size_t epoch = process->epochs[schedule->epoch].next_exec;

	advance_to_epoch(schedule, schedule->settled ? last_of_program(process, epoch) : epoch);
}

void schedule_seek(struct schedule *schedule, uint64_t time)
{
	while (schedule->next < schedule->count && schedule->switches[schedule->next].time <= time)
		take_switch(schedule);
	if (schedule->thread)
		enter_epoch(schedule, epoch_at(schedule->thread->process, schedule->epoch, time));
}

void schedule_begin_at(struct schedule *schedule, uint64_t time)
{
	size_t after = LOWER_BOUND(i, schedule->count, schedule->switches[i].time <= time);

	schedule->next = after ? after - 1 : 0;
	schedule_seek(schedule, time);
	/* The thread can have stopped since the last switch. */
	schedule->fresh = 0;
}

bool schedule_equals(const struct schedule *a, const struct schedule *b)
{
	return a->next == b->next && a->thread == b->thread && a->space == b->space &&
	       a->epoch == b->epoch && a->begin == b->begin && a->end == b->end;
}

bool schedule_join_stops(struct schedule *schedule, const struct schedule *before)
{
	for (size_t i = 0; i < SCHEDULE_STOPS; i++)
		if (schedule->asked >> i & 1 && before->stops[i].thread)
			return false;
	for (size_t i = 0; i < SCHEDULE_STOPS; i++)
		if (!(schedule->fresh >> i & 1))
			schedule->stops[i] = before->stops[i];
	schedule->fresh |= before->fresh;
	return true;
}

/* Move to this epoch or the next if it has a mapping at ip and the clock allows it; else false. */
static bool reach_mapping(struct schedule *schedule, uint64_t time, uint64_t ip)
{
	const struct process *process;

	if (!schedule->thread || is_idle(schedule->thread))
		return false;
	process = schedule->thread->process;
	for (size_t epoch = schedule->epoch;
	     epoch < process->epoch_count && epoch <= schedule->epoch + 1; epoch++) {
		bool later = epoch != schedule->epoch;

		if (later && clock_excludes(schedule, time, process->epochs[epoch].begin))
			return false;
		if (!address_space_borrow_mapping(process->epochs[epoch].space, ip))
			continue;
		if (later)
			advance_to_epoch(schedule, epoch);
		return true;
	}
	return false;
}

void schedule_enter_user(struct schedule *schedule, uint64_t time, uint64_t ip)
{
	if (!schedule->thread || is_idle(schedule->thread))
		return;
	enter_epoch(schedule, epoch_at(schedule->thread->process, schedule->epoch, time));
	reach_mapping(schedule, time, ip);
}

static bool next_is_near(const struct schedule *schedule, uint64_t time, uint64_t slack)
{
	return schedule->next < schedule->count &&
	       (schedule->switches[schedule->next].time <= time ||
		schedule->switches[schedule->next].time - time <= slack);
}

void schedule_switch(struct schedule *schedule, uint64_t time, uint64_t slack)
{
	if (next_is_near(schedule, time, slack))
		take_switch(schedule);
}

/*
 * If the current thread did not stop at ip, but the thread of one of the next switches did, and ran
 * on no other CPU since, switch to that thread: the trace's time is too early.
 */
static bool seek_stop(struct schedule *schedule, uint64_t time, uint64_t ip)
{
	const struct schedule_stop *stop;
	struct schedule ahead;

	if (!next_is_near(schedule, time, schedule->slack))
		return false;
	stop = stop_of(schedule, schedule->thread);
	if (!stop || stop->ip == ip)
		return false;
	ahead = *schedule;
	while (next_is_near(&ahead, time, schedule->slack)) {
		take_switch(&ahead);
		stop = stop_of(&ahead, ahead.thread);
		schedule->asked |= ahead.asked;
		if (is_idle(ahead.thread))
			continue;
		if (!stop || stop->ip != ip || !reach_mapping(&ahead, time, ip))
			return false;
		*schedule = ahead;
		return true;
	}
	return false;
}

/* Returns whether user code of the current thread stopped at ip, and has a mapping there. */
static bool resumes(struct schedule *schedule, uint64_t ip)
{
	const struct schedule_stop *stop = stop_of(schedule, schedule->thread);

	return stop && stop->ip == ip && stop->space == schedule->space &&
	       address_space_borrow_mapping(schedule->space, ip);
}

void schedule_seek_user(struct schedule *schedule, uint64_t time, uint64_t ip)
{
	struct schedule before = *schedule, ahead;
	bool waits, found = false;

	schedule_seek(schedule, time);
	if (seek_stop(schedule, time, ip) || reach_mapping(schedule, time, ip))
		return;
	waits = !schedule->thread || is_idle(schedule->thread);
	if (schedule->next < schedule->count) {
		ahead = *schedule;
		take_switch(&ahead);
		found = (waits || !clock_excludes(schedule, time, ahead.begin)) &&
			reach_mapping(&ahead, time, ip);
		if (found || waits)
			*schedule = ahead;
	}
	/* Only the previous thread can run here: the clock, which counts cycles, is late. */
	before.asked |= schedule->asked;
	if (!found && resumes(&before, ip))
		*schedule = before;
	schedule->asked |= before.asked;
}

bool schedule_settle(struct schedule *schedule, bool end)
{
	const struct thread *found = schedule->thread;
	bool certain = true;

	for (size_t i = 0; i < schedule->count; i++) {
		const struct thread *thread = schedule->switches[i].thread;

		if (is_idle(thread) || thread == found)
			continue;
		certain = !found;
		found = thread;
	}
	schedule->next = schedule->count;
	schedule->end = UINT64_MAX;
	schedule->thread = found;
	schedule->settled = true;
	if (found)
		enter_epoch(schedule, end ? found->process->epoch_count - 1
					  : last_of_program(found->process, 0));
	return certain && found;
}
