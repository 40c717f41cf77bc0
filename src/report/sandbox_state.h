/* SPDX-License-Identifier: MIT */
/* Active parts of the sandbox (src/sandbox/sandbox.h). */
#ifndef SRC_REPORT_SANDBOX_STATE_H
#define SRC_REPORT_SANDBOX_STATE_H

#include "base/common.h"

struct sandbox {
	bool files;      /* Landlock is active */
	bool calls;      /* seccomp is active */
	const char *why; /* borrowed, constant: why one is inactive; NULL: both are active */
	bool lacking;    /* both are inactive because of the system */
};

#endif
