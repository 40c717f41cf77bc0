/* SPDX-License-Identifier: MIT */
/* Forks inside of calls: in a recursion, in a thread, and in quick succession. */
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

__attribute__((noinline)) static int work(int n)
{
	return n < 2 ? n : work(n - 1) + work(n - 2);
}

/* Each level forks a child, which returns through all outer levels. */
__attribute__((noinline)) static int level(int n, pid_t first)
{
	pid_t pid = n ? fork() : 1;

	if (!n || pid == 0)
		return work(3 + n);
	return level(n - 1, first) + (getpid() == first);
}

__attribute__((noinline)) static pid_t one(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(work(4) & 1);
	return pid;
}

__attribute__((noinline)) static pid_t other(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(work(5) & 1);
	return pid;
}

__attribute__((noinline)) static void *in_thread(void *nothing)
{
	work(4);
	waitpid(one(), NULL, 0);
	return nothing;
}

int main(void)
{
	pid_t first = getpid();
	pthread_t thread;

	level(4, first);
	if (getpid() != first)
		_exit(work(6) & 1);
	other();
	one();
	one();
	other();
	while (wait(NULL) > 0)
		;
	if (pthread_create(&thread, NULL, in_thread, NULL) != 0)
		return 1;
	pthread_join(thread, NULL);
	return 0;
}
