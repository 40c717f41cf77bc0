/* SPDX-License-Identifier: MIT */
/* Open an overlay, and the steps that importers share. */
#include "src/overlays/overlay_importer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"

/* ---- The option's words --------------------------------------------------- */

bool overlay_read_number(const char *text, char until, long most, long *number)
{
	char *end;

	errno = 0;
	*number = strtol(text, &end, 10);
	return !errno && end != text && *end == until && *number >= 0 && *number <= most;
}

int32_t overlay_input_tid(const struct overlay_input *input, uint32_t ring)
{
	for (size_t i = 0; i < input->tid_count; i++)
		if (input->tids[i].ring == ring)
			return input->tids[i].tid;
	return -1;
}

void overlay_input_add_tid(struct overlay_input *input, uint32_t ring, int32_t tid)
{
	if (overlay_input_tid(input, ring) >= 0)
		return;
	*ARRAY_ADD(input->tids, input->tid_count, input->tid_room) =
		(struct overlay_tid){ ring, tid };
}

static bool read_word(struct overlay_input *input, const char *word)
{
	long number;

	if (!starts_with(word, "pid="))
		return input->importer->read_word(input, word);
	if (!overlay_read_number(word + 4, '\0', INT32_MAX, &number))
		return false;
	input->pid = (int32_t)number;
	return true;
}

/* The words follow the last commas, because the file's name may contain commas. */
static void read_option(struct overlay_input *input, const char *text)
{
	char *comma;

	input->path = alloc_text("%s", text);
	for (comma = strrchr(input->path, ','); comma; comma = strrchr(input->path, ',')) {
		if (!read_word(input, comma + 1))
			return;
		*comma = '\0';
	}
}

/* ---- The file ------------------------------------------------------------ */

static int map_file(struct overlay_input *input, struct error *err)
{
	int fd = file_use_open(input->path);
	struct stat status;

	if (fd < 0)
		return error_set_system(err, errno, "%s: cannot open", input->path);
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode) || status.st_size == 0) {
		close(fd);
		return error_set(err, ERROR_FORMAT, "%s: not a file, or an empty one", input->path);
	}
	input->size = (size_t)status.st_size;
	/* Shared, because the program may still be running and writing. */
	input->bytes = mmap(NULL, input->size, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	if (input->bytes != MAP_FAILED)
		return 0;
	input->bytes = NULL;
	return error_set_system(err, errno, "%s: cannot map", input->path);
}

int overlay_input_open(struct overlay_input *input, const struct overlay_option *option,
		       struct diag *diag, struct error *err)
{
	*input = (struct overlay_input){ .pid = -1, .ocaml_minor = -1 };
	input->importer =
		option->kind == OVERLAY_MEMTRACE ? &overlay_memtrace : &overlay_runtime_events;
	read_option(input, option->text);
	if (map_file(input, err) < 0)
		return -1;
	if (input->importer->open(input, diag, err) < 0)
		return error_prefix(err, "%s", input->path);
	return 0;
}

void overlay_input_close(struct overlay_input *input)
{
	memtrace_close(&input->memtrace);
	if (input->bytes)
		munmap(input->bytes, input->size);
	free(input->tids);
	free(input->path);
	*input = (struct overlay_input){ 0 };
}

/* ---- Output -------------------------------------------------------------- */

bool overlay_sink_full(struct overlay_sink *out)
{
	out->output->cut |= output_full(out->output);
	return out->output->cut;
}

struct event_track overlay_sink_track(struct overlay_sink *out, int32_t pid, const char *name)
{
	return event_sink_new_track(out->sink, (uint32_t)MAX(0, pid), name);
}

void overlay_sink_show_clock(struct overlay_sink *out, struct event_track track, uint64_t time,
			     const struct overlay_clock *clock)
{
	struct event_record record;

	event_record_init(&record, out->sink, track, "clock", "clock of this overlay", time);
	event_record_add_text(&record, "method", overlay_clock_methods[clock->method]);
	event_record_add_number(&record, "offset_ns", clock->offset);
	event_record_add_number(&record, "uncertainty_ns", (int64_t)clock->uncertainty);
	if (clock->method == OVERLAY_CLOCK_OWN)
		record.event.arg_count = 1;
	event_record_emit(&record, TRACK_INSTANT);
}

void overlay_print_quoted(const char *text, FILE *out)
{
	fputc('"', out);
	for (const unsigned char *at = (const unsigned char *)text; *at; at++) {
		static const char letters[] = "\n\t\r\b\"\\", names[] = "ntrb\"\\";
		const char *letter = strchr(letters, *at);

		if (letter)
			fprintf(out, "\\%c", names[letter - letters]);
		else if (*at < ' ' || *at > '~')
			fprintf(out, "\\%03d", *at);
		else
			fputc(*at, out);
	}
	fputc('"', out);
}
