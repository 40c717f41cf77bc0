/* SPDX-License-Identifier: MIT */
/* `ptrace2ftf record`: run perf record and watch it. */
#pragma once

#include <jansson.h>

#include "base/tables/pair_table.h"
#include "src/options/options.h"
#include "src/slices/durations.h"
#include "symbols/files/elf_file.h"

/*
 * Check the machine, print the command, and run it until perf ends. Meanwhile SIGINT is ignored
 * here and ends perf. Sets `status` to the exit status of this program: perf's, which is the
 * recorded program's; EXIT_FAILED with messages if perf did not run. Returns whether options->input
 * is a recording to convert.
 */
bool record_run(const struct options *options, int *status);

/* ---- The command --------------------------------------------------------- */

/* Store the path of the file with the functions of --start-at and --snapshot-at. */
void perf_command_file(const struct options *options, char file[PATH_MAX]);

/* Returns the arguments of the command, ending with NULL, for perf_command_free(). */
char **perf_command_make(const struct options *options);

/* Print the arguments in shell syntax, and a newline. */
void perf_command_print(char *const *words, FILE *out);

void perf_command_free(char **words);

/* Search PATH for a program. Returns false if it is not found; otherwise `file` is its path. */
bool path_search(const char *name, char file[PATH_MAX]);

/* ---- Obstacles to a recording of Intel PT on this machine ---------------- */

/* Returns whether this processor's PT has a capability: a file in intel_pt/caps. */
bool recorder_can(const char *capability);

/*
 * Returns the needs of a recording, as an array of objects: "need", "state" ("ok", "limited",
 * "missing"), "found", and "remedy" unless the state is "ok". Without options, of all recordings:
 * "limited" is what only some of them need.
 */
json_t *recorder_needs(const struct options *options);

/*
 * Print each missing need with its remedy, and warn of limited ones, which make a recording worse.
 * Returns whether recording is possible.
 */
bool recorder_check(const struct options *options);

/* Returns the bytes of AUX data for each buffer; 0: perf's default. */
uint64_t recorder_buffer(const struct options *options);

/* ---- Calls of a function -------------------------------------------------- */

struct function_place {
	int64_t from_entry; /* bytes from the program's entry (ELF's e_entry) to the function */
	uint64_t offset;    /* bytes from the file's start to the function's code */
};

/*
 * Look up a function of a 64-bit ELF file by its symbol-table name or its demangled name. Returns
 * 0, or -1 with err filled, also if several functions have the name.
 */
int function_place_find(struct function_place *place, const char *file, const char *function,
			struct error *err);

/*
 * Visit the threads of a process, until a visit fails with errno. Returns 0, or -1 with err filled.
 */
int threads_visit(pid_t pid, int (*visit)(void *context, pid_t tid), void *context,
		  struct error *err);

/*
 * Interrupt another process at calls of a function of a running program, with hardware breakpoints
 * (perf_event_open(2), PERF_TYPE_BREAKPOINT). They need the rights of ptrace(2) only, and do not
 * slow the program down.
 */
struct call_watch {
	struct function_place function;
	uint64_t address; /* of the function in the process */
	int *threads;     /* owned: one breakpoint per thread, inherited by children */
	size_t count, room;
};

/*
 * Set the breakpoint, disabled, in each thread of a process that runs the file. Stop the process
 * before: a thread that starts meanwhile gets no breakpoint. Returns 0, or -1 with err filled.
 */
int call_watch_open(struct call_watch *watch, pid_t pid, struct error *err);

/* Enable the breakpoint: each call sends SIGINT to `receiver`. */
void call_watch_start(const struct call_watch *watch, pid_t receiver);

/* Remove the breakpoints. Returns the number of calls since call_watch_start(). */
uint64_t call_watch_end(struct call_watch *watch);

/* ---- Slow calls of a function ---------------------------------------------- */

/* tracefs, and its file that defines uprobes. */
#define TRACEFS       "/sys/kernel/tracing"
#define UPROBE_EVENTS TRACEFS "/uprobe_events"

/* Calls that take longer than a bound, by uprobes at a function's begin and end. */
struct slow_watch {
	char file[PATH_MAX];
	struct function_place places[2];  /* of the function; of START and STOP */
	bool between;                     /* from a call of START to the thread's next of STOP */
	struct slow_choice slow;          /* the bound */
	uint64_t bound;                   /* ns: learned from the first calls; 0: not yet */
	uint64_t calls, slow_calls, lost; /* numbers; lost: of begins and ends */
	struct slow_call {
		uint64_t begin, end; /* ns of perf's clock */
		pid_t pid, tid;
	} slowest; /* of those read last */
	/* Private, owned: */
	long ids[2]; /* of the tracepoints */
	struct slow_ring {
		struct perf_event_mmap_page *page; /* NULL: no such CPU */
		int fd;
	} * rings; /* by CPU */
	int *fds;  /* of events, by thread, CPU and kind */
	struct slow_event {
		uint64_t time, stack;
		pid_t pid, tid;
		bool ends;
	} * events; /* some wait for earlier ones */
	struct slow_open {
		struct slow_begin {
			uint64_t time, stack;
		} * calls; /* innermost last */
		size_t count, room;
	} * open;                  /* by number in `threads` */
	struct pair_table threads; /* by tid */
	int cpus;
	size_t count, room, event_count, event_room, open_room;
	uint64_t last;              /* ns: the latest event */
	struct durations durations; /* of the first calls, for a percentile */
};

/*
 * Watch the threads of a process and the threads that they start. After a failure,
 * slow_watch_end() is still needed. Returns 0, or -1 with err filled.
 */
int slow_watch_open(struct slow_watch *watch, pid_t pid, struct error *err);

/* Read the ended calls, `all` or those up to the last read. Returns whether one was slow. */
bool slow_watch_read(struct slow_watch *watch, bool all);

/* Remove the probes. The end of the process frees the memory. */
void slow_watch_end(struct slow_watch *watch);

/* ---- The code that processes generate ------------------------------------ */

#define CODE_PAGE_SIZE 4096

/*
 * A file next to the recording with the code that processes generated, which perf does not save: an
 * ELF core, read by symbols/files/core_file.h.
 */
struct code_file_writer {
	char *path;              /* owned */
	uint64_t (*ticks)(void); /* the TSC of the trace; NULL: unknown */
	/* The newest bytes of a page. */
	struct code_page {
		pid_t pid;
		uint64_t address;
		bool changed;   /* the address had other code before */
		uint64_t saved; /* ticks at which these bytes were first seen */
		uint8_t bytes[CODE_PAGE_SIZE];
	} * pages; /* owned */
	size_t count, room;
	struct pair_table index; /* pages by process and address */
	/* A perf map or a jitdump; open, as it may be removed before the end. */
	struct code_names {
		pid_t pid;
		char *path; /* owned: in the process's mount namespace */
		struct file_identity identity;
		int fd;
	} * names; /* owned */
	size_t name_count, name_room;
	uint64_t names_most; /* bytes of each that are copied, as its process may write without end
			      */
	bool lacks_names;    /* descriptors or a limit were used up */
};

/*
 * The file of the recording that was at this path before. perf renames such a recording to
 * PATH.old: give the file the name that belongs to it. Remove the file if PATH.old is not the
 * recording with the inode number `before` (0: there was none).
 */
void code_file_retire(const char *recording, ino_t before);

/* Start the file of a recording. */
void code_file_begin(struct code_file_writer *writer, const char *recording);

/*
 * Add the executable memory of a process that maps no file, or a deleted one, and its private
 * copies of other files' pages, which were written to. Newer bytes of a page replace older
 * ones; pages that were unmapped since are kept. Also the newest perf map of its pid inside of its
 * pid namespace (NSpid of proc(5)), and the jitdumps that it maps, found in its mount namespace,
 * if they are root's or of the process's user. The caller needs ptrace access to the process
 * (ptrace(2), "Ptrace access mode checking"); unreadable memory is skipped.
 */
void code_file_add(struct code_file_writer *writer, pid_t pid);

/* Do the same for all descendants of a process. */
void code_file_add_children(struct code_file_writer *writer, pid_t pid);

/*
 * Write the file after the recording is complete. No file is left if there is no code, or if
 * writing fails.
 */
void code_file_end(struct code_file_writer *writer);

/* ---- Recordings of slow calls ---------------------------------------------- */

/* The descriptor of perf's --control. Shells open lower ones. */
#define PERF_CONTROL 255

/* Snapshots at slow calls, each a recording in the folder of --output. */
struct incidents {
	const struct options *options; /* borrowed; `input`: perf's output, in the folder */
	struct slow_watch watch;
	char *program;              /* owned: path of the file with the function */
	int control[2];             /* pipe of commands to perf */
	pid_t perf, worker;         /* worker: of the newest recording; 0: no such process */
	struct slow_call call;      /* of the snapshot; zeroed: perf's file is not needed */
	char when[32];              /* its end, UTC */
	uint64_t asked;             /* ns of CLOCK_MONOTONIC: of perf's signal; 0: none */
	char *completed, *newest;   /* owned: perf's file with the snapshot; the last recording */
	uint64_t bytes, most_bytes; /* of all recordings */
	uint64_t minute, reported;  /* ns of CLOCK_MONOTONIC: begin; of the merged answer */
	unsigned recordings, in_minute, idle;
	bool ended, full; /* perf was ended; full: because of most_bytes */
};

/* Report obstacles before perf starts. Returns 0, or -1 with err filled. */
int incidents_prepare(struct incidents *incidents, const struct options *options,
		      struct error *err);

/*
 * Read the watch, as slow_watch_read(), and interrupt perf at a slow call. Returns whether a
 * recording waits for incidents_keep().
 */
bool incidents_read(struct incidents *incidents, bool all);

/* Start the worker, which keeps the recording, with the code up to now; NULL: no code. */
void incidents_keep(struct incidents *incidents, struct code_file_writer *code);

/* The worker has ended. */
void incidents_reap(struct incidents *incidents);

/* After perf's end: print what was recorded. Returns false after warnings. */
bool incidents_end(struct incidents *incidents, struct code_file_writer *code);
