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

#define PERF_REMEDY "install it (Debian: linux-perf, Ubuntu: linux-tools-generic, Fedora: perf)"

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

/* ---- Obstacles ----------------------------------------------------------- */

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

/* Returns why there is no Intel PT, and what to do. */
static const char *missing_pt(const struct processor *processor)
{
	return processor->is_virtual
		       ? "this virtual machine has no Intel PT; record on the host, or make it "
			 "available to the guest (KVM: kvm_intel.pt_mode=1)"
	       : !processor->is_intel
		       ? "the processor is not Intel's and has no Processor Trace; record on "
			 "another machine"
		       : "the kernel has no intel_pt: the processor has none (before Broadwell), or "
			 "the firmware disabled it; record on another machine";
}

static bool check_rights(const struct options *options)
{
	bool kernel = options->mode == TRACE_MODE_KERNEL || options->mode == TRACE_MODE_BOTH;
	/* The highest that allows the recording. */
	int allowed = options->all_cpus ? 0 : kernel ? 1 : 2, paranoid = read_paranoid();

	if (is_privileged() || paranoid <= allowed)
		return true;
	message_print_error("cannot record%s: kernel.perf_event_paranoid is %d; run `sysctl "
			    "kernel.perf_event_paranoid=%d` as root, or record as root\n",
			    options->all_cpus ? " all CPUs"
			    : allowed < 2     ? " the kernel"
					      : "",
			    paranoid, allowed);
	return false;
}

bool recorder_check(const struct options *options)
{
	struct processor processor;
	bool possible = true;
	char perf[PATH_MAX];

	if (!path_search("perf", perf)) {
		message_print_error("cannot record: perf is not in PATH; " PERF_REMEDY "\n");
		possible = false;
	}
	if (access(PMU, F_OK) < 0) {
		processor = read_processor();
		message_print_error("cannot record: %s, or in software with `ptsim`\n",
				    missing_pt(&processor));
		return false;
	}
	possible &= check_rights(options);
	if (options->start_at && !recorder_can("ip_filtering")) {
		message_print_error("cannot record: this processor has no address filters for "
				    "--start-at; leave it out, and choose a part with --symbol\n");
		possible = false;
	}
	if (options->snapshots && access(UPROBE_EVENTS, W_OK) < 0) {
		message_print_error(
			"cannot watch calls for --slow: no uprobes in " UPROBE_EVENTS
			" (%s); record "
			"as root, outside of containers, and `mount -t tracefs nodev " TRACEFS
			"`\n",
			strerror(errno));
		possible = false;
	}
	if (possible && !recorder_buffer(options) && !options->quiet) {
		message_print_warning("perf may lock only %" PRIu64
				      " KiB, so trace may be lost; run `sysctl "
				      "kernel.perf_event_mlock_kb=%" PRIu64 "` as root\n",
				      read_lockable() >> 10, wanted_buffer(options) >> 10);
	}
	return possible;
}

/* ---- What a recording needs ---------------------------------------------- */

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

/* Add perf with the first line of its `--version`. */
static void add_perf(json_t *needs)
{
	FILE *out = popen("exec perf --version 2>/dev/null", "re");
	char path[PATH_MAX], version[128] = "";
	bool exists = path_search("perf", path);

	if (out && fgets(version, sizeof(version), out))
		version[strcspn(version, "\n")] = 0;
	if (out)
		pclose(out);
	add_need(needs, "perf", exists ? OK : MISSING,
		 !exists    ? "not in PATH"
		 : *version ? version
			    : path,
		 PERF_REMEDY);
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

	add_need(needs, "processor", processor.is_intel ? OK : MISSING, processor.name,
		 "record on a machine with a processor of Intel, Broadwell or later");
	for (size_t i = 0; i < COUNT_OF(names); i++)
		if (recorder_can(names[i][0]))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), ", %s",
				 names[i][1]);
	if (access(PMU, F_OK) == 0)
		add_need(needs, "Intel PT", OK, found, NULL);
	else
		add_need(needs, "Intel PT", MISSING,
			 processor.is_virtual ? "no, in a virtual machine" : "no",
			 missing_pt(&processor));
}

static void add_rights(json_t *needs)
{
	int paranoid = is_privileged() ? -1 : read_paranoid();
	char remedy[64];

	snprintf(remedy, sizeof(remedy), "sysctl kernel.perf_event_paranoid=%d",
		 paranoid > 2 ? 2 : paranoid - 1);
	add_need(needs, "rights",
		 paranoid > 2   ? MISSING
		 : paranoid > 0 ? LIMITED
				: OK,
		 paranoid > 2   ? "none"
		 : paranoid > 1 ? "user code of your processes"
		 : paranoid > 0 ? "your processes, with the kernel"
				: "all processes and CPUs, with the kernel",
		 remedy);
}

static void add_buffers(json_t *needs)
{
	uint64_t lockable = read_lockable();
	char found[64] = "any size", remedy[64];

	if (lockable != UINT64_MAX)
		snprintf(found, sizeof(found), "up to %" PRIu64 " KiB", lockable >> 10);
	snprintf(remedy, sizeof(remedy), "sysctl kernel.perf_event_mlock_kb=%" PRIu64,
		 BUFFER_WANTED >> 10);
	add_need(needs, "buffers", lockable < BUFFER_WANTED ? LIMITED : OK, found, remedy);
}

/* Add a file that only some recordings need to read. */
static void add_file(json_t *needs, const char *need, const char *path, const char *remedy)
{
	add_need(needs, need, access(path, R_OK) == 0 ? OK : LIMITED,
		 access(path, R_OK) == 0 ? path : strerror(errno), remedy);
}

json_t *recorder_needs(void)
{
	json_t *needs = json_array();
	struct utsname system;

	uname(&system);
	add_perf(needs);
	add_need(needs, "kernel", OK, system.release, NULL);
	add_pt(needs);
	add_rights(needs);
	add_buffers(needs);
	add_file(needs, "wakings", TRACEFS "/events/sched/sched_waking/id",
		 "mount -t tracefs nodev " TRACEFS ", or record as root; without it, `why` "
		 "names no waker");
	add_file(needs, "kernel code", "/proc/kcore",
		 "record as root; without it, kernel code is decoded from vmlinux only");
	return needs;
}
