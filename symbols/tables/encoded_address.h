/* SPDX-License-Identifier: MIT */
/*
 * Addresses as .eh_frame and .gcc_except_table encode them (LSB Core, "DWARF Exception Header
 * Encoding": DW_EH_PE_*).  Addresses that are relative to data or indirect are not read: they
 * make the cursor short.
 */
#ifndef SYMBOLS_TABLES_ENCODED_ADDRESS_H
#define SYMBOLS_TABLES_ENCODED_ADDRESS_H

#include "base/cursor.h"

/* Returns a number in the form of an encoding (DW_EH_PE_*).  `wide`: addresses have 64 bits. */
uint64_t encoded_number(struct cursor *c, uint8_t encoding, bool wide);

/* Returns an address, or 0 if omitted; `vaddr` is the address of the cursor's next byte. */
uint64_t encoded_address(struct cursor *c, uint8_t encoding, bool wide, uint64_t vaddr);

#endif
