/* SPDX-License-Identifier: MIT */
/* The plain data of the store of files (symbols/dso/dso_store.h). */
#pragma once

#include "base/tables/name.h"
#include "symbols/files/dso_find.h"
#include "symbols/names/demangle.h"

/* The path of a dso whose bytes are options.core; it is shown like "//anon". */
#define DSO_SAVED_CODE "//saved/anon"

/* Path prefix of code that may not have been there yet; it makes a separate dso. */
#define DSO_CHANGED "//changed"

/* Suffixes of a file's path: in a packed recording, its debug file, and that of dwz(1). */
#define DSO_PACKED_DEBUG  "//debug"
#define DSO_PACKED_SHARED "//shared"

/* How code without a symbol is shown. */
enum unnamed_style {
	UNNAMED_DEFAULT = 0, /* the store: functions; options: as the output needs it */
	UNNAMED_FUNCTIONS,   /* each function by its file and address */
	UNNAMED_FILES,       /* one symbol for each file */
};

struct dso_store_options {
	struct dso_find_options find; /* where files are looked for */
	const char *vdso; /* file with the code of "[vdso]"; NULL: look in the build-id cache */
	const char *core; /* ELF core with code of memory without files; may be NULL */
	struct byte_view packed; /* borrowed: PERF_FEATURE_PACKED of the recording */
	bool core_given; /* the user chose `core`, which may have another recording's size */
	const char *strip_prefix; /* directory to leave out of source paths; may be NULL */
	const char *
		perf_map_dir; /* folder of perf-PID.map; NULL: /tmp, below symfs if that is given */
	const char *kallsyms; /* file with the names of the recorded kernel; NULL: look for it */
	bool force;           /* use the file at the recorded path even if its build id differs */
	bool cache;           /* use the lines that earlier runs found (line_cache.h) */
	enum demangle_style demangle; /* how to demangle symbols' names */
	enum unnamed_style unnamed;
};

/* What fits of the kernel that runs now. */
enum running_kernel {
	RUNNING_OTHER = 0, /* nothing */
	RUNNING_BUILD,     /* the vdso: it is the recorded kernel */
	RUNNING_BOOT,      /* also /proc/kallsyms: its addresses are the recorded ones */
};

enum dso_state {
	DSO_FOUND = 0,
	DSO_MISSING,    /* no such file */
	DSO_MISMATCHED, /* a file is there, but with another build id */
	DSO_UNREADABLE, /* a file is there, but it cannot be read as ELF */
	DSO_NOT_A_FILE, /* anonymous memory, kernel, JIT code: nothing to look for */
};

struct source_line {
	const struct name *file; /* NULL: unknown */
	uint32_t line, column;   /* 0: unknown */
};
