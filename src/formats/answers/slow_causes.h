/* SPDX-License-Identifier: MIT */
/*
 * Finds why slow calls of a function take longer than others: by cluster, as trees of callees.
 *
 * The extra of a path is its mean amount in a slow call less its mean in the other calls.  The own
 * extras of all paths of a call add up to its extra amount.  Slow calls with one cause are a
 * cluster.
 */
#pragma once

#include "base/tables/hash.h"
#include "decoder/branch_event.h"
#include "decoder/timeline/timeline.h"
#include "src/callstack/precise/special_symbols.h"
#include "src/formats/output_format.h"
#include "src/formats/text/digits.h"
#include "src/options/options.h"
#include "src/resolve/location.h"
#include "src/select/function_choice.h"
#include "src/select/function_labels.h"
#include "src/slices/call_tree.h"
#include "src/slices/durations.h"

/* ---- Calls --------------------------------------------------------------- */

/*
 * Keeps the slowest calls of each function, with the costs of all paths in them.
 *
 * A path is a function called by another path; a function that is open already continues its own
 * path, so recursions are folded.  Each thread has a log of the costs of the calls that ended in
 * open calls, which is summed up by path when it gets long: when a call ends, the log has its
 * costs.  So one pass suffices, and memory grows with the distinct paths and the kept calls, not
 * with the trace.
 *
 * Each call of a recursion counts.  A nested call that counts on its own is not part of the amount
 * and paths of the call of the same function around it: so extra time belongs to the innermost
 * slow call.  If the user gives the duration above which a call is slow, only a nested call that is
 * slow counts on its own.  Otherwise, `whole` also has the outermost calls with all nested ones.
 *
 * A call whose begin or end was not traced has a lower bound of its amount.  It is slow if this is
 * slow already; else it is left out.
 *
 * Amounts are ns or, if times are unknown, instructions.  Stops that can hit any code (interrupts,
 * context switches) are paths without callees.  They are not part of amounts, by which causes in
 * the code are found, unless the user gives the duration above which a call is slow; stopped calls
 * are kept a second time, with the stops.
 */

struct path_cost {
	uint32_t path, calls; /* path NODE_NONE: a block */
	union {
		struct call_costs own; /* without callees */
		struct cost_block *block;
	};
};

/*
 * The costs of a kept call, which the kept calls around it share: else these would take the square
 * of the stack's depth. A path may be there several times, but the costs of all blocks inside are
 * at most about twice as many as the paths. The largest block inside is the last cost.
 */
struct cost_block {
	size_t refs;  /* owners */
	size_t count; /* number of `costs` */
	size_t all;   /* costs with those of all blocks inside */
	size_t paths; /* at most all paths; of the largest block, when it was last summed up */
	struct path_cost costs[];
};

/* Maximum levels of blocks. A block that is not the last cost has at most half of all costs. */
#define COST_LEVELS 64

/* A position in costs, with those of all blocks. */
struct cost_cursor {
	struct {
		const struct path_cost *at, *end;
	} levels[COST_LEVELS];
	size_t depth; /* index of the innermost level */
};

static inline struct cost_cursor cost_cursor_begin(const struct path_cost *costs, size_t count)
{
	struct cost_cursor cursor;

	cursor.levels[0].at = costs;
	cursor.levels[0].end = costs + count;
	cursor.depth = 0;
	return cursor;
}

/* Returns the next cost, which is no block; NULL at the end. */
const struct path_cost *cost_cursor_next(struct cost_cursor *cursor);

/* Loop over costs, with those of all blocks. */
#define EACH_COST(cost, costs, count)                                                              \
	for (struct cost_cursor cursor_ = cost_cursor_begin(costs, count), *once_ = &cursor_;      \
	     once_; once_ = NULL)                                                                  \
		for (const struct path_cost *cost; (cost = cost_cursor_next(&cursor_));)

static inline void path_cost_subtract(struct path_cost *from, const struct path_cost *cost)
{
	from->calls -= cost->calls;
	from->own.ns -= cost->own.ns;
	from->own.insns -= cost->own.insns;
	from->own.cycles -= cost->own.cycles;
}

/* A path may be there several times, and blocks. */
struct cost_list {
	struct path_cost *costs; /* owned */
	size_t count, room, limit;
};

struct slow_call {
	uint64_t amount;
	uint64_t begin, duration, stopped; /* ns */
	bool with_stops;                   /* the amount includes the stops */
	uint64_t number;                   /* calls of the function that ended before it */
	const struct track *track;         /* borrowed */
	struct path_cost *costs;           /* owned: of each path in the call, or blocks */
	size_t count;
	bool begin_seen, end_seen; /* else the amount is a lower bound */
	uint32_t path;
	uint64_t site;  /* address of the call in its file; 0: unknown */
	uint64_t since; /* ns since the last such call in the thread ended; 0: unknown */
	uint32_t at;    /* path: where it was when the trace ended or was missing; or 0 */
};

static inline bool slow_call_is_cut(const struct slow_call *call)
{
	return !call->begin_seen || !call->end_seen;
}

/* Returns the amount with the stops, as users measure it. */
static inline uint64_t slow_call_whole(const struct slow_call *call)
{
	return call->amount + (call->with_stops ? 0 : call->stopped);
}

/* For a sort: the slowest first.  Equal calls are in the order of time, then of threads. */
static inline int slow_call_compare(const struct slow_call *a, const struct slow_call *b)
{
	return COMPARE(b->amount, a->amount)
		       ?: COMPARE(a->begin, b->begin)
		       ?: COMPARE(a->track->index, b->track->index);
}

/* Sampled calls of a function that may be decoded again to compare. */
#define USUAL_CALLS 4

/* The owner of code: later values are closer to the user's own code. */
enum code_owner {
	OWNER_UNKNOWN = 0, /* not looked up */
	OWNER_LIBRARY,
	OWNER_PROGRAM, /* it is in the recorded program, which may contain libraries, */
	OWNER_SOURCE,  /* and has source lines */
};

/* Limit of a function's sampled calls. */
#define SAMPLES_MOST 64

/* Kept calls. */
struct slow_heap {
	struct slow_call *calls; /* owned: the fastest is the first */
	size_t count, room;
	uint64_t least; /* amount of the fastest one if the heap is full; else 0 */
};

/* Whole calls that were stopped. */
struct slow_stops {
	struct durations without, with; /* amounts without the stops and with; or both with */
	struct slow_heap slow; /* with the stops; empty if amounts of all calls have these */
	uint64_t longest;      /* ns: stops of the call with the longest ones */
};

struct slow_function {
	const struct symbol *symbol; /* borrowed: its first one */
	enum code_owner owner;
	uint32_t path;              /* its path on the way to slow_calls.last; 0: none */
	bool kept;                  /* its calls are counted */
	bool recursive;             /* a call of it was in another one */
	struct durations durations; /* amounts of its calls; with a bound, with nested calls */
	/* Owned: a random one of each 2^sample_bits whole calls, without costs, in their order. */
	struct slow_call *samples;
	size_t sample_count, sample_room;
	uint64_t sample_next; /* number of the next one, at least */
	unsigned sample_bits;
	struct durations bounds;    /* the same of calls that were cut: lower bounds */
	uint64_t first_begin;       /* ns: of its first call */
	struct slow_stops *stopped; /* owned: whole calls that were stopped; NULL: none */
	struct cost_list lost;      /* costs of calls that are neither in `slow` nor usual */
	/* A recursive function: */
	uint64_t nested;   /* calls in another call of it */
	uint64_t absorbed; /* with a bound: of these, parts of the call around */
	uint64_t outer[2]; /* with a bound: slow by nested slow calls only; [1]: that were cut */
	struct slow_function *whole; /* owned; NULL: not recursive, or with a bound */
	struct slow_heap slow;
};

#define STEP_BITS 9

struct slow_calls {
	struct call_tree tree;  /* first; of paths */
	struct slice_sink sink; /* slices in program order; their tracks are struct track */
	struct function_choice choice;
	const struct dso *program; /* borrowed: the recorded program; NULL: unknown */
	bool by_insns, with_stops; /* in amounts */
	uint64_t bound;      /* --slow=TIME: nested calls above it count on their own; 0: all do */
	uint64_t resolution; /* resolution of amounts; to be set before they are compared */
	uint64_t stops, stopped;         /* that are not part of amounts, and their ns */
	size_t most;                     /* kept calls of a function, at most */
	struct slow_function *functions; /* owned */
	size_t function_count, function_room;
	struct slow_path {
		uint32_t function; /* index of its last one */
		uint32_t fold;     /* the path itself, or the path that a recursion continues */
		bool in_syscall;
		bool stop; /* it has the time of all that runs in it */
	} * paths;         /* owned; by node of the tree */
	size_t path_room;
	uint32_t last;               /* caller of the last new path */
	struct function_table table; /* the functions, by index */
	struct function_labels labels;
	uint32_t *seen; /* owned; by path: a guess of its index in the list being summed up */
	size_t seen_room;
	struct path_cost *sums; /* owned: of the call that ends */
	size_t sum_room;
	struct path_cost *merged; /* owned: of a block or log that is being summed up */
	size_t merged_room, moved;
	struct path_step {
		const struct symbol *symbol; /* borrowed: of the callee */
		uint32_t caller, path;
	} steps[1 << STEP_BITS]; /* the last callees, by hash */
	struct slow_log *logs;   /* owned; by index of the track */
	size_t log_room;
	struct symbol unseen; /* symbol of callers that are not found yet */
};

/* Returns the limit of kept calls that were stopped, of a function. */
static inline size_t slow_stops_most(const struct slow_calls *calls)
{
	return calls->most / 4 + 1;
}

/*
 * Start without calls, of functions of the options' selection or, if it names none, of all.  The
 * sink borrows the calls: they must not move.
 */
void slow_calls_init(struct slow_calls *calls, const struct options *options,
		     const struct trace_facts *facts, size_t most);

void slow_calls_release(struct slow_calls *calls);

/* ---- Shape --------------------------------------------------------------- */

enum call_shape {
	SHAPE_TAIL = 0, /* few calls are slow, or no call is */
	SHAPE_KINDS,    /* there are two kinds of calls: the slow ones are the slower kind */
	SHAPE_TREND,    /* calls become slower: the slow ones are the slowest quarter */
};

/* How the durations of a function divide into slow calls and usual ones. */
struct call_split {
	enum call_shape shape;
	uint64_t bound;     /* slow calls are longer */
	uint64_t base;      /* amount of a usual call */
	uint64_t high;      /* two kinds: median of the slower one */
	double quarters[4]; /* a trend: medians of the quarters of the calls */
};

void call_split_find(const struct slow_calls *calls, const struct slow_function *of,
		     struct call_split *split);

/* Minimum number of slow calls with a period. */
#define PERIOD_LEAST 4

/* Returns N if every Nth call is slow; 0: they have no period. */
uint64_t slow_calls_period(const struct slow_call *const *slow, size_t count);

/* ---- Code ---------------------------------------------------------------- */

/*
 * The code that a call executes, branch by branch: straight runs and jumps back, with their costs.
 *
 * A trail follows the branches of one thread, and finds the calls of a function by its entry and
 * return.  Time between two timestamps is divided by instructions.  Costs exclude stops of the
 * thread; system calls count for the code that made them.
 */

enum code_kind {
	CODE_STRAIGHT = 0,
	CODE_BACK, /* a jump from `last` back to `begin` */
	CODE_STOP, /* an interrupt or fault at `last` */
};

struct code_part {
	struct code_key {
		const struct symbol *symbol; /* borrowed */
		uint64_t begin, last; /* bytes from its start: of the first and last instruction */
		uint64_t kind;        /* enum code_kind: without padding, for the hash */
	} key;
	uint64_t count;
	double insns, ns; /* own */
	double all;       /* ns with the callees that `last` called */
	uint32_t stamp;   /* stamp of the last time that was added to `all` */
	UT_hash_handle hh;
};

/* Sums over calls.  Zeroed memory has no calls. */
struct code_counts {
	struct code_part *parts; /* owned: hash, in the order of their first executions */
	uint64_t calls;
	double insns;
};

/* Returns a part; a new one has no counts. */
struct code_part *code_counts_part(struct code_counts *counts, const struct code_key *key);

void code_counts_add(struct code_counts *counts, const struct code_counts *added);

void code_counts_release(struct code_counts *counts);

struct code_trail {
	const struct symbol *function; /* borrowed: of the calls to find */
	int32_t tid;                   /* their thread */
	/* The call: */
	uint64_t begin, end;     /* ns */
	size_t number;           /* from 1: the branch into it, among those of its time */
	uint64_t stopped;        /* ns */
	uint64_t waited;         /* ns: in system calls; */
	uint64_t wait, wait_end; /* the longest wait, and when it returned */
	struct code_counts now;  /* owned */
	/* Private: */
	struct trail_node {
		uint32_t parent;        /* 0: the trail's root */
		struct code_part *site; /* that called; NULL: unknown */
		uint64_t return_ip;
		const struct symbol *symbol; /* borrowed: the callee */
	} * nodes; /* owned; calls within the call; [0] is unused, [1] the call */
	size_t node_count, node_room;
	uint32_t top; /* node; 0: no call is open */
	struct trail_pending {
		struct code_part *part;
		uint32_t node;
		double insns;
	} * pending; /* owned: parts since the last timestamp */
	size_t pending_count, pending_room;
	double pending_insns;
	uint64_t time;      /* ns: of the last branch; */
	size_t at_time;     /* branches at that time, so far */
	struct location at; /* where the next part begins; symbol NULL: unknown */
	bool in_syscall;
	uint32_t stamp;
};

/*
 * Follow a branch or gap.  Returns true if a call has returned, or was left: its counts stay until
 * the next branch.
 */
bool code_trail_follow(struct code_trail *trail, const struct branch_event *event,
		       const struct location_pair *places);

/* End a window.  Returns whether a call was open, and ends it. */
bool code_trail_end(struct code_trail *trail);

void code_trail_release(struct code_trail *trail);

/* ---- The other thread of a wait ------------------------------------------ */

/*
 * If the recording has no waking, a system call of another thread of the process ended a wait if it
 * is the last system call before the wait ended that can end a wait in such a call: a futex call
 * for a futex call, a write for a read.  A futex call fits if it did not wait itself and, by the
 * names of the functions around both, an unlock ends a wait for a lock, a signal one for a
 * condition, and so on.  Of several unlocks, the last one of a lock that was held since the wait
 * began fits best.  This is likely, not proven.
 *
 * If that thread waited itself most of this time, the chain continues with that wait.
 */

#define SYNC_BITS 6

/* Calls, returns and pauses of all threads, in the order of time. */
struct thread_log {
	struct thread_event {
		uint64_t time;                  /* ns */
		const struct thread *thread;    /* borrowed; not NULL */
		const struct symbol *from, *to; /* borrowed; NULL: not traced */
		uint64_t
			offset; /* of the branch, bytes from the start of `from`, or else of `to` */
		int32_t cpu;    /* -1: unknown */
		uint8_t kind;   /* enum branch_kind */
		uint8_t from_sync, sync; /* what the functions of both ends lock or wait for */
		uint32_t outer;          /* private: number of the call around, from 1; 0: none */
	} * events;                      /* owned */
	size_t count, room;
	uint64_t least; /* ns: shorter calls are left out */
	struct known_sync {
		const struct symbol *symbol; /* borrowed */
		uint8_t sync;
	} known[1 << SYNC_BITS]; /* by hash */
};

/* Limit of a log's events; a longer log has no answer. */
#define THREAD_LOG_MOST 200000

/* Calls of a path, at most: the outermost ones, and the innermost ones. */
#define WAIT_PATH       16
#define WAIT_PATH_OUTER 2

/* Limit of the threads of a chain. */
#define WAIT_HOPS 6

/* A thread that ended a wait. */
struct thread_hop {
	const struct thread *thread;  /* borrowed */
	const struct thread *instead; /* borrowed: had its CPU for a third of the time; or NULL */
	const struct symbol *blocked; /* borrowed: system call in which it waited most of the time,
				       * if nobody is known to have ended that; or NULL */
	uint64_t ns;                  /* from the begin of the wait until it ended that */
	bool proved;                  /* by a recorded waking; else likely */
	bool held;                    /* held a lock all the time, and then unlocked it */
	const struct symbol *path[WAIT_PATH]; /* borrowed: its calls meanwhile */
	size_t path_count;
	bool path_cut; /* calls are left out after WAIT_PATH_OUTER */
};

struct thread_wait {
	struct off_cpu off;         /* the call's time off the CPU; `end` 0: not recorded */
	const struct symbol *call;  /* borrowed: the system call that waits; NULL: unknown */
	const struct thread *other; /* borrowed; woke the thread; NULL: not found */
	/* Each one waited for the next one; none: the calls of `other` are not known. */
	struct thread_hop hops[WAIT_HOPS];
	size_t hop_count;
};

void thread_log_add(struct thread_log *log, const struct branch_event *event,
		    const struct location_pair *places);

/*
 * Returns a system call of a log with the calls that led to it, of the same thread, without another
 * event in between: these may have set its number.
 */
struct syscall_chain thread_log_chain(const struct thread_log *log,
				      const struct thread_event *event);

/* Where threads are looked for; all borrowed. */
struct wait_search {
	const struct thread_log *log;
	const struct timeline *timeline; /* NULL: no records of switches */
	const struct dso *dso; /* paths have its functions, and the first callees outside */
	bool has_lines;        /* of its functions, those with source lines */
	struct syscall_symbols *syscalls; /* names system calls */
};

/*
 * Find the thread that ended a wait of thread `tid` from `begin` to `end` (ns), and its calls: that
 * of wait->off.waking, if it is known.  Then follow the chain.
 */
void thread_wait_find(struct thread_wait *wait, const struct wait_search *search, int32_t tid,
		      uint64_t begin, uint64_t end);

void thread_log_release(struct thread_log *log);

/* ---- Causes -------------------------------------------------------------- */

/* Minimum number of a function's calls to judge its tail. */
#define TAIL_CALLS_LEAST 50

/* Minimum number of stops to say that they hit all code alike. */
#define STOPS_LEAST 16

/* Limit of lines of a cluster's tree. */
#define CAUSE_LINES 14

/* A path, and its callees up to `last` that have nearly all of its extra. */
struct cause_line {
	uint32_t first, last; /* rows */
	unsigned depth;       /* in enclosing lines */
	bool leaf;            /* has no lines below */
	bool remainder;       /* rest of the enclosing line: its own code, and smaller callees */
	double extra;
};

/* Limit of the facts about a cluster. */
#define FACTS_MOST 16

enum trait { TRAIT_CALLER, TRAIT_SITE, TRAIT_THREAD, TRAIT_CPU, TRAIT_PAUSE, TRAITS };

/* What slow calls share, and usual ones do not. */
struct shared_trait {
	enum trait trait;
	const struct slow_call *call; /* borrowed: one that has it */
	uint64_t value;               /* see value_of() */
	double same, share;           /* slow calls that have it; share of the usual ones */
	uint64_t usual;               /* median value of these */
	size_t usual_calls;           /* their number */
	bool sampled;                 /* they are a random sample */
};

/* A sentence about a cluster, and what it says. */
struct cause_fact {
	const char *kind; /* "open", "first use", "callee", "loop", "lines", "memory", ... */
	char *words;      /* owned */
	const struct name *function, *file; /* borrowed; NULL: none */
	uint32_t line;                      /* 0: unknown */
	bool counts;                        /* of rounds of a loop, or calls of a callee: */
	double slow, usual;                 /* in a slow call, and in a usual one */
	double extra;                       /* ns of a call; 0: unknown */
	const struct thread *thread;        /* borrowed; NULL: none */
	struct shared_trait shared;         /* `call` NULL: it is about no trait */
};

struct slow_cluster {
	uint32_t cause; /* function to name */
	uint32_t leaf;  /* the innermost one with half of the extra */
	double more;    /* than usual, of a call */
	double extra;   /* extra time of the code that took more; a part of it, with callees: */
	double cause_extra, leaf_extra; /* extra time in all calls of these */
	double own_extra;               /* extra time of the cause without callees */
	struct path_cost own[2]; /* costs of the cause, in all slow calls, and in all others */
	/* The callee of the cause that is called more often than usual. */
	struct {
		uint32_t function;
		double slow, usual; /* calls of it in a slow call, and in a usual one; 0: none is */
		double extra;
	} callee;
	const struct slow_call **calls; /* owned: borrowed ones, slowest first */
	size_t count, room;
	bool cut;     /* their amounts are lower bounds */
	bool first;   /* it is the first call of the function only */
	bool stops;   /* the cause is a stop: */
	bool alike;   /* stops hit all code alike; else one of these: */
	bool faults;  /* they are likely page faults of the function `within` */
	double often; /* ratio of stops to time, to that of all code */
	uint32_t within;
	bool last;     /* it comes after the other clusters */
	double weight; /* ratio of all such calls' extra to that of kept ones */
	struct cause_line lines[CAUSE_LINES];
	size_t line_count;
	struct code_counts code; /* code of calls that were decoded again */
	struct cause_fact facts[FACTS_MOST];
	size_t fact_count;
	bool has_facts;          /* they were looked for; and: */
	struct source_line line; /* the cause's, or that of its main call; line 0: unknown */
	struct thread_wait wait; /* the slowest one's wait */
	uint64_t entry_ns;       /* the branch into the slowest one: its time; */
	size_t entry_number;     /* among those of its time, from 1; 0: unknown */
	double rest;             /* the rest of the extra after the lines that are leaves */
};

/* Where extra time is spent. */
enum budget_kind {
	BUDGET_OWN = 0, /* the function's own code */
	BUDGET_CALLEES,
	BUDGET_SYSCALL,
	BUDGET_PREEMPTED,
	BUDGET_INTERRUPTS, /* interrupts or page faults */
	BUDGET_LOST,       /* trace that is lost */
	BUDGET_PARKED,     /* another stack ran (--fibers) */
	BUDGET_OTHER
};

/* Limit of a budget's parts; further system calls are in the last one. */
#define BUDGET_MOST 12

struct budget_part {
	enum budget_kind kind;
	const struct symbol *syscall; /* borrowed; NULL: none */
	double extra;                 /* of all slow calls */
	int percent;                  /* those of all parts are 100 */
};

struct slow_answer {
	const struct slow_calls *calls;  /* borrowed */
	const struct timeline *timeline; /* borrowed; NULL: no records of switches */
	uint32_t function;
	const struct slow_function *of; /* borrowed: its calls, or outermost calls */
	struct call_split split;
	uint64_t median;
	uint64_t bound;              /* slow calls are longer */
	uint64_t period;             /* every Nth call is slow; 0: they have no period */
	uint64_t slow;               /* calls: */
	uint64_t compared, slow_cut; /* slow calls that are in clusters, and that are cut */
	uint64_t all;                /* calls, with those that were cut and are slow */
	uint64_t cut;   /* calls left out: without a seen begin or end, and not known to be slow */
	uint64_t outer; /* slow calls that are slow by nested slow calls only, not compared */
	double stretched_weight; /* ratio of their extra, all to kept ones */
	uint64_t stretched;      /* slow calls that are slow by stops only */
	uint64_t stops;          /* stops in all calls */
	uint64_t ran, all_ran;   /* ns in which all calls ran, and all traced code */
	/*
	 * Calls outside of clusters: the usual ones and, of a tail, slow ones that are not kept. Of
	 * another shape, slow ones that are not kept are subtracted by estimate.
	 */
	uint64_t others;
	double excess; /* Excess of slow calls over usual ones, all together */
	double extra;  /* Extra time (or instructions) of all slow calls, with stops */
	struct budget_part budget[BUDGET_MOST]; /* its parts, the largest first */
	size_t budget_count;
	unsigned class;        /* for the ranking: a lower one comes first */
	struct call_tree rows; /* paths from the function on, with the costs of the other calls */
	struct cause_row {
		uint32_t parent, function, depth; /* parent 0: none */
		uint32_t syscall;                 /* row: the system call that it is in; or 0 */
		bool stop;
	} * info; /* owned; by row; [0] is unused */
	size_t info_room;
	uint32_t *row_of;              /* owned; by path; 0: not in calls of the function */
	struct code_counts code;       /* code of usual calls that were decoded again */
	struct slow_cluster *clusters; /* owned: the one with the most extra first */
	bool even;                     /* no call is much slower than the others: */
	struct slow_cluster usual;     /* lines of a usual call */
	size_t count, room;
};

/* Nested calls of a recursive function. */
enum slow_nesting {
	NESTING_NONE = 0,
	NESTING_APART, /* are not part of the call around */
	NESTING_WHOLE, /* are part of the outermost call */
	NESTING_SLOW,  /* are part of the call around unless they are slow (--slow=TIME) */
};

static inline enum slow_nesting slow_answer_nesting(const struct slow_answer *answer)
{
	const struct slow_function *all = &answer->calls->functions[answer->function];

	if (!all->nested)
		return NESTING_NONE;
	if (answer->of != all)
		return NESTING_WHOLE;
	return answer->calls->bound ? NESTING_SLOW : NESTING_APART;
}

static inline const struct symbol *slow_symbol(const struct slow_answer *answer, uint32_t function)
{
	return answer->calls->functions[function].symbol;
}

/* Returns the share of an extra of a cluster's call in the extra of all slow calls. */
static inline double slow_share(const struct slow_answer *answer,
				const struct slow_cluster *cluster, double extra)
{
	double calls = cluster == &answer->usual ? 1 : (double)cluster->count * cluster->weight;
	double whole = cluster == &answer->usual ? cluster->extra : answer->extra;

	return whole > 0 ? extra * calls / whole : 0;
}

/* Returns the mean of some calls; 0: there are none. */
static inline double mean_of(double sum, uint64_t calls)
{
	return calls ? sum / (double)calls : 0;
}

/* Fill the amounts of all whole calls of a function, with their stops. */
void slow_function_durations(const struct slow_function *function, struct durations *durations);

/* What calls would take without a cause. */
struct slow_gain {
	const char *of; /* "p99", "p99.9" or "longest"; NULL: the cause does not show in these */
	uint64_t now, then;
	const struct thread_hop
		*root; /* thread that is left out: the end of the chain of waits; or NULL */
};

/*
 * Estimate the gain if the cause of a cluster were mended: each call loses the share of its extra
 * that the cause has or, of a wait, the share that the last thread of the chain has in the slowest
 * one. `of` is the first quantile that falls by a tenth or more.
 */
struct slow_gain slow_answer_gain(const struct slow_answer *answer,
				  const struct slow_cluster *cluster);

/* Returns what to print for a function of the answer. */
static inline const struct name *slow_name(const struct slow_answer *answer, uint32_t function)
{
	return function_label(&answer->calls->labels, slow_symbol(answer, function));
}

/* The extra of a row, or of a function, in some slow calls, per call. */
struct row_extra {
	double own, all;
	double calls; /* calls of a row */
	uint32_t row; /* the row with the most of a function */
};

/* Fill the lines of a cluster, whose extra is known, and the rest. */
void cause_lines_make(const struct slow_answer *answer, const struct row_extra *extras,
		      struct slow_cluster *cluster);

/*
 * Fill an answer.  The bound is the choice's; by default twice the 95th percentile or, if no call
 * is longer, the 99th percentile.
 */
void slow_answer_make(struct slow_answer *answer, const struct slow_calls *calls, uint32_t function,
		      const struct slow_choice *choice);

/*
 * Fill `answers` for the functions with the largest excess, at most `most`.  If the user has
 * `chosen` the functions, each has one; else only functions with a tail have one: a wrapper, whose
 * excess comes from a callee with its own tail, yields to the callee; a library's function yields
 * to a caller in the user's code, or comes after it.  Returns the number of answers.
 */
size_t slow_answers_rank(struct slow_answer *answers, size_t most, const struct slow_calls *calls,
			 bool chosen, const struct slow_choice *choice);

/*
 * Fill an answer about the innermost function of the program with most of the time outside of
 * system calls; calls stays NULL if slow calls have a share of the time, unless it is a library's.
 */
void slow_most_make(struct slow_answer *most, const struct slow_calls *calls,
		    const struct slow_answer *answers, size_t count);

/* Limits of calls whose code is compared: slow calls of the first cluster (one of each other
 * cluster), usual calls of a function; and of clusters. */
#define SLOW_LOOKS    2
#define USUAL_LOOKS   16
#define LOOK_CLUSTERS 3
/* ns to decode before and after a call. */
#define LOOK_SLACK 1000u

/* Asks for the code of slow and usual calls, one after the other. */
struct slow_look {
	struct slow_answer *answers; /* borrowed */
	size_t count;
	size_t answer, step; /* the next window's */
	size_t windows,
		left_out; /* windows, and those left out: the trace or the log was too long */
	struct slow_cluster *cluster; /* borrowed; of the window's call, */
	const struct slow_call *call; /* borrowed; NULL: it is a usual one, or was found */
	uint64_t bound;               /* ns: longer calls are not usual */
	uint64_t from;                /* ns: the call begins after it; 0: maybe in an earlier one */
	uint64_t wait, wait_end;      /* ns: of the call that was found; wait_end 0: not found */
	struct code_trail trail;      /* owned */
	bool call_waits;
	const struct timeline *timeline; /* borrowed; NULL: no records of switches */
	struct thread_log log;           /* owned; of all threads, if the call waits */
	struct syscall_symbols syscalls; /* owned */
};

/* Fill the next window to decode.  Returns false at the end. */
bool slow_look_next(struct slow_look *look, struct look_window *window);

/* Take a branch or gap of the window. */
void slow_look_see(struct slow_look *look, const struct branch_event *event,
		   const struct location_pair *places);

void slow_look_release(struct slow_look *look);

/* A line of source with extra time of its own. */
struct code_line {
	const struct name *file; /* borrowed */
	uint32_t line;
	const struct name *function; /* borrowed; the innermost inlined one; NULL: unknown */
	double extra;                /* ns of a call */
};

#define CODE_LINES 64

/* Fill the source lines of a cluster with extra time, the most first.  Returns their number. */
size_t slow_source_lines(struct slow_answer *answer, const struct slow_cluster *cluster,
			 struct code_line lines[CODE_LINES]);

/* Where a call was when the trace ended, or was missing. */
struct call_place {
	const struct symbol *function; /* borrowed: the innermost one */
	const struct symbol *own; /* borrowed: it, or its caller in the file of the slow function */
	bool open;                /* the trace of its thread ended */
};

/* Fill the place of a call of the answer.  Returns false if its end was traced. */
bool slow_call_place(const struct slow_answer *answer, const struct slow_call *call,
		     struct call_place *place);

/* Print " (FILE:LINE)", of a function in the source, or of an inlined call; "" if unknown. */
void symbol_line_print(const struct symbol *symbol, struct source_line at, FILE *out);

/* Fill the facts of a cluster, once; those about its hops are the last. */
void cause_facts_find(struct slow_answer *answer, struct slow_cluster *cluster);

/*
 * Find what nine tenths of the slow calls of a cluster share, but less than half of the usual calls
 * in the sample, and not by chance: the clearest trait.  Returns false if there is none.
 */
bool shared_trait_find(const struct slow_answer *answer, const struct slow_cluster *cluster,
		       struct shared_trait *shared);

/* Remove a fact, of which its cluster has `number` others before. */
void cause_fact_remove(struct slow_cluster *cluster, size_t number);

/* Returns a mean number of usual calls as text: "never", "1.0", "54". */
struct short_text usual_calls_text(double calls);

/*
 * Returns the calls by which the program's code had the loader bind a library's function, at its
 * first call, and their time in *ns.  Such a call may be a tail call, and so in no other call.
 */
uint64_t slow_calls_bindings(const struct slow_calls *calls, uint64_t *ns);

void slow_answer_release(struct slow_answer *answer);
