/* SPDX-License-Identifier: MIT */
/*
 * Files that spare later runs some work, in $XDG_CACHE_HOME/ptrace2ftf, by default
 * ~/.cache/ptrace2ftf (XDG Base Directory Specification).
 *
 * The folder and its files belong to the user alone: others are neither read nor written.  A file
 * is written under another name and renamed, so that readers and writers may be many.  Above 256
 * MiB in all, the oldest files are removed.
 */
#pragma once

#include "base/common.h"
#include "base/io/file_makers.h"

/* Names of files are as many hexadecimal digits. */
#define CACHE_FILE_NAME 32

/* As file_make_own(), for the operations of the cache. */
int cache_file_make(enum file_operation operation, const char *name);

/* Returns the bytes of a file, owned by the caller (free()); NULL: there is no such file. */
uint8_t *cache_file_read(const char *name, size_t *size);

/* Replace a file.  Returns 0, or -1 with errno. */
int cache_file_write(const char *name, const void *bytes, size_t size);
