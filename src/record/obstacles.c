/* SPDX-License-Identifier: MIT */
/*
 * Sources: linux/Documentation/admin-guide/perf-security.rst (perf_event_paranoid, mlock),
 * man perf-intel-pt (caps, snapshot, address filters).
 */

#include <linux/capability.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "src/record/record.h"

#define PMU "/sys/bus/event_source/devices/intel_pt"

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

/* ---- Obstacles ----------------------------------------------------------- */

static void print_missing_pt(void)
{
	bool in_virtual_machine = false, is_intel = false;
	FILE *in = fopen("/proc/cpuinfo", "re");
	const char *reason;
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0 && *line != '\n') {
		is_intel |= starts_with(line, "vendor_id") && strstr(line, "Intel");
		in_virtual_machine |= starts_with(line, "flags") && strstr(line, " hypervisor");
	}
	free(line);
	if (in)
		fclose(in);
	reason =
		in_virtual_machine
			? "this virtual machine has no Intel PT; record on the host, or make it "
			  "available to the guest (KVM: kvm_intel.pt_mode=1)"
		: !is_intel
			? "the processor is not Intel's and has no Processor Trace; record on "
			  "another machine"
			: "the kernel has no intel_pt: the processor has none (before Broadwell), or "
			  "the firmware disabled it; record on another machine";

	message_print_error("cannot record: %s, or in software with the source's tests/ptsim\n",
			    reason);
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
	bool possible = true;
	char perf[PATH_MAX];

	if (!path_search("perf", perf)) {
		message_print_error("cannot record: perf is not in PATH; install it (Debian: "
				    "linux-perf, Ubuntu: linux-tools-generic, Fedora: perf)\n");
		possible = false;
	}
	if (access(PMU, F_OK) < 0) {
		print_missing_pt();
		return false;
	}
	possible &= check_rights(options);
	if (options->start_at && !recorder_can("ip_filtering")) {
		message_print_error("cannot record: this processor has no address filters for "
				    "--start-at; leave it out, and choose a part with --symbol\n");
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
