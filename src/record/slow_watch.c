/* SPDX-License-Identifier: MIT */
/*
 * Uprobes at the begin and end of a function, in the threads of a process.
 *
 * Sources: linux/Documentation/trace/uprobetracer.rst, perf_event_open(2). The probes are defined
 * in tracefs: each event of the uprobe PMU is a probe of its own, so with a thread's events on each
 * CPU, a call would run through all of them.
 */
#include "src/record/record.h"

#include <fcntl.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes of each CPU's ring: of the calls of some 10 ms, at the 2 us that probes take at least. */
#define RING_SIZE (UINT64_C(1) << 20)

/* With so many open calls in a thread, all are forgotten: those that never return stay open. */
#define NESTED_MOST 4096

/* ---- Definitions in tracefs ---------------------------------------------- */

/* The names of our events, for printf() of our pid. */
#define BEGIN "ptrace2ftf_%d/begin"
#define END   "ptrace2ftf_%d/end"

/* Add or remove definitions. Returns 0, or an errno. */
static int define(const char *lines)
{
	/* Without O_APPEND, all definitions of the machine would go. */
	int fd = open(UPROBE_EVENTS, O_WRONLY | O_APPEND | O_CLOEXEC);
	int failed = fd < 0 || write(fd, lines, strlen(lines)) < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return failed;
}

/* Returns 0; -1 with err filled. */
static int define_both(struct slow_watch *watch, struct error *err)
{
	static const char *const names[] = { TRACEFS "/events/" BEGIN "/id",
					     TRACEFS "/events/" END "/id" };
	/* The descriptor names the file, whatever characters its path has. */
	int fd = open(watch->file, O_RDONLY | O_CLOEXEC), failed = fd < 0 ? errno : 0;
	char text[256];

	snprintf(text, sizeof(text),
		 "p:" BEGIN " /proc/self/fd/%d:%#" PRIx64 "\n%c:" END " /proc/self/fd/%d:%#" PRIx64
		 "\n",
		 getpid(), fd, watch->places[0].offset, watch->between ? 'p' : 'r', getpid(), fd,
		 watch->places[1].offset);
	failed = failed ? failed : define(text);
	for (int i = 0; i < 2 && !failed; i++) {
		FILE *in;

		snprintf(text, sizeof(text), names[i], getpid());
		in = fopen(text, "re");
		failed = in && fscanf(in, "%ld", &watch->ids[i]) == 1 ? 0 : ENOENT;
		if (in)
			fclose(in);
	}
	if (fd >= 0)
		close(fd);
	return failed ? error_set_system(err, failed, "uprobe in %s", watch->file) : 0;
}

/* ---- Events -------------------------------------------------------------- */

/* Open an event of a thread on a CPU. Returns 0, also if either is gone; -1 with errno. */
static int open_on(struct slow_watch *watch, pid_t tid, int cpu, int kind)
{
	struct slow_ring *ring = &watch->rings[cpu];
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = (uint64_t)watch->ids[kind],
		.sample_period = 1,
		/* Only an end has its CPU, by which its record differs. */
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_REGS_USER |
			       (kind ? PERF_SAMPLE_CPU : 0),
		.sample_regs_user = 1 << 7, /* PERF_REG_X86_SP */
		.disabled = true,
		.inherit = true,
		.watermark = true,
		.wakeup_watermark = RING_SIZE, /* nobody waits */
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	void *map;

	if (fd < 0)
		return errno == ESRCH || errno == ENODEV ? 0 : -1;
	*ARRAY_ADD(watch->fds, watch->count, watch->room) = fd;
	if (ring->page)
		return ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd);
	map = mmap(NULL, RING_SIZE + (size_t)sysconf(_SC_PAGESIZE), PROT_READ | PROT_WRITE,
		   MAP_SHARED, fd, 0);
	if (map == MAP_FAILED)
		return -1;
	*ring = (struct slow_ring){ map, fd };
	return 0;
}

static int open_thread(void *context, pid_t tid)
{
	struct slow_watch *watch = context;
	int status = 0;

	for (int cpu = 0; cpu < watch->cpus && status == 0; cpu++)
		for (int kind = 0; kind < 2 && status == 0; kind++)
			status = open_on(watch, tid, cpu, kind);
	return status;
}

int slow_watch_open(struct slow_watch *watch, pid_t pid, struct error *err)
{
	struct rlimit files = { 0 };

	/* Rings must be read in time, also if all CPUs are busy. */
	setpriority(PRIO_PROCESS, 0, -10);
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	watch->cpus = (int)sysconf(_SC_NPROCESSORS_CONF);
	watch->rings = alloc_zeroed((size_t)watch->cpus, sizeof(*watch->rings));
	if (define_both(watch, err) < 0 || threads_visit(pid, open_thread, watch, err) < 0)
		return -1;
	for (size_t i = 0; i < watch->count; i++)
		ioctl(watch->fds[i], PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

void slow_watch_end(struct slow_watch *watch)
{
	char lines[128];

	for (int cpu = 0; cpu < watch->cpus; cpu++)
		if (watch->rings[cpu].page)
			munmap(watch->rings[cpu].page, RING_SIZE + (size_t)sysconf(_SC_PAGESIZE));
	for (size_t i = 0; i < watch->count; i++)
		close(watch->fds[i]);
	snprintf(lines, sizeof(lines), "-:" BEGIN "\n-:" END "\n", getpid(), getpid());
	define(lines);
}

/* ---- Calls --------------------------------------------------------------- */

static void take_call(struct slow_watch *watch, const struct slow_call *call)
{
	uint64_t duration = call->end - call->begin, percentile = watch->slow.percentile;

	watch->calls++;
	if (percentile && !watch->bound) {
		/* Enough for 100 calls above it, but at most a million. */
		uint64_t most = UINT64_C(100000000) / (1000000 - percentile);

		durations_add(&watch->durations, duration);
		if (watch->calls >= MIN(MAX(most, 1000), 1000000))
			watch->bound =
				MAX(durations_quantile(&watch->durations, (uint32_t)percentile), 1);
		return;
	}
	if (duration <= (percentile ? watch->bound : watch->slow.longer))
		return;
	watch->slow_calls++;
	if (duration > watch->slowest.end - watch->slowest.begin)
		watch->slowest = *call;
}

/*
 * A call's begin and end have the same stack pointer, but for the return address. So an end is
 * found after calls that an exception or longjmp() has ended, and with several stacks in a thread.
 */
static void join_event(struct slow_watch *watch, const struct slow_event *event)
{
	uint32_t number = pair_table_find(&watch->threads, (uint32_t)event->tid, 0);
	struct slow_open *open;
	size_t at;

	ARRAY_GROW_ZEROED(watch->open, watch->open_room, watch->threads.count);
	open = &watch->open[number];
	if (!event->ends) {
		if (watch->between && open->count)
			return;
		open->count %= NESTED_MOST;
		*ARRAY_ADD(open->calls, open->count, open->room) =
			(struct slow_begin){ event->time, event->stack };
		return;
	}
	for (at = open->count; at; at--)
		if (watch->between || open->calls[at - 1].stack + sizeof(void *) == event->stack)
			break;
	if (!at)
		return;
	take_call(watch, &(struct slow_call){ open->calls[at - 1].time, event->time, event->pid,
					      event->tid });
	memmove(open->calls + at - 1, open->calls + at, (open->count - at) * sizeof(*open->calls));
	open->count--;
}

/* ---- Rings --------------------------------------------------------------- */

/* A record, in words: the header, the thread, the time; then the CPU of an end; ABI, registers. */
static void take_record(struct slow_watch *watch, const uint64_t *words)
{
	uint32_t type = (uint32_t)words[0], size = words[0] >> 48;
	bool ends = size == 6 * sizeof(*words);

	if (type == PERF_RECORD_LOST)
		watch->lost += words[2];
	if (type == PERF_RECORD_SAMPLE)
		*ARRAY_ADD(watch->events, watch->event_count, watch->event_room) =
			(struct slow_event){ .time = words[2],
					     .stack = words[4 + ends],
					     .pid = (pid_t)words[1],
					     .tid = (pid_t)(words[1] >> 32),
					     .ends = ends };
}

static void read_ring(struct slow_watch *watch, struct perf_event_mmap_page *page)
{
	const uint64_t *data = (const uint64_t *)((const char *)page + sysconf(_SC_PAGESIZE));
	uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), words[6];

	/* Records have a multiple of 8 bytes. */
	for (uint64_t at = page->data_tail; at < head; at += MAX(words[0] >> 48, 8)) {
		for (size_t i = 0; i < COUNT_OF(words); i++)
			words[i] = data[(at / 8 + i) % (RING_SIZE / 8)];
		take_record(watch, words);
	}
	__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
}

COMPARE_BY(compare_events, struct slow_event, time)

bool slow_watch_read(struct slow_watch *watch, bool all)
{
	uint64_t lost = watch->lost, last = watch->last;
	size_t taken = 0;

	for (int cpu = 0; cpu < watch->cpus; cpu++)
		if (watch->rings[cpu].page)
			read_ring(watch, watch->rings[cpu].page);
	/* A begin would be joined to the end of a later call. */
	for (size_t i = 0; i < watch->threads.count && lost < watch->lost; i++)
		watch->open[i].count = 0;
	if (lost < watch->lost)
		watch->event_count = 0;
	SORT(watch->events, watch->event_count, compare_events);
	watch->slowest = (struct slow_call){ 0 };
	/* Rings are read one after another: earlier events of those read first may be missing. */
	for (; taken < watch->event_count; taken++) {
		if (!all && watch->events[taken].time > last)
			break;
		join_event(watch, &watch->events[taken]);
	}
	if (watch->event_count)
		watch->last = watch->events[watch->event_count - 1].time;
	watch->event_count -= taken;
	if (watch->event_count)
		memmove(watch->events, watch->events + taken,
			watch->event_count * sizeof(*watch->events));
	return watch->slowest.end != 0;
}
