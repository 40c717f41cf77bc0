/* SPDX-License-Identifier: MIT */
/* Open all overlays of a run, and print or write them. */
#include "src/overlays/overlays.h"

/* ---- All overlays -------------------------------------------------------- */

/* Limit of lines in a file of clocks; a longer file is something else. */
#define SYNC_LINES 10000

/* Read the lines "tsc=N mono=N real=N" of a file.  Returns 0; -1 with err filled. */
static int read_syncs(struct overlays *overlays, const char *path, struct error *err)
{
	FILE *in = file_use_open_stream(path);
	struct overlay_sync sync;
	char line[200];
	size_t room = 0, lines = 0;

	if (!in)
		return error_set_system(err, errno, "%s: cannot open", path);
	while (fgets(line, sizeof(line), in) && lines++ < SYNC_LINES) {
		if (sscanf(line, "tsc=%" SCNu64 " mono=%" SCNd64 " real=%" SCNd64, &sync.tsc,
			   &sync.mono, &sync.real) == 3)
			*ARRAY_ADD(overlays->syncs, overlays->sync_count, room) = sync;
	}
	fclose(in);
	if (lines > SYNC_LINES)
		return error_set(
			err, ERROR_LIMIT,
			"%s: more than %d lines; keep only those of `ptrace2ftf clock-sync`", path,
			SYNC_LINES);
	return overlays->sync_count ? 0
				    : error_set(err, ERROR_FORMAT,
						"%s: has no line of `ptrace2ftf clock-sync`", path);
}

int overlays_open(struct overlays *overlays, const struct options *options, struct diag *diag,
		  struct error *err)
{
	*overlays = (struct overlays){
		.options = options,
		.count = options->overlay_count,
		.out = { .diag = diag, .next_id = 1 },
	};
	name_table_init(&overlays->out.names);
	overlays->inputs = alloc_zeroed(options->overlay_count, sizeof(*overlays->inputs));
	for (size_t i = 0; i < options->overlay_count; i++)
		if (overlay_input_open(&overlays->inputs[i], &options->overlays[i], diag, err) < 0)
			return -1;
	return options->clock_sync ? read_syncs(overlays, options->clock_sync, err) : 0;
}

void overlays_close(struct overlays *overlays)
{
	for (size_t i = 0; i < overlays->count; i++)
		overlay_input_close(&overlays->inputs[i]);
	free(overlays->inputs);
	free(overlays->syncs);
	name_table_release(&overlays->out.names);
	*overlays = (struct overlays){ 0 };
}

void overlays_print(struct overlays *overlays, FILE *out)
{
	for (size_t i = 0; i < overlays->count; i++) {
		if (overlays->count > 1)
			fprintf(out, "%s# %s\n", i ? "\n" : "", overlays->inputs[i].path);
		overlays->inputs[i].importer->print(&overlays->inputs[i], out);
	}
}

const struct overlay_input *overlays_find(const struct overlays *overlays,
					  const struct overlay_importer *importer, int32_t pid)
{
	for (size_t i = 0; i < overlays->count; i++)
		if (overlays->inputs[i].importer == importer &&
		    (pid == OVERLAY_ANY_PROCESS || overlays->inputs[i].pid == pid))
			return &overlays->inputs[i];
	return NULL;
}

/* Name a process after its program, which memtrace knows. */
static void name_process(struct overlays *overlays, int32_t pid)
{
	const struct overlay_input *input = overlays_find(overlays, &overlay_memtrace, pid);

	event_sink_name_process(overlays->out.sink, (uint32_t)pid,
				input ? base_name(input->memtrace.info.executable) : "ocaml");
}

void overlays_write(struct overlays *overlays, struct event_sink *sink, struct output *output,
		    const struct overlay_recording *recording)
{
	overlays->out.sink = sink;
	overlays->out.output = output;
	for (size_t i = 0; i < overlays->count; i++) {
		struct overlay_input *input = &overlays->inputs[i];
		struct overlay_clock clock = overlays_match_clock(overlays, i, recording);

		if (!recording && input->pid >= 0)
			name_process(overlays, input->pid);
		input->importer->write(&overlays->out, input, &clock);
	}
}

int32_t overlays_highest_id(const struct overlays *overlays)
{
	int32_t highest = 0;

	for (size_t i = 0; i < overlays->count; i++) {
		const struct overlay_input *input = &overlays->inputs[i];

		highest = MAX(highest, input->pid);
		for (size_t k = 0; k < input->tid_count; k++)
			highest = MAX(highest, input->tids[k].tid);
	}
	return highest;
}
