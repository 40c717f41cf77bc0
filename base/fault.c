/* SPDX-License-Identifier: MIT */
/* Handles SIGBUS: finds the mapped file of the address, and ends the program. */
#include "base/fault.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/common.h"

/* A line of /proc/self/maps: "begin-end perms offset device inode path" (proc(5)). */
struct maps {
	int fd;
	char bytes[4096];
	ssize_t used, at;
};

/* Below, only functions of signal-safety(7). */

static int next_byte(struct maps *maps)
{
	if (maps->at == maps->used) {
		maps->used = read(maps->fd, maps->bytes, sizeof(maps->bytes));
		maps->at = 0;
	}
	return maps->used > 0 ? (unsigned char)maps->bytes[maps->at++] : -1;
}

/* Parses a hexadecimal number.  Sets *last to the first byte after it. */
static uintptr_t next_number(struct maps *maps, int *last)
{
	uintptr_t number = 0;

	while ((*last = next_byte(maps)) > 0) {
		if (*last >= '0' && *last <= '9')
			number = number << 4 | (uintptr_t)(*last - '0');
		else if (*last >= 'a' && *last <= 'f')
			number = number << 4 | (uintptr_t)(*last - 'a' + 10);
		else
			break;
	}
	return number;
}

/* Reads the rest of a line and keeps its path; returns false at the end of the file. */
static bool next_path(struct maps *maps, char *path, size_t room)
{
	size_t used = 0;
	int byte;

	while ((byte = next_byte(maps)) >= 0 && byte != '\n') {
		/* The fields before the path have no slash. */
		if ((used || byte == '/') && used + 1 < room)
			path[used++] = byte < ' ' || byte >= 0x7f ? '?' : (char)byte;
	}
	path[used] = 0;
	return byte >= 0;
}

/* Returns whether a file is mapped at the address; its path in `path`. */
static bool find_file(uintptr_t address, char *path, size_t room)
{
	static struct maps maps;
	uintptr_t begin, end;
	bool more = true;
	int last;

	maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	while (maps.fd >= 0 && more) {
		begin = next_number(&maps, &last);
		end = next_number(&maps, &last);
		more = last > 0 && next_path(&maps, path, room);
		if (address >= begin && address < end)
			return path[0] == '/';
	}
	return false;
}

static void print_error(const char *text)
{
	ssize_t written = write(STDERR_FILENO, text, strlen(text));

	(void)written; /* there is no way to report a failure of stderr */
}

static void on_fault(int number, siginfo_t *info, void *context)
{
	static char path[512];

	(void)context;
	if (!find_file((uintptr_t)info->si_addr, path, sizeof(path))) {
		signal(number, SIG_DFL);
		return; /* the access faults again, with the default action */
	}
	print_error("ptrace2ftf: ");
	print_error(path);
	print_error(": became shorter while it was read, or cannot be read\n");
	if (alloc_fail_hook)
		alloc_fail_hook();
	_exit(EXIT_FAILURE);
}

void fault_watch(void)
{
	struct sigaction action = { .sa_sigaction = on_fault, .sa_flags = SA_SIGINFO };

	sigemptyset(&action.sa_mask);
	sigaction(SIGBUS, &action, NULL);
}
