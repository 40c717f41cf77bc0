/* SPDX-License-Identifier: MIT */
/* Resolve paths below a directory, without leaving it by links or "..". */
#include "base/io/file_use.h"

#include <unistd.h>

#define LINKS_MAX 40 /* as in the kernel; more are a loop */

const char *path_after_prefix(const char *path, const char *directory)
{
	size_t length = strlen(directory);

	while (length && directory[length - 1] == '/')
		length--;
	return strncmp(path, directory, length) == 0 && path[length] == '/' ? path + length : NULL;
}

/* A path being resolved: the part found so far, and the rest to follow. */
struct route {
	size_t root; /* length of the root in `found`, without a slash at its end */
	char found[BENEATH_PATH];
	char todo[BENEATH_PATH];
	unsigned links;
};

/* Remove the last component, but nothing of the root. */
static void climb(struct route *route)
{
	char *slash = strrchr(route->found + route->root, '/');

	if (slash)
		*slash = 0;
}

/* Append a name to `found`.  Returns whether something is there. */
static bool enter_name(struct route *route, const char *name, size_t length)
{
	size_t at = strlen(route->found);
	char target[BENEATH_PATH];
	ssize_t size;
	char rest[BENEATH_PATH];

	if (at + 1 + length >= BENEATH_PATH)
		return false;
	route->found[at] = '/';
	memcpy(route->found + at + 1, name, length);
	route->found[at + 1 + length] = 0;
	size = readlink(route->found, target, sizeof(target));
	if (size < 0)
		return errno == EINVAL; /* not a link */
	if (size >= BENEATH_PATH)
		return false;
	target[size] = 0;
	/* `found` is a link to `target`: follow it. */
	if (*target == '/')
		route->found[route->root] = 0;
	else
		climb(route);
	strcpy(rest, route->todo);
	return ++route->links <= LINKS_MAX &&
	       snprintf(route->todo, sizeof(route->todo), "%s/%s", target, rest) < BENEATH_PATH;
}

/*
 * Not openat2(2): a seccomp filter cannot read its flags, so that allowing it would allow
 * truncating files (src/sandbox/sandbox.h).
 */
static bool resolve_route(struct route *route)
{
	while (route->todo[0]) {
		char name[BENEATH_PATH];
		size_t slashes = strspn(route->todo, "/");
		size_t length = strcspn(route->todo + slashes, "/");

		memcpy(name, route->todo + slashes, length);
		name[length] = 0;
		memmove(route->todo, route->todo + slashes + length,
			strlen(route->todo + slashes + length) + 1);
		if (strcmp(name, "..") == 0)
			climb(route);
		else if (length && strcmp(name, ".") != 0 && !enter_name(route, name, length))
			return false;
	}
	return true;
}

bool path_in_root_resolve(const char *root, char path[BENEATH_PATH])
{
	char *real = ALLOC_CHECKED(realpath(root, NULL));
	const char *rest = path_after_prefix(path, root);
	struct route route = { .links = 0 };
	bool found;

	if (!rest && real)
		rest = path_after_prefix(path, real);
	if (!rest || !real) {
		free(real);
		return !rest;
	}
	route.root = strcmp(real, "/") == 0 ? 0 : strlen(real);
	found = strlen(rest) < BENEATH_PATH && route.root < BENEATH_PATH;
	if (found) {
		memcpy(route.found, real, route.root);
		strcpy(route.todo, rest);
		found = resolve_route(&route);
	}
	/* A path without links keeps the user's spelling. */
	if (found && strcmp(route.found + route.root, rest) != 0)
		strcpy(path, route.found);
	free(real);
	return found;
}
