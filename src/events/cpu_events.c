/* SPDX-License-Identifier: MIT */
/* Write CPU events as counters, slices and instants. */
#include "src/events/event_output.h"

#include "src/slices/slice_args.h"

#define NOT_SEEN "not seen" /* for an end that is not in the trace */

/* Start an event of a track, replacing the previous one. */
static struct event_record *start_record(struct event_output *output, struct event_track track,
					 const char *category, const char *name, uint64_t time)
{
	event_record_init(&output->record, output->tracks.sink, track, category, name, time);
	return &output->record;
}

/* ---- Frequency ----------------------------------------------------------- */

uint32_t core_clock_mhz(const struct pt_info *info, uint64_t ratio)
{
	double ticks_per_us, mhz;

	if (!info->max_nonturbo_ratio || !info->time_mult || info->time_shift > 63)
		return 0;
	ticks_per_us = 1e3 * (double)(UINT64_C(1) << info->time_shift) / (double)info->time_mult;
	mhz = (double)(uint8_t)ratio * ticks_per_us / (double)info->max_nonturbo_ratio + 0.5;
	/* A damaged file may have any clock. */
	return mhz <= (double)UINT32_MAX ? (uint32_t)mhz : 0;
}

/* Each PSB+ repeats the ratio: write changes only. */
static void write_frequency(struct event_output *output, struct cpu_track *cpu,
			    const struct cpu_event *event)
{
	uint32_t mhz = core_clock_mhz(output->input.info, event->value);
	bool has_clock = core_clock_mhz(output->input.info, UINT8_MAX);
	char number[16] = "", name[64];
	struct event_record *record;

	if (cpu->ratio == event->value)
		return;
	cpu->ratio = event->value;
	if (cpu->cpu >= 0)
		snprintf(number, sizeof(number), " %d", cpu->cpu);
	snprintf(name, sizeof(name), has_clock ? "CPU%s GHz" : "CPU%s clock ratio", number);
	record = start_record(output, cpu->track, NULL, name, event->time);
	record->event.id = (uint64_t)MAX(0, cpu->cpu);
	/* Two decimals: the ratio's steps are 0.1 GHz. */
	if (mhz)
		event_record_add_double(record, "value", (double)((mhz + UINT64_C(5)) / 10) / 100);
	else
		event_record_add_int32(record, "value", (int32_t)(uint8_t)event->value);
	event_record_emit(record, TRACK_COUNTER);
}

/* ---- Sleep --------------------------------------------------------------- */

static void add_wait(struct event_record *record, struct cpu_track *cpu)
{
	if (!cpu->waits)
		return;
	event_record_add_address(record, "hints", cpu->hints);
	event_record_add_address(record, "extensions", cpu->extensions);
	cpu->waits = false;
}

/* Write an MWAIT after which the core did not sleep. */
static void write_wait(struct event_output *output, struct cpu_track *cpu, uint64_t time)
{
	struct event_record *record;

	if (!cpu->waits)
		return;
	record = start_record(output, cpu->track, "power", "mwait", time);
	add_wait(record, cpu);
	event_tracks_mark(&output->tracks, cpu, record);
}

static void end_sleep(struct cpu_track *cpu, struct event_record *record)
{
	cpu->sleeps = false;
	record->event.time = cpu_track_time(cpu, record->event.time);
	event_record_emit(record, TRACK_END);
}

/* End a sleep without a wake. */
static void cut_sleep(struct event_output *output, struct cpu_track *cpu, uint64_t time,
		      const char *how)
{
	struct event_record *record;

	if (!cpu->sleeps)
		return;
	record = start_record(output, cpu->track, NULL, NULL, time);
	event_record_add_text(record, "end", how);
	end_sleep(cpu, record);
}

static void set_wait(struct event_output *output, struct cpu_track *cpu,
		     const struct cpu_event *event)
{
	write_wait(output, cpu, event->time);
	cpu->waits = true;
	cpu->hints = event->value;
	cpu->extensions = event->extra;
}

static void begin_sleep(struct event_output *output, struct cpu_track *cpu,
			const struct cpu_event *event)
{
	char name[32];
	struct event_record *record;

	/* Each C-state that is reached has a packet. */
	cut_sleep(output, cpu, event->time, "another C-state");
	snprintf(name, sizeof(name), "C-state %u", PWRE_STATE(event->value));
	record = start_record(output, cpu->track, "power", name, cpu_track_time(cpu, event->time));
	event_record_add_number(record, "cstate", PWRE_STATE(event->value));
	event_record_add_number(record, "sub_cstate", PWRE_SUB_STATE(event->value));
	if (event->value & PWRE_BY_HARDWARE)
		event_record_add_text(record, "hw", "true");
	add_wait(record, cpu);
	event_tracks_begin(&output->tracks, record);
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

static void write_wake(struct event_output *output, struct cpu_track *cpu,
		       const struct cpu_event *event)
{
	struct event_record *record;

	if (!cpu->sleeps)
		write_wait(output, cpu, event->time);
	record = start_record(output, cpu->track, cpu->sleeps ? NULL : "power",
			      cpu->sleeps ? NULL : "wake", event->time);
	event_record_add_number(record, "last_cstate", PWRX_LAST(event->value));
	event_record_add_number(record, "deepest_cstate", PWRX_DEEPEST(event->value));
	event_record_add_text(record, "wake", wake_reason(event->value));
	add_wait(record, cpu); /* if it came after the PWRE packet */
	if (cpu->sleeps)
		end_sleep(cpu, record);
	else
		event_tracks_mark(&output->tracks, cpu, record);
}

static void write_stop(struct event_output *output, struct cpu_track *cpu,
		       const struct cpu_event *event)
{
	struct event_record *record =
		start_record(output, cpu->track, "power", "exstop", event->time);

	if (event->ip)
		event_record_add_address(record, "address", event->ip);
	event_tracks_mark(&output->tracks, cpu, record);
}

/* ---- Transactions -------------------------------------------------------- */

static struct transaction_track *find_transactions(struct event_output *output,
						   const struct thread *thread)
{
	struct transaction_track *found;
	char name[64] = "transactions";

	HASH_FIND_PTR(output->transactions, &thread, found);
	if (found)
		return found;
	HASH_FIND_OR_ADD(output->transactions, thread, &thread, found);
	if (thread)
		snprintf(name, sizeof(name), "transactions of %d", thread->tid);
	found->track = event_sink_new_track(
		output->tracks.sink, thread ? (uint32_t)thread->pid : output->tracks.unknown, name);
	return found;
}

static void end_transaction(struct event_output *output, struct transaction_track *of,
			    uint64_t time, const char *how)
{
	struct event_record *record;

	if (!of->open)
		return;
	of->open = false;
	of->last_time = MAX(of->last_time, time);
	record = start_record(output, of->track, NULL, NULL, of->last_time);
	event_record_add_text(record, "end", how);
	event_record_emit(record, TRACK_END);
}

static void write_transaction(struct event_output *output, const struct cpu_event *event)
{
	static const char *const ends[] = { NOT_SEEN, "committed", "aborted", NOT_SEEN };
	struct transaction_track *of = find_transactions(output, event->thread);
	struct event_record *record;

	end_transaction(output, of, event->time, ends[event->kind - CPU_EVENT_TX_BEGIN]);
	if (event->kind != CPU_EVENT_TX_BEGIN)
		return;
	of->last_time = MAX(of->last_time, event->time);
	record = start_record(output, of->track, "transaction", "transaction", of->last_time);
	if (event->ip)
		event_record_add_address(record, "address", event->ip);
	event_tracks_begin(&output->tracks, record);
	of->open = true;
}

/* ---- Event data ---------------------------------------------------------- */

static void set_event_data(struct event_output *output, struct cpu_track *cpu,
			   const struct cpu_event *event)
{
	(void)output;
	if (event->extra < EVD_TYPES)
		cpu->data[event->extra] = (struct evd_value){ true, event->value };
}

static void add_data(struct event_record *record, struct evd_value data[EVD_TYPES])
{
	for (int i = 0; i < EVD_TYPES; i++) {
		if (data[i].known)
			event_record_add_address(
				record, slice_arg_text(SLICE_ARG_EVENT + (enum slice_arg_key)i),
				data[i].value);
		data[i].known = false;
	}
}

/* ---- Guests -------------------------------------------------------------- */

static void end_guest(struct event_output *output, struct cpu_track *cpu, uint64_t time)
{
	struct event_record *record;

	if (!cpu->in_guest)
		return;
	cut_sleep(output, cpu, time, NOT_SEEN);
	record = start_record(output, cpu->track, NULL, NULL, cpu_track_time(cpu, time));
	if (cpu->exit_vector >= 0)
		event_record_add_number(record, "exit_vector", (uint64_t)cpu->exit_vector);
	add_data(record, cpu->exit);
	event_record_emit(record, TRACK_END);
	cpu->in_guest = false;
	cpu->exit_vector = -1;
}

static void set_vmcs(struct event_output *output, struct cpu_track *cpu,
		     const struct cpu_event *event)
{
	(void)output;
	cpu->vmcs = event->value;
}

/* The VMCS identifies a guest, which may load CR3 at any time. */
static void write_guest(struct event_output *output, struct cpu_track *cpu,
			const struct cpu_event *event)
{
	struct event_record *record;

	if (!event->extra) {
		end_guest(output, cpu, event->time);
		return;
	}
	if (cpu->in_guest)
		return;
	cut_sleep(output, cpu, event->time, NOT_SEEN);
	record = start_record(output, cpu->track, "guest", "[guest]",
			      cpu_track_time(cpu, event->time));
	if (cpu->vmcs)
		event_record_add_address(record, "vmcs", cpu->vmcs);
	event_record_add_address(record, "cr3", event->value);
	event_tracks_begin(&output->tracks, record);
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
		[CONTROL_SOFTWARE_INTERRUPT] = "software interrupt",
		[CONTROL_SYSCALL] = "syscall",
	};

	return type < COUNT_OF(names) && names[type] ? names[type] : "unknown event";
}

/* SDM volume 3, "Control Flow Event (CFE) Packet". */
static bool has_vector(uint32_t type)
{
	return type == CONTROL_INTERRUPT || type == CONTROL_SIPI ||
	       type == CONTROL_VMEXIT_INTERRUPT || type == CONTROL_USER_INTERRUPT ||
	       type == CONTROL_SOFTWARE_INTERRUPT;
}

static void write_control(struct event_output *output, struct cpu_track *cpu,
			  const struct cpu_event *event)
{
	struct event_record *record =
		start_record(output, cpu->track, "event", control_name(event->extra), event->time);

	if (has_vector(event->extra))
		event_record_add_number(record, "vector", event->value & 0xff);
	if (event->ip)
		event_record_add_address(record, "address", event->ip);
	/* The CFE packet with the reason of a VM exit comes before the PIP that ends the slice. */
	if (cpu->in_guest &&
	    (event->extra == CONTROL_VMEXIT || event->extra == CONTROL_VMEXIT_INTERRUPT)) {
		memcpy(cpu->exit, cpu->data, sizeof(cpu->exit));
		cpu->exit_vector = has_vector(event->extra) ? (int)(event->value & 0xff) : -1;
	}
	add_data(record, cpu->data);
	event_tracks_mark(&output->tracks, cpu, record);
}

/* ---- Triggers ------------------------------------------------------------ */

static void write_trigger(struct event_output *output, struct cpu_track *cpu,
			  const struct cpu_event *event)
{
	struct event_record *record =
		start_record(output, cpu->track, "trigger", "trigger", event->time);
	char triggers[20] = ""; /* the numbers of the bits that are set, as "0,3" */
	int used = 0;

	for (unsigned i = 0; i < 8; i++)
		if (TRIG_TRIGGERS(event->value) >> i & 1)
			used += snprintf(triggers + used, sizeof(triggers) - (size_t)used, "%s%u",
					 used ? "," : "", i);
	event_record_add_text(record, "triggers", triggers);
	if (event->value & TRIG_MULTIPLE)
		event_record_add_text(record, "multiple", "true");
	if (event->ip)
		event_record_add_address(record, "address", event->ip);
	else if (event->value & TRIG_COUNTED)
		event_record_add_number(record, "instructions", event->extra);
	event_tracks_mark(&output->tracks, cpu, record);
}

/* ---- All events ---------------------------------------------------------- */

void cpu_event_write(struct event_output *output, const struct cpu_event *event)
{
	/* Events of the other kinds are shown in the call stack. */
	static void (*const of_cpu[])(struct event_output *, struct cpu_track *,
				      const struct cpu_event *) = {
		[CPU_EVENT_CBR] = write_frequency, [CPU_EVENT_MWAIT] = set_wait,
		[CPU_EVENT_PWRE] = begin_sleep,    [CPU_EVENT_EXSTOP] = write_stop,
		[CPU_EVENT_PWRX] = write_wake,     [CPU_EVENT_PIP] = write_guest,
		[CPU_EVENT_VMCS] = set_vmcs,       [CPU_EVENT_EVD] = set_event_data,
		[CPU_EVENT_CFE] = write_control,   [CPU_EVENT_TRIG] = write_trigger,
	};

	if (!event->time || event->time > INT64_MAX)
		output->untimed++;
	else if (cpu_event_is_tx(event->kind))
		write_transaction(output, event);
	else if (event->kind < COUNT_OF(of_cpu) && of_cpu[event->kind])
		of_cpu[event->kind](output, event_tracks_cpu(&output->tracks, event->cpu), event);
}

void cpu_events_finish(struct event_output *output, uint64_t time)
{
	for (struct cpu_track *cpu = output->tracks.cpus; cpu; cpu = cpu->hh.next) {
		write_wait(output, cpu, time);
		end_guest(output, cpu, time);
		cut_sleep(output, cpu, time, NOT_SEEN);
	}
	for (struct transaction_track *of = output->transactions; of; of = of->hh.next)
		end_transaction(output, of, time, NOT_SEEN);
}
