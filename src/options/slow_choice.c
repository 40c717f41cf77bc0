/* SPDX-License-Identifier: MIT */
/* Reads the argument of --slow. */
#include "src/options/slow_choice.h"

#include <ctype.h>

#include "src/options/selection.h"

/* Returns a percentile in millionths; 0: the text is none. */
static uint32_t read_percentile(const char *text)
{
	uint32_t value = 0, place = 1000000;

	if (!isdigit((unsigned char)*text))
		return 0;
	for (; isdigit((unsigned char)*text) && value <= 100; text++)
		value = value * 10 + (uint32_t)(*text - '0');
	value = value <= 100 ? value * 10000 : place;
	place = 1000;
	if (*text == '.' && isdigit((unsigned char)text[1])) {
		for (text++; isdigit((unsigned char)*text) && place; text++, place /= 10)
			value += (uint32_t)(*text - '0') * place;
	}
	return *text || value >= 1000000 ? 0 : value;
}

bool slow_choice_read(struct slow_choice *choice, const char *text)
{
	choice->has_bound = true;
	choice->percentile = 0;
	if (*text != 'p')
		return selection_duration(text, &choice->longer);
	choice->percentile = read_percentile(text + 1);
	return choice->percentile;
}
