/* SPDX-License-Identifier: MIT */
/* Write slices as FTF records, usually from templates of earlier ones. */
#include "src/formats/ftf/ftf_sink.h"

#include "base/io/interrupt.h"
#include "src/formats/output_format.h"

#define TEMPLATE_BITS 14

/* Records per batch. */
#define RECORDS 64

/* Limit of waiting events of a track, until whole slices are known. */
#define WAITING 1024

/* Room in the output, for WAITING slices with long names, below which few events wait. */
#define ROOM_SHIFT 28

/* An encoded begin, and the key of its slices. */
struct slice_template {
	struct ftf_template encoded; /* first; not empty in a used slot */
	const struct symbol *symbol; /* NULL: the slot is free */
	uint64_t ip;
	const struct symbol *caller; /* see struct slice_detail; may be NULL */
	uint64_t caller_offset;
	unsigned flags; /* enum slice_flags */
	/* Waiting records refer to the slot, so its next template stays in `made` meanwhile. */
	uint32_t made;               /* 1 + index of the slot's last template; 0: empty */
	struct slice_template *slot; /* the template's slot */
};

/* The output keeps its own error, which names the file. */
static int write_trace(void *context, const void *bytes, size_t size)
{
	output_write(context, bytes, size);
	return 0;
}

/*
 * With so many bytes of trace for each slice of --fit, too many slices are likely, and if there are
 * fewer, the store costs little compared with decoding.
 */
#define FIT_BYTES 64

/* Returns whether to store slices: the output cannot be written again, or probably would be. */
static bool fits_from_start(const struct options *options, const struct output *output,
			    const struct trace_facts *facts, uint64_t limit)
{
	bool asked = options->select.fit && facts->trace_bytes;

	return options->fits || !output->temporary || asked ||
	       facts->trace_bytes / FIT_BYTES > limit;
}

/* Fail if there are more slices than --fit allows. What was decoded up to an interrupt stays. */
static void check_slices(struct ftf_sink *ftf, uint64_t slices)
{
	if (slices > ftf->most && !interrupt_asked())
		error_set(&ftf->output->err, ERROR_MORE_SLICES, "more slices than --fit allows");
}

void ftf_sink_init(struct ftf_sink *ftf, struct output *output, struct name_table *names,
		   const struct options *options, const struct trace_facts *facts)
{
	uint64_t limit =
		options->stacks == STACKS_FLOWS ? 0 : selection_fit_limit(&options->select);
	const struct ftf_destination to = { write_trace, output };
	const struct ftf_options writer = {
		.provider = "ptrace2ftf",
		.clock = { .has_base = facts->wall_base != WALL_BASE_UNKNOWN,
			   .base_time = facts->wall_base },
	};

	/* Arrows bind to slices by nesting, which folding changes. */
	*ftf = (struct ftf_sink){ .output = output,
				  .most = limit ? limit : UINT64_MAX,
				  .level = options->args,
				  .unknown = facts->free_id,
				  .sites = { .names = names },
				  .events = { ftf_sink_event, ftf, facts->free_id } };
	ftf->writer = ALLOC_CHECKED(ftf_open_destination(&to, &writer, NULL));
	/* Each waiting begin may need a second record for its end. Zeros would touch all pages. */
	ftf->waiting = ftf->next = alloc_bytes(2 * WAITING * sizeof(*ftf->waiting));
	ftf->details = alloc_bytes(2 * WAITING * sizeof(*ftf->details));
	ftf->made = alloc_bytes(WAITING * sizeof(*ftf->made));
	direct_cache_init(&ftf->templates, TEMPLATE_BITS, sizeof(struct slice_template));
	for (enum slice_arg_key key = 0; key < SLICE_ARG_KEYS; key++)
		ftf->keys[key] = ftf_text(ftf->writer, slice_arg_text(key));
	ftf->is_true = ftf_text(ftf->writer, "true");
	ftf->tail_call = ftf_text(ftf->writer, "tail call");
	ftf->switches = ftf_text(ftf->writer, "switch");
	ftf->flows = options->stacks == STACKS_FLOWS;
	if (limit && fits_from_start(options, output, facts, limit)) {
		ftf_fit_init(&ftf->fit, limit, &ftf->events, ftf->output, names);
		ftf->fit.folded = ftf->level != OPTION_ARGS_NONE;
		ftf->most = UINT64_MAX;
	}
}

static void write_waiting(struct ftf_sink *ftf);
static void write_held(struct ftf_sink *ftf, size_t index);

int ftf_sink_close(struct ftf_sink *ftf, struct error *err)
{
	struct ftf_error failure = { 0 };
	int status;

	ftf_fit_finish(&ftf->fit, MAX(ftf->slices, ftf->fit.slices) + ftf->others);
	write_waiting(ftf);
	for (size_t i = ftf->held_room; i-- > 0;)
		write_held(ftf, i);
	check_slices(ftf, ftf->slices + ftf->others);
	ftf->records = ftf_events(ftf->writer);
	status = ftf_close(ftf->writer, &failure);
	ftf->writer = NULL;
	if (failure.system == ENOMEM)
		alloc_fail(0);
	if (status < 0)
		return error_set(err, ERROR_LIMIT, "trace: %s", failure.text);
	return 0;
}

void ftf_sink_release(struct ftf_sink *ftf)
{
	ftf_abandon(ftf->writer);
	ftf_fit_release(&ftf->fit);
	free(ftf->waiting);
	free(ftf->details);
	free(ftf->made);
	free(ftf->held);
	call_sites_release(&ftf->sites);
	slice_files_release(&ftf->files);
	free(ftf->known);
	direct_cache_release(&ftf->templates);
	*ftf = (struct ftf_sink){ 0 };
}

/* The program's names live until the end of the run, so the writer can borrow their text. */
struct ftf_name ftf_sink_name(struct ftf_sink *ftf, const struct name *name)
{
	if (!name)
		return (struct ftf_name){ 0 };
	ftf->known = alloc_grow_zeroed(ftf->known, &ftf->known_room, (size_t)name->id + 1,
				       sizeof(*ftf->known));
	if (!ftf->known[name->id].id)
		ftf->known[name->id] = ftf_name_borrow(ftf->writer, name->text, name->length);
	return ftf->known[name->id];
}

/* Returns the thread of an announced track. */
static inline struct ftf_thread ftf_thread_of(const struct track *track)
{
	return (struct ftf_thread){ track->writer_thread };
}

static uint32_t id_of(const struct ftf_sink *ftf, int32_t id)
{
	return id < 0 ? ftf->unknown : (uint32_t)id;
}

/* Write a track's names before its first slice. */
static void announce(struct ftf_sink *ftf, struct track *track)
{
	const uint32_t pid = id_of(ftf, track->pid), tid = id_of(ftf, track->tid);

	if (track->announced)
		return;
	track->writer_thread = ftf_thread(ftf->writer, pid, tid).id;
	track->announced = true;
	if (track->process_name)
		ftf_process_name(ftf->writer, pid, ftf_text(ftf->writer, track->process_name));
	if (track->thread_name)
		ftf_thread_name(ftf->writer, ftf_thread_of(track),
				ftf_text(ftf->writer, track->thread_name));
}

static struct ftf_arg ftf_arg_of(struct ftf_sink *ftf, const struct slice_arg *arg)
{
	struct ftf_name key = ftf->keys[arg->key];

	switch (arg->type) {
	case SLICE_ARG_POINTER:
		return ftf_arg_pointer(key, arg->number);
	case SLICE_ARG_NAME:
		return ftf_arg_string(key, ftf_sink_name(ftf, arg->name));
	case SLICE_ARG_REAL:
		return ftf_arg_double(key, arg->real);
	case SLICE_ARG_TRUE:
		return ftf_arg_string(key, ftf->is_true);
	case SLICE_ARG_NUMBER:
		break;
	}
	return arg->number <= INT32_MAX ? ftf_arg_int32(key, (int32_t)arg->number)
					: ftf_arg_int64(key, (int64_t)arg->number);
}

/* Add arguments to `args`, which has room for them.  Returns their number. */
static size_t add_args(struct ftf_sink *ftf, const struct slice_args *from, struct ftf_arg *args)
{
	for (size_t i = 0; i < from->count; i++)
		args[i] = ftf_arg_of(ftf, &from->list[i]);
	return from->count;
}

/* The arguments that belong to one event only: costs, and folded slices. */
struct own_values {
	struct slice_cost cost;
	uint64_t folded, folded_time;
};

/* Returns the values of a waiting record. With --args=full, called once for each. */
static inline struct own_values own_values_of(const struct ftf_sink *ftf,
					      const struct ftf_templated *waiting,
					      const struct slice_detail *detail)
{
	const bool full = ftf->level == OPTION_ARGS_FULL;
	struct own_values own = { .folded = 0 };

	if (full && waiting->end)
		own.cost = (struct slice_cost){ detail->insns, detail->cycles };
	else if (full && waiting->from)
		track_cost_begin(ftf->track, detail);
	else if (full)
		own.cost = track_cost_end(ftf->track, detail);
	if (detail && (!waiting->from || waiting->end)) {
		own.folded = detail->folded;
		own.folded_time = detail->folded_time;
	}
	return own;
}

/* Add them to `args`. Returns their number. */
static size_t add_own_args(struct ftf_sink *ftf, struct own_values own, struct ftf_arg *args)
{
	struct slice_args values;

	values.count = 0;
	slice_args_add_cost(&values, own.cost);
	slice_args_add_folded(&values, own.folded, own.folded_time);
	return add_args(ftf, &values, args);
}

/* Encode an argument. Returns the next word; NULL: its name has no reference. */
static inline uint64_t *encode(struct ftf_sink *ftf, uint64_t *at, enum slice_arg_key key,
			       enum ftf_arg_type type, uint64_t word)
{
	const bool wide = type != FTF_INT32;
	uint64_t *head = &ftf->heads[key - SLICE_ARG_INSNS][wide];

	if (__builtin_expect(!*head, 0))
		*head = ftf_arg_head(ftf->writer, type, ftf->keys[key]);
	at[0] = *head + (wide ? 0 : word << 32);
	at[1] = word;
	return *head ? at + 1 + wide : NULL;
}

static inline uint64_t *encode_number(struct ftf_sink *ftf, uint64_t *at, enum slice_arg_key key,
				      uint64_t number)
{
	return encode(ftf, at, key, number <= INT32_MAX ? FTF_INT32 : FTF_INT64, number);
}

/* The same as add_own_args(), encoded. Returns false if a name has no reference. */
static inline bool encode_own_args(struct ftf_sink *ftf, struct own_values values, uint64_t *at,
				   struct ftf_own_args *own)
{
	struct ftf_arg ipc = ftf_arg_double(ftf->tail_call, slice_cost_ipc(values.cost));
	uint32_t count = 0;

	own->words = at;
	if (values.cost.insns && ++count)
		at = encode_number(ftf, at, SLICE_ARG_INSNS, values.cost.insns);
	if (at && values.cost.cycles && ++count)
		at = encode_number(ftf, at, SLICE_ARG_CYCLES, values.cost.cycles);
	if (at && ipc.value.real > 0 && ++count)
		at = encode(ftf, at, SLICE_ARG_IPC, FTF_DOUBLE, ipc.value.word);
	if (at && values.folded && (count += 2))
		at = encode_number(ftf, at, SLICE_ARG_FOLDED, values.folded);
	if (at && values.folded)
		at = encode_number(ftf, at, SLICE_ARG_FOLDED_TIME, values.folded_time);
	own->word_count = at ? (uint32_t)(at - own->words) : 0;
	own->count = count;
	return at;
}

/* Add the arguments of a template. Returns whether other slices must not use them. */
static bool add_common_args(struct ftf_sink *ftf, const struct slice_template *made,
			    struct ftf_event *event, struct ftf_arg *args)
{
	struct slice_args values;
	bool once;

	if (ftf->level == OPTION_ARGS_NONE)
		return false;
	values.count = 0;
	if (ftf->level == OPTION_ARGS_LOC)
		slice_args_add_name(
			&values, SLICE_ARG_LOC,
			call_sites_find(&ftf->sites, made->symbol, CALL_SITES_FUNCTION));
	slice_args_add_begin(&values, made->symbol, made->ip, made->flags, ftf->level);
	once = slice_args_add_dso(&values, made->symbol, &ftf->files);
	slice_args_add_name(&values, SLICE_ARG_CALLER,
			    call_sites_find(&ftf->sites, made->caller, made->caller_offset));
	event->arg_count = add_args(ftf, &values, args);
	return once;
}

/* Returns the slot of a slice's template.  Code without a symbol has one symbol and many ips. */
static inline struct slice_template *slot_of(const struct direct_cache *templates,
					     const struct slice_event *begin,
					     const struct slice_detail *detail)
{
	struct slice_template *slots = templates->slots;
	uint64_t key = (uintptr_t)begin->symbol * 2 + begin->ip;

	if (detail)
		key ^= ((uintptr_t)detail->caller + detail->caller_offset) << 16;
	key += begin->flags;
	return &slots[direct_cache_index(templates, key)];
}

static inline bool is_template_of(const struct slice_template *slot,
				  const struct slice_event *begin,
				  const struct slice_detail *detail)
{
	return slot->symbol == begin->symbol && slot->ip == begin->ip &&
	       slot->flags == begin->flags &&
	       (!detail ||
		(slot->caller == detail->caller && slot->caller_offset == detail->caller_offset));
}

/* Returns the template of a begin whose slot has another one. */
static __attribute__((noinline)) struct slice_template *make_template(
	struct ftf_sink *ftf, struct slice_template *slot, const struct slice_event *begin,
	const struct slice_detail *detail)
{
	struct slice_template *made = slot->made ? &ftf->made[slot->made - 1] : NULL;

	if (made && is_template_of(made, begin, detail))
		return made;
	made = &ftf->made[ftf->made_count++];
	*made = (struct slice_template){
		.symbol = begin->symbol, .ip = begin->ip, .flags = begin->flags, .slot = slot
	};
	if (detail) {
		made->caller = detail->caller;
		made->caller_offset = detail->caller_offset;
	}
	slot->made = ftf->made_count;
	return made;
}

static void write_instant(struct ftf_sink *ftf, struct track *track, const struct slice_event *mark)
{
	struct ftf_event event = { .time = mark->time };

	announce(ftf, track);
	ftf->slices++;
	event.thread = ftf_thread_of(track);
	event.name = ftf_text(ftf->writer, mark->text);
	ftf_instant(ftf->writer, &event);
}

/* Write a begin or a whole slice as an event, and fill its template. */
static void write_begin(struct ftf_sink *ftf, const struct ftf_templated *waiting,
			struct own_values values)
{
	/* It is in a slot or in `made`. */
	struct slice_template *made = (struct slice_template *)(uintptr_t)waiting->from;
	struct ftf_template unused; /* a template is empty if the thread has no reference */
	struct ftf_event event = { .time = waiting->time };
	struct ftf_arg args[SLICE_ARG_KEYS];
	size_t own;
	bool once;

	announce(ftf, ftf->track);
	event.thread = ftf_thread_of(ftf->track);
	event.name = ftf_sink_name(ftf, made->symbol->name);
	event.category = ftf_sink_name(ftf, slice_category(made->symbol));
	event.args = args;
	once = add_common_args(ftf, made, &event, args);
	own = add_own_args(ftf, values, args + event.arg_count);
	event.arg_count += own;
	ftf_make_template(ftf->writer, &event, waiting->end, own,
			  made->encoded.count ? &unused : &made->encoded);
	if (once)
		made->encoded.count = 0;
}

/* ---- Whole slices -------------------------------------------------------- */

/*
 * A slice is one record instead of two if its end is among the next events of its track: fewer
 * bytes, and two thirds of the memory in Perfetto. Like a begin, the record precedes the records of
 * inner slices. Perfetto nests such records only by their times. So two kinds of slices have two
 * records: slices without length, and slices whose end equals an inner slice's begin.
 */

/* Write a record without a template. */
static void write_one(struct ftf_sink *ftf, const struct ftf_templated *waiting,
		      struct own_values own)
{
	if (waiting->from) {
		write_begin(ftf, waiting, own);
	} else {
		struct ftf_arg args[SLICE_ARG_KEYS];
		struct ftf_event event = { .thread = ftf_thread_of(ftf->track),
					   .time = waiting->time,
					   .args = args };

		event.arg_count = add_own_args(ftf, own, args);
		ftf_end(ftf->writer, &event);
	}
}

/* Write the waiting records [at, end) with their own arguments. Returns the next index. */
static size_t write_with_args(struct ftf_sink *ftf, size_t at, size_t end)
{
	const struct ftf_templated *records = &ftf->waiting[at];
	struct ftf_own_args own[RECORDS];
	uint64_t words[(RECORDS + 1) * FTF_OWN_WORDS], *next = words;
	struct own_values values;
	size_t count = MIN(end - at, RECORDS), i = 0;
	bool encoded;

	do {
		values = own_values_of(ftf, &records[i], &ftf->details[at + i]);
		encoded = encode_own_args(ftf, values, next, &own[i]);
		next += own[i].word_count;
		i += encoded;
	} while (encoded && i < count);
	ftf_write_templates(ftf->writer, ftf_thread_of(ftf->track), records, own, i);
	if (!encoded)
		write_one(ftf, &records[i], values);
	return at + i + !encoded;
}

/* Write some of the waiting records [at, end), by templates if possible. Returns the next index. */
static size_t write_some(struct ftf_sink *ftf, size_t at, size_t end)
{
	const struct ftf_templated *waiting = &ftf->waiting[at];

	if (at < end && ftf->track->announced &&
	    ftf_write_templates(ftf->writer, ftf_thread_of(ftf->track), waiting, NULL,
				ftf->has_details ? 0 : end - at))
		return ftf->has_details ? write_with_args(ftf, at, end) : end;
	write_one(ftf, waiting,
		  own_values_of(ftf, waiting, ftf->has_details ? &ftf->details[at] : NULL));
	return at + 1;
}

/* Returns the waiting begin around one without an end; may be NULL. */
static inline struct ftf_templated *outer_of(const struct ftf_templated *begin)
{
	return (struct ftf_templated *)(uintptr_t)begin->end;
}

/* Write all waiting records. Slices that are still open get a second one for their end. */
static void write_waiting(struct ftf_sink *ftf)
{
	size_t count = (size_t)(ftf->next - ftf->waiting);

	while (ftf->open) {
		struct ftf_templated *begin = ftf->open;

		ftf->open = outer_of(begin);
		begin->end = 0;
	}
	for (size_t at = 0, end = 0; at < count; at = write_some(ftf, at, end)) {
		if (end <= at) /* find the next record without a template */
			end = ftf->made_count ? at : count;
		while (end < count && !(ftf->waiting[end].from && !ftf->waiting[end].from->count))
			end++;
	}
	/* Move the new templates into their slots, after all waiting records were written. */
	for (const struct slice_template *made = ftf->made; ftf->made_count; made++) {
		*made->slot = *made;
		if (!made->encoded.count)
			made->slot->symbol = NULL;
		ftf->made_count--;
	}
	ftf->next = ftf->waiting;
	ftf->has_details = false;
	ftf->most_waiting = output_room(ftf->output) >> ROOM_SHIFT ? WAITING : 1;
}

/* Make a begin's details those of the whole slice. */
static inline void end_detail(struct slice_detail *begin, const struct slice_detail *end)
{
	struct slice_cost cost =
		slice_cost_between((struct slice_cost){ begin->insns, begin->cycles }, end);

	begin->insns = cost.insns;
	begin->cycles = cost.cycles;
	begin->folded = end->folded;
	begin->folded_time = end->folded_time;
}

/*
 * Add begins and ends of a batch, from `event` on, to the waiting records, or store ends in the
 * records of their begins. Stops at any other event, after a begin found late, and when the records
 * are full. `has_details`: a constant. Returns the next event.
 */
static inline __attribute__((always_inline)) const struct slice_event *add_waiting(
	struct ftf_sink *ftf, const struct slice_batch *batch, const struct slice_event *event,
	bool has_details)
{
	static const struct slice_detail unknown;
	const struct slice_event *limit = batch->events + batch->count;
	const struct direct_cache templates = ftf->templates;
	struct ftf_templated *next = ftf->next, *open = ftf->open;
	const struct ftf_templated *first = next, *full = ftf->waiting + ftf->most_waiting;
	uint64_t last_begin = ftf->last_begin, ends = 0;

	for (; event < limit; event++) {
		const struct slice_detail *detail = NULL;

		if (has_details)
			detail = slice_batch_detail(batch, event);
		if (has_details && !detail)
			detail = &unknown;
		if (event->kind == SLICE_BEGIN && next < full) {
			struct slice_template *slot = slot_of(&templates, event, detail);

			if (!is_template_of(slot, event, detail))
				slot = make_template(ftf, slot, event, detail);
			*next = (struct ftf_templated){ &slot->encoded, event->time,
							(uintptr_t)open };
			open = next;
			last_begin = event->time;
			if (event->order == SLICE_ORDER_DEFERRED)
				limit = event + 1;
		} else if (event->kind == SLICE_END && (open || next < full)) {
			struct ftf_templated *begin = open;

			open = begin ? outer_of(begin) : NULL;
			if (begin && event->time > last_begin) {
				begin->end = event->time;
				if (has_details)
					end_detail(&ftf->details[begin - ftf->waiting], detail);
				continue;
			}
			if (begin)
				begin->end = 0;
			*next = (struct ftf_templated){ .time = event->time };
			ends++;
		} else {
			break;
		}
		if (has_details)
			ftf->details[next - ftf->waiting] = *detail;
		next++;
	}
	ftf->slices += (uint64_t)(next - first) - ends;
	ftf->next = next;
	ftf->open = open;
	ftf->last_begin = last_begin;
	return event;
}

/* Ids of arrows between stacks follow those of tail calls. */
#define SWITCH_ARROWS ((uint64_t)1 << 32)

/* Write an end of an arrow, which binds to the innermost slice. */
static void write_arrow_end(struct ftf_sink *ftf, struct track *track,
			    const struct slice_event *event)
{
	struct ftf_event flow = { .time = event->time, .name = ftf->switches };

	announce(ftf, track);
	flow.thread = ftf_thread_of(track);
	if (event->kind == SLICE_ARROW)
		ftf_flow_begin(ftf->writer, &flow, SWITCH_ARROWS + event->ip);
	else
		ftf_flow_end(ftf->writer, &flow, SWITCH_ARROWS + event->ip);
}

static void add_batch(struct ftf_sink *ftf, struct track *track, const struct slice_batch *batch)
{
	const struct slice_event *event = batch->events, *limit = event + batch->count;
	const bool has_details = batch->details || ftf->level == OPTION_ARGS_FULL;

	if (track != ftf->track) {
		write_waiting(ftf);
		ftf->track = track;
	}
	while (event < limit) {
		if (has_details && !ftf->has_details)
			memset(ftf->details, 0,
			       (size_t)(ftf->next - ftf->waiting) * sizeof(*ftf->details));
		ftf->has_details |= has_details;
		event = ftf->has_details ? add_waiting(ftf, batch, event, true)
					 : add_waiting(ftf, batch, event, false);
		/* The end of a late slice is already written, or follows as a record. */
		if (event < limit ||
		    (event[-1].kind == SLICE_BEGIN && event[-1].order == SLICE_ORDER_DEFERRED))
			write_waiting(ftf);
		if (event == limit || event->kind < SLICE_INSTANT)
			continue;
		if (event->kind == SLICE_INSTANT) /* its text is borrowed for the call only */
			write_instant(ftf, track, event);
		else if (event->kind >= SLICE_ARROW)
			write_arrow_end(ftf, track, event);
		else /* a part with late slices, whose first record can be an end */
			announce(ftf, track);
		event++;
	}
}

/* ---- Arrows -------------------------------------------------------------- */

/*
 * --stacks=flows: tail calls as arrows from the slice that ends to the slice that begins.
 *
 * Perfetto binds each end of an arrow to the innermost open slice of the thread. So the end of a
 * slice left by a tail call waits until the next event of its track shows whether the target has a
 * slice. The selection can exclude the target.
 */

/* Write an event that does not wait. */
static void write_now(struct ftf_sink *ftf, struct track *track, const struct slice_event *event,
		      const struct slice_detail *detail)
{
	struct slice_event one = *event;

	one.detail = detail != NULL;
	if (one.kind == SLICE_BEGIN)
		one.flags &= (uint16_t)~SLICE_TAIL_CALLED; /* the arrow shows it */
	add_batch(ftf, track, &(struct slice_batch){ &one, 1, detail, false });
	write_waiting(ftf);
}

/* Write the waiting end, if any, of the track with this index. */
static void write_held(struct ftf_sink *ftf, size_t index)
{
	struct held_end *held = &ftf->held[index];

	if (held->track)
		write_now(ftf, held->track, &held->event,
			  held->event.detail ? &held->detail : NULL);
	held->track = NULL;
}

/* Write an event of a trace with arrows. */
static void write_with_arrow(struct ftf_sink *ftf, struct track *track,
			     const struct slice_event *event, const struct slice_detail *detail)
{
	if (track->index < ftf->held_room && ftf->held[track->index].track) {
		if (event->kind == SLICE_BEGIN && event->flags & SLICE_TAIL_CALLED) {
			struct ftf_event flow = { .thread = ftf_thread_of(track),
						  .time = ftf->held[track->index].event.time,
						  .name = ftf->tail_call };

			/* Write the waiting end, and the begin of the call's target. */
			ftf_flow_begin(ftf->writer, &flow, ++ftf->arrows);
			write_held(ftf, track->index);
			write_now(ftf, track, event, detail);
			flow.time = event->time;
			ftf_flow_end(ftf->writer, &flow, ftf->arrows);
			return;
		}
		write_held(ftf, track->index);
	}
	if (event->kind == SLICE_END && event->flags & SLICE_TAIL_CALL) {
		ftf->held = alloc_grow_zeroed(ftf->held, &ftf->held_room, (size_t)track->index + 1,
					      sizeof(*ftf->held));
		ftf->held[track->index] = (struct held_end){ track, *event, { 0 } };
		if (detail)
			ftf->held[track->index].detail = *detail;
	} else {
		write_now(ftf, track, event, detail);
	}
}

static void write_events(const struct slice_sink *sink, void *context,
			 const struct slice_batch *batch)
{
	struct ftf_sink *ftf = sink->context;

	if (!ftf->flows)
		add_batch(ftf, context, batch);
	else
		for (size_t i = 0; i < batch->count; i++)
			write_with_arrow(ftf, context, &batch->events[i],
					 slice_batch_detail(batch, &batch->events[i]));
	if (ftf->slices > ftf->most)
		check_slices(ftf, ftf->slices);
}

struct slice_sink ftf_sink_slices(struct ftf_sink *ftf)
{
	return (struct slice_sink){
		.events = write_events,
		.context = ftf,
		.details = ftf->level == OPTION_ARGS_FULL,
		.folded = ftf->level != OPTION_ARGS_NONE,
		.late = ftf->level != OPTION_ARGS_FULL && !ftf->flows,
		.arrows = !ftf->fit.limit,
	};
}
