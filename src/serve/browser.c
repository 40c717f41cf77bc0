/* SPDX-License-Identifier: MIT */
/* Finds and starts a browser like xdg-open(1), except for text browsers. */
#include "src/serve/viewer_page.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/io/file_use.h"

#define BLANKS " \t\n"

static const char *get(const char *variable)
{
	const char *value = getenv(variable);

	return value && *value ? value : NULL;
}

bool browser_over_ssh(void)
{
	return get("SSH_CONNECTION");
}

const char *browser_commands(void)
{
	const char *named = get("BROWSER");

	/* Editors that work on another host over ssh set BROWSER, and open the address there. */
	if (named && named[strspn(named, ":" BLANKS)])
		return named;
	if (browser_over_ssh() || (!get("DISPLAY") && !get("WAYLAND_DISPLAY")))
		return NULL;
	return "xdg-open";
}

/* ---- Words --------------------------------------------------------------- */

char **browser_words(const char *command, size_t length, const char *address)
{
	/* A word has a byte and a blank; an address replaces two bytes. */
	size_t most = length / 2 + 3, count = 0;
	char **words =
		alloc_zeroed(1, most * sizeof(*words) + (length + 2) * (strlen(address) + 1));
	char *copy = ALLOC_CHECKED(strndup(command, length)), *rest, *to = (char *)(words + most);
	bool replaced = false;

	for (char *word = strtok_r(copy, BLANKS, &rest); word;
	     word = strtok_r(NULL, BLANKS, &rest)) {
		words[count++] = to;
		while (*word) {
			if (starts_with(word, "%s")) {
				to = stpcpy(to, address);
				word += 2;
				replaced = true;
			} else {
				*to++ = *word++;
			}
		}
		*to++ = '\0';
	}
	if (!replaced)
		words[count] = strcpy(to, address);
	free(copy);
	return words;
}

/* ---- Processes ----------------------------------------------------------- */

static bool succeeds(char **words)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execvp(words[0], words);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* The number of the descriptor for messages. */
#define MESSAGES (STDERR_FILENO + 1)

bool browser_start(const char *commands, const char *address, bool quiet)
{
	pid_t child = fork(), starter;
	int status;

	/* Fork twice: the browser's end neither signals this process nor leaves a zombie. */
	if (child == 0) {
		starter = fork();
		if (starter == 0) {
			static const int signals[] = { SIGINT,  SIGTERM, SIGHUP,
						       SIGALRM, SIGPIPE, SIGXFSZ };
			int nothing;

			/* Close the server's files, and print nothing between its messages. */
			for (size_t i = 0; i < COUNT_OF(signals); i++)
				signal(signals[i], SIG_DFL);
			setsid();
			if (dup3(STDERR_FILENO, MESSAGES, O_CLOEXEC) < 0)
				_exit(EXIT_FAILURE);
			nothing = open("/dev/null", O_RDWR);
			if (nothing < 0)
				_exit(EXIT_FAILURE);
			for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
				dup2(nothing, fd);
			close_from(MESSAGES + 1);
			while (*commands) {
				size_t length = strcspn(commands, ":");
				char **words = browser_words(commands, length, address);

				/* The address alone is not a command. */
				if (strcmp(words[0], address) != 0 && succeeds(words))
					_exit(0);
				free(words);
				commands += length + (commands[length] == ':');
			}
			if (!quiet)
				dprintf(MESSAGES, "ptrace2ftf: no browser could be started; "
						  "open the address in one\n");
			_exit(1);
		}
		_exit(starter < 0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}
