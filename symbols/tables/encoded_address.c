/* SPDX-License-Identifier: MIT */
/* Reads the encoded addresses of exception handling. */
#include "symbols/tables/encoded_address.h"

#include <dwarf.h>

#define ENCODED_FORM     0x0f
#define ENCODED_RELATION 0x70

uint64_t encoded_number(struct cursor *c, uint8_t encoding, bool wide)
{
	switch (encoding & ENCODED_FORM) {
	case DW_EH_PE_absptr:
		return wide ? cursor_u64(c) : cursor_u32(c);
	case DW_EH_PE_uleb128:
		return cursor_uleb128(c);
	case DW_EH_PE_udata2:
		return cursor_u16(c);
	case DW_EH_PE_udata4:
		return cursor_u32(c);
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return cursor_u64(c);
	case DW_EH_PE_sdata2:
		return (uint64_t)(int64_t)(int16_t)cursor_u16(c);
	case DW_EH_PE_sdata4:
		return (uint64_t)(int64_t)(int32_t)cursor_u32(c);
	default:
		c->short_ = true;
		return 0;
	}
}

uint64_t encoded_address(struct cursor *c, uint8_t encoding, bool wide, uint64_t vaddr)
{
	uint64_t value = encoded_number(c, encoding, wide);

	if ((encoding & ENCODED_RELATION) == DW_EH_PE_pcrel)
		value += value ? vaddr : 0;
	else if (encoding & ENCODED_RELATION)
		c->short_ = true;
	if (encoding & DW_EH_PE_indirect)
		c->short_ = true;
	return wide ? value : (uint32_t)value;
}
