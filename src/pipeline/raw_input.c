/* SPDX-License-Identifier: MIT */
/* Write a stream of perf from raw trace data and mappings. */
#include "src/pipeline/recording.h"

#include <ctype.h>
#include <jansson.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/io/temp_file.h"

#define PMU_TYPE     8                   /* a number that no event of the kernel's has */
#define CONFIG_TSC   (UINT64_C(1) << 10) /* TSCEn of IA32_RTIT_CTL (SDM volume 3) */
#define KERNEL_BEGIN (UINT64_C(1) << 63)
#define KERNEL_TEXT  UINT64_C(0xffffffff81000000) /* without KASLR */
#define PAGE         UINT64_C(4096)

/* Bytes of a file that are not on the disk: a constant, and by its bytes that are. */
#define HOLES_MOST  ((off_t)64 << 20)
#define PACKED_MOST 16

/* Bytes of PERF_RECORD_SWITCH_CPU_WIDE with LLDB's sample_id trailer: TID and TIME. */
#define SWITCH_SIZE 32

struct raw_input {
	const struct options *options; /* borrowed, as the next two */
	struct dso_store *store;
	struct diag *diag;
	bool json;                  /* the input is trace.json */
	char *folder;               /* owned: absolute; relative paths begin there */
	struct temp_file stream;    /* a stream of perf: trace data, then `records` */
	FILE *records;              /* the other records */
	struct file_identity *seen; /* owned: of trace data and context switches */
	size_t seen_count, seen_room;
	uint64_t time_mult, time_shift, time_zero; /* mult 1: unknown */
	char processor[32];                        /* as struct options has it */
	int32_t queues;
	bool cpus, kernel; /* buffers are per CPU; code of the kernel is mapped */
};

/* ---- Records ------------------------------------------------------------- */

/* Add a record of words and a text, with a trailer of TID, TIME and CPU that are 0. */
static void add_record(struct raw_input *raw, struct perf_event_header header,
		       const uint64_t *words, size_t size, const char *text)
{
	const uint64_t zeros[4] = { 0 };
	size_t length = strlen(text), rest = sizeof(zeros) - length % sizeof(*words);

	header.size = (uint16_t)(sizeof(header) + size + length + rest);
	fwrite(&header, sizeof(header), 1, raw->records);
	fwrite(words, size, 1, raw->records);
	fwrite(text, 1, length, raw->records);
	fwrite(zeros, 1, rest, raw->records);
}

static uint64_t two_ids(int32_t first, int32_t second)
{
	return (uint64_t)(uint32_t)second << 32 | (uint32_t)first;
}

static void add_thread(struct raw_input *raw, int32_t pid, int32_t tid, const char *name)
{
	const uint64_t ids = two_ids(pid, tid);

	add_record(raw, (struct perf_event_header){ PERF_RECORD_COMM, 0, 0 }, &ids, sizeof(ids),
		   name);
}

static void add_mmap(struct raw_input *raw, int32_t pid, const struct dso *dso,
		     const struct raw_map *map)
{
	bool kernel = map->begin >= KERNEL_BEGIN;
	uint64_t words[8] = { two_ids(pid, pid), map->begin, map->end - map->begin, map->offset };
	unsigned misc = kernel ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;

	words[4] = dso->build_id_size;
	words[7] = PROT_READ | PROT_EXEC;
	raw->kernel |= kernel;
	misc |= dso->build_id_size ? PERF_RECORD_MISC_MMAP_BUILD_ID : 0;
	memcpy((uint8_t *)&words[4] + sizeof(uint32_t), dso->build_id, BUILD_ID_MAX);
	add_record(raw, (struct perf_event_header){ PERF_RECORD_MMAP2, (uint16_t)misc, 0 }, words,
		   sizeof(words), dso->path);
}

/* Map whole pages of segments, as the kernel does; the first segment is at `begin`. */
static void add_segments(struct raw_input *raw, int32_t pid, const struct dso *dso, uint64_t begin)
{
	uint64_t first = UINT64_MAX;
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(dso->elf.elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(dso->elf.elf, (int)i, &header) && header.p_type == PT_LOAD)
			first = MIN(first, header.p_vaddr);
	for (size_t i = 0; i < dso->elf.code_count; i++) {
		const struct code_range *code = &dso->elf.code[i];
		uint64_t at = begin - first + code->vaddr, before = code->offset % PAGE;
		struct raw_map map = { .offset = code->offset - before,
				       .begin = at - before,
				       .end = at + code->size + (-(before + code->size)) % PAGE };

		add_mmap(raw, pid, dso, &map);
	}
}

/* Map a file, found as a recorded one is; a relative path is in the folder or the symfs. */
static void add_map(struct raw_input *raw, int32_t pid, struct raw_map map,
		    struct byte_view build_id)
{
	bool whole = strchr("/[", *map.path.at) || raw->options->symfs;
	char *path = alloc_text("%s%s%.*s", whole ? "" : raw->folder, whole ? "" : "/",
				(int)map.path.length, map.path.at);
	const struct dso *dso = dso_store_borrow(raw->store, path, build_id.bytes, build_id.size);

	if (!map.end && dso->elf.size > map.offset)
		map.end = map.begin + dso->elf.size - map.offset;
	if (!map.exact && dso->elf.code_count)
		add_segments(raw, pid, dso, map.begin);
	else if (map.end)
		add_mmap(raw, pid, dso, &map);
	else
		diag_warn(raw->diag, "map-missing", "%s: cannot map: %s; its calls are missing",
			  path, dso->elf.bytes ? "it ends before the offset" : "it is not found");
	free(path);
}

/* ---- Trace data ---------------------------------------------------------- */

/*
 * Open a file for the first time, so that work is in proportion to the files. One that trace.json
 * names must be regular, nearly without holes, and in the folder if there is a symfs.
 */
static int open_once(struct raw_input *raw, const char *name, struct error *err)
{
	const char *root = raw->json && raw->options->symfs ? raw->folder : NULL;
	bool whole = *name == '/' || strcmp(name, "-") == 0;
	struct stat status = { 0 };
	char path[BENEATH_PATH];
	int fd;

	if ((root && (whole || dso_find_climbs(name))) ||
	    !dso_find_path(root, path, "%s%s%s", whole ? "" : raw->folder, whole ? "" : "/", name))
		return error_set(err, ERROR_UNSUPPORTED, "%s: is not beside the input", name);
	fd = (raw->json ? file_use_open_at_once : file_use_open)(path);
	if (fd < 0 || fstat(fd, &status) < 0)
		error_set_system(err, errno, "%s: cannot open", name);
	if (raw->json && (!S_ISREG(status.st_mode) ||
			  status.st_size > HOLES_MOST + PACKED_MOST * 512 * status.st_blocks))
		error_set(err, ERROR_UNSUPPORTED, "%s: is no regular file, or has holes", name);
	if (raw->json && !status.st_size) /* or endless, in /proc */
		error_set(err, ERROR_FORMAT, "%s: is empty", name);
	for (size_t i = 0; i < raw->seen_count; i++)
		if (raw->seen[i].device == status.st_dev && raw->seen[i].inode == status.st_ino)
			error_set(err, ERROR_UNSUPPORTED, "%s: is named twice", name);
	if (err->kind == ERROR_NONE) {
		*ARRAY_ADD(raw->seen, raw->seen_count, raw->seen_room) =
			(struct file_identity){ status.st_dev, status.st_ino };
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Add the trace of a thread or CPU (the other one is -1): struct perf_record_auxtrace, the data. */
static int add_trace(struct raw_input *raw, const char *name, int32_t tid, int32_t cpu,
		     struct error *err)
{
	uint64_t words[] = { 0, 0, 0, 0, two_ids(raw->queues, tid), two_ids(cpu, 0) };
	struct perf_event_header header = { PERF_USER_AUXTRACE, 0, sizeof(words) };
	uint64_t begin = raw->stream.size;
	int fd = open_once(raw, name, err), status = -1;

	if (fd < 0)
		return -1;
	memcpy(words, &header, sizeof(header));
	raw->queues++;
	raw->cpus |= cpu >= 0;
	if (temp_file_write(&raw->stream, words, sizeof(words), err) == 0)
		status = temp_file_drain(&raw->stream, fd, err);
	close(fd);
	words[1] = raw->stream.size - begin - sizeof(words);
	if (status == 0 && !words[1])
		status = error_set(err, ERROR_FORMAT, "is empty");
	if (pwrite(raw->stream.fd, words, sizeof(words), (off_t)begin) != sizeof(words))
		status = error_set_system(err, errno, "cannot write a temporary file");
	return status < 0 ? error_prefix(err, "%s", name) : 0;
}

/* Add context switches of a CPU: records of perf_event_open(2), which lack the CPU. */
static int add_switches(struct raw_input *raw, const char *name, int32_t cpu, struct error *err)
{
	int fd = open_once(raw, name, err);
	FILE *in = fd < 0 ? NULL : ALLOC_CHECKED(fdopen(fd, "r"));
	struct {
		struct perf_event_header header;
		uint8_t rest[UINT16_MAX];
	} record;
	const uint64_t cpu_word = (uint32_t)cpu;

	while (in && fread(&record.header, sizeof(record.header), 1, in) == 1) {
		size_t size = record.header.size - sizeof(record.header);

		if (size > UINT16_MAX || fread(record.rest, 1, size, in) != size) {
			error_set(err, ERROR_UNSUPPORTED, "%s: is damaged or truncated", name);
			break;
		}
		if (record.header.type != PERF_RECORD_SWITCH_CPU_WIDE ||
		    record.header.size < SWITCH_SIZE)
			continue;
		record.header.size = SWITCH_SIZE + sizeof(cpu_word);
		fwrite(&record, SWITCH_SIZE, 1, raw->records);
		fwrite(&cpu_word, sizeof(cpu_word), 1, raw->records);
	}
	if (in)
		fclose(in);
	return err->kind == ERROR_NONE ? 0 : -1;
}

/* The files of --raw are the buffers of a process's threads. */
static int read_options(struct raw_input *raw, struct error *err)
{
	const struct options *options = raw->options;
	const int32_t pid = 1;
	struct raw_map map;

	for (int i = 0; i < options->input_count; i++) {
		add_thread(raw, pid, pid + i, base_name(options->inputs[i]));
		if (add_trace(raw, options->inputs[i], pid + i, -1, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < options->maps.count; i++)
		if (raw_map_read(options->maps.patterns[i], &map))
			add_map(raw, pid, map, (struct byte_view){ 0 });
	return 0;
}

/* ---- LLDB's trace.json --------------------------------------------------- */

/*
 * Read a member, a number or a text with one; an error if there is none. The schema is that of
 * TraceIntelPTBundleLoader::GetSchema() in LLDB's source/Plugins/Trace/intel-pt, or an older one.
 */
static uint64_t read_number(const json_t *object, const char *name, uint64_t most,
			    struct error *err)
{
	char *text = json_dumps(json_object_get(object, name), JSON_ENCODE_ANY), *end;
	const char *digits = text ? text + (*text == '"') : "";
	uint64_t number;

	errno = 0;
	number = strtoull(digits, &end, 0);
	if (!isdigit((unsigned char)*digits) || end[strspn(end, "\"")] || errno || number > most)
		error_set(err, ERROR_FORMAT, "'%s' is missing, or is no such number", name);
	free(text);
	return number;
}

static const char *read_text(const json_t *object, const char *name, const char *old_name)
{
	return json_string_value(json_object_get(object, name)
					 ?: json_object_get(object, old_name));
}

/* Read the build id "6AA9A4E2-6F28-..."; 4 bytes are a checksum. Returns its size, or 0. */
static size_t read_uuid(const char *text, uint8_t id[BUILD_ID_MAX])
{
	size_t size = 0;

	for (; text && *text; text += *text == '-' ? 1 : 2)
		if (*text != '-' &&
		    (size == BUILD_ID_MAX || !text[1] || sscanf(text, "%2hhx", &id[size++]) != 1))
			return 0;
	return size > sizeof(uint32_t) ? size : 0;
}

static void read_module(struct raw_input *raw, const json_t *module, int32_t pid, uint64_t address)
{
	bool original = raw->options->symfs || !json_object_get(module, "file");
	const char *path = read_text(module, original ? "systemPath" : "file", "file");
	uint8_t id[BUILD_ID_MAX] = { 0 };
	size_t id_size = read_uuid(read_text(module, "uuid", "uuid"), id);
	struct raw_map map = { .path = { path, path ? strlen(path) : 0 }, .begin = address };

	if (map.path.length && map.path.length < PATH_MAX)
		add_map(raw, pid, map, (struct byte_view){ id, id_size });
}

/* Empty files are usual; without the others, the rest is shown. */
static void read_file(struct raw_input *raw, const char *name, int32_t tid, int32_t cpu,
		      bool switches)
{
	struct error err = { 0 };

	if (name && switches)
		add_switches(raw, name, cpu, &err);
	else if (name)
		add_trace(raw, name, tid, cpu, &err);
	if (err.kind != ERROR_NONE && err.kind != ERROR_FORMAT)
		diag_warn(raw->diag, "part-missing", "%s; a part is missing", err.text);
}

/* Read a process, whose threads get the name of its first module, as they have none. */
static void read_process(struct raw_input *raw, const json_t *process, struct error *err)
{
	const json_t *modules = json_object_get(process, "modules"), *item;
	const char *name = read_text(json_array_get(modules, 0), "systemPath", "file");
	int32_t pid = (int32_t)read_number(process, "pid", INT32_MAX, err), tid;
	size_t i;

	name = name && strlen(name) < PATH_MAX ? base_name(name) : "";
	add_thread(raw, pid, pid, name);
	json_array_foreach(json_object_get(process, "threads"), i, item)
	{
		tid = (int32_t)read_number(item, "tid", INT32_MAX, err);
		add_thread(raw, pid, tid, name);
		read_file(raw, read_text(item, "iptTrace", "traceFile"), tid, -1, false);
	}
	json_array_foreach(modules, i, item)
		read_module(raw, item, pid, read_number(item, "loadAddress", UINT64_MAX, err));
}

static int read_root(struct raw_input *raw, const json_t *root, struct error *err)
{
	const json_t *old = json_object_get(root, "trace"), *head = old ? old : root;
	const json_t *cpu = json_object_get(head, "cpuInfo"), *clock, *item;
	const char *type = read_text(head, "type", "type"), *vendor = read_text(cpu, "vendor", "");
	size_t i;

	if (!type || strcmp(type, "intel-pt") != 0)
		return error_set(err, ERROR_FORMAT, "is JSON, but not a trace.json of LLDB");
	if (vendor && strcasestr(vendor, "intel"))
		snprintf(raw->processor, sizeof(raw->processor), "GenuineIntel,%u,%u,%u",
			 (unsigned)read_number(cpu, "family", UINT16_MAX, err),
			 (unsigned)read_number(cpu, "model", UINT8_MAX, err),
			 (unsigned)read_number(cpu, "stepping", UINT8_MAX, err));
	clock = json_object_get(root, "tscPerfZeroConversion");
	if (json_is_object(clock)) {
		raw->time_mult = read_number(clock, "timeMult", UINT32_MAX, err);
		raw->time_shift = read_number(clock, "timeShift", 63, err);
		raw->time_zero = read_number(clock, "timeZero", UINT64_MAX, err);
	}
	json_array_foreach(json_object_get(root, "processes"), i, item)
		read_process(raw, item, err);
	json_array_foreach(json_object_get(root, "cpus") ?: json_object_get(root, "cores"), i, item)
	{
		int32_t id = (int32_t)read_number(
			item, json_object_get(item, "id") ? "id" : "coreId", INT32_MAX, err);

		read_file(raw, read_text(item, "iptTrace", "traceBuffer"), -1, id, false);
		read_file(raw, read_text(item, "contextSwitchTrace", ""), -1, id, true);
	}
	item = json_object_get(root, "kernel");
	if (json_is_object(item))
		read_module(raw, item, -1,
			    json_object_get(item, "loadAddress")
				    ? read_number(item, "loadAddress", UINT64_MAX, err)
				    : KERNEL_TEXT);
	return err->kind == ERROR_NONE ? 0 : -1;
}

static int read_json(struct raw_input *raw, struct error *err)
{
	struct byte_view bytes = { 0 };
	json_error_t where;
	json_t *root;
	int status;

	if (perf_input_map(raw->options->input, &bytes, err) < 0)
		return -1;
	root = json_loadb((const char *)bytes.bytes, bytes.size, 0, &where);
	if (root)
		status = read_root(raw, root, err);
	else
		status = error_set(err, ERROR_FORMAT, "is damaged JSON: line %d: %s", where.line,
				   where.text);
	munmap((void *)bytes.bytes, bytes.size);
	json_decref(root);
	return status;
}

/* ---- The recording ------------------------------------------------------- */

static int write_stream(struct raw_input *raw, struct error *err)
{
	const uint64_t header[] = { UINT64_C(0x32454c4946524550), /* "PERFILE2" */ 16 };
	char *records = NULL;
	size_t size = 0;
	int status = -1;

	raw->records = ALLOC_CHECKED(open_memstream(&records, &size));
	if (temp_file_open(&raw->stream, err) == 0 &&
	    temp_file_write(&raw->stream, header, sizeof(header), err) == 0)
		status = (raw->json ? read_json : read_options)(raw, err);
	if (status == 0 && !raw->queues)
		status = error_set(err, ERROR_FORMAT, "has no trace data");
	if (status == 0) {
		/* The words of auxtrace.c. The rates of MTC and CYC are unknown. */
		const uint64_t info[18] = {
			1, PMU_TYPE,   raw->time_shift, raw->time_mult, raw->time_zero,
			1, CONFIG_TSC, [10] = raw->cpus
		};

		add_record(raw, (struct perf_event_header){ PERF_USER_AUXTRACE_INFO, 0, 0 }, info,
			   sizeof(info), "");
	}
	fclose(raw->records);
	if (status == 0)
		status = temp_file_write(&raw->stream, records, size, err);
	free(records);
	return status;
}

static void finish(struct raw_input *raw, struct perf_file *file, struct byte_view stream)
{
	const struct perf_event_attr attr = {
		.type = PMU_TYPE,
		.size = sizeof(attr),
		.config = CONFIG_TSC,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
		.sample_id_all = 1,
		.context_switch = 1,
		.exclude_kernel = !raw->kernel,
	};

	perf_file_open_stream(file, raw->options->input, stream, raw->diag);
	perf_attrs_add(file, (struct byte_view){ (const uint8_t *)&attr, sizeof(attr) },
		       (struct byte_view){ 0 });
	perf_attrs_finish(file);
	if (*raw->processor)
		file->features.cpuid =
			arena_text(&file->arena, raw->processor, strlen(raw->processor));
	else
		diag_warn(raw->diag, "processor-unknown",
			  "the processor is unknown, and its errata may cause gaps; of --raw, give "
			  "--cpu=FAMILY/MODEL/STEPPING");
}

int raw_input_open(struct perf_file *file, const struct options *options, struct dso_store *store,
		   struct diag *diag, struct error *err)
{
	struct raw_input raw = { .options = options, .store = store, .diag = diag, .time_mult = 1 };
	struct byte_view stream = { 0 };
	char *folder;

	raw.json = !options->raws.count;
	folder = alloc_text("%.*s.",
			    raw.json ? (int)(base_name(options->input) - options->input) : 0,
			    options->input);
	raw.folder = realpath(folder, NULL);
	memcpy(raw.processor, options->processor, sizeof(raw.processor));
	*file = (struct perf_file){ 0 };
	if (!raw.folder)
		error_set_system(err, errno, "cannot find the folder");
	else if (write_stream(&raw, err) == 0)
		stream = (struct byte_view){ temp_file_map(&raw.stream, err), raw.stream.size };
	if (stream.bytes)
		finish(&raw, file, stream);
	temp_file_close(&raw.stream);
	free(raw.seen);
	free(raw.folder);
	free(folder);
	if (!stream.bytes && raw.json)
		error_prefix(err, "%s", options->input);
	return stream.bytes ? 0 : -1;
}

void raw_input_settle_clock(struct auxtrace *auxtrace, struct diag *diag)
{
	struct pt_info *info = &auxtrace->info;
	uint64_t first, last;
	bool timed = false;

	for (size_t i = 0; i < auxtrace->stream_count; i++)
		timed |= aux_seek_extent(&auxtrace->streams[i], info, &first, &last);
	if (!timed)
		info->config &= ~info->tsc_bit;
	else if (info->time_mult == 1)
		diag_warn(diag, "clock-unknown",
			  "the frequency of the TSC is unknown: times are its ticks, shown as ns");
}
