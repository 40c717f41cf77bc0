/* SPDX-License-Identifier: MIT */
/*
 * A filter of system calls: it allows the calls added to it; all others fail with ENOSYS,
 * for which libraries have fallbacks, as on an older kernel.
 *
 * Each part of the program that reads untrusted data has a filter of its own: sandbox_calls.c,
 * sandbox_server.c.  libseccomp would need a thousand allocations, and crashes when one fails
 * (2.5.4).  The filter's language: the kernel's Documentation/userspace-api/seccomp_filter.rst.
 */
#ifndef SRC_SANDBOX_CALL_FILTER_H
#define SRC_SANDBOX_CALL_FILTER_H

#include <linux/filter.h>

#include "base/common.h"

/* The kernel takes 4096 at most. */
#define CALL_FILTER_MOST 1024

struct call_filter {
	struct sock_filter code[CALL_FILTER_MOST];
	unsigned short used;
};

/* A call that is allowed if an argument has these bits under the mask. */
struct call_condition {
	uint16_t call;
	uint8_t argument; /* its index; the low 32 bits are compared */
	uint32_t mask, value;
};

/* The whole argument. */
#define CALL_WORD UINT32_MAX

/* Begin a filter that allows nothing: calls of another architecture are refused always. */
void call_filter_init(struct call_filter *filter);

/* Allow these calls: their numbers, as of <sys/syscall.h>. */
void call_filter_allow(struct call_filter *filter, const uint16_t *calls, size_t count);

/* Allow calls by their arguments; of several conditions for a call one has to hold. */
void call_filter_allow_if(struct call_filter *filter, const struct call_condition *conditions,
			  size_t count);

/*
 * Hold the process to the filter, until it ends.
 * Returns NULL; the reason, a constant, if the system has no such filters.
 */
const char *call_filter_enter(struct call_filter *filter);

#endif
