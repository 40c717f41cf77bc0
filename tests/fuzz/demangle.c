/* SPDX-License-Identifier: MIT */
/* Any bytes as a linkage name: in every style, within its limits, with the same result twice. */
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "symbols/names/demangle.h"

static void demangle(const char *linkage, enum demangle_style style)
{
	struct demangler demangler = { 0 };
	const char *name = demangler_demangle(&demangler, linkage, style);
	char *first = name ? strdup(name) : NULL;

	if (first && strlen(first) > DEMANGLE_MAX)
		abort();
	name = demangler_demangle(&demangler, linkage, style);
	/* A name that exceeded the time limit once may pass it later. */
	if (!demangler.costly && first && (!name || strcmp(first, name) != 0))
		abort();
	free(first);
	demangler_release(&demangler);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	char *linkage = malloc(size + 1);

	if (!linkage)
		abort();
	memcpy(linkage, bytes, size);
	linkage[size] = 0;
	for (int style = DEMANGLE_SHORT; style <= DEMANGLE_PERF; style++)
		demangle(linkage, (enum demangle_style)style);
	if (demangle_part_of(linkage) > strlen(linkage))
		abort();
	free(linkage);
	return 0;
}
