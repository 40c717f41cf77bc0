/* SPDX-License-Identifier: MIT */
/* Runs objdump, whose input may come from someone else: it may read files, and nothing else. */
#include "src/annotate/annotate_command.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/sandbox/sandbox.h"

/* CPU time that objdump may take, in seconds. */
#define OBJDUMP_SECONDS 60

/* Memory, in bytes: the file may be mapped whole. */
#define OBJDUMP_MEMORY ((rlim_t)4 << 30)

static _Noreturn void run_objdump(int to, const char *path, uint64_t begin, uint64_t end)
{
	const struct rlimit limit = { OBJDUMP_SECONDS, OBJDUMP_SECONDS };
	const struct rlimit memory = { OBJDUMP_MEMORY, OBJDUMP_MEMORY };
	int nothing = open("/dev/null", O_RDWR);
	char from[48], until[48];

	snprintf(from, sizeof(from), "--start-address=0x%" PRIx64, begin);
	snprintf(until, sizeof(until), "--stop-address=0x%" PRIx64, end);
	if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0 ||
	    dup2(to, STDOUT_FILENO) < 0 || setrlimit(RLIMIT_CPU, &limit) < 0 ||
	    setrlimit(RLIMIT_AS, &memory) < 0)
		_exit(127);
	close_from(STDERR_FILENO + 1);
	sandbox_enter_tool();
	execlp("objdump", "objdump", "-d", "-w", "--no-show-raw-insn", from, until, "--", path,
	       (char *)NULL);
	_exit(127);
}

/* Take "  401136:	push   %rbp". */
static void take_line(struct disassembly *disassembly, char *line)
{
	char *end, *text;
	uint64_t address = strtoull(line, &end, 16);
	size_t length;

	if (line[0] != ' ' || end == line || end[0] != ':' || end[1] != '\t')
		return;
	text = end + 2;
	length = strcspn(text, "\n");
	while (length && text[length - 1] == ' ')
		length--;
	text[length] = '\0';
	*ARRAY_ADD(disassembly->lines, disassembly->count, disassembly->room) =
		(struct disassembly_line){ address, ALLOC_CHECKED(strdup(text)) };
}

void disassembly_read(struct disassembly *disassembly, const char *path, uint64_t begin,
		      uint64_t end)
{
	size_t before = disassembly->count, room = 0;
	int pipe_ends[2], status = 0;
	char *line = NULL;
	FILE *in;
	pid_t pid;

	if (pipe2(pipe_ends, O_CLOEXEC) < 0) {
		disassembly->failed = true;
		return;
	}
	pid = fork();
	if (pid == 0)
		run_objdump(pipe_ends[1], path, begin, end);
	close(pipe_ends[1]);
	in = ALLOC_CHECKED(fdopen(pipe_ends[0], "r"));
	while (pid > 0 && getline(&line, &room, in) >= 0)
		take_line(disassembly, line);
	free(line);
	fclose(in);
	if (pid > 0)
		waitpid(pid, &status, 0);
	disassembly->failed |= status != 0 || disassembly->count == before;
}

const char *disassembly_text(const struct disassembly *disassembly, uint64_t address)
{
	size_t at = LOWER_BOUND(i, disassembly->count, disassembly->lines[i].address < address);

	return at < disassembly->count && disassembly->lines[at].address == address
		       ? disassembly->lines[at].text
		       : NULL;
}

void disassembly_release(struct disassembly *disassembly)
{
	for (size_t i = 0; i < disassembly->count; i++)
		free(disassembly->lines[i].text);
	free(disassembly->lines);
	*disassembly = (struct disassembly){ 0 };
}
