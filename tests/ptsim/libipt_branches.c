/* SPDX-License-Identifier: MIT */
/*
 * Prints the branches that libipt's instruction decoder finds in a recording of one thread, `kind
 * from to` a line, with the names of truth.branches.
 *
 *	libipt_branches PERF.DATA [TRACE]
 *
 * With TRACE, writes the trace there, and prints the arguments of libptflow(3)'s example for it.
 */
#include <intel-pt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "base/alloc.h"
#include "decoder/perf_data/perf_file.h"
#include "decoder/streams/auxtrace.h"
#include "decoder/timeline/timeline.h"

struct branch_list {
	struct pt_insn_decoder *decoder;
	struct pt_insn last; /* the last branch, until its target is known */
	bool pending;
};

static const char *kind_of(enum pt_insn_class iclass)
{
	switch (iclass) {
	case ptic_call:
		return "call";
	case ptic_return:
		return "return";
	case ptic_jump:
		return "jmp";
	case ptic_cond_jump:
		return "jcc";
	default:
		return "syscall";
	}
}

static void resolve(struct branch_list *list, uint64_t to)
{
	const struct pt_insn *last = &list->last;

	if (list->pending && !(last->iclass == ptic_cond_jump && to == last->ip + last->size))
		printf("%s %" PRIx64 " %" PRIx64 "\n", kind_of(last->iclass), last->ip, to);
	list->pending = false;
}

static void on_event(struct branch_list *list, const struct pt_event *event)
{
	if (event->status_update) /* libipt 2.1 repeats at each PSB whether tracing is on */
		return;
	switch (event->type) {
	case ptev_enabled:
		printf("resume 0 %" PRIx64 "\n", event->variant.enabled.ip);
		break;
	case ptev_disabled:
		resolve(list, 0);
		break;
	case ptev_async_disabled:
		resolve(list, event->variant.async_disabled.at);
		printf("async %" PRIx64 " 0\n", event->variant.async_disabled.at);
		break;
	default:
		break;
	}
}

/* Returns libipt's status. */
static int take_events(struct branch_list *list, int status)
{
	struct pt_event event;

	while (status >= 0 && (status & pts_event_pending)) {
		status = pt_insn_event(list->decoder, &event, sizeof(event));
		if (status >= 0)
			on_event(list, &event);
	}
	return status;
}

static struct mapping vdso; /* empty: none */

/* The kernel maps the same vDSO into this process.  Returns the number of bytes read. */
static int read_vdso(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	const uint8_t *bytes = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);

	(void)asid;
	(void)context;
	if (!bytes || ip < vdso.begin || ip >= vdso.end)
		return -pte_nomap;
	if (size > vdso.end - ip)
		size = vdso.end - ip;
	memcpy(buffer, bytes + (ip - vdso.begin), size);
	return (int)size;
}

/* An address space's files and vDSO. */
static struct pt_image *image_of(const struct address_space *space)
{
	struct pt_image *image = pt_image_alloc(NULL);

	for (size_t i = 0; space && i < space->count; i++) {
		const struct mapping *map = &space->mappings[i];

		if (strcmp(map->file->path, "[vdso]") == 0)
			vdso = *map;
		if (map->file->path[0] == '/')
			pt_image_add_file(image, map->file->path, map->file_offset,
					  map->end - map->begin, NULL, map->begin);
	}
	pt_image_set_callback(image, read_vdso, NULL);
	return image;
}

/* The first process that is not idle. */
static const struct address_space *space_of(const struct timeline *timeline)
{
	const struct process *process = NULL;
	const struct thread *const *threads;
	size_t count;

	threads = timeline->threads.threads;
	count = timeline->threads.count;
	for (size_t i = 0; i < count && !process; i++)
		process = threads[i]->process && threads[i]->pid > 0 ? threads[i]->process : NULL;
	return process ? process->epochs[process->epoch_count - 1].space : NULL;
}

static void configure(struct pt_config *config, const struct pt_info *info, uint8_t *bytes,
		      uint64_t size)
{
	pt_config_init(config);
	config->begin = bytes;
	config->end = bytes + size;
	config->mtc_freq = 3;
	config->nom_freq = (uint8_t)info->max_nonturbo_ratio;
	config->cpuid_0x15_eax = (uint32_t)info->tsc_ctc_ratio_d;
	config->cpuid_0x15_ebx = (uint32_t)info->tsc_ctc_ratio_n;
}

static int list_branches(struct branch_list *list)
{
	struct pt_insn insn;
	int status = pt_insn_sync_forward(list->decoder);

	while (status >= 0) {
		status = take_events(list, status);
		if (status < 0)
			break;
		memset(&insn, 0, sizeof(insn));
		status = pt_insn_next(list->decoder, &insn, sizeof(insn));
		if (status < 0)
			break;
		resolve(list, insn.ip);
		list->last = insn;
		list->pending = insn.iclass != ptic_other;
	}
	if (pt_errcode(status) == pte_eos)
		return 0;
	fprintf(stderr, "libipt: %s\n", pt_errstr(pt_errcode(status)));
	return 1;
}

static int decode(const struct auxtrace *auxtrace, const struct timeline *timeline)
{
	const struct aux_stream *aux = &auxtrace->streams[0];
	uint8_t *bytes = alloc_zeroed(1, aux->size + 64);
	struct pt_config config;
	struct branch_list list = { 0 };
	size_t used = 0;
	struct pt_image *image;
	int status;

	for (size_t i = 0; i < aux->piece_count; i++) {
		memcpy(bytes + used, aux->pieces[i].bytes, aux->pieces[i].size);
		used += aux->pieces[i].size;
	}
	configure(&config, &auxtrace->info, bytes, aux->size);
	list.decoder = pt_insn_alloc_decoder(&config);
	image = image_of(space_of(timeline));
	pt_insn_set_image(list.decoder, image);
	status = list_branches(&list);
	pt_insn_free_decoder(list.decoder);
	pt_image_free(image);
	free(bytes);
	return status;
}

/* Write the trace to a file, and print its name and the mapped files. */
static int write_parts(const struct auxtrace *auxtrace, const struct timeline *timeline,
		       const char *path)
{
	const struct address_space *space = space_of(timeline);
	const struct aux_stream *aux = &auxtrace->streams[0];
	FILE *file = fopen(path, "wb");

	for (size_t i = 0; file && i < aux->piece_count; i++)
		fwrite(aux->pieces[i].bytes, 1, aux->pieces[i].size, file);
	if (!file || fclose(file) != 0)
		return 1;
	puts(path);
	for (size_t i = 0; space && i < space->count; i++) {
		const struct mapping *map = &space->mappings[i];

		if (map->file->path[0] == '/')
			printf("%s %" PRIu64 " 0x%" PRIx64 " %" PRIu64 "\n", map->file->path,
			       map->file_offset, map->begin, map->end - map->begin);
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct auxtrace auxtrace;
	struct timeline *timeline;
	struct perf_file file;
	struct diag diag;
	struct error err = { 0 };
	int status = 1;

	diag_init(&diag);
	if (argc < 2 || perf_file_open(&file, argv[1], &diag, &err) != 0 ||
	    auxtrace_init(&auxtrace, &file, &err) != 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	timeline = timeline_open(&file, NULL, 0, &diag);
	if (timeline && argc > 2)
		status = write_parts(&auxtrace, timeline, argv[2]);
	else if (timeline)
		status = decode(&auxtrace, timeline);
	timeline_close(timeline);
	auxtrace_release(&auxtrace);
	perf_file_close(&file);
	diag_release(&diag);
	return status;
}
