/* SPDX-License-Identifier: MIT */
/* Open the input files of a conversion, ready for decoding. */
#include "src/pipeline/recording.h"

#include "src/formats/output_format.h"
#include "src/overlays/overlays.h"
#include "symbols/files/debug_file.h"

/* With overlays and for hits, a recording without Intel PT is allowed. */
static int open_auxtrace(struct perf_recording *recording, const struct options *options,
			 struct diag *diag, struct error *err)
{
	struct error none = { 0 };

	if (auxtrace_init(&recording->auxtrace, &recording->file, &none) == 0)
		return 0;
	if (!options->overlay_count && options->format->overlays != OVERLAYS_ONLY)
		return error_set(err, none.kind, "%s", none.text);
	auxtrace_release(&recording->auxtrace);
	recording->auxtrace = (struct auxtrace){ 0 };
	if (options->format->overlays == OVERLAYS_ONLY)
		return 0;
	diag_warn(diag, "no-intel-pt", "%s: %s; showing the overlays only", options->input,
		  none.text);
	return 0;
}

static struct kernel_files_options kernel_options(const struct options *options)
{
	return (struct kernel_files_options){ options->kcore, options->vmlinux, options->symfs,
					      NULL };
}

static void open_symbols(struct perf_recording *recording, const struct options *options,
			 struct name_table *names, struct diag *diag)
{
	char core[PATH_MAX];
	struct dso_store_options store = {
		.find.symfs = options->symfs,
		.vdso = options->vdso,
		.core = input_paths_core(options, core),
		.packed = recording->file.features.sections[PERF_FEATURE_PACKED],
		.core_given = options->core,
		.find.debug_dir = options->debug_dir,
		.find.debuginfod = options->debuginfod,
		.force = options->force_dso,
		.cache = options_caches(options),
		.strip_prefix = options->strip_prefix,
		.kallsyms = options->kallsyms,
		.perf_map_dir = options->perf_map_dir,
		.demangle = options->names,
		.unnamed = options->unnamed,
	};
	struct kernel_files_options kernel = kernel_options(options);
	const char *missing = options->debuginfod ? debuginfod_missing() : NULL;
	char kallsyms[PATH_MAX];

	if (missing)
		diag_warn(diag, "debuginfod-missing",
			  "cannot ask the servers in DEBUGINFOD_URLS: %s", missing);
	if (!store.kallsyms)
		store.kallsyms = kernel_files_kallsyms(&kernel, &recording->file, kallsyms);
	recording->store = dso_store_open(&store, names, diag);
}

/*
 * Coarsest timing (ns) at which a mapping's time is unambiguous: a program makes a few system calls
 * between mapping code and running it.
 */
#define RESOLUTION_OF_MAPPINGS 2000

static void open_timeline(struct perf_recording *recording, struct diag *diag)
{
	struct tsc_clock clock = pt_info_tsc_clock(&recording->auxtrace.info);
	struct jit_dumps dumps = { 0 };
	uint64_t count;

	jit_dumps_read(&dumps, &recording->file, recording->store, &clock, diag);
	recording->timeline = timeline_open(&recording->file, dumps.code, dumps.count, diag);
	count = recording->timeline->processes.replaced;
	/* An unknown resolution is 0. */
	if (count && recording_resolution(recording) - 1 >= RESOLUTION_OF_MAPPINGS)
		diag_warn(diag, "code-replaced",
			  "cannot know which of two files had the code at an address: %" PRIu64
			  " mappings replaced other code, and times are coarse; record with cyc=1",
			  count);
	recording->saved_code = dumps.saved;
	jit_dumps_release(&dumps);
}

/* Make a bound of the wall clock one of perf's. Returns 0; -1 with err filled. */
static int resolve_wall(struct perf_recording *recording, struct time_bound *bound,
			struct error *err)
{
	const struct overlay_recording matched = { .file = &recording->file,
						   .info = &recording->auxtrace.info };
	uint64_t wall = WALL_BASE_UNKNOWN;
	struct overlays clocks;

	if (bound->base != TIME_WALL)
		return 0;
	if (overlays_open(&clocks, &recording->chosen, NULL, err) == 0)
		wall = overlays_wall(&clocks, &matched);
	overlays_close(&clocks);
	bound->base = TIME_ABSOLUTE;
	bound->ns -= MIN(bound->ns, wall);
	return wall != WALL_BASE_UNKNOWN
		       ? 0
		       : error_set(err, ERROR_UNSUPPORTED,
				   "--time: the wall clock is not known; give --clock-sync");
}

int recording_open(struct perf_recording *recording, const struct options *options,
		   struct name_table *names, struct diag *diag, struct error *err)
{
	bool raw = options->raws.count || input_paths_is_bundle(options->input);
	const struct timeline *timeline;
	struct kernel_files_options kernel;
	uint64_t size = 0;

	/* The store finds the files of a raw trace's mappings. */
	if (raw)
		open_symbols(recording, options, names, diag);
	if ((raw ? raw_input_open(&recording->file, options, recording->store, diag, err)
		 : perf_file_open(&recording->file, options->input, diag, err)) < 0)
		return -1;
	for (int i = 1; !options->raws.count && i < options->input_count; i++)
		if (perf_file_append(&recording->file, options->inputs[i], diag, err) < 0)
			return -1;
	if (open_auxtrace(recording, options, diag, err) < 0)
		return error_prefix(err, "%s", options->input);
	if (raw)
		raw_input_settle_clock(&recording->auxtrace, diag);
	else
		open_symbols(recording, options, names, diag);
	open_timeline(recording, diag);
	recording->chosen = *options;
	recording->chosen.overlay_count = 0;
	if (resolve_wall(recording, &recording->chosen.select.from, err) < 0 ||
	    resolve_wall(recording, &recording->chosen.select.to, err) < 0 ||
	    event_filter_init(&recording->filter, &recording->chosen, &recording->auxtrace,
			      recording->timeline, diag, err) < 0)
		return error_prefix(err, "%s", options->input);
	timeline = recording->timeline;
	kernel = kernel_options(options);
	for (size_t i = 0; i < recording->auxtrace.stream_count; i++)
		size += recording->auxtrace.streams[i].size;
	direct_cache_expect(size);
	kernel_files_identify(&recording->file, timeline, recording->store);
	resolver_init(&recording->resolver, timeline, recording->store, names);
	recording->resolver.switches = options->switches.count ? &options->switches : NULL;
	code_files_init(&recording->code_files, &recording->resolver, timeline->files.count);
	kernel.resolver = recording->auxtrace.info.exclude_kernel ? NULL : &recording->resolver;
	kernel_files_init(&recording->kernel_files, &kernel, &recording->file, timeline, diag);
	dso_store_offer_kallsyms(recording->store, recording->kernel_files.kallsyms);
	recording->code = code_files_source(&recording->code_files);
	recording->code.kernel = kernel_files_code(&recording->kernel_files);
	return 0;
}

enum trace_mode recording_mode(const struct perf_recording *recording,
			       const struct options *options)
{
	const struct pt_info *info = &recording->auxtrace.info;

	if (options->mode != TRACE_MODE_GUESS)
		return options->mode;
	if (info->exclude_kernel)
		return TRACE_MODE_USER;
	return info->exclude_user ? TRACE_MODE_KERNEL : TRACE_MODE_BOTH;
}

bool recording_has_cycles(const struct perf_recording *recording)
{
	const struct pt_info *info = &recording->auxtrace.info;

	return info->config & info->cyc_bit;
}

uint64_t recording_resolution(const struct perf_recording *recording)
{
	const struct pt_info *info = &recording->auxtrace.info;
	/* Upper bound: each packet of branches follows a CYC packet and covers few instructions. */
	const uint64_t cycles_ns = 50;
	struct tsc_clock clock = pt_info_tsc_clock(info);

	clock.zero = 0;
	return recording_has_cycles(recording) ? cycles_ns
					       : tsc_clock_ns(&clock, pt_info_mtc_period(info));
}

enum time_source recording_times(const struct perf_recording *recording)
{
	const struct pt_info *info = &recording->auxtrace.info;

	if (!(info->config & info->tsc_bit))
		return TIMES_INVENTED;
	return recording_resolution(recording) ? TIMES_MEASURED : TIMES_ESTIMATED;
}

void recording_close(struct perf_recording *recording)
{
	code_files_release(&recording->code_files);
	kernel_files_release(&recording->kernel_files);
	event_filter_release(&recording->filter);
	resolver_release(&recording->resolver);
	dso_store_close(recording->store);
	timeline_close(recording->timeline);
	auxtrace_release(&recording->auxtrace);
	perf_file_close(&recording->file);
	*recording = (struct perf_recording){ 0 };
}
