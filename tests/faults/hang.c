/* SPDX-License-Identifier: MIT */
/*
 * A preloaded library: the first call of the library function HANG prints "hangs" and never
 * returns.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef void *function(void *a, void *b, void *c, void *d, void *e, void *f);

static void hang_if_wanted(const char *name)
{
	const char *wanted = getenv("HANG");
	volatile unsigned long rounds = 0;

	if (!wanted || strcmp(wanted, name) != 0)
		return;
	if (write(STDERR_FILENO, "hangs\n", 6) < 0)
		abort();
	for (;;)
		rounds++;
}

/* Functions of up to six integer arguments. */
#define HANGS(name)                                                                                \
	void *name(void *a, void *b, void *c, void *d, void *e, void *f)                           \
	{                                                                                          \
		static function *next;                                                             \
		if (!next)                                                                         \
			*(void **)&next = dlsym(RTLD_NEXT, #name);                                 \
		hang_if_wanted(#name);                                                             \
		return next(a, b, c, d, e, f);                                                     \
	}

HANGS(elf_memory)
HANGS(elf_getdata)
HANGS(dwarf_getsrclines)
HANGS(pt_pkt_next)
HANGS(pt_blk_next)
HANGS(deflate)
HANGS(ZSTD_compressStream2)
HANGS(json_dump_callback)
