/* SPDX-License-Identifier: MIT */
/* Calls elfutils' client library, which is loaded at the first use. */
#include "symbols/files/debuginfod.h"

#include <dlfcn.h>
#include <unistd.h>

#include "config.h"

/* The client stays open to keep its connections.  One thread at a time uses it (dso_store.h). */
static struct {
	void *client;
	/* By enum debuginfod_kind; return a file descriptor or -errno (elfutils/debuginfod.h). */
	int (*fetch[2])(void *client, const unsigned char *build_id, int size, char **path);
} library;

static const char *const missing_text =
#ifdef STATIC_PROGRAM
	"this is the static program, which loads no libraries; use --debug-dir, or the program "
	"that the distribution's package has";
#define LOAD(name) NULL
#else
	"libdebuginfod.so.1 cannot be loaded; install Debian's libdebuginfod1";
#define LOAD(name) dlopen(name, RTLD_NOW | RTLD_LOCAL)
#endif

static void open_library(void)
{
	void *handle = LOAD("libdebuginfod.so.1");
	void *(*begin)(void);

	if (!handle)
		return;
	*(void **)&begin = dlsym(handle, "debuginfod_begin");
	*(void **)&library.fetch[DEBUGINFOD_EXECUTABLE] =
		dlsym(handle, "debuginfod_find_executable");
	*(void **)&library.fetch[DEBUGINFOD_DEBUGINFO] = dlsym(handle, "debuginfod_find_debuginfo");
	if (begin && library.fetch[DEBUGINFOD_EXECUTABLE] && library.fetch[DEBUGINFOD_DEBUGINFO])
		library.client = begin();
}

const char *debuginfod_missing(void)
{
	if (!library.client)
		open_library();
	return library.client ? NULL : missing_text;
}

char *debuginfod_fetch(enum debuginfod_kind kind, const uint8_t *build_id, size_t size)
{
	char *path = NULL;
	int fd;

	if (debuginfod_missing() || !size)
		return NULL;
	fd = library.fetch[kind](library.client, build_id, (int)size, &path);
	if (fd < 0)
		return NULL;
	close(fd);
	return path;
}
