/* SPDX-License-Identifier: MIT */
/*
 * Sources: linux/Documentation/admin-guide/perf-security.rst (perf_event_paranoid, mlock),
 * man perf-intel-pt (caps, snapshot, address filters).
 */

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "src/formats/text/any_text.h"
#include "src/record/record.h"

#define TRACEFS "/sys/kernel/tracing"
#define PMU     "/sys/bus/event_source/devices/intel_pt"

/* A size of AUX buffers that rarely loses data, if the process may lock it. */
#define BUFFER_WANTED (UINT64_C(64) << 20)

/* ---- The machine --------------------------------------------------------- */

/* Returns the number in a file; `otherwise` if it cannot be read. */
static int read_setting(const char *path, int otherwise)
{
	FILE *in = fopen(path, "re");
	int number;

	if (!in)
		return otherwise;
	if (fscanf(in, "%d", &number) != 1)
		number = otherwise;
	fclose(in);
	return number;
}

/* Returns kernel.perf_event_paranoid. */
static int read_paranoid(void)
{
	return read_setting("/proc/sys/kernel/perf_event_paranoid", 2);
}

/* Returns whether the process is root's, or has CAP_PERFMON or CAP_SYS_ADMIN. */
static bool is_privileged(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct held[2] = { 0 };

	syscall(SYS_capget, &header, held);
	/* CAP_PERFMON is 38, which headers before Linux 5.8 lack. */
	return geteuid() == 0 || held[0].effective & 1u << CAP_SYS_ADMIN ||
	       held[1].effective & 1u << (38 - 32);
}

/* Returns the bytes of buffers that perf may lock. */
static uint64_t read_lockable(void)
{
	int kib = read_setting("/proc/sys/kernel/perf_event_mlock_kb", 516);
	struct rlimit limit = { 0 };

	getrlimit(RLIMIT_MEMLOCK, &limit);
	return is_privileged() || read_paranoid() < 0 || limit.rlim_cur == RLIM_INFINITY
		       ? UINT64_MAX
		       : ((uint64_t)kib << 10) + limit.rlim_cur;
}

static uint64_t wanted_buffer(const struct options *options)
{
	return options->snapshot ? options->snapshot : BUFFER_WANTED;
}

bool recorder_can(const char *capability)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), PMU "/caps/%s", capability);
	return read_setting(path, 0);
}

uint64_t recorder_buffer(const struct options *options)
{
	uint64_t wanted = wanted_buffer(options);

	return read_lockable() >= wanted ? wanted : 0;
}

/* ---- Needs --------------------------------------------------------------- */

/* A processor, by /proc/cpuinfo. */
struct processor {
	char name[128];
	bool is_intel, is_virtual;
};

static struct processor read_processor(void)
{
	struct processor processor = { .name = "unknown" };
	FILE *in = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0 && *line != '\n') {
		sscanf(line, "model name : %127[^\n]", processor.name);
		processor.is_intel |= starts_with(line, "vendor_id") && strstr(line, "Intel");
		processor.is_virtual |= starts_with(line, "flags") && strstr(line, " hypervisor");
	}
	free(line);
	if (in)
		fclose(in);
	return processor;
}

#define OK      "ok"
#define LIMITED "limited"
#define MISSING "missing"

/* Add a row. The remedy is left out if the state is OK. */
static void add_need(json_t *needs, const char *need, const char *state, const char *found,
		     const char *remedy)
{
	json_t *row = json_pack("{s:s, s:s, s:o, s:s*}", "need", need, "state", state, "found",
				json_any_text(found, strlen(found)), "remedy",
				strcmp(state, OK) == 0 ? NULL : remedy);

	if (!row || json_array_append_new(needs, row) < 0)
		alloc_fail(0);
}

/* Add perf; without options, with the first line of its `--version`. */
static void add_perf(json_t *needs, const struct options *options)
{
	FILE *out = options ? NULL : popen("exec perf --version 2>/dev/null", "re");
	char path[PATH_MAX], version[128] = "";
	bool exists = path_search("perf", path);

	if (out && fgets(version, sizeof(version), out))
		version[strcspn(version, "\n")] = 0;
	if (out)
		pclose(out);
	add_need(needs, "perf", exists ? OK : MISSING,
		 !exists    ? "perf is not in PATH"
		 : *version ? version
			    : path,
		 "install it (Debian: linux-perf, Ubuntu: linux-tools-generic, Fedora: perf)");
}

static void add_missing_pt(json_t *needs, const struct processor *processor)
{
	if (processor->is_virtual)
		add_need(needs, "Intel PT", MISSING, "this virtual machine has no Intel PT",
			 "record on the host, or make it available to the guest (KVM: "
			 "kvm_intel.pt_mode=1), or record in software with `ptsim`");
	else
		add_need(needs, "Intel PT", MISSING,
			 processor->is_intel
				 ? "the kernel has no intel_pt: the processor has none (before "
				   "Broadwell), or the firmware disabled it"
				 : "the processor is not Intel's and has no Processor Trace",
			 "record on another machine, or in software with `ptsim`");
}

static void add_pt(json_t *needs)
{
	static const char *const names[][2] = {
		{ "psb_cyc", "cycles" },
		{ "mtc", "timing packets" },
		{ "ip_filtering", "address filters" },
		{ "ptwrite", "PTWRITE" },
		{ "power_event_trace", "power events" },
		{ "event_trace", "interrupts' vectors" },
	};
	struct processor processor = read_processor();
	char found[256] = "yes";

	add_need(needs, "processor", OK, processor.name, NULL);
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (recorder_can(names[i][0]))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), ", %s",
				 names[i][1]);
	if (access(PMU, F_OK) == 0)
		add_need(needs, "Intel PT", OK, found, NULL);
	else
		add_missing_pt(needs, &processor);
}

/* Without options, the rights to record all CPUs. */
static void add_rights(json_t *needs, const struct options *options)
{
	bool kernel = options && options->mode >= TRACE_MODE_KERNEL;
	int paranoid = is_privileged() ? -1 : read_paranoid();
	/* The highest that allows the recording. */
	int allowed = !options || options->all_cpus ? 0 : kernel ? 1 : 2;
	char found[64], remedy[96];

	snprintf(found, sizeof(found), "kernel.perf_event_paranoid is %d", paranoid);
	snprintf(remedy, sizeof(remedy),
		 "run `sysctl kernel.perf_event_paranoid=%d` as root, or record as root",
		 options ? allowed : MIN(paranoid - 1, 2));
	add_need(needs, "rights",
		 paranoid <= allowed       ? OK
		 : options || paranoid > 2 ? MISSING
					   : LIMITED,
		 options        ? found
		 : paranoid > 2 ? "none"
		 : paranoid > 1 ? "user code of your processes"
		 : paranoid > 0 ? "your processes, with the kernel"
				: "all processes and CPUs, with the kernel",
		 remedy);
}

static void add_buffers(json_t *needs, uint64_t wanted)
{
	uint64_t lockable = read_lockable();
	char found[80] = "any size", remedy[80];

	if (lockable != UINT64_MAX)
		snprintf(found, sizeof(found), "perf may lock %s%" PRIu64 " KiB%s",
			 lockable < wanted ? "only " : "", lockable >> 10,
			 lockable < wanted ? ", so trace may be lost" : "");
	snprintf(remedy, sizeof(remedy),
		 "run `sysctl kernel.perf_event_mlock_kb=%" PRIu64 "` as root", wanted >> 10);
	add_need(needs, "buffers", lockable < wanted ? LIMITED : OK, found, remedy);
}

/* Add a file, with the state if it cannot be accessed. */
static void add_file(json_t *needs, const char *need, const char *path, int mode, const char *state,
		     const char *remedy)
{
	bool works = access(path, mode) == 0;
	char *found = alloc_text("%s%s%s", path, works ? "" : ": ", works ? "" : strerror(errno));

	add_need(needs, need, works ? OK : state, found, remedy);
	free(found);
}

json_t *recorder_needs(const struct options *options)
{
	json_t *needs = json_array();
	struct utsname system;

	uname(&system);
	add_perf(needs, options);
	add_need(needs, "kernel", OK, system.release, NULL);
	add_pt(needs);
	add_rights(needs, options);
	if (options && options->start_at && access(PMU, F_OK) == 0)
		add_need(needs, "address filters", recorder_can("ip_filtering") ? OK : MISSING,
			 "this processor has no address filters for --start-at",
			 "leave it out, and choose a part with --symbol");
	if (!options || options->snapshots)
		add_file(
			needs, "uprobes", UPROBE_EVENTS, W_OK, options ? MISSING : LIMITED,
			"record as root, outside of containers, and `mount -t tracefs nodev " TRACEFS
			"`; `record --slow` needs it");
	add_buffers(needs, options ? wanted_buffer(options) : BUFFER_WANTED);
	if (options)
		return needs;
	add_file(needs, "wakings", TRACEFS "/events/sched/sched_waking/id", R_OK, LIMITED,
		 "mount -t tracefs nodev " TRACEFS ", or record as root; without it, `why` "
		 "names no waker");
	add_file(needs, "kernel code", "/proc/kcore", R_OK, LIMITED,
		 "record as root; without it, kernel code is decoded from vmlinux only");
	return needs;
}

bool recorder_check(const struct options *options)
{
	const char *part = options->all_cpus                    ? " all CPUs"
			   : options->mode >= TRACE_MODE_KERNEL ? " the kernel"
								: "";
	json_t *needs = recorder_needs(options), *need;
	bool possible = true;
	size_t i;

	json_array_foreach(needs, i, need)
	{
		const char *name, *state, *found, *remedy = "";

		json_unpack(need, "{s:s, s:s, s:s, s?s}", "need", &name, "state", &state, "found",
			    &found, "remedy", &remedy);
		if (strcmp(state, MISSING) == 0)
			message_print_error("cannot record%s: %s; %s\n",
					    strcmp(name, "rights") == 0 ? part : "", found, remedy);
		possible &= strcmp(state, MISSING) != 0;
		if (strcmp(state, LIMITED) == 0 && possible && !options->quiet)
			message_print_warning("%s; %s\n", found, remedy);
	}
	json_decref(needs);
	return possible;
}
