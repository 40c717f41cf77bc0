/* SPDX-License-Identifier: MIT */
/* Encode events that are not slices of calls. */
#include "src/formats/ftf/ftf_sink.h"

static struct ftf_name encoded_name(struct ftf_sink *ftf, struct text_view text)
{
	if (!text.length)
		return (struct ftf_name){ 0 };
	return ftf->stored_texts ? ftf_sink_name(ftf, view_intern(ftf->sites.names, text))
				 : ftf_name(ftf->writer, text.at, text.length);
}

static struct ftf_thread thread_of(const struct ftf_sink *ftf, const struct track_event *event)
{
	return ftf_thread(ftf->writer, event->track.pid, event->track.tid);
}

static const enum ftf_arg_type arg_types[] = {
	[EVENT_ARG_INT32] = FTF_INT32,     [EVENT_ARG_INT64] = FTF_INT64,
	[EVENT_ARG_POINTER] = FTF_POINTER, [EVENT_ARG_REAL] = FTF_DOUBLE,
	[EVENT_ARG_TEXT] = FTF_STRING,
};

/* ---- Texts that are seldom repeated ---------------------------------------- */

/* Begin a slice with inline strings: references to all texts would take too much memory. */
static void write_inline(const struct ftf_sink *ftf, const struct track_event *event)
{
	struct ftf_low *low = ftf_low_borrow(ftf->writer);
	struct ftf_low_event head = { .type = FTF_DURATION_BEGIN,
				      .category = FTF_INLINE(event->category.length),
				      .name = FTF_INLINE(event->name.length) };
	struct ftf_low_arg args[EVENT_ARGS_MAX];

	for (size_t i = 0; i < event->arg_count; i++) {
		struct ftf_low_arg arg = { .type = arg_types[event->args[i].type],
					   .name = FTF_INLINE(event->args[i].name.length),
					   .name_text = event->args[i].name.at };

		if (event->args[i].type == EVENT_ARG_TEXT) {
			arg.string = FTF_INLINE(event->args[i].text.length);
			arg.string_text = event->args[i].text.at;
		} else {
			arg.word = event->args[i].pointer;
		}
		args[i] = arg;
		head.shape = ftf_shape_add(head.shape, args[i].type);
		head.text_words +=
			ftf_reference_words(args[i].name) + ftf_reference_words(args[i].string);
	}
	ftf_low_start(low, ftf_low_event_header(&head), head.shape);
	ftf_low_word(low, event->time);
	ftf_low_word(low, event->track.pid);
	ftf_low_word(low, event->track.tid);
	ftf_low_text(low, event->category.at, event->category.length);
	ftf_low_text(low, event->name.at, event->name.length);
	for (size_t i = 0; i < event->arg_count; i++)
		ftf_low_arg(low, &args[i]);
	ftf_low_finish(low);
}

/* ---- All events ------------------------------------------------------------ */

/* Perfetto makes a track of each CPU and the states of threads of scheduling records. */
static void write_switch(const struct ftf_sink *ftf, const struct track_event *event)
{
	static const enum ftf_thread_state states[] = {
		[EVENT_THREAD_BLOCKED] = FTF_STATE_BLOCKED,
		[EVENT_THREAD_PREEMPTED] = FTF_STATE_RUNNING,
		[EVENT_THREAD_DEAD] = FTF_STATE_DEAD,
	};
	uint64_t out = event->change.other.tid, in = event->track.tid;

	/* Perfetto takes a thread without a priority for a real-time thread. */
	ftf_context_switch(ftf->writer,
			   &(struct ftf_switch){
				   .time = event->time,
				   .cpu = (uint16_t)event->cpu,
				   .state = states[event->change.state],
				   .out_tid = out,
				   .in_tid = in,
				   .out_weight = out ? 0 : FTF_IDLE_WEIGHT,
				   .in_weight = in ? event->change.priority : FTF_IDLE_WEIGHT,
			   });
}

static void write_event(struct ftf_sink *ftf, const struct track_event *event)
{
	static const enum ftf_event_type types[TRACK_EVENT_KINDS] = {
		[TRACK_INSTANT] = FTF_INSTANT,         [TRACK_COUNTER] = FTF_COUNTER,
		[TRACK_BEGIN] = FTF_DURATION_BEGIN,    [TRACK_END] = FTF_DURATION_END,
		[TRACK_WHOLE] = FTF_DURATION_COMPLETE, [TRACK_ASYNC_BEGIN] = FTF_ASYNC_BEGIN,
		[TRACK_ASYNC_END] = FTF_ASYNC_END,     [TRACK_FLOW_BEGIN] = FTF_FLOW_BEGIN,
		[TRACK_FLOW_STEP] = FTF_FLOW_STEP,     [TRACK_FLOW_END] = FTF_FLOW_END,
	};
	struct ftf_arg args[EVENT_ARGS_MAX];
	struct ftf_event encoded = {
		.thread = thread_of(ftf, event),
		.category = encoded_name(ftf, event->category),
		.name = encoded_name(ftf, event->name),
		.time = event->time,
		.args = args,
		.arg_count = event->arg_count,
	};

	for (size_t i = 0; i < event->arg_count; i++) {
		struct ftf_arg arg =
			ftf_arg_word(encoded_name(ftf, event->args[i].name),
				     arg_types[event->args[i].type], event->args[i].pointer);

		/* The words of numbers have the bits of all types. */
		if (event->args[i].type == EVENT_ARG_TEXT)
			arg.value.string = encoded_name(ftf, event->args[i].text);
		args[i] = arg;
	}
	if (event->continued && ftf->level != OPTION_ARGS_NONE && event->arg_count < FTF_ARGS_MAX)
		args[encoded.arg_count++] =
			ftf_arg_string(ftf->keys[SLICE_ARG_CONTINUED], ftf->is_true);
	ftf_any_event(ftf->writer, types[event->kind], &encoded, event->id);
}

void ftf_sink_event(struct event_sink *sink, const struct track_event *event)
{
	struct ftf_sink *ftf = sink->context;

	if (ftf->fit.takes) {
		ftf_fit_take(&ftf->fit, event);
		return;
	}
	switch (event->kind) {
	case TRACK_PROCESS:
		ftf_process_name(ftf->writer, event->track.pid, encoded_name(ftf, event->name));
		break;
	case TRACK_THREAD:
		ftf_thread_name(ftf->writer, thread_of(ftf, event), encoded_name(ftf, event->name));
		break;
	case TRACK_SWITCH:
		write_switch(ftf, event);
		break;
	case TRACK_WAKEUP:
		ftf_thread_wakeup(ftf->writer,
				  &(struct ftf_wakeup){ event->time, (uint16_t)event->cpu,
							event->track.tid, event->change.other.tid,
							event->change.priority });
		break;
	default:
		if (event->once && !ftf->stored_texts)
			write_inline(ftf, event);
		else
			write_event(ftf, event);
	}
}
