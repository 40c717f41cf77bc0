/* SPDX-License-Identifier: MIT */
/* Searches the call sites of an LSDA. */
#include "symbols/tables/landing_pads.h"

#include <dwarf.h>

#include "symbols/tables/encoded_address.h"

/* The table of call sites. */
struct landing_sites {
	struct cursor c;
	struct address_encoding how;
	uint64_t landing_base; /* landing pads are relative to this address */
};

static struct landing_sites open_landing_sites(const struct landing_pads *pads)
{
	struct landing_sites sites = { .c = cursor_over(pads->bytes, pads->size),
				       .how.wide = pads->wide,
				       .landing_base = pads->function };
	struct cursor *c = &sites.c;
	uint64_t size;

	sites.how.encoding = cursor_u8(c);
	if (sites.how.encoding != DW_EH_PE_omit)
		sites.landing_base = encoded_address(c, sites.how,
						     pads->vaddr + (uint64_t)(c->at - pads->bytes));
	if (cursor_u8(c) != DW_EH_PE_omit)
		cursor_uleb128(c); /* where the types of handlers are */
	sites.how.encoding = cursor_u8(c);
	size = cursor_uleb128(c);
	if (size > cursor_left(c))
		c->short_ = true;
	else
		c->end = c->at + size;
	return sites;
}

uint64_t landing_pads_find(const struct landing_pads *pads, uint64_t call, size_t *work)
{
	struct landing_sites sites = open_landing_sites(pads);
	struct cursor *c = &sites.c;

	for (; *work && !c->short_ && cursor_left(c); --*work) {
		uint64_t begin = pads->function + encoded_number(c, sites.how);
		uint64_t size = encoded_number(c, sites.how);
		uint64_t pad = encoded_number(c, sites.how);

		cursor_uleb128(c);             /* the action */
		if (c->short_ || call < begin) /* they are in order */
			break;
		if (call - begin < size)
			return pad ? sites.landing_base + pad : 0;
	}
	return 0;
}
