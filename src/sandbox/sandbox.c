/* SPDX-License-Identifier: MIT */
#include "src/sandbox/sandbox.h"

#include <stdlib.h>
#include <string.h>

/*
 * Sanitizers make calls of their own, when they report and when the program
 * ends: AddressSanitizer's search for leaks stops all threads by ptrace().
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

/* Returns what else is in the process and makes calls of its own; NULL: nothing. */
static const char *find_company(void)
{
	const char *preloaded = getenv("LD_PRELOAD");

	if (SANITIZED)
		return "this build has sanitizers";
	/* It makes code while it runs, and writes files when the program ends. */
	return preloaded && strstr(preloaded, "/vgpreload_") ? "valgrind runs the program" : NULL;
}

int sandbox_enter(struct sandbox *sandbox, const struct options *options, struct error *err)
{
	const char *files, *calls;

	*sandbox = (struct sandbox){ .why = "not asked for" };
	if (options->sandbox == SANDBOX_OFF)
		return 0;
	sandbox->why = find_company();
	if (options->sandbox == SANDBOX_AUTO && sandbox->why)
		return 0;
	/* In this order: the second half leaves no call to enter the first. */
	files = sandbox_enter_files(options);
	calls = sandbox_enter_calls(options->debuginfod);
	sandbox->files = !files;
	sandbox->calls = !calls;
	sandbox->why = files ? files : calls;
	if (!sandbox->why || options->sandbox == SANDBOX_AUTO)
		return 0;
	return error_set(err, ERROR_SYSTEM, "no sandbox: %s (--sandbox=auto goes on without)",
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
