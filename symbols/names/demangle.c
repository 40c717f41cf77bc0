/* SPDX-License-Identifier: MIT */
/* Demangles names by their languages, and strips the suffixes of clones. */
#include "symbols/names/demangle.h"

#include <ctype.h>
#include <libiberty/demangle.h>
#include <setjmp.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

/* ---- Limits -------------------------------------------------------------- */

/*
 * Limits of the CPU time and memory that a demangler of libiberty may take for a name.
 *
 * Names of 90 bytes can take hours: substitutions of C++, back references of Rust and D double the
 * work with each, and so does the backtracking of C++'s and D's parsers, without a byte of output.
 * Which names do so depends on the library's release, so the limits do not depend on the name: a
 * timer of the thread's CPU time ends the call, from a signal handler.  That is safe because the
 * demanglers own only their stack and memory allocated here (symbols/local.mk renames malloc() and
 * free() in a copy of the library).
 *
 * SIGVTALRM belongs to the limits.
 */

#ifndef sigev_notify_thread_id /* glibc 2.36 has it in the kernel's header only */
#define sigev_notify_thread_id _sigev_un._tid
#endif

/* Time is counted in ticks: a name may get almost one tick less. */
#define TICK_NS 10000000

/* Each piece of memory begins with its size, and both are aligned as malloc()'s. */
#define ALIGNMENT sizeof(max_align_t)

/* The demangler of this thread whose call may be ended now; may be NULL. */
static __thread struct demangler *volatile current;
static __thread jmp_buf current_end;

/*
 * The timer of this thread's CPU time.  It ticks while names arrive, so that most names need no
 * system call.
 */
static __thread struct {
	timer_t timer;
	bool made;              /* by this process: a child does not inherit it */
	volatile bool ticks;    /* the timer is set */
	volatile uint64_t time; /* ns that the call takes, by ticks */
} clock_of_thread;

/* Called by `work`: end it.  Does not return. */
static _Noreturn void demangle_limits_end(void)
{
	current = NULL;
	longjmp(current_end, 1);
}

/* Set the timer to tick, or stop it. */
static void set_timer(bool ticks)
{
	const struct timespec period = { .tv_nsec = ticks ? TICK_NS : 0 };
	const struct itimerspec times = { period, period };

	clock_of_thread.ticks = ticks;
	timer_settime(clock_of_thread.timer, 0, &times, NULL);
}

static void on_tick(int number)
{
	(void)number;
	if (!current)
		set_timer(false);
	else if ((clock_of_thread.time += TICK_NS) >= DEMANGLE_NAME_NS)
		demangle_limits_end();
}

/* ---- The memory of the demanglers: libiberty's malloc() and free() */

void *demangle_malloc(size_t size);
void *demangle_realloc(void *old, size_t size);
void demangle_free(void *memory);
void *demangle_xmalloc(size_t size) __attribute__((alias("demangle_malloc")));
void *demangle_xrealloc(void *old, size_t size) __attribute__((alias("demangle_realloc")));

void *demangle_malloc(size_t size)
{
	struct demangler *demangler = current;
	size_t left = DEMANGLE_NAME_MEMORY - demangler->memory_used;
	char *piece = demangler->memory + demangler->memory_used;

	if (size > left || left - size < 2 * ALIGNMENT)
		demangle_limits_end();
	memcpy(piece, &size, sizeof(size));
	demangler->memory_used += ALIGNMENT + (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	return piece + ALIGNMENT;
}

void *demangle_realloc(void *old, size_t size)
{
	void *new = demangle_malloc(size);
	size_t old_size;

	if (!old)
		return new;
	memcpy(&old_size, (char *)old - ALIGNMENT, sizeof(old_size));
	return memcpy(new, old, MIN(old_size, size));
}

/* The next name gets all of the memory again. */
void demangle_free(void *memory)
{
	(void)memory;
}

/* ---- Time ---------------------------------------------------------------- */

static void forget_timer(void)
{
	clock_of_thread.made = clock_of_thread.ticks = false;
}

/* SA_NODEFER, because the handler may not return. */
static void set_handler(void)
{
	struct sigaction action = { .sa_handler = on_tick, .sa_flags = SA_NODEFER | SA_RESTART };

	sigaction(SIGVTALRM, &action, NULL);
	pthread_atfork(NULL, NULL, forget_timer);
}

/* Make the thread's timer, unless this process has it.  Returns false if it cannot be made. */
static bool make_timer(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGVTALRM };
	sigset_t signals;

	if (clock_of_thread.made)
		return true;
	pthread_once(&once, set_handler);
	event.sigev_notify_thread_id = gettid();
	if (timer_create(CLOCK_THREAD_CPUTIME_ID, &event, &clock_of_thread.timer) != 0)
		return false;
	/* Threads of a pool have all signals blocked. */
	sigemptyset(&signals);
	sigaddset(&signals, SIGVTALRM);
	pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
	clock_of_thread.made = true;
	return true;
}

/* ---- Calls --------------------------------------------------------------- */

/* Returns whether the call completed. */
static bool call_within(struct demangler *demangler, void (*work)(struct demangler *))
{
	if (setjmp(current_end))
		return false;
	clock_of_thread.time = 0;
	/* From here on, a tick does not stop the timer. */
	current = demangler;
	if (!clock_of_thread.ticks)
		set_timer(true);
	work(demangler);
	current = NULL;
	return true;
}

/*
 * Call work(demangler) within the limits (base/budget.h) for one name, of `length` bytes, and for
 * all names that took longer than usual.  `work` calls libiberty and allocates nothing else.
 * Returns false if a limit ended it, or it was not called because all time is spent, or the system
 * has no timer left.
 */
static bool call_limited(struct demangler *demangler, size_t length,
			 void (*work)(struct demangler *))
{
	uint64_t usual = DEMANGLE_USUAL_NS + length * (uint64_t)DEMANGLE_USUAL_BYTE_NS;
	bool ended;

	if (demangler->spent > DEMANGLE_RUN_NS || !make_timer())
		return false;
	if (!demangler->memory)
		demangler->memory = alloc_zeroed(DEMANGLE_NAME_MEMORY, 1);
	demangler->memory_used = 0;
	ended = call_within(demangler, work);
	demangler->spent = MAX(demangler->spent + clock_of_thread.time, usual) - usual;
	return ended;
}

void demangler_release(struct demangler *demangler)
{
	free(demangler->memory);
	free(demangler->text);
	free(demangler->plain);
	*demangler = (struct demangler){ 0 };
}

/* ---- By libiberty -------------------------------------------------------- */

static void append_text(const char *text, size_t length, void *context)
{
	struct demangler *demangler = context;

	if (length > DEMANGLE_MAX - demangler->length)
		demangle_limits_end();
	/* libiberty passes a null pointer for an empty identifier of Rust. */
	if (length)
		memcpy(demangler->text + demangler->length, text, length);
	demangler->length += length;
	demangler->text[demangler->length] = 0;
}

/* Rust's older mangling looks like C++, so Rust comes first, as in cplus_demangle(). */
static void demangle_compiled(struct demangler *demangler)
{
	demangler->done = rust_demangle_callback(demangler->linkage, demangler->options,
						 append_text, demangler);
	if (demangler->done)
		return;
	demangler->length = 0;
	demangler->done = cplus_demangle_v3_callback(demangler->linkage, demangler->options,
						     append_text, demangler);
}

/* D's mangling: https://dlang.org/spec/abi.html#name_mangling. */
static void demangle_d(struct demangler *demangler)
{
	const char *text = dlang_demangle(demangler->linkage, DMGL_NO_OPTS);

	demangler->done = text;
	if (text)
		append_text(text, strlen(text), demangler);
}

/* GNAT's encoding (GCC's gcc/ada/exp_dbug.ads); libiberty encloses names of other forms in "<>". */
static void demangle_ada(struct demangler *demangler)
{
	const char *text = ada_demangle(demangler->linkage, DMGL_NO_OPTS);

	demangler->done = text && text[0] != '<' && strcmp(text, demangler->linkage) != 0;
	if (demangler->done)
		append_text(text, strlen(text), demangler);
}

static bool demangle_by_library(struct demangler *demangler, const char *linkage, int options,
				void (*work)(struct demangler *))
{
	bool is_d = linkage[0] == '_' && linkage[1] == 'D';
	size_t length = strlen(linkage);

	demangler->length = 0;
	if (is_d && length > DEMANGLE_D_NAME)
		return false;
	demangler->linkage = linkage;
	demangler->options = options;
	demangler->done = false;
	demangler->costly = !call_limited(demangler, length, is_d ? demangle_d : work);
	return demangler->done && !demangler->costly;
}

/* ---- OCaml --------------------------------------------------------------- */

static int digit_value(char digit)
{
	return isdigit((unsigned char)digit) ? digit - '0'
					     : tolower((unsigned char)digit) - 'a' + 10;
}

/* Returns the length of '_' and digits at the end of a name: a number added by the compiler. */
static size_t stamp_length(const char *name, size_t length)
{
	size_t digits = 0;

	while (digits < length && isdigit((unsigned char)name[length - 1 - digits]))
		digits++;
	return digits && digits < length && name[length - 1 - digits] == '_' ? digits + 1 : 0;
}

/* Returns the length of an OCaml name without the numbers that make it unique. */
static size_t unstamped_length(const char *name)
{
	static const char code[] = "_code";
	size_t length = strlen(name), tail = sizeof(code) - 1;

	/* flambda 2: "fn_3_17_code". */
	if (length > tail && strcmp(name + length - tail, code) == 0 &&
	    stamp_length(name, length - tail)) {
		length -= tail;
		length -= stamp_length(name, length);
	}
	return length - stamp_length(name, length);
}

/*
 * OCaml's native compiler writes "caml" + module + separator + value + "_" + number; the separator
 * is "__", since 5.1 "." (asmcomp/compilenv.ml, caml_symbol_separator); module names contain "__",
 * too.  A byte that assemblers do not accept is "$" and two hex digits.
 */
static bool demangle_ocaml(struct demangler *demangler, const char *linkage, bool stamped)
{
	const char *at = linkage + strlen("caml"), *end;

	if (!starts_with(linkage, "caml") || !isupper((unsigned char)*at) ||
	    strlen(linkage) > DEMANGLE_MAX)
		return false;
	demangler->length = 0;
	end = linkage + (stamped ? strlen(linkage) : unstamped_length(linkage));
	while (at < end) {
		char byte = *at;
		size_t taken = 1;

		if (at[0] == '_' && at[1] == '_') {
			byte = '.';
			taken = 2;
		} else if (at[0] == '$' && isxdigit((unsigned char)at[1]) &&
			   isxdigit((unsigned char)at[2])) {
			byte = (char)(digit_value(at[1]) << 4 | digit_value(at[2]));
			taken = 3;
		}
		append_text(&byte, 1, demangler);
		at += taken;
	}
	return true;
}

struct suffix {
	const char *word;
	bool numbered; /* a number must follow */
	bool part;     /* names a part of a function, else a clone or an alias */
};

/* GCC: clone_function_name(), lto.c, symtab_node::noninterposable_alias(); LLVM: FunctionImport. */
static const struct suffix suffixes[] = {
	{ "cold", false, true },        { "part", true, true },       { "__part", true, true },
	{ "isra", true, false },        { "constprop", true, false }, { "lto_priv", true, false },
	{ "localalias", false, false }, { "llvm", true, false },      { "__uniq", true, false },
};

/* Returns the offset of the dot before the last component of a name; 0: only one component. */
static size_t last_component(const char *name, size_t length)
{
	while (length && name[length - 1] != '.')
		length--;
	return length ? length - 1 : 0;
}

static bool all_digits(const char *text, size_t length)
{
	return length && strspn(text, "0123456789") >= length;
}

/*
 * Find the suffix of a name of `length` bytes.  Returns the suffix, with its offset in *begin, or
 * NULL.
 */
static const struct suffix *find_suffix(const char *name, size_t length, size_t *begin)
{
	size_t dot = last_component(name, length), end = length;

	while (dot && all_digits(name + dot + 1, end - dot - 1)) {
		end = dot;
		dot = last_component(name, end);
	}
	for (size_t i = 0; dot && i < COUNT_OF(suffixes); i++) {
		const struct suffix *suffix = &suffixes[i];

		if (strlen(suffix->word) != end - dot - 1 ||
		    memcmp(name + dot + 1, suffix->word, end - dot - 1) != 0)
			continue;
		if (end == length && suffix->numbered)
			return NULL;
		*begin = dot;
		return suffix;
	}
	return NULL;
}

/* Returns the length without a symbol version, "@GLIBC_2.2.5" or "@@GLIBC_2.34". */
static size_t unversioned_length(const char *linkage)
{
	size_t length = strcspn(linkage, "@");

	/* '?' begins a name of Microsoft's mangling; Go's paths may have an '@'; "@plt": a stub. */
	if (length == 0 || linkage[0] == '?' || memchr(linkage, '/', length) ||
	    ends_with(linkage, "@plt"))
		return strlen(linkage);
	return length;
}

size_t demangle_part_of(const char *linkage)
{
	size_t length = unversioned_length(linkage);
	const struct suffix *suffix;

	while ((suffix = find_suffix(linkage, length, &length)))
		if (suffix->part)
			return length;
	return 0;
}

static const char *without_suffixes(struct demangler *demangler, const char *linkage)
{
	size_t length = unversioned_length(linkage);

	while (find_suffix(linkage, length, &length))
		;
	if (!linkage[length])
		return linkage;
	demangler->plain = alloc_grow(demangler->plain, &demangler->plain_room, length + 1, 1);
	memcpy(demangler->plain, linkage, length);
	demangler->plain[length] = 0;
	return demangler->plain;
}

/* Names that need no limits: they are hardly longer than the linkage names. */
static bool demangle_plain(struct demangler *demangler, const char *linkage)
{
	size_t length = demangle_fortran(linkage, demangler->text, DEMANGLE_MAX);

	if (!length)
		length = demangle_pascal(linkage, demangler->text, DEMANGLE_MAX);
	if (!length && demangler->languages & DEMANGLE_HASKELL)
		length = demangle_haskell(linkage, demangler->text, DEMANGLE_MAX);
	demangler->length = length;
	return length;
}

const char *demangler_demangle(struct demangler *demangler, const char *linkage,
			       enum demangle_style style)
{
	/* nm -C's options; perf's. */
	int options = style == DEMANGLE_FULL ? DMGL_PARAMS | DMGL_ANSI : DMGL_NO_OPTS;
	const char *plain = linkage;
	bool done = false;

	demangler->costly = false;
	if (style == DEMANGLE_NONE)
		return NULL;
	if (!demangler->text)
		demangler->text = alloc_bytes(DEMANGLE_MAX + 1);
	if (style != DEMANGLE_PERF)
		plain = without_suffixes(demangler, linkage);
	/* libiberty knows _R, _Z, _GLOBAL_ and _D; the first call makes a timer. */
	if (plain[0] == '_' && strchr("RZGD", plain[1]))
		done = demangle_by_library(demangler, plain, options, demangle_compiled);
	else if (plain[0] == 'c')
		done = demangle_ocaml(demangler, plain, style == DEMANGLE_PERF);
	if (!done && style != DEMANGLE_PERF)
		done = demangle_plain(demangler, plain) ||
		       (demangler->languages & DEMANGLE_ADA && strstr(plain, "__") &&
			demangle_by_library(demangler, plain, options, demangle_ada));
	if (!done || !demangler->length)
		return plain == linkage ? NULL : plain;
	if (style == DEMANGLE_SHORT && plain[0] == '_' && plain[1] != '_')
		demangle_shorten(demangler->text);
	return demangler->text;
}
