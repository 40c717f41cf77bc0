/* SPDX-License-Identifier: MIT */
/* Enters both halves of the sandbox, and reports which is active. */
#include "src/sandbox/sandbox.h"

/*
 * Sanitizers make other system calls when they report and at exit:
 * AddressSanitizer's leak check stops all threads by ptrace().
 */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED true
#endif
#endif
#ifndef SANITIZED
#define SANITIZED false
#endif

/* Returns why the process may make other system calls than a conversion's; NULL: it may not. */
static const char *find_obstacle(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (SANITIZED)
		return "this build has sanitizers";
	/* valgrind generates code, and writes files at exit. */
	return preloaded && strstr(preloaded, "/vgpreload_") ? "valgrind runs the program" : NULL;
}

/* Returns whether the sandbox is to be entered; if not, `sandbox` has the reason. */
static bool begin_sandbox(struct sandbox *sandbox, enum option_sandbox when)
{
	*sandbox = (struct sandbox){ .why = "--sandbox=off" };
	if (when == SANDBOX_OFF)
		return false;
	sandbox->why = find_obstacle();
	return when == SANDBOX_ON || !sandbox->why;
}

/*
 * Keep how entering the halves went: NULL, or why one is not active.
 * Returns as sandbox_enter() does.
 */
static int finish_sandbox(struct sandbox *sandbox, enum option_sandbox when, const char *files,
			  const char *calls, struct error *err)
{
	sandbox->files = !files;
	sandbox->calls = !calls;
	sandbox->why = files ? files : calls;
	sandbox->lacking = files && calls;
	if (!sandbox->why || when == SANDBOX_AUTO)
		return 0;
	return error_set(err, ERROR_SYSTEM,
			 "cannot enter the sandbox: %s; use --sandbox=auto to run without it",
			 sandbox->why);
}

int sandbox_enter(struct sandbox *sandbox, const struct options *options, struct error *err)
{
	const char *files, *calls;

	if (!begin_sandbox(sandbox, options->sandbox))
		return 0;
	/* In this order: the filter of system calls would refuse the others' calls. */
	files = keeper_start(options);
	calls = files;
	if (!files) {
		files = sandbox_enter_files(options);
		calls = sandbox_enter_calls(options);
	}
	return finish_sandbox(sandbox, options->sandbox, files, calls, err);
}

int sandbox_enter_server(struct sandbox *sandbox, enum option_sandbox when, struct error *err)
{
	const char *files;

	if (!begin_sandbox(sandbox, when))
		return 0;
	files = sandbox_enter_no_files();
	return finish_sandbox(sandbox, when, files, sandbox_enter_server_calls(), err);
}

void sandbox_warn(const struct sandbox *sandbox, FILE *out)
{
	if (!sandbox->lacking)
		return;
	message_begin_warning(out);
	fprintf(out, "no sandbox: %s; use --sandbox=off for recordings that you trust\n",
		sandbox->why);
}

void sandbox_print(const struct sandbox *sandbox, FILE *out)
{
	fputs("sandbox: ", out);
	if (!sandbox->files && !sandbox->calls)
		fputs("none", out);
	if (sandbox->files)
		fputs("files", out);
	if (sandbox->calls)
		fprintf(out, "%ssystem calls", sandbox->files ? " and " : "");
	if (sandbox->why)
		fprintf(out, " (%s)", sandbox->why);
	putc('\n', out);
}
