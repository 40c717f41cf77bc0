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

static void look_at_cpu(struct recorder *recorder)
{
	FILE *in = fopen("/proc/cpuinfo", "re");
	char *line = NULL;
	size_t room = 0;

	while (in && getline(&line, &room, in) > 0 && *line != '\n') {
		recorder->is_intel |= starts_with(line, "vendor_id") && strstr(line, "Intel");
		recorder->in_virtual_machine |=
			starts_with(line, "flags") && strstr(line, " hypervisor");
	}
	free(line);
	if (in)
		fclose(in);
}

static bool has_capability(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct held[2] = { 0 };

	syscall(SYS_capget, &header, held);
	/* CAP_PERFMON is 38, which headers before Linux 5.8 lack. */
	return held[0].effective & 1u << CAP_SYS_ADMIN || held[1].effective & 1u << (38 - 32);
}

void recorder_look(struct recorder *recorder)
{
	struct rlimit limit = { 0 };
	char perf[PATH_MAX];

	*recorder = (struct recorder){
		.has_perf = path_search("perf", perf),
		.has_pt = access(PMU, F_OK) == 0,
		.cycles = read_setting(PMU "/caps/psb_cyc", 0),
		.address_filters = read_setting(PMU "/caps/ip_filtering", 0),
		.paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid", 2),
		.privileged = geteuid() == 0 || has_capability(),
		.lockable = (uint64_t)read_setting("/proc/sys/kernel/perf_event_mlock_kb", 516)
			    << 10,
	};
	getrlimit(RLIMIT_MEMLOCK, &limit);
	if (recorder->privileged || recorder->paranoid < 0 || limit.rlim_cur == RLIM_INFINITY)
		recorder->lockable = UINT64_MAX;
	else
		recorder->lockable += limit.rlim_cur;
	look_at_cpu(recorder);
}

static uint64_t wanted_buffer(const struct options *options)
{
	return options->snapshot ? options->snapshot : BUFFER_WANTED;
}

uint64_t recorder_buffer(const struct recorder *recorder, const struct options *options)
{
	uint64_t wanted = wanted_buffer(options);

	return recorder->lockable >= wanted ? wanted : 0;
}

/* ---- Obstacles ----------------------------------------------------------- */

static void print_missing_pt(const struct recorder *recorder, FILE *out)
{
	const char *reason =
		recorder->in_virtual_machine
			? "this virtual machine has no Intel PT; record on the host, or make it "
			  "available to the guest (KVM: kvm_intel.pt_mode=1)"
		: !recorder->is_intel
			? "the processor is not Intel's and has no Processor Trace; record on "
			  "another machine"
			: "the kernel has no intel_pt: the processor has none (before Broadwell), or "
			  "the firmware disabled it; record on another machine";

	message_begin_error(out);
	fprintf(out, "cannot record: %s, or in software with the source's tests/ptsim\n", reason);
}

static bool check_rights(const struct recorder *recorder, const struct options *options, FILE *out)
{
	bool kernel = options->mode == TRACE_MODE_KERNEL || options->mode == TRACE_MODE_BOTH;
	/* The highest that allows the recording. */
	int allowed = options->all_cpus ? 0 : kernel ? 1 : 2;

	if (recorder->privileged || recorder->paranoid <= allowed)
		return true;
	message_begin_error(out);
	fprintf(out,
		"cannot record%s: kernel.perf_event_paranoid is %d; run `sysctl "
		"kernel.perf_event_paranoid=%d` as root, or record as root\n",
		options->all_cpus ? " all CPUs"
		: allowed < 2     ? " the kernel"
				  : "",
		recorder->paranoid, allowed);
	return false;
}

bool recorder_check(const struct recorder *recorder, const struct options *options, FILE *out)
{
	bool possible = true;

	if (!recorder->has_perf) {
		message_begin_error(out);
		fputs("cannot record: perf is not in PATH; install it (Debian: "
		      "linux-perf, Ubuntu: linux-tools-generic, Fedora: perf)\n",
		      out);
		possible = false;
	}
	if (!recorder->has_pt) {
		print_missing_pt(recorder, out);
		return false;
	}
	possible &= check_rights(recorder, options, out);
	if (options->start_at && !recorder->address_filters) {
		message_begin_error(out);
		fputs("cannot record: this processor has no address filters for "
		      "--start-at; leave it out, and choose a part with --symbol\n",
		      out);
		possible = false;
	}
	if (possible && !recorder_buffer(recorder, options) && !options->quiet) {
		message_begin_warning(out);
		fprintf(out,
			"perf may lock only %" PRIu64 " KiB, so trace may be lost; run `sysctl "
			"kernel.perf_event_mlock_kb=%" PRIu64 "` as root\n",
			recorder->lockable >> 10, wanted_buffer(options) >> 10);
	}
	return possible;
}
