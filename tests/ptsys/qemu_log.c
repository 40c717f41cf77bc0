/* SPDX-License-Identifier: MIT */
#include "tests/ptsys/qemu_log.h"

#include <stdlib.h>
#include <string.h>

#define LINE 512

/* "RSI=0123456789abcdef" somewhere in the line. */
static void take(const char *line, const char *name, uint64_t *value)
{
	const char *found = strstr(line, name);

	if (found)
		*value = strtoull(found + strlen(name), NULL, 16);
}

static bool starts(const char *line, const char *with)
{
	return strncmp(line, with, strlen(with)) == 0;
}

/* The registers after a "Trace" line, up to EFER, the last one. */
static bool read_state(struct qemu_log *log)
{
	struct cpu_state *state = &log->state;
	char line[LINE];

	while (fgets(line, sizeof(line), log->in)) {
		if (starts(line, "RAX=")) {
			take(line, "RCX=", &state->cx);
			take(line, "RDX=", &state->dx);
		} else if (starts(line, "RSI=")) {
			take(line, "RSI=", &state->si);
			take(line, "RDI=", &state->di);
			take(line, "RSP=", &state->sp);
		} else if (starts(line, "RIP=")) {
			take(line, "RIP=", &state->ip);
		} else if (starts(line, "CR0=")) {
			take(line, "CR3=", &state->cr3);
		} else if (starts(line, "EFER=")) {
			return true;
		}
	}
	return false;
}

/* "     7: v=0e e=0006 i=0 cpl=3 IP=002b:0000000000400000 pc=... SP=0023:000000007fffeff8 ..." */
static bool read_vector(struct qemu_log *log, const char *line)
{
	const char *vector = strstr(line, ": v="), *kind = strstr(line, " i="),
		   *place = strstr(line, " pc="), *stack = strstr(line, " SP=");

	if (!vector || !kind || !place || !stack || !strchr(stack, ':'))
		return false;
	log->vector = (unsigned)strtoul(vector + 4, NULL, 16);
	log->by_insn = kind[3] == '1';
	log->ip = strtoull(place + 4, NULL, 16);
	log->sp = strtoull(strchr(stack, ':') + 1, NULL, 16);
	return true;
}

enum log_event qemu_log_next(struct qemu_log *log)
{
	char line[LINE];

	while (fgets(line, sizeof(line), log->in)) {
		if (starts(line, "Trace "))
			return log->event = read_state(log) ? LOG_STATE : LOG_END;
		if (starts(line, "Stopped execution"))
			return log->event = LOG_STOPPED;
		if (line[0] == ' ' && read_vector(log, line))
			return log->event = LOG_VECTOR;
	}
	return log->event = LOG_END;
}
