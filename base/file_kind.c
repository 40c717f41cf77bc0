/* SPDX-License-Identifier: MIT */
/* Recognises a file by its first bytes, for messages about a file of the wrong kind. */
#include "base/file_kind.h"

/* Bytes that are examined to recognise text. */
#define TEXT_BYTES 64

#define START(bytes) bytes, sizeof(bytes) - 1

static bool is_text(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size && i < TEXT_BYTES; i++)
		if ((bytes[i] < ' ' && bytes[i] != '\t' && bytes[i] != '\n' && bytes[i] != '\r') ||
		    bytes[i] == 0x7f)
			return false;
	return size > 0;
}

const char *file_kind_text(const uint8_t *bytes, size_t size)
{
	static const struct {
		const char *bytes;
		size_t size;
		const char *text;
	} kinds[] = {
		{ START("PERFILE2"), ", but a recording of perf; convert it with ptrace2ftf" },
		{ START("\x10\0\x04"
			"FxT\x16\0"),
		  ", but a Fuchsia trace; show it with `ptrace2ftf open`" },
		{ START("\177ELF"), ", but an ELF file" },
		{ START("{"), ", but perhaps JSON" },
		{ START("["), ", but perhaps JSON" },
		{ START("<"), ", but perhaps SVG or XML" },
		{ START("\x1f\x8b"), ", but compressed by gzip; decompress it first" },
		{ START("\x28\xb5\x2f\xfd"), ", but compressed by zstd; decompress it first" },
		{ START("\xfd"
			"7zXZ"),
		  ", but compressed by xz; decompress it first" },
		{ START("BZh"), ", but compressed by bzip2; decompress it first" },
		{ START("PK"), ", but a zip file; unpack it first" },
	};

	for (size_t i = 0; i < COUNT_OF(kinds); i++) {
		if (size >= kinds[i].size && memcmp(bytes, kinds[i].bytes, kinds[i].size) == 0)
			return kinds[i].text;
	}
	return is_text(bytes, size) ? ", but text; if perf script printed it, convert it with "
				      "ptrace2ftf --input=perf-script"
				    : "";
}
