/* SPDX-License-Identifier: MIT */
/* Collect the sideband's data on threads, buffers and files, and print it as tables. */
#include "src/pipeline/convert.h"

#include <jansson.h>
#include <linux/perf_event.h>

#include "src/formats/text/any_text.h"
#include "src/formats/text/digits.h"
#include "src/formats/text/json_print.h"
#include "src/pipeline/recording.h"

/* ---- Text ---------------------------------------------------------------- */

static bool is_known(const json_t *object, const char *key)
{
	return !json_is_null(json_object_get(object, key));
}

static void print_threads(const json_t *list, FILE *out)
{
	static const char columns[] = "\n{trace=trace_bytes:10b} {share=trace_bytes:6p} "
				      "{first:18m} {last:18m} ";
	uint64_t all = json_value_count(list, "trace_bytes");
	const json_t *thread, *names;
	size_t i, j;

	json_print(out, NULL, 0, columns);
	fputs(" thread (names pid/tid)\n", out);
	json_array_foreach(json_object_get(list, "threads"), i, thread)
	{
		json_print(out, thread, all, columns + 1);
		names = json_object_get(thread, "names");
		for (j = 0; j < json_array_size(names); j++)
			printable_printf(out, "%s %s", j ? "," : "",
					 json_string_value(json_array_get(names, j)));
		json_print(out, thread, 0, " {pid}/{tid}\n");
	}
	json_print(out, list, all,
		   "{unknown_bytes?}{unknown_bytes:10b} {unknown_bytes:6p}                  ?"
		   "                  ?  of no known thread\n{other_threads?}"
		   "{other_threads} other threads ran on these CPUs, and were not recorded\n");
}

static void print_buffers(const json_t *list, FILE *out)
{
	static const char columns[] = "\n{trace=trace_bytes:10b} {share=trace_bytes:6p}  ";
	uint64_t all = json_value_count(list, "trace_bytes");
	bool full = strcmp(json_value_text(list, "kind"), "full") == 0;
	const json_t *buffer;
	size_t i;

	json_print(out, NULL, 0, columns);
	fputs("buffer, and what it lost\n", out);
	json_array_foreach(json_object_get(list, "buffers"), i, buffer)
	{
		json_print(out, buffer, all, columns + 1);
		json_print(out, buffer, 0, is_known(buffer, "cpu") ? "CPU {cpu}" : "thread {tid}");
		if (!full)
			json_print(out, buffer, 0,
				   "{gaps?}, {gaps} gaps: only the newest trace is copied");
		json_print(out, buffer, 0,
			   "{truncated?}, {truncated} times truncated: the buffer was full"
			   "{partial?}, {partial} times partial: did a KVM guest run?"
			   "{collisions?}, {collisions} collisions with other samples"
			   "{bytes_missing?}, {bytes_missing} bytes missing: perf was too slow, or "
			   "the file was cut{?}\n");
	}
}

static void print_files(const json_t *list, FILE *out)
{
	const json_t *file;
	size_t i;

	fprintf(out, "\n%-11s %-9s %s\n", "code", "names", "file");
	json_array_foreach(json_object_get(list, "files"), i, file)
	{
		const char *state = json_value_text(file, "state");
		const char *refused = json_value_text(file, "refused");
		bool code = json_is_true(json_object_get(file, "code"));

		printable_printf(out, "%-11s %-9s %s%s%s\n",
				 strcmp(state, "not-a-file") ? state : "no file",
				 code ? json_value_text(file, "names") : "-",
				 json_value_text(file, "path"), *refused ? ": " : "", refused);
	}
}

/* ---- Times --------------------------------------------------------------- */

struct sideband_list {
	const struct perf_recording *recording; /* borrowed */
	struct listed_thread {
		uint64_t first, last; /* ns: range of its records; first > last: unknown */
		double bytes;         /* bytes of trace */
		bool selected;
	} * threads; /* owned; by index */
	size_t thread_count;
	uint64_t begin, end; /* ns: range of all known times; begin > end: unknown */
	uint64_t bytes;      /* bytes of trace */
	size_t others;       /* threads that ran on the CPUs without a trace */
	double unknown;      /* bytes without a known thread */
	/* State of the current CPU; the switch at `at` precedes the next bytes. */
	const struct cpu_switch *switches;
	size_t switch_count, at;
};

static void add_time(struct sideband_list *list, uint64_t time)
{
	if (!time || time > INT64_MAX)
		return;
	list->begin = MIN(time, list->begin);
	list->end = MAX(time, list->end);
}

static void see_thread(struct sideband_list *list, const struct thread *thread, uint64_t time)
{
	struct listed_thread *seen = &list->threads[thread->index];

	if (!time || time > INT64_MAX)
		return;
	add_time(list, time);
	seen->first = MIN(time, seen->first);
	seen->last = MAX(time, seen->last);
}

/*
 * Find the time ranges of the recording and of its threads: from a thread's first to its last
 * switch, or from its begin to its end.
 */
static void find_times(struct sideband_list *list)
{
	const struct timeline *timeline = list->recording->timeline;
	const struct event_filter *filter = &list->recording->filter;
	const struct perf_features *features = &list->recording->file.features;
	const struct thread *const *threads = timeline->threads.threads;
	const struct cpu_switch *switches = timeline->switches;
	size_t count = timeline->switch_count;
	const struct auxtrace *auxtrace = &list->recording->auxtrace;
	struct tsc_clock clock = pt_info_tsc_clock(&auxtrace->info);

	/* In a recording without sideband, only buffers have times. */
	for (size_t i = 0; i < auxtrace->stream_count; i++) {
		const struct aux_stream *stream = &auxtrace->streams[i];

		for (size_t j = 0; j < stream->piece_count; j++) {
			if (stream->pieces[j].reference && clock.mult)
				add_time(list, tsc_clock_ns(&clock, stream->pieces[j].reference));
		}
	}
	add_time(list, features->first_sample_time);
	add_time(list, features->last_sample_time);
	list->thread_count = timeline->threads.count;
	list->threads = alloc_zeroed(list->thread_count + 1, sizeof(*list->threads));
	for (size_t i = 0; i < list->thread_count; i++) {
		list->threads[i].first = UINT64_MAX;
		list->threads[i].selected = !filter->active || filter->threads[i];
		see_thread(list, threads[i], threads[i]->begin);
		see_thread(list, threads[i], threads[i]->end);
		for (size_t j = 0; j < threads[i]->name_count; j++)
			see_thread(list, threads[i], threads[i]->names[j].time);
	}
	for (size_t i = 0; i < count; i++) {
		see_thread(list, switches[i].thread, switches[i].time);
		if (i && switches[i - 1].cpu == switches[i].cpu)
			see_thread(list, switches[i - 1].thread, switches[i].time);
	}
	/* The last thread of each CPU ran to the end. */
	for (size_t i = 0; i < count; i++)
		if (i + 1 == count || switches[i + 1].cpu != switches[i].cpu)
			see_thread(list, switches[i].thread, list->end);
}

/* ---- Shares -------------------------------------------------------------- */

static void give(struct sideband_list *list, const struct thread *thread, double bytes)
{
	if (thread)
		list->threads[thread->index].bytes += bytes;
	else
		list->unknown += bytes;
}

/*
 * Idle threads write almost no trace. perf also records switches to threads that it does not trace,
 * but without their names.
 */
static bool is_traced(const struct thread *thread)
{
	return thread->tid && thread->name_count;
}

static uint64_t overlap(const struct sideband_list *list, size_t at, uint64_t from, uint64_t to)
{
	uint64_t begin = list->switches[at].time, end = UINT64_MAX;

	if (at + 1 < list->switch_count)
		end = list->switches[at + 1].time;
	begin = MAX(begin, from);
	end = MIN(end, to);
	return is_traced(list->switches[at].thread) && end > begin ? end - begin : 0;
}

static const struct thread *ran_before(const struct sideband_list *list, uint64_t time)
{
	size_t at = list->at;

	while (at + 1 < list->switch_count && list->switches[at + 1].time < time)
		at++;
	for (; at < list->switch_count; at--) {
		if (is_traced(list->switches[at].thread))
			return list->switches[at].thread;
	}
	return NULL;
}

/* Divide the bytes that a CPU wrote in [from, to] among its threads, by their time. */
static void divide(struct sideband_list *list, uint64_t from, uint64_t to, double bytes)
{
	size_t first, last;
	uint64_t sum = 0;

	while (list->at + 1 < list->switch_count && list->switches[list->at + 1].time <= from)
		list->at++;
	first = last = list->at;
	for (; last < list->switch_count && list->switches[last].time < to; last++)
		sum += overlap(list, last, from, to);
	for (size_t i = first; sum && i < last; i++) {
		uint64_t ran = overlap(list, i, from, to);

		if (ran)
			give(list, list->switches[i].thread, bytes * (double)ran / (double)sum);
	}
	if (!sum)
		give(list, ran_before(list, to), bytes);
}

/* Stretches of a CPU's trace: bytes written between the previous stretch's time and `time`. */
struct written_stretches {
	struct written_stretch {
		int32_t cpu;
		uint64_t time, size;
		size_t order;
	} * list; /* owned; by CPU */
	size_t count, room;
};

static void add_stretch(struct written_stretches *stretches, int32_t cpu, uint64_t time,
			uint64_t size)
{
	const size_t order = stretches->count;

	*ARRAY_ADD(stretches->list, stretches->count, stretches->room) =
		(struct written_stretch){ cpu, time, size, order };
}

COMPARE_BY_THREE(compare_stretches, struct written_stretch, cpu, time, order)

/* Divide a buffer's bytes in proportion to stretches, whose sum is larger if some were lost. */
static void share_stretches(struct sideband_list *list, const struct aux_stream *stream,
			    const struct written_stretch *stretches, size_t count)
{
	uint64_t from = list->begin, sum = 0;

	list->at = 0;
	list->switches = history_switches(&list->recording->timeline->history, stream->cpu,
					  &list->switch_count);
	for (size_t i = 0; i < count; i++)
		sum += stretches[i].size;
	for (size_t i = 0; i < count; i++) {
		uint64_t to = stretches[i].time > from ? stretches[i].time : from;

		if (stretches[i].size)
			divide(list, from, to,
			       (double)stream->size * (double)stretches[i].size / (double)sum);
		from = to;
	}
	if (!sum)
		give(list, NULL, (double)stream->size);
}

static void share_cpu(struct sideband_list *list, const struct aux_stream *stream,
		      const struct written_stretches *all)
{
	struct tsc_clock clock = pt_info_tsc_clock(&list->recording->auxtrace.info);
	size_t first = LOWER_BOUND(i, all->count, all->list[i].cpu < stream->cpu);
	size_t end = LOWER_BOUND(i, all->count, all->list[i].cpu <= stream->cpu);
	struct written_stretches pieces = { 0 };

	if (first < end && !stream->copies) {
		share_stretches(list, stream, all->list + first, end - first);
		return;
	}
	/* Snapshots and samples have no AUX records, but each piece has a time near its end. */
	for (size_t i = 0; i < stream->piece_count; i++)
		add_stretch(&pieces, stream->cpu, tsc_clock_ns(&clock, stream->pieces[i].reference),
			    stream->pieces[i].size);
	share_stretches(list, stream, pieces.list, pieces.count);
	free(pieces.list);
}

static void share_bytes(struct sideband_list *list)
{
	const struct auxtrace *auxtrace = &list->recording->auxtrace;
	struct written_stretches stretches = { 0 };
	struct perf_record record;
	struct perf_aux aux;
	uint64_t position = 0;

	/* Read the kernel's AUX records, written whenever tracing stops or perf is woken. */
	while (perf_file_next(&list->recording->file, &position, &record, NULL)) {
		if (record.type != PERF_RECORD_AUX || record.id.cpu < 0 ||
		    perf_record_read_aux(&record, &aux) < 0 || aux.flags & PERF_AUX_FLAG_OVERWRITE)
			continue;
		add_stretch(&stretches, record.id.cpu, record.id.time, aux.size);
		add_time(list, record.id.time);
	}
	SORT(stretches.list, stretches.count, compare_stretches);
	for (size_t i = 0; i < auxtrace->stream_count; i++) {
		const struct aux_stream *stream = &auxtrace->streams[i];

		list->bytes += stream->size;
		if (stream->cpu >= 0)
			share_cpu(list, stream, &stretches);
		else
			give(list,
			     timeline_borrow_thread(list->recording->timeline, stream->tid,
						    list->begin),
			     (double)stream->size);
	}
	free(stretches.list);
}

/*
 * Temporary bytes for a byte of trace: the most that recordings took. --clock with a page takes 152
 * of a trace that is all TNT, a page alone 80, and 20 of a trace with cycles.
 */
#define TEMP_BYTES 160

/* ---- The answer ---------------------------------------------------------- */

static json_t *time_or_null(bool known, uint64_t ns)
{
	return known ? json_integer(json_value_of(ns)) : json_null();
}

static json_t *thread_json(const struct sideband_list *list, const struct thread *thread)
{
	const struct listed_thread *seen = &list->threads[thread->index];
	bool known = seen->first <= seen->last;

	return json_pack("{si si so so so sI}", "pid", (int)thread->pid, "tid", (int)thread->tid,
			 "names",
			 JSON_LIST(i, thread->name_count, json_text_or_null(thread->names[i].text)),
			 "first_ns", time_or_null(known, seen->first), "last_ns",
			 time_or_null(known, seen->last), "trace_bytes",
			 json_value_of((uint64_t)(seen->bytes + 0.5)));
}

COMPARE_WITHIN(compare_threads, const struct thread *, struct listed_thread,
	       COMPARE(context[(*b)->index].bytes, context[(*a)->index].bytes)
		       ?: COMPARE((*a)->index, (*b)->index))

static json_t *threads_json(struct sideband_list *list)
{
	const struct thread *const *threads = list->recording->timeline->threads.threads;
	const struct thread **sorted = alloc_zeroed(list->thread_count + 1, sizeof(*sorted));
	json_t *array = json_array();

	for (size_t i = 0; i < list->thread_count; i++)
		sorted[i] = threads[i];
	SORT_WITHIN(sorted, list->thread_count, compare_threads, list->threads);
	for (size_t i = 0; i < list->thread_count; i++) {
		const struct listed_thread *seen = &list->threads[sorted[i]->index];

		if (!seen->selected)
			continue;
		if (!is_traced(sorted[i]) && !(seen->bytes > 0))
			list->others += sorted[i]->tid != 0;
		else
			json_array_append_new(array, thread_json(list, sorted[i]));
	}
	free(sorted);
	return array;
}

static json_t *buffer_json(const struct sideband_list *list, const struct aux_stream *stream)
{
	size_t count, truncated = 0, partial = 0, collisions = 0, cuts = 0;
	const struct loss *losses = history_losses(&list->recording->timeline->history, stream->cpu,
						   stream->cpu < 0 ? stream->tid : -1, &count);

	for (size_t i = 0; i < count; i++) {
		truncated += (losses[i].flags & PERF_AUX_FLAG_TRUNCATED) != 0;
		partial += (losses[i].flags & PERF_AUX_FLAG_PARTIAL) != 0;
		collisions += (losses[i].flags & PERF_AUX_FLAG_COLLISION) != 0;
	}
	for (size_t i = 0; i < stream->piece_count; i++)
		cuts += stream->pieces[i].apart;
	return json_pack("{so so sI sI sI sI sI sI sI}", "cpu",
			 stream->cpu < 0 ? json_null() : json_integer(stream->cpu), "tid",
			 stream->tid < 0 ? json_null() : json_integer(stream->tid), "trace_bytes",
			 json_value_of(stream->size), "bytes_missing",
			 json_value_of(stream->missing), "bytes_repeated",
			 json_value_of(stream->repeated), "gaps", (json_int_t)cuts, "truncated",
			 (json_int_t)truncated, "partial", (json_int_t)partial, "collisions",
			 (json_int_t)collisions);
}

/* Look up the names of all files; a conversion looks up only files whose code ran. */
static json_t *file_json(const struct sideband_list *list, const struct mapped_file *file,
			 struct report *report)
{
	struct dso *dso = list->recording->resolver.dsos[file->index];
	bool code = dso->elf.bytes != NULL;

	if (code)
		dso_borrow_symbol(dso, dso->elf.code_count ? dso->elf.code[0].offset : 0,
				  &(uint64_t){ 0 });
	report_file(report, dso, 0);
	return json_pack("{so ss sb ss so}", "path", json_text_or_null(dso->path), "state",
			 report_file_states[dso->state], "code", (int)code, "names",
			 report_file_names[dso_info(dso).names], "refused",
			 json_text_or_null(dso_info(dso).refused));
}

static const char *kind_of_trace(const struct auxtrace *auxtrace)
{
	if (auxtrace->info.snapshot_mode)
		return "snapshots";
	return auxtrace->stream_count && auxtrace->streams->copies ? "samples" : "full";
}

static json_t *make_answer(struct sideband_list *list, struct report *report)
{
	static const char *const modes[] = { [TRACE_MODE_USER] = "user",
					     [TRACE_MODE_KERNEL] = "kernel",
					     [TRACE_MODE_BOTH] = "both" };
	const struct perf_recording *recording = list->recording;
	const struct perf_features *features = &recording->file.features;
	uint64_t resolution = recording_resolution(recording);
	bool known = list->begin <= list->end;
	const struct file_table *table = &recording->timeline->files;
	json_t *answer = json_pack(
		"{ss so so so ss ss so sI sI sI}", "format", "list", "command_line",
		json_text_or_null(features->command_line), "begin_ns",
		time_or_null(known, list->begin), "end_ns", time_or_null(known, list->end), "mode",
		modes[recording_mode(recording, report->options)], "kind",
		kind_of_trace(&recording->auxtrace), "resolution_ns",
		time_or_null(resolution != 0, resolution), "trace_bytes",
		json_value_of(list->bytes), "temp_bytes", json_value_of(TEMP_BYTES * list->bytes),
		"unknown_bytes", json_value_of((uint64_t)(list->unknown + 0.5)));

	json_object_set_new(answer, "threads", threads_json(list));
	json_object_set_new(answer, "other_threads", json_integer((json_int_t)list->others));
	json_object_set_new(answer, "buffers",
			    JSON_LIST(i, recording->auxtrace.stream_count,
				      buffer_json(list, &recording->auxtrace.streams[i])));
	json_object_set_new(answer, "files",
			    JSON_LIST(i, table->count, file_json(list, table->files[i], report)));
	return answer;
}

int list_recording(struct name_table *names, struct report *report, struct diag *diag, FILE *text,
		   struct error *err)
{
	const struct options *options = report->options;
	struct perf_recording recording = { 0 };
	struct sideband_list list = { .recording = &recording, .begin = UINT64_MAX };
	int status = recording_open(&recording, options, names, diag, err);
	json_t *answer;

	if (status == 0) {
		find_times(&list);
		share_bytes(&list);
		answer = make_answer(&list, report);
		report_recording(report, &recording.file);
		report->summary.unknown_records = recording.timeline->unknown_records;
		if (options->json_answer) {
			json_dumpf(answer, text, REPORT_JSON_FLAGS);
		} else {
			const char *kind = json_value_text(answer, "kind"),
				   *mode = json_value_text(answer, "mode");

			printable_printf(text, "%s: ", options->input);
			json_print(text, answer, 0, "{trace_bytes:b}");
			fprintf(text, " of %s of %s code", strcmp(kind, "full") ? kind : "trace",
				strcmp(mode, "both") ? mode : "user and kernel");
			if (is_known(answer, "begin_ns"))
				fprintf(text, ", recorded in %s",
					short_time(json_value_count(answer, "end_ns") -
						   json_value_count(answer, "begin_ns"))
						.text);
			json_print(
				text, answer, 0,
				"{resolution_ns?}, with timing packets, to {resolution:a}"
				"{command_line?}\nrecorded by: {command_line}{?}\n"
				"temporary files: usually at most {temp_bytes:b} (see --max-temp)\n");
			print_threads(answer, text);
			print_buffers(answer, text);
			print_files(answer, text);
		}
		report_take_answer(report, answer);
	}
	if (options->of_several || options->json_answer)
		putc('\n', text);
	free(list.threads);
	recording_close(&recording);
	return status;
}
