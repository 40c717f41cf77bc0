/* SPDX-License-Identifier: MIT */
/*
 * Addresses as .eh_frame and .gcc_except_table encode them (LSB Core, "DWARF Exception Header
 * Encoding": DW_EH_PE_*).  What is relative to data or indirect is not read: it makes the
 * cursor short.
 */
#ifndef SYMBOLS_TABLES_ENCODED_ADDRESS_H
#define SYMBOLS_TABLES_ENCODED_ADDRESS_H

#include "base/cursor.h"

/* An encoding, and whether the file's addresses have 64 bits. */
struct address_encoding {
	uint8_t encoding; /* DW_EH_PE_* */
	bool wide;
};

/* Returns a number in the form of an encoding. */
uint64_t encoded_number(struct cursor *c, struct address_encoding how);

/* Returns an address, 0: none is given; `vaddr` is that of the cursor's next byte. */
uint64_t encoded_address(struct cursor *c, struct address_encoding how, uint64_t vaddr);

#endif
