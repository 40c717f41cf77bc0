/* SPDX-License-Identifier: MIT */
/* Enters both halves of the sandbox, and reports which is active. */
#include "src/sandbox/sandbox.h"

/* Sanitizers make other calls at exit: AddressSanitizer's leak check stops threads by ptrace(). */
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

int sandbox_enter(struct sandbox *sandbox, enum sandbox_process process,
		  const struct options *options, struct error *err)
{
	const char *files = NULL, *calls;

	*sandbox = (struct sandbox){ .why = "--sandbox=off" };
	if (options->sandbox == SANDBOX_OFF)
		return 0;
	sandbox->why = find_obstacle();
	if (sandbox->why && options->sandbox == SANDBOX_AUTO)
		return 0;
	/* In this order: the seccomp filter would refuse the system calls of the other steps. */
	if (process == SANDBOX_CONVERSION)
		files = keeper_start(options);
	calls = files;
	if (!files) {
		files = sandbox_enter_files(process, options);
		calls = sandbox_enter_calls(process, options);
	}
	sandbox->files = !files;
	sandbox->calls = !calls;
	sandbox->why = files ? files : calls;
	sandbox->lacking = files && calls;
	if (!sandbox->why || options->sandbox == SANDBOX_AUTO)
		return 0;
	return error_set(err, ERROR_SYSTEM,
			 "cannot enter the sandbox: %s; use --sandbox=auto to run without it",
			 sandbox->why);
}

bool sandbox_enter_tool(const struct options *options)
{
	const char *files = sandbox_enter_files(SANDBOX_TOOL, NULL);
	const char *calls = sandbox_enter_calls(SANDBOX_TOOL, NULL);

	return options->sandbox != SANDBOX_ON || (!files && !calls);
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
