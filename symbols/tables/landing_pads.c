/* SPDX-License-Identifier: MIT */
/* Searches the call sites of an LSDA. */
#include "symbols/tables/landing_pads.h"

#include <dwarf.h>

#include "symbols/tables/encoded_address.h"

/* Move to the table of call sites.  Returns the address to which its landing pads are relative. */
static uint64_t open_sites(const struct landing_pads *pads, struct cursor *c, uint8_t *encoding)
{
	uint64_t size, landing_base = pads->function;

	*encoding = cursor_u8(c);
	if (*encoding != DW_EH_PE_omit)
		landing_base = encoded_address(c, *encoding, pads->wide,
					       pads->vaddr + (uint64_t)(c->at - pads->bytes));
	if (cursor_u8(c) != DW_EH_PE_omit)
		cursor_uleb128(c); /* where the types of handlers are */
	*encoding = cursor_u8(c);
	size = cursor_uleb128(c);
	if (size > cursor_left(c))
		c->short_ = true;
	else
		c->end = c->at + size;
	return landing_base;
}

uint64_t landing_pads_find(const struct landing_pads *pads, uint64_t call, size_t *work)
{
	struct cursor c = cursor_over(pads->bytes, pads->size);
	uint8_t encoding;
	uint64_t landing_base = open_sites(pads, &c, &encoding);

	for (; *work && !c.short_ && cursor_left(&c); --*work) {
		uint64_t begin = pads->function + encoded_number(&c, encoding, pads->wide);
		uint64_t size = encoded_number(&c, encoding, pads->wide);
		uint64_t pad = encoded_number(&c, encoding, pads->wide);

		cursor_uleb128(&c);           /* the action */
		if (c.short_ || call < begin) /* they are in order */
			break;
		if (call - begin < size)
			return pad ? landing_base + pad : 0;
	}
	return 0;
}
