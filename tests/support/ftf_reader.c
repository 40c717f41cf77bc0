/* SPDX-License-Identifier: MIT */
#include "tests/support/ftf_reader.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS 32768
#define THREADS 256
#define DEPTH_MAX 512
#define NO_SLICE SIZE_MAX

struct text {
	const uint8_t *at; /* view of the trace; NULL: not defined */
	size_t length;
};

struct thread_ref {
	uint64_t pid, tid;
	bool defined;
};

struct open_thread {
	uint64_t pid, tid, last_time;
	size_t open[DEPTH_MAX]; /* slices, innermost last */
	size_t depth;
};

struct read_slice {
	uint64_t pid, tid, begin, end;
	size_t depth, order;
	char *text; /* name and args, escaped */
};

struct reader {
	const uint8_t *bytes;
	size_t size, at; /* at: of the current record */
	struct text strings[STRINGS];
	struct thread_ref refs[THREADS];
	struct open_thread **threads;
	size_t thread_count;
	struct read_slice *slices;
	size_t slice_count, slice_room;
	bool initialized, in_section, want_text;
	FILE *names;
	struct ftf_report *report;
};

static int refuse(struct reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct reader *r, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(r->report->error, sizeof(r->report->error), format, args);
	va_end(args);
	r->report->offset = r->at;
	return -1;
}

static uint64_t word(const struct reader *r, size_t index)
{
	uint64_t value;

	memcpy(&value, r->bytes + r->at + index * 8, sizeof(value));
	return value;
}

/* Bits [low, high] of a word, as the specification counts them. */
static uint64_t bits(uint64_t value, unsigned low, unsigned high)
{
	return value >> low & (high - low == 63 ? ~UINT64_C(0) : (UINT64_C(1) << (high - low + 1)) - 1);
}

static size_t padded_words(size_t bytes)
{
	return (bytes + 7) / 8;
}

/* ---- Text out ------------------------------------------------------------ */

static void print_escaped(FILE *out, const struct text *text)
{
	for (size_t i = 0; i < text->length; i++) {
		uint8_t c = text->at[i];

		if (c < 0x20 || c == 0x7f || c == '\\')
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
}

/* ---- References ---------------------------------------------------------- */

/*
 * A string reference: 0 is empty; with the top bit an inline string of that
 * length at word *next, which moves behind it; else a number of the table.
 */
static int resolve(struct reader *r, uint64_t ref, size_t words, size_t *next, struct text *text)
{
	*text = (struct text){ (const uint8_t *)"", 0 };
	if (ref == 0)
		return 0;
	if (ref & 0x8000) {
		text->length = ref & 0x7fff;
		if (*next + padded_words(text->length) > words)
			return refuse(r, "inline string leaves its record");
		text->at = r->bytes + r->at + *next * 8;
		*next += padded_words(text->length);
		return 0;
	}
	if (!r->strings[ref].at)
		return refuse(r, "string %" PRIu64 " is not defined", ref);
	*text = r->strings[ref];
	return 0;
}

static struct open_thread *find_thread(struct reader *r, uint64_t pid, uint64_t tid)
{
	struct open_thread *thread;

	for (size_t i = r->thread_count; i-- > 0;) {
		if (r->threads[i]->pid == pid && r->threads[i]->tid == tid)
			return r->threads[i];
	}
	thread = calloc(1, sizeof(*thread));
	r->threads = reallocarray(r->threads, r->thread_count + 1, sizeof(*r->threads));
	if (!thread || !r->threads)
		abort();
	thread->pid = pid;
	thread->tid = tid;
	r->threads[r->thread_count++] = thread;
	return thread;
}

/* ---- Arguments ----------------------------------------------------------- */

static int print_value(struct reader *r, FILE *out, size_t at, size_t words)
{
	uint64_t header = word(r, at);
	size_t size = bits(header, 4, 15), next = at + 1;
	unsigned type = (unsigned)bits(header, 0, 3);
	bool wide = (type >= 3 && type <= 5) || type == 7 || type == 8;
	uint64_t value = wide && size == 2 ? word(r, at + 1) : bits(header, 32, 63);
	struct text text;
	double real;

	if (type > 9 || (wide ? size != 2 : type != 6 && size != 1))
		return refuse(r, "argument of type %u has %zu words", type, size);
	if (type == 6) {
		if (resolve(r, bits(header, 32, 47), words, &next, &text) < 0)
			return -1;
		print_escaped(out, &text);
	} else if (type == 5) {
		memcpy(&real, &value, sizeof(real));
		fprintf(out, "%.15g", real);
	} else if (type == 0) {
		fputs("null", out);
	} else if (type == 1) {
		fprintf(out, "%" PRId32, (int32_t)value);
	} else if (type == 3) {
		fprintf(out, "%" PRId64, (int64_t)value);
	} else if (type == 7) {
		fprintf(out, "0x%" PRIx64, value);
	} else if (type == 9) {
		fputs(value & 1 ? "true" : "false", out);
	} else {
		fprintf(out, "%" PRIu64, value);
	}
	return 0;
}

static int print_args(struct reader *r, FILE *out, size_t at, size_t words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct text key;
		size_t size, next;

		if (at >= words)
			return refuse(r, "argument %zu leaves its record", i);
		size = bits(word(r, at), 4, 15);
		next = at + 1;
		if (!size || at + size > words)
			return refuse(r, "argument %zu of %zu words leaves its record", i, size);
		if (resolve(r, bits(word(r, at), 16, 31), at + size, &next, &key) < 0)
			return -1;
		if (memchr(key.at, '.', key.length) || memchr(key.at, '[', key.length))
			return refuse(r, "argument name that Perfetto cannot show");
		putc(' ', out);
		print_escaped(out, &key);
		putc('=', out);
		if (print_value(r, out, at, at + size) < 0)
			return -1;
		at += size;
	}
	return at == words ? 0 : refuse(r, "%zu words behind the arguments", words - at);
}

/* ---- Events -------------------------------------------------------------- */

static int begin_slice(struct reader *r, struct open_thread *thread, uint64_t time, char *text)
{
	struct read_slice *slice;

	if (thread->depth == DEPTH_MAX) {
		free(text);
		return refuse(r, "more than %d durations open", DEPTH_MAX);
	}
	if (r->slice_count == r->slice_room) {
		r->slice_room = r->slice_room ? r->slice_room * 2 : 1024;
		r->slices = reallocarray(r->slices, r->slice_room, sizeof(*r->slices));
		if (!r->slices)
			abort();
	}
	slice = &r->slices[r->slice_count];
	*slice = (struct read_slice){ thread->pid,   thread->tid,    time, time,
				      thread->depth, r->slice_count, text };
	thread->open[thread->depth++] = r->slice_count++;
	if (thread->depth > r->report->deepest)
		r->report->deepest = thread->depth;
	return 0;
}

/* Perfetto adds an end's arguments (`text`) to those of the begin. */
static int end_slice(struct reader *r, struct open_thread *thread, uint64_t time, char *text)
{
	struct read_slice *slice;
	char *joined;

	if (!thread->depth) {
		free(text);
		return refuse(r, "end without a begin");
	}
	slice = &r->slices[thread->open[--thread->depth]];
	slice->end = time;
	if (asprintf(&joined, "%s%s", slice->text, text) < 0)
		abort();
	free(slice->text);
	free(text);
	slice->text = joined;
	return 0;
}

static int describe(struct reader *r, char **text, size_t next, size_t words)
{
	uint64_t header = word(r, 0);
	struct text category, name;
	size_t size;
	FILE *out;
	int status;

	if (resolve(r, bits(header, 32, 47), words, &next, &category) < 0 ||
	    resolve(r, bits(header, 48, 63), words, &next, &name) < 0)
		return -1;
	out = open_memstream(text, &size);
	if (!out)
		abort();
	print_escaped(out, &name);
	status = print_args(r, out, next, words, bits(header, 20, 23));
	fclose(out);
	if (status < 0)
		free(*text);
	return status;
}

static int read_event(struct reader *r, size_t words)
{
	uint64_t header = word(r, 0);
	unsigned type = (unsigned)bits(header, 16, 19), ref = (unsigned)bits(header, 24, 31);
	struct open_thread *thread;
	size_t next = 2;
	uint64_t time;
	char *text;

	if (words < (ref ? 2u : 4u))
		return refuse(r, "event of %zu words", words);
	if (ref && !r->refs[ref].defined)
		return refuse(r, "thread %u is not defined", ref);
	thread = ref ? find_thread(r, r->refs[ref].pid, r->refs[ref].tid)
		     : find_thread(r, word(r, 2), word(r, 3));
	next = ref ? 2 : 4;
	time = word(r, 1);
	if (time < thread->last_time)
		return refuse(r, "time goes back from %" PRIu64 " to %" PRIu64 " on %" PRIu64
				 "/%" PRIu64, thread->last_time, time, thread->pid, thread->tid);
	thread->last_time = time;
	if (!r->report->events || time < r->report->first)
		r->report->first = time;
	if (time > r->report->last)
		r->report->last = time;
	r->report->events++;
	if (type != 2 && type != 3)
		return refuse(r, "event of type %u", type);
	if (describe(r, &text, next, words) < 0)
		return -1;
	if (type == 2)
		return begin_slice(r, thread, time, text);
	return end_slice(r, thread, time, text);
}

/* ---- Other records ------------------------------------------------------- */

static int read_metadata(struct reader *r, size_t words)
{
	uint64_t header = word(r, 0);
	unsigned type = (unsigned)bits(header, 16, 19);

	if (type == 4)
		return r->at == 0 ? 0 : refuse(r, "second magic number");
	if (type == 1)
		return words == 1 + padded_words(bits(header, 52, 59))
			       ? 0
			       : refuse(r, "provider name does not fit its record");
	if (type != 2)
		return refuse(r, "metadata of type %u", type);
	r->in_section = true;
	return words == 1 ? 0 : refuse(r, "provider section of %zu words", words);
}

static int read_string(struct reader *r, size_t words)
{
	uint64_t header = word(r, 0);
	size_t number = bits(header, 16, 30), length = bits(header, 32, 46);

	if (!number || words != 1 + padded_words(length))
		return refuse(r, "string %zu of %zu bytes in %zu words", number, length, words);
	if (length > 32000)
		return refuse(r, "string of %zu bytes", length);
	r->strings[number] = (struct text){ r->bytes + r->at + 8, length };
	r->report->strings++;
	return 0;
}

static int read_thread(struct reader *r, size_t words)
{
	size_t number = bits(word(r, 0), 16, 23);

	if (!number || words != 3)
		return refuse(r, "thread %zu in %zu words", number, words);
	r->refs[number] = (struct thread_ref){ word(r, 1), word(r, 2), true };
	r->report->threads++;
	return 0;
}

static int read_kernel_object(struct reader *r, size_t words)
{
	uint64_t header = word(r, 0);
	unsigned type = (unsigned)bits(header, 16, 23);
	struct text name;
	size_t next = 2;
	char *args;
	size_t size;
	FILE *out;
	int status;

	if (words < 2 || (type != 1 && type != 2))
		return refuse(r, "kernel object of type %u", type);
	if (resolve(r, bits(header, 24, 39), words, &next, &name) < 0)
		return -1;
	out = open_memstream(&args, &size);
	if (!out)
		abort();
	status = print_args(r, out, next, words, bits(header, 40, 43));
	fclose(out);
	if (status == 0 && r->names) {
		fprintf(r->names, type == 1 ? "process %" PRIu64 " " : "thread %" PRIu64 " ",
			word(r, 1));
		print_escaped(r->names, &name);
		fprintf(r->names, "%s\n", args);
	}
	free(args);
	return status;
}

static int read_record(struct reader *r, size_t words)
{
	unsigned type = (unsigned)bits(word(r, 0), 0, 3);

	r->report->records++;
	if (type == 0)
		return read_metadata(r, words);
	if (!r->in_section)
		return refuse(r, "record outside of a provider's section");
	switch (type) {
	case 1:
		r->initialized = words == 2 && word(r, 1) == 1000000000;
		return r->initialized ? 0 : refuse(r, "initialization that is not 10^9 ticks/s");
	case 2:
		return read_string(r, words);
	case 3:
		return read_thread(r, words);
	case 4:
		return r->initialized ? read_event(r, words) : refuse(r, "event before initialization");
	case 7:
		return read_kernel_object(r, words);
	default:
		return refuse(r, "record of type %u", type);
	}
}

static int read_records(struct reader *r)
{
	static const uint8_t magic[8] = { 0x10, 0, 4, 'F', 'x', 'T', 0x16, 0 };

	if (r->size < sizeof(magic) || memcmp(r->bytes, magic, sizeof(magic)) != 0)
		return refuse(r, "no magic number");
	while (r->at < r->size) {
		size_t words, left = (r->size - r->at) / 8;

		if (!left)
			return refuse(r, "%zu bytes behind the last record", r->size - r->at);
		words = bits(word(r, 0), 4, 15);
		if (!words || words > left)
			return refuse(r, "record of %zu words, %zu are left", words, left);
		if (read_record(r, words) < 0)
			return -1;
		r->at += words * 8;
	}
	for (size_t i = 0; i < r->thread_count; i++) {
		if (r->threads[i]->depth)
			return refuse(r, "%zu durations of %" PRIu64 "/%" PRIu64 " never end",
				      r->threads[i]->depth, r->threads[i]->pid,
				      r->threads[i]->tid);
	}
	return 0;
}

/* ---- Slices -------------------------------------------------------------- */

static int compare_signed(uint64_t a, uint64_t b)
{
	return (int32_t)a < (int32_t)b ? -1 : (int32_t)a > (int32_t)b;
}

static int compare_unsigned(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

static int compare(const void *left, const void *right)
{
	const struct read_slice *a = left, *b = right;
	int order = compare_signed(a->pid, b->pid);

	order = order ? order : compare_signed(a->tid, b->tid);
	order = order ? order : compare_unsigned(a->begin, b->begin);
	order = order ? order : compare_unsigned(a->depth, b->depth);
	return order ? order : compare_unsigned(a->order, b->order);
}

static void print_slices(struct reader *r, FILE *out)
{
	if (r->slice_count)
		qsort(r->slices, r->slice_count, sizeof(*r->slices), compare);
	for (size_t i = 0; i < r->slice_count; i++) {
		const struct read_slice *slice = &r->slices[i];

		/* Perfetto keeps 32 bits of ids; -1 is "unknown". */
		fprintf(out, "%d/%d %zu %" PRIu64 " %" PRIu64 " %s\n", (int32_t)slice->pid,
			(int32_t)slice->tid, slice->depth, slice->begin, slice->end, slice->text);
	}
}

int ftf_read(const uint8_t *bytes, size_t size, struct ftf_report *report, FILE *slices,
	     FILE *names)
{
	struct reader *r = calloc(1, sizeof(*r));
	int status;

	if (!r)
		abort();
	*report = (struct ftf_report){ 0 };
	r->bytes = bytes;
	r->size = size;
	r->names = names;
	r->report = report;
	status = read_records(r);
	report->slices = r->slice_count;
	if (status == 0 && slices)
		print_slices(r, slices);
	for (size_t i = 0; i < r->slice_count; i++)
		free(r->slices[i].text);
	for (size_t i = 0; i < r->thread_count; i++)
		free(r->threads[i]);
	free(r->slices);
	free(r->threads);
	free(r);
	return status;
}
