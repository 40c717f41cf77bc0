/* SPDX-License-Identifier: MIT */
/* Two libraries loaded in turn, so that the second gets the first one's addresses. */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>

static int run(const char *folder, const char *name)
{
	char path[4096];
	int (*plugin)(int);
	void *library;
	int result;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	library = dlopen(path, RTLD_NOW);
	if (!library) {
		fprintf(stderr, "%s\n", dlerror());
		return -1;
	}
	*(void **)&plugin = dlsym(library, "plugin");
	result = plugin(7);
	dlclose(library);
	return result;
}

int main(int argc, char **argv)
{
	const char *folder = dirname(argv[0]);
	int sum = 0;

	(void)argc;
	for (int i = 0; i < 3; i++)
		sum += run(folder, "plugin_a.so") + run(folder, "plugin_b.so");
	printf("%d\n", sum);
	return 0;
}
