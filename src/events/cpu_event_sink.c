/* SPDX-License-Identifier: MIT */
#include "src/events/cpu_event_sink.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "src/slices/slice_args.h"

#define ARGS_MAX 8

/* The transactions of one thread. */
struct side_transactions {
	const struct thread *thread; /* borrowed; NULL: unknown */
	struct ftf_thread track;
	uint64_t last_time; /* ns */
	bool open;
	UT_hash_handle hh;
};

/* An event and its arguments on their way out. */
struct line {
	struct ftf_event event;
	struct ftf_arg args[ARGS_MAX];
};

static struct ftf_name text(const struct event_sink *sink, const char *string)
{
	return ftf_text(sink->tracks->writer, string);
}

static void begin_line(const struct event_sink *sink, struct line *line, const char *category,
		       const char *name, uint64_t time)
{
	*line = (struct line){ .event = { .time = time } };
	if (category)
		line->event.category = text(sink, category);
	if (name)
		line->event.name = text(sink, name);
	line->event.args = line->args;
}

static void add(struct line *line, struct ftf_arg arg)
{
	line->args[line->event.arg_count++] = arg;
}

static void add_number(const struct event_sink *sink, struct line *line, const char *name,
		       uint64_t value)
{
	add(line, ftf_arg_int64(text(sink, name), (int64_t)value));
}

static void add_address(const struct event_sink *sink, struct line *line, const char *name,
			uint64_t value)
{
	add(line, ftf_arg_pointer(text(sink, name), value));
}

static void add_text(const struct event_sink *sink, struct line *line, const char *name,
		     const char *value)
{
	add(line, ftf_arg_string(text(sink, name), text(sink, value)));
}

/* ---- Frequency ----------------------------------------------------------- */

uint32_t side_core_mhz(const struct pt_info *info, uint64_t ratio)
{
	double ticks_per_us, mhz;

	if (!info->max_nonturbo_ratio || !info->time_mult || info->time_shift > 63)
		return 0;
	ticks_per_us = 1e3 * (double)(UINT64_C(1) << info->time_shift) / (double)info->time_mult;
	mhz = (double)(uint8_t)ratio * ticks_per_us / (double)info->max_nonturbo_ratio + 0.5;
	/* By a file whose clock is none. */
	return mhz <= (double)UINT32_MAX ? (uint32_t)mhz : 0;
}

static void name_counter(const struct event_sink *sink, struct cpu_tracks_cpu *cpu, bool is_mhz)
{
	char number[16] = "", name[64];

	if (cpu->cpu >= 0)
		snprintf(number, sizeof(number), " %d", cpu->cpu);
	snprintf(name, sizeof(name), is_mhz ? "CPU%s frequency (MHz)" : "CPU%s clock ratio",
		 number);
	cpu->frequency = text(sink, name);
}

/* Each PSB repeats it: only changes are told. */
static void on_frequency(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	uint32_t mhz = side_core_mhz(sink->info, event->value);
	struct line line;

	if (cpu->ratio == event->value)
		return;
	cpu->ratio = event->value;
	if (!cpu->frequency.id)
		name_counter(sink, cpu, mhz != 0);
	begin_line(sink, &line, NULL, NULL, event->time);
	line.event.name = cpu->frequency;
	line.event.thread = cpu->track;
	add(&line, ftf_arg_int32(text(sink, "value"),
				 mhz ? (int32_t)mhz : (int32_t)(uint8_t)event->value));
	ftf_counter(sink->tracks->writer, &line.event, (uint64_t)(cpu->cpu < 0 ? 0 : cpu->cpu));
}

/* ---- Sleep --------------------------------------------------------------- */

static void add_wait(const struct event_sink *sink, struct line *line, struct cpu_tracks_cpu *cpu)
{
	if (!cpu->waits)
		return;
	add_address(sink, line, "hints", cpu->hints);
	add_address(sink, line, "extensions", cpu->extensions);
	cpu->waits = false;
}

/* An MWAIT that did not make the core sleep. */
static void tell_wait(struct event_sink *sink, struct cpu_tracks_cpu *cpu, uint64_t time)
{
	struct line line;

	if (!cpu->waits)
		return;
	begin_line(sink, &line, "power", "mwait", time);
	add_wait(sink, &line, cpu);
	event_tracks_mark(sink->tracks, cpu, &line.event);
}

static void end_sleep(struct event_sink *sink, struct cpu_tracks_cpu *cpu, struct line *line)
{
	cpu->sleeps = false;
	line->event.thread = cpu->track;
	line->event.time = side_cpu_time(cpu, line->event.time);
	ftf_end(sink->tracks->writer, &line->event);
}

/* A wake that was not seen. */
static void lose_wake(struct event_sink *sink, struct cpu_tracks_cpu *cpu, uint64_t time)
{
	struct line line;

	if (!cpu->sleeps)
		return;
	begin_line(sink, &line, NULL, NULL, time);
	add_text(sink, &line, "end", "not seen");
	end_sleep(sink, cpu, &line);
}

static void on_wait(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);

	tell_wait(sink, cpu, event->time);
	cpu->waits = true;
	cpu->hints = event->value;
	cpu->extensions = event->extra;
}

static void on_sleep(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	char name[32];
	struct line line;

	lose_wake(sink, cpu, event->time);
	snprintf(name, sizeof(name), "C-state %u", PWRE_STATE(event->value));
	begin_line(sink, &line, "power", name, side_cpu_time(cpu, event->time));
	line.event.thread = cpu->track;
	add_number(sink, &line, "cstate", PWRE_STATE(event->value));
	add_number(sink, &line, "sub_cstate", PWRE_SUB_STATE(event->value));
	if (event->value & PWRE_BY_HARDWARE)
		add_text(sink, &line, "hw", "true");
	add_wait(sink, &line, cpu);
	ftf_begin(sink->tracks->writer, &line.event);
	cpu->sleeps = true;
}

static const char *wake_reason(uint64_t value)
{
	if (value & PWRX_INTERRUPT)
		return "interrupt";
	if (value & PWRX_STORE)
		return "store to the monitored address";
	return value & PWRX_AUTONOMOUS ? "hardware" : "unknown";
}

static void on_wake(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	struct line line;

	if (!cpu->sleeps)
		tell_wait(sink, cpu, event->time);
	begin_line(sink, &line, cpu->sleeps ? NULL : "power", cpu->sleeps ? NULL : "wake",
		   event->time);
	add_number(sink, &line, "last_cstate", PWRX_LAST(event->value));
	add_number(sink, &line, "deepest_cstate", PWRX_DEEPEST(event->value));
	add_text(sink, &line, "wake", wake_reason(event->value));
	add_wait(sink, &line, cpu); /* if its place was told late */
	if (cpu->sleeps)
		end_sleep(sink, cpu, &line);
	else
		event_tracks_mark(sink->tracks, cpu, &line.event);
}

static void on_stop(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	struct line line;

	begin_line(sink, &line, "power", "exstop", event->time);
	if (event->ip)
		add_address(sink, &line, "address", event->ip);
	event_tracks_mark(sink->tracks, cpu, &line.event);
}

/* ---- Transactions -------------------------------------------------------- */

static struct side_transactions *transactions_of(struct event_sink *sink,
						 const struct thread *thread)
{
	struct side_transactions *found;
	char name[64] = "transactions";

	HASH_FIND_PTR(sink->transactions, &thread, found);
	if (found)
		return found;
	found = alloc_zeroed(1, sizeof(*found));
	found->thread = thread;
	HASH_ADD_PTR(sink->transactions, thread, found);
	if (thread)
		snprintf(name, sizeof(name), "transactions of %d", thread->tid);
	found->track =
		ftf_thread_new(sink->tracks->writer, thread ? (uint32_t)thread->pid : UINT32_MAX,
			       text(sink, name));
	return found;
}

static void end_transaction(struct event_sink *sink, struct side_transactions *of, uint64_t time,
			    const char *how)
{
	struct line line;

	if (!of->open)
		return;
	of->open = false;
	if (time > of->last_time)
		of->last_time = time;
	begin_line(sink, &line, NULL, NULL, of->last_time);
	line.event.thread = of->track;
	add_text(sink, &line, "end", how);
	ftf_end(sink->tracks->writer, &line.event);
}

static void on_transaction(struct event_sink *sink, const struct cpu_event *event)
{
	struct side_transactions *of = transactions_of(sink, event->thread);
	struct line line;

	if (event->kind == CPU_EVENT_TX_BEGIN) {
		end_transaction(sink, of, event->time, "not seen");
		if (event->time > of->last_time)
			of->last_time = event->time;
		begin_line(sink, &line, "transaction", "transaction", of->last_time);
		line.event.thread = of->track;
		if (event->ip)
			add_address(sink, &line, "address", event->ip);
		ftf_begin(sink->tracks->writer, &line.event);
		of->open = true;
		return;
	}
	end_transaction(sink, of, event->time,
			event->kind == CPU_EVENT_TX_ABORT ? "aborted" : "committed");
}

/* ---- What EVD packets tell ----------------------------------------------- */

static void on_data(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);

	if (event->extra < EVD_TYPES)
		cpu->data[event->extra] = (struct side_data_value){ true, event->value };
}

static void add_data(const struct event_sink *sink, struct line *line,
		     struct side_data_value data[EVD_TYPES])
{
	for (int i = 0; i < EVD_TYPES; i++) {
		if (data[i].known)
			add_address(sink, line, slice_event_value_name(i), data[i].value);
		data[i].known = false;
	}
}

/* ---- Guests -------------------------------------------------------------- */

static void end_guest(struct event_sink *sink, struct cpu_tracks_cpu *cpu, uint64_t time)
{
	struct line line;

	if (!cpu->in_guest)
		return;
	lose_wake(sink, cpu, time);
	begin_line(sink, &line, NULL, NULL, side_cpu_time(cpu, time));
	line.event.thread = cpu->track;
	if (cpu->exit_vector >= 0)
		add_number(sink, &line, "exit_vector", (uint64_t)cpu->exit_vector);
	add_data(sink, &line, cpu->exit);
	ftf_end(sink->tracks->writer, &line.event);
	cpu->in_guest = false;
	cpu->exit_vector = -1;
}

/* Guests are told apart by their control structure; one changes its CR3 as it likes. */
static void on_guest(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	struct line line;

	if (!event->extra) {
		end_guest(sink, cpu, event->time);
		return;
	}
	if (cpu->in_guest)
		return;
	lose_wake(sink, cpu, event->time);
	begin_line(sink, &line, "guest", "[guest]", side_cpu_time(cpu, event->time));
	line.event.thread = cpu->track;
	if (cpu->vmcs)
		add_address(sink, &line, "vmcs", cpu->vmcs);
	add_address(sink, &line, "cr3", event->value);
	ftf_begin(sink->tracks->writer, &line.event);
	cpu->in_guest = true;
}

/* ---- Events -------------------------------------------------------------- */

static const char *control_name(uint32_t type)
{
	static const char *const names[] = {
		[CONTROL_INTERRUPT] = "interrupt",
		[CONTROL_IRET] = "iret",
		[CONTROL_SMI] = "smi",
		[CONTROL_RSM] = "rsm",
		[CONTROL_SIPI] = "sipi",
		[CONTROL_INIT] = "init",
		[CONTROL_VMENTRY] = "vm entry",
		[CONTROL_VMEXIT] = "vm exit",
		[CONTROL_VMEXIT_INTERRUPT] = "vm exit by interrupt",
		[CONTROL_SHUTDOWN] = "shutdown",
		[CONTROL_USER_INTERRUPT] = "user interrupt",
		[CONTROL_USER_IRET] = "user iret",
	};

	return type < sizeof(names) / sizeof(names[0]) && names[type] ? names[type]
								      : "unknown event";
}

/* Which types have a vector: SDM volume 3, "Control Flow Event (CFE) Packet". */
static bool has_vector(uint32_t type)
{
	return type == CONTROL_INTERRUPT || type == CONTROL_SIPI ||
	       type == CONTROL_VMEXIT_INTERRUPT || type == CONTROL_USER_INTERRUPT;
}

/* Why the guest was left is told before the PIP that ends it. */
static void note_exit(struct cpu_tracks_cpu *cpu, const struct cpu_event *event)
{
	if (!cpu->in_guest ||
	    (event->extra != CONTROL_VMEXIT && event->extra != CONTROL_VMEXIT_INTERRUPT))
		return;
	memcpy(cpu->exit, cpu->data, sizeof(cpu->exit));
	cpu->exit_vector = has_vector(event->extra) ? (int)(event->value & 0xff) : -1;
}

static void on_control(struct event_sink *sink, const struct cpu_event *event)
{
	struct cpu_tracks_cpu *cpu = event_tracks_cpu(sink->tracks, event->cpu);
	struct line line;

	begin_line(sink, &line, "event", control_name(event->extra), event->time);
	if (has_vector(event->extra))
		add_number(sink, &line, "vector", event->value & 0xff);
	if (event->ip)
		add_address(sink, &line, "address", event->ip);
	note_exit(cpu, event);
	add_data(sink, &line, cpu->data);
	event_tracks_mark(sink->tracks, cpu, &line.event);
}

/* ---- The sink ------------------------------------------------------------ */

void event_sink_init(struct event_sink *sink, struct event_tracks *tracks,
		     const struct pt_info *info)
{
	*sink = (struct event_sink){ .tracks = tracks, .info = info };
}

void event_sink_event(struct event_sink *sink, const struct cpu_event *event)
{
	if (!event->time) {
		sink->untimed++;
		return;
	}
	switch (event->kind) {
	case CPU_EVENT_CBR:
		on_frequency(sink, event);
		break;
	case CPU_EVENT_MWAIT:
		on_wait(sink, event);
		break;
	case CPU_EVENT_PWRE:
		on_sleep(sink, event);
		break;
	case CPU_EVENT_EXSTOP:
		on_stop(sink, event);
		break;
	case CPU_EVENT_PWRX:
		on_wake(sink, event);
		break;
	case CPU_EVENT_TX_BEGIN:
	case CPU_EVENT_TX_COMMIT:
	case CPU_EVENT_TX_ABORT:
		on_transaction(sink, event);
		break;
	case CPU_EVENT_PIP:
		on_guest(sink, event);
		break;
	case CPU_EVENT_VMCS:
		event_tracks_cpu(sink->tracks, event->cpu)->vmcs = event->value;
		break;
	case CPU_EVENT_EVD:
		on_data(sink, event);
		break;
	case CPU_EVENT_CFE:
		on_control(sink, event);
		break;
	default: /* of the call stack */
		break;
	}
}

void event_sink_finish(struct event_sink *sink, uint64_t time)
{
	struct cpu_tracks_cpu *cpu, *next_cpu;
	struct side_transactions *of, *next;

	HASH_ITER(hh, sink->tracks->cpus, cpu, next_cpu)
	{
		tell_wait(sink, cpu, time);
		end_guest(sink, cpu, time);
		lose_wake(sink, cpu, time);
	}
	HASH_ITER(hh, sink->transactions, of, next)
	end_transaction(sink, of, time, "not seen");
}

void event_sink_release(struct event_sink *sink)
{
	struct side_transactions *of, *next;

	HASH_ITER(hh, sink->transactions, of, next)
	{
		HASH_DEL(sink->transactions, of);
		free(of);
	}
	*sink = (struct event_sink){ 0 };
}
