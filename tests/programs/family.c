/* SPDX-License-Identifier: MIT */
/*
 * Processes: a fork that continues, a fork with exec, a vfork with exec, and a pipe between them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

static int child(int out)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%d\n", work(10));

	return write(out, text, (size_t)length) == length ? 0 : 1;
}

int main(int argc, char **argv)
{
	char text[32] = "";
	int ends[2], status = 0;
	pid_t pid;

	if (argc > 1)
		return work(atoi(argv[1])) & 1;
	if (pipe(ends) != 0)
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(child(ends[1]));
	if (read(ends[0], text, sizeof(text) - 1) <= 0)
		return 1;
	waitpid(pid, &status, 0);
	pid = fork();
	if (pid == 0) {
		execl(argv[0], "exec-ed", "8", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	pid = vfork();
	if (pid == 0) {
		execl(argv[0], "vforked", "9", (char *)NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("%s", text);
	return 0;
}
