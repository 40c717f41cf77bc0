/* SPDX-License-Identifier: MIT */
/* Which halves of the sandbox (src/sandbox/sandbox.h) hold the run. */
#ifndef SRC_REPORT_SANDBOX_STATE_H
#define SRC_REPORT_SANDBOX_STATE_H

#include "base/common.h"

struct sandbox {
	bool files;      /* Landlock is active */
	bool calls;      /* seccomp is active */
	const char *why; /* borrowed, constant: why one is not active; NULL: both are */
	bool lacking;    /* neither is, and the system is the reason */
};

#endif
