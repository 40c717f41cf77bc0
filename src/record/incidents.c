/* SPDX-License-Identifier: MIT */
/*
 * Recordings of slow calls: --slow='F>T'.
 *
 * perf record --switch-output=signal takes a snapshot at SIGUSR2, and renames its complete file to
 * NAME.TIMESTAMP. A process for each such file finds the cause and cuts it.
 */
#include "src/record/record.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io/output.h"
#include "base/io/output_path.h"
#include "src/formats/text/digits.h"
#include "src/report/progress.h"

/* Snapshots in a minute, without a number in --snapshots. */
#define PER_MINUTE 6

/* The least time before and after a call, in ns. */
#define MARGIN_LEAST UINT64_C(1000000)

/* Bytes of switches and other records between two snapshots, before perf changes the file. */
#define RECORDS_MOST (UINT64_C(64) << 20)

static char *path_in(const struct incidents *incidents, const char *name)
{
	const char *folder = incidents->options->output;

	return alloc_text("%.*s/%s", (int)output_path_length(folder), folder, name);
}

/* Returns 0 if the file is missing. */
static uint64_t bytes_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* ---- Before perf starts -------------------------------------------------- */

int incidents_prepare(struct incidents *incidents, const struct options *options, struct error *err)
{
	struct slow_watch *watch = &incidents->watch;
	const char *function = options->watched.function;
	const char *begin = *function ? function : options->select.start;
	const char *end = *function ? function : options->select.stop;
	struct statvfs space;

	incidents->options = options;
	incidents->reported = progress_now();
	watch->slow = options->watched.slow;
	watch->between = !*function;
	perf_command_file(options, watch->file);
	incidents->program = realpath(watch->file, NULL) ?: alloc_text("%s", watch->file);
	if (function_place_find(&watch->places[0], watch->file, begin, err) < 0 ||
	    function_place_find(&watch->places[1], watch->file, end, err) < 0 ||
	    output_path_make_parents(options->input, err) < 0 ||
	    output_path_check(options->input, err) < 0)
		return -1;
	if (pipe2(incidents->control, O_CLOEXEC | O_NONBLOCK) < 0)
		return error_set_system(err, errno, "cannot make a pipe");
	incidents->most_bytes = options->max_output;
	if (!incidents->most_bytes && statvfs(options->output, &space) == 0)
		incidents->most_bytes =
			MIN((uint64_t)space.f_bavail * space.f_frsize / 4, OUTPUT_LIMIT_DEFAULT);
	return 0;
}

/* ---- Snapshots ----------------------------------------------------------- */

/* A signal that comes before perf's poll(2) does not end that, but a command does. */
static void signal_perf(const struct incidents *incidents, int signal)
{
	kill(incidents->perf, signal);
	if (write(incidents->control[1], "ping\n", 5) < 0)
		return; /* perf has enough of them */
}

static void end_recording(struct incidents *incidents)
{
	incidents->ended = true;
	signal_perf(incidents, SIGINT);
}

static void ask(struct incidents *incidents, const struct slow_call *call)
{
	struct timespec now;
	struct tm tm = { 0 };
	size_t length;

	clock_gettime(CLOCK_REALTIME, &now);
	length = strftime(incidents->when, sizeof(incidents->when), "%Y%m%dT%H%M%S",
			  gmtime_r(&now.tv_sec, &tm));
	snprintf(incidents->when + length, sizeof(incidents->when) - length, ".%03dZ",
		 (int)(now.tv_nsec / 1000000));
	incidents->call = *call;
	incidents->asked = progress_now();
	signal_perf(incidents, SIGUSR2);
}

/* A slow call ended. */
static void take_call(struct incidents *incidents, const struct slow_call *call)
{
	uint64_t now = progress_now();

	if (incidents->asked || incidents->worker || incidents->ended)
		return;
	if (now - incidents->minute >= 60 * NS_PER_S) {
		incidents->minute = now;
		incidents->in_minute = 0;
	}
	incidents->full = incidents->bytes > incidents->most_bytes;
	if (incidents->full)
		end_recording(incidents);
	else if (incidents->in_minute++ < (incidents->options->per_minute ?: PER_MINUTE))
		ask(incidents, call);
}

/* Returns the path of the first file that perf has completed, owned by the caller, or NULL. */
static char *find_completed(const struct incidents *incidents)
{
	char *folder = path_in(incidents, ""), *found = NULL;
	size_t length = strlen(folder);
	const char *name = incidents->options->input + length;
	DIR *all = opendir(folder);
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		if (!starts_with(entry->d_name, name) || entry->d_name[strlen(name)] != '.' ||
		    (found && strcmp(entry->d_name, found + length) > 0))
			continue;
		free(found);
		found = path_in(incidents, entry->d_name);
	}
	if (all)
		closedir(all);
	free(folder);
	return found;
}

bool incidents_read(struct incidents *incidents, bool all)
{
	struct slow_watch *watch = &incidents->watch;
	uint64_t bound = watch->bound;

	if (!incidents->perf)
		return false;
	if (slow_watch_read(watch, all))
		take_call(incidents, &watch->slowest);
	if (watch->bound != bound && !incidents->options->quiet)
		message_print_error("calls are slow from %s on, by the first %" PRIu64 "\n",
				    short_time(watch->bound).text, watch->durations.count);
	if (incidents->asked)
		incidents->completed = find_completed(incidents);
	/* Every 10 s, without a slow call. */
	if (!incidents->asked && !incidents->worker && ++incidents->idle % 1000 == 0 &&
	    bytes_of(incidents->options->input) > RECORDS_MOST)
		ask(incidents, &(struct slow_call){ 0 });
	return incidents->completed;
}

/* ---- The process of a recording ------------------------------------------ */

/* Run this program, with its output and messages to a descriptor. Returns its status. */
static int run_self(const char *const *words, int out)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		dup2(out, STDOUT_FILENO);
		dup2(out, STDERR_FILENO);
		execv("/proc/self/exe", (char **)words);
		_exit(EXIT_FAILED);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return pid > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILED;
}

/* Print the merged answer, and write it as a page. */
static void print_merged(const struct incidents *incidents)
{
	char *lines = path_in(incidents, "why.jsonl"), *page = path_in(incidents, "why.html");

	run_self((const char *[]){ "ptrace2ftf", "why", "--merge", lines, NULL }, STDOUT_FILENO);
	run_self((const char *[]){ "ptrace2ftf", "why", "--merge", "-o", page, lines, NULL },
		 STDERR_FILENO);
}

/* Append the answer of `why` to why.jsonl. Returns the cause in a line, owned by the caller. */
static char *find_cause(const struct incidents *incidents, const char *data, const char *time)
{
	const struct slow_watch *watch = &incidents->watch;
	char *calls = alloc_text("--symbol==%s", incidents->options->watched.function);
	char *file = alloc_text("--dso==%s", base_name(incidents->program));
	char *slow = alloc_text("--slow=%" PRIu64 "ns", watch->bound ?: watch->slow.longer);
	char *into = alloc_text("--json-lines=%s", path_in(incidents, "why.jsonl"));
	const char *words[] = {
		"ptrace2ftf", "why", "-q", into, time, data, watch->between ? NULL : calls,
		slow,         file,  NULL
	};
	char *line = NULL;
	size_t room = 0;
	FILE *text = tmpfile();

	if (!text)
		return NULL;
	run_self(words, fileno(text));
	rewind(text);
	while (getline(&line, &room, text) > 0 && !starts_with(line, "1. "))
		;
	if (line)
		line[strcspn(line, "\n")] = 0;
	return line;
}

/* Append the line: time, recording, process/thread, duration, --time, cause. */
static void write_line(const struct incidents *incidents, const char *time, const char *cause)
{
	const struct slow_call *call = &incidents->call;
	char *path = path_in(incidents, "incidents.log");
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "a"), *outs[] = { out, stderr };

	for (int i = out ? 0 : 1; i < 2 - incidents->options->quiet; i++)
		escaped_printf(outs[i], "%s\t%s\t%d/%d\t%s\t%s\t%s\n", incidents->when,
			       base_name(incidents->newest), call->pid, call->tid,
			       short_time(call->end - call->begin).text, time, cause);
	if (out)
		fclose(out);
}

/* A process of its own, which Ctrl-C does not end, and whose end frees all memory. */
static _Noreturn void work(const struct incidents *incidents, bool report)
{
	uint64_t begin = incidents->call.begin, end = incidents->call.end;
	uint64_t margin = incidents->options->slow.context ?: MAX(end - begin, MARGIN_LEAST);
	char *data = incidents->newest, *packed = alloc_text("%s.packed", data);
	char *time = alloc_text("--time=%" PRIu64 "ns,%" PRIu64 "ns", begin - MIN(margin, begin),
				end + margin);
	const char *words[] = { "ptrace2ftf", "pack", "-q", time, "-o", packed, data, NULL };
	int status;

	setpgid(0, 0);
	setpriority(PRIO_PROCESS, 0, 10);
	write_line(incidents, time, find_cause(incidents, data, time));
	/* A recording that `pack` refuses stays whole, with its code. */
	status = run_self(words, STDERR_FILENO);
	if ((status == EXIT_WHOLE || status == EXIT_WITH_GAPS) && rename(packed, data) == 0)
		unlink(alloc_text("%s.code", data));
	if (report)
		print_merged(incidents);
	_exit(EXIT_WHOLE);
}

void incidents_keep(struct incidents *incidents, struct code_file_writer *code)
{
	bool report = progress_now() - incidents->reported >= 3600 * NS_PER_S, kept;
	char name[64];
	pid_t pid;

	free(incidents->newest);
	snprintf(name, sizeof(name), "slow-%s.data", incidents->when);
	incidents->newest = path_in(incidents, name);
	kept = incidents->call.end && link(incidents->completed, incidents->newest) == 0;
	if (incidents->call.end && !kept)
		message_print_error("cannot write %s: %s\n", incidents->newest, strerror(errno));
	unlink(incidents->completed);
	free(incidents->completed);
	incidents->completed = NULL;
	incidents->asked = 0;
	if (!kept)
		return;
	if (report)
		incidents->reported = progress_now();
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		if (code) {
			free(code->path);
			code->path = alloc_text("%s.code", incidents->newest);
			code_file_end(code);
		}
		work(incidents, report);
	}
	incidents->worker = MAX(pid, 0);
	if (++incidents->recordings == incidents->options->snapshots)
		end_recording(incidents);
}

void incidents_reap(struct incidents *incidents)
{
	incidents->worker = 0;
	incidents->bytes += bytes_of(incidents->newest);
}

static void wait_for_worker(const struct incidents *incidents)
{
	while (incidents->worker && waitpid(incidents->worker, NULL, 0) < 0 && errno == EINTR)
		;
}

bool incidents_end(struct incidents *incidents, struct code_file_writer *code)
{
	const struct slow_watch *watch = &incidents->watch;
	char *path;

	wait_for_worker(incidents);
	if (incidents->completed)
		incidents_keep(incidents, code);
	wait_for_worker(incidents);
	/* perf's last file has no snapshot. */
	for (; (path = find_completed(incidents)) && unlink(path) == 0; free(path))
		;
	slow_watch_end(&incidents->watch);
	if (!incidents->options->quiet)
		message_print_error("%" PRIu64 " of %" PRIu64 " calls were slow: %u recorded in "
				    "%s, %" PRIu64 " not, because of another one's recording or "
				    "the limits of --snapshots and --max-output\n",
				    watch->slow_calls, watch->calls, incidents->recordings,
				    incidents->options->output,
				    watch->slow_calls - incidents->recordings);
	if (watch->lost)
		message_print_warning("%" PRIu64 " begins and ends of calls were lost\n",
				      watch->lost);
	if (watch->slow.percentile && !watch->bound)
		message_print_warning("%" PRIu64 " calls are too few for a percentile\n",
				      watch->calls);
	if (incidents->full)
		message_print_warning("the recording ended at the bytes of --max-output\n");
	if (incidents->recordings)
		print_merged(incidents);
	return watch->slow_calls && !watch->lost && !incidents->full;
}
