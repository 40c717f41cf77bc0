/* SPDX-License-Identifier: MIT */
/* Open the user's overlay files. */
#include "src/overlays/overlays.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/output_path.h"

#define NS_PER_US UINT64_C(1000)

/* ---- The option's words --------------------------------------------------- */

/* Returns whether `text` is a decimal number up to `most`, followed by `until`. */
static bool parse_number(const char *text, char until, long most, long *number)
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

static bool parse_word(struct overlay_input *input, const char *word)
{
	bool events = input->kind == OVERLAY_RUNTIME_EVENTS;
	long number, ring;

	if (starts_with(word, "pid=")) {
		if (!parse_number(word + 4, '\0', INT32_MAX, &number))
			return false;
		input->pid = (int32_t)number;
		return true;
	}
	if (events && starts_with(word, "ocaml=5.")) {
		/* A third number, as in 5.2.1, is ignored. */
		input->ocaml_minor = (int)strtol(word + 8, NULL, 10);
		return word[8] >= '0' && word[8] <= '9';
	}
	if (!events && strcmp(word, "lives") == 0)
		return input->lives = true;
	if (!events || !starts_with(word, "tid.") ||
	    !parse_number(word + 4, '=', UINT16_MAX, &ring) ||
	    !parse_number(strchr(word, '=') + 1, '\0', INT32_MAX, &number))
		return false;
	overlay_input_add_tid(input, (uint32_t)ring, (int32_t)number);
	return true;
}

/* The words follow the last commas, because the file's name may contain commas. */
static void parse_option(struct overlay_input *input, const char *text)
{
	char *comma;

	input->path = alloc_text("%s", text);
	for (comma = strrchr(input->path, ','); comma; comma = strrchr(input->path, ',')) {
		if (!parse_word(input, comma + 1))
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

/* Returns the pid of a ring's start event; -1: no ring has kept its start. */
static int32_t started_pid(const struct runtime_events *file)
{
	struct runtime_ring ring;
	struct runtime_event event;

	for (uint32_t i = 0; i < file->rings; i++) {
		runtime_ring_start(&ring, file, i);
		while (runtime_ring_next(&ring, &event))
			if (event.kind == RUNTIME_LIFECYCLE && event.value > 0 &&
			    event.value <= INT32_MAX &&
			    (event.id == RUNTIME_RING_START || event.id == RUNTIME_DOMAIN_SPAWN))
				return (int32_t)event.value;
	}
	return -1;
}

static int open_events(struct overlay_input *input, struct diag *diag, struct error *err)
{
	struct runtime_events *events = &input->events;
	char *end;
	long named; /* the file is PID.events */

	if (runtime_events_open(events, input->bytes, input->size, diag, err) < 0)
		return error_prefix(err, "%s", input->path);
	if (input->ocaml_minor >= 0)
		events->phases = input->ocaml_minor < 3 ? RUNTIME_PHASES_5_0 : RUNTIME_PHASES_5_3;
	else if (events->phases_guessed && events->first_time)
		diag_warn(diag, "runtime-events-release",
			  "%s does not name the OCaml that wrote it; assuming 5.3 or later; "
			  "see ocaml=5.N",
			  input->path);
	if (input->pid < 0)
		input->pid = started_pid(events);
	named = strtol(base_name(input->path), &end, 10);
	if (input->pid < 0 && named > 0 && named <= INT32_MAX && strcmp(end, ".events") == 0)
		input->pid = (int32_t)named;
	return 0;
}

/* Returns the time of the last event, ns since 1970: reads the file with a separate reader. */
static uint64_t last_time_of(const struct overlay_input *input)
{
	struct memtrace_event event;
	struct memtrace trace;
	uint64_t last = 0;

	if (memtrace_open(&trace, input->bytes, input->size, NULL, NULL) == 0) {
		last = trace.info.start_time;
		while (memtrace_next(&trace, &event))
			last = MAX(last, trace.info.start_time + event.time);
	}
	memtrace_close(&trace);
	return last * NS_PER_US;
}

int overlay_input_open(struct overlay_input *input, const struct overlay_option *option,
		       struct diag *diag, struct error *err)
{
	*input = (struct overlay_input){ .kind = option->kind, .pid = -1, .ocaml_minor = -1 };
	parse_option(input, option->text);
	if (map_file(input, err) < 0)
		return -1;
	if (option->kind == OVERLAY_RUNTIME_EVENTS)
		return open_events(input, diag, err);
	if (memtrace_open(&input->memtrace, input->bytes, input->size, diag, err) < 0)
		return error_prefix(err, "%s", input->path);
	if (input->pid < 0 && input->memtrace.info.pid <= INT32_MAX)
		input->pid = (int32_t)input->memtrace.info.pid;
	input->last_time = last_time_of(input);
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
