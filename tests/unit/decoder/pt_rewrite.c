/* SPDX-License-Identifier: MIT */
/*
 * The copy of a trace that libipt's block decoder reads: packets that it does not know become
 * EXSTOP, and a guest's code disappears (decoder/engine/libipt/pt_blocks.h). Packets are those of
 * SDM volume 3, "Intel Processor Trace", packet definitions.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/common.h"
#include "decoder/engine/libipt/pt_blocks.h"
#include "tests/support/unit.h"

#define ROOM 512

/* Packets by name: PIPs of the host and of a guest (NR bit), and packets with an address of 16 or
 * 48 bits. */
static const struct {
	const char *name, *bytes;
} packets[] = {
	{ "psb", "0282 0282 0282 0282 0282 0282 0282 0282" },
	{ "end", "0223" },
	{ "ovf", "02f3" },
	{ "host", "0243 000100000000" },
	{ "guest", "0243 010100000000" },
	{ "tnt", "0a" },
	{ "mtc", "5901" },
	{ "exec", "9901" },
	{ "tsx", "9921" },
	{ "tip", "6d 201040000000" },
	{ "tip2", "2d 4010" },
	{ "fup", "7d 201040000000" },
	{ "pge", "71 201040000000" },
	{ "pge2", "31 4010" },
	{ "pgd", "01" },
	{ "exstop", "0262" },
	{ "exstop+fup", "02e2" },
};

/*
 * Bytes: names, hexadecimal digits, 0*N for padding, or pad: the length stays the same. Notes: the
 * offset in the rewritten trace and the kind; + has a FUP of its own, ! an interrupt's FUP; on and
 * off: a guest's code.
 */
static const struct rewrite_row {
	const char *in, *out; /* NULL: the same */
	const char *notes;
} rows[] = {
	{ "psb end pge tnt tip2 mtc ovf fup tsx fup pgd", NULL, "" },
	/* Packets that libipt 2.0 lacks: MWAIT, EVD, TRIG. */
	{ "psb end 02c2 21000000 01000000 tnt", "psb end exstop 0*8 tnt", "18:mwait" },
	{ "psb end 0253 01 0807060504030201 tnt", "psb end exstop 0*9 tnt", "18:evd" },
	{ "psb end d92004 tnt", "psb end exstop 0*1 tnt", "18:trig" },
	{ "psb end d940ff0d02 tnt", "psb end exstop 0*3 tnt", "18:trig" },
	{ "psb end d98004 fup tnt", "psb end exstop+fup 0*1 fup tnt", "18:trig+" },
	/* CFE: of an interrupt, whose FUP follows; with a FUP of its own; of an IRET. */
	{ "psb end 0213010e fup tip", "psb end exstop 0*2 fup tip", "18:cfe!" },
	{ "psb end 0213810e fup tip", "psb end exstop+fup 0*2 fup tip", "18:cfe+" },
	{ "psb end 02130200 tip", "psb end exstop 0*2 tip", "18:cfe" },
	/* PEBS: BBP, BIPs of 8 and of 4 bytes, BEP; after it the byte of a BIP is a TNT. */
	{ "psb end 026301 04 0807060504030201 0c 0807060504030201 0233 04",
	  "psb end 0*3 exstop 0*7 exstop 0*7 exstop 04", "21:item 30:item 39:pebs" },
	{ "psb end 026381 04 04030201 02b3 fup 04", "psb end 0*3 exstop 0*3 exstop+fup fup 04",
	  "21:item 26:pebs+" },
	/* A block ends with its BEP, which may be lost at an OVF and at a PSB. */
	{ "psb end 026301 ovf 04 pgd 026301 psb 04 end", "psb end 0*3 ovf 04 pgd 0*3 psb 04 end",
	  "" },
	/* MODE.Exec has a FUP of its own if only the interrupt flag changed; not in a header. */
	{ "psb end exec fup tnt", "psb end exstop+fup fup tnt", "18:none+" },
	{ "psb exec fup end exec tip tsx fup", NULL, "" },
	/* A header cannot have an EXSTOP. */
	{ "psb 0253 01 0807060504030201 d98004 end d98004 fup", "psb 0*14 end exstop+fup 0*1 fup",
	  "32:trig+" },
	/* PWRE: the flag of the hardware is bit 7, and for libipt bit 3. */
	{ "psb end 02228061 02220061", "psb end 02228861 02220061", "" },
	/* A packet whose FUP is lost at an OVF, at a PSB or at damage has no event. */
	{ "psb end exstop+fup fup exstop+fup ovf fup exstop", NULL, "18:exstop+ 38:exstop" },
	{ "psb end exstop+fup psb end fup exstop", NULL, "45:exstop" },
	{ "psb end exstop exstop+fup 02ff tnt psb end fup exstop", NULL, "18:exstop 50:exstop" },
	/* A guest's code, between two TIPs; timing packets and PIPs stay. */
	{ "psb end guest tip tnt mtc fup tip host tip2 tnt",
	  "psb end guest pgd mtc host pad 51 40104000 tnt", "" },
	{ "psb end guest tip2 tnt host tip tnt", "psb end guest pgd host pad 51 20104000 tnt", "" },
	{ "psb end guest tip mtc host 6d 20104000ff7f tnt",
	  "psb end guest pgd mtc host pad 71 20104000ff7f tnt", "" },
	/* The trace of the guest's code ends and begins; TIP.PGE out of the guest. */
	{ "psb end pge guest tip tnt pgd tnt pge tip mtc pgd host pge2 tnt",
	  "psb end pge guest pgd exstop exstop mtc exstop host pad 31 4010 tnt",
	  "34:off 36:on 40:off" },
	/* In a guest, packets have no FUP. */
	{ "psb end guest tip exstop+fup fup 0292 04030201 fup 0213810e fup host tip",
	  "psb end guest pgd exstop 0212 04030201 exstop host pad 51 20104000",
	  "27:exstop 35:cfe" },
	/* Modes of a guest are not those of the code; those before the host's ip are. */
	{ "psb end guest tip exec tnt host exec tip tnt",
	  "psb end guest pgd host exec pad 51 20104000 tnt", "" },
	/* A header: the guest's code is traced if it has a FUP, which the host does not see. */
	{ "psb guest fup mtc end tnt", "psb guest mtc end exstop pad", "28:on" },
	{ "psb guest end tnt pgd", "psb guest end pad", "" },
	{ "psb guest fup end tnt psb guest end pge",
	  "psb guest end exstop psb guest end exstop exstop pad", "26:on 54:off 56:on" },
	{ "psb guest fup end tnt psb host fup end tnt",
	  "psb guest end exstop psb host fup end pad tnt", "26:on" },
	/* An overflow in a guest; the next FUP shows that the guest's code is traced again. */
	{ "psb guest fup end tnt ovf fup tnt host tip tnt",
	  "psb guest end exstop ovf exstop host pad 51 20104000 tnt", "26:on 30:on" },
	{ "psb guest fup end tnt host ovf fup tnt", "psb guest end exstop host ovf pad fup tnt",
	  "26:on" },
	/* No room for an EXSTOP, so later; or for the host's TIP.PGE: damage, and no wrong branch.
	 */
	{ "psb guest fup end pgd 11 pgd 11 pgd 11 pgd 11 host pge2 tnt psb",
	  "psb guest end exstop exstop exstop exstop exstop exstop exstop "
	  "host pad 02ff tnt psb",
	  "26:on 28:off 30:on 32:off 34:on 36:off 38:on" },
	/* Damage ends a guest. */
	{ "psb guest fup end tnt 02ff tnt psb end tnt",
	  "psb guest end exstop pad 02ff tnt psb end tnt", "26:on" },
};

/* Returns the size of the bytes of a text; `padding`: the size of pad. */
static size_t read_bytes(const char *text, uint8_t bytes[ROOM], size_t padding)
{
	char *copy = alloc_text("%s", text), *rest;
	size_t size = 0;

	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		size_t zeros = starts_with(word, "0*") ? strtoul(word + 2, NULL, 10) : 0, i = 0;

		zeros += strcmp(word, "pad") == 0 ? padding : 0;
		memset(bytes + size, 0, zeros);
		size += zeros;
		while (i < COUNT_OF(packets) && strcmp(packets[i].name, word) != 0)
			i++;
		if (i < COUNT_OF(packets))
			size += read_bytes(packets[i].bytes, bytes + size, 0);
		else if (!zeros)
			for (; sscanf(word, "%2hhx", &bytes[size]) == 1; word += 2)
				size++;
	}
	free(copy);
	return size;
}

static char *text_of(const uint8_t *bytes, size_t size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, &(size_t){ 0 });

	for (size_t i = 0; i < size; i++)
		fprintf(out, "%02x", bytes[i]);
	fclose(out);
	return text;
}

/* The notes that a reader of libipt's events gets. */
static char *notes_of(struct pt_rewrite *rewrite)
{
	static const char *const kinds[CPU_EVENT_KINDS] = {
		[CPU_EVENT_NONE] = "none",     [CPU_EVENT_MWAIT] = "mwait",
		[CPU_EVENT_EXSTOP] = "exstop", [CPU_EVENT_CFE] = "cfe",
		[CPU_EVENT_EVD] = "evd",       [CPU_EVENT_TRIG] = "trig",
		[CPU_EVENT_PEBS] = "pebs",     [CPU_EVENT_PEBS_ITEM] = "item",
	};
	const struct pt_rewrite_note *note;
	const char *space = "";
	char *text = NULL;
	FILE *out = open_memstream(&text, &(size_t){ 0 });

	for (; (note = pt_rewrite_next(rewrite)); space = " ")
		fprintf(out, "%s%d:%s%s%s", space, (int)note->offset,
			note->is_guest ? note->guest ? "on" : "off" : kinds[note->note.kind],
			note->bound ? "+" : "", note->of_interrupt ? "!" : "");
	fclose(out);
	return text;
}

static void expect_bytes(const uint8_t *bytes, size_t size, const char *expected)
{
	uint8_t wanted[ROOM];
	char *a, *b;

	ck_assert_uint_eq(read_bytes(expected, wanted, size - read_bytes(expected, wanted, 0)),
			  size);
	a = text_of(bytes, size);
	b = text_of(wanted, size);
	ck_assert_str_eq(a, b);
	free(a);
	free(b);
}

static void expect_notes(struct pt_rewrite *rewrite, const char *expected)
{
	char *notes = notes_of(rewrite);

	ck_assert_str_eq(notes, expected);
	free(notes);
}

static const struct pt_errata errata;

START_TEST(packets_become_what_libipt_follows)
{
	const struct rewrite_row *row = &rows[_i];
	struct pt_rewrite rewrite = { .has_guests = true };
	uint8_t bytes[ROOM + AUX_WINDOW_PADDING] = { 0 };
	size_t size = read_bytes(row->in, bytes, 0);

	pt_rewrite_bytes(&rewrite, &errata, bytes, size, 0);
	expect_bytes(bytes, size, row->out ? row->out : row->in);
	expect_notes(&rewrite, row->notes);
	pt_rewrite_release(&rewrite);
}
END_TEST

/* If only user code is traced, the recorded program runs in the guest. */
START_TEST(the_code_of_a_guest_stays_if_it_is_the_traced_code)
{
	static const char text[] = "psb end guest tip tnt host tip2 tnt psb guest fup end tnt";
	struct pt_rewrite rewrite = { 0 };
	uint8_t bytes[ROOM + AUX_WINDOW_PADDING] = { 0 };
	size_t size = read_bytes(text, bytes, 0);

	pt_rewrite_bytes(&rewrite, &errata, bytes, size, 0);
	expect_bytes(bytes, size, text);
	pt_rewrite_release(&rewrite);
}
END_TEST

/* The values of the packets, which an EXSTOP lacks. */
START_TEST(notes_have_the_values_of_their_packets)
{
	static const struct {
		const char *in;
		struct cpu_event_data event;
	} values[] = {
		{ "02c2 21000000 01000000", { CPU_EVENT_MWAIT, 1, 0x21 } },
		{ "0253 02 0807060504030201", { CPU_EVENT_EVD, 2, 0x102030405060708 } },
		{ "0213010e", { CPU_EVENT_CFE, CONTROL_INTERRUPT, 14 } },
		{ "d940060d02", { CPU_EVENT_TRIG, 0x20d, TRIG_COUNTED | 6 } },
		{ "026305 14 0807060504030201",
		  { CPU_EVENT_PEBS_ITEM, PEBS_FIRST | PEBS_EXTRA(5, 2), 0x102030405060708 } },
	};
	char *text = alloc_text("psb end %s", values[_i].in);
	struct pt_rewrite rewrite = { 0 };
	uint8_t bytes[ROOM + AUX_WINDOW_PADDING] = { 0 };
	const struct pt_rewrite_note *note;

	pt_rewrite_bytes(&rewrite, &errata, bytes, read_bytes(text, bytes, 0), 0);
	note = pt_rewrite_next(&rewrite);
	ck_assert_ptr_nonnull(note);
	ck_assert_int_eq(note->note.kind, values[_i].event.kind);
	ck_assert_uint_eq(note->note.extra, values[_i].event.extra);
	ck_assert_uint_eq(note->note.value, values[_i].event.value);
	ck_assert_ptr_null(pt_rewrite_next(&rewrite));
	pt_rewrite_release(&rewrite);
	free(text);
}
END_TEST

/* libipt begins again at a PSB: the events before it are not asked for. */
START_TEST(notes_before_an_offset_are_skipped)
{
	static const char *const rest[] = { "18:exstop 20:exstop", "20:exstop", "20:exstop", "" };
	static const uint64_t offsets[] = { 18, 19, 20, 21 };
	struct pt_rewrite rewrite = { 0 };
	uint8_t bytes[ROOM + AUX_WINDOW_PADDING] = { 0 };
	size_t size = read_bytes("psb end exstop exstop", bytes, 0);

	pt_rewrite_bytes(&rewrite, &errata, bytes, size, 0);
	pt_rewrite_seek(&rewrite, offsets[_i]);
	expect_notes(&rewrite, rest[_i]);
	pt_rewrite_release(&rewrite);
}
END_TEST

/* A later trace without a PSB: a header with the time and the mode, and a whole first address. */
START_TEST(a_trace_that_resumes_gets_a_header)
{
	static const struct {
		const char *before;
		uint64_t tsc;
		const char *header, *after, *rewritten;
	} resumed[] = {
		{ "psb exec end pge", 0x0807060504030201, "psb 19 01020304050607 exec end",
		  "pge2 tnt", "pad 51 40104000 tnt" },
		{ "psb end pge exec", 0, "psb exec end", "tnt fup tip tnt", "pad 51 20104000 tnt" },
		{ "psb end tip", 9, "psb 19 09000000000000 end", "mtc tip2 tnt",
		  "mtc pad 51 40104000 tnt" },
		{ "psb 99 02 end 71 000000ff7f00", 0, "psb 9902 end", "tip2 tnt",
		  "pad 71 401000ff7f00 tnt" },
		/* Nothing shows where: no code. */
		{ "psb end tip", 0, "psb end", "tnt fup mtc", "mtc pad" },
	};
	struct pt_rewrite rewrite = { 0 };
	uint8_t bytes[ROOM + AUX_WINDOW_PADDING] = { 0 };
	size_t size = read_bytes(resumed[_i].before, bytes, 0), header;
	uint8_t wanted[ROOM];

	pt_rewrite_bytes(&rewrite, &errata, bytes, size, 0);
	pt_rewrite_header(&rewrite, resumed[_i].tsc, bytes);
	header = read_bytes(resumed[_i].header, wanted, 0);
	expect_bytes(bytes, header, resumed[_i].header);
	for (size_t i = header; i < PT_REWRITE_HEADER; i++)
		ck_assert_uint_eq(bytes[i], 0);
	size = PT_REWRITE_HEADER + read_bytes(resumed[_i].after, bytes + PT_REWRITE_HEADER, 0);
	memset(bytes + size, 0, AUX_WINDOW_PADDING);
	pt_rewrite_bytes(&rewrite, &errata, bytes, size, PT_REWRITE_HEADER);
	/* The padding of the header is room for a TIP.PGE of 7 bytes. */
	expect_bytes(bytes + PT_REWRITE_HEADER - 7, size - PT_REWRITE_HEADER + 7,
		     resumed[_i].rewritten);
	pt_rewrite_release(&rewrite);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pt_rewrite");
	TCase *all = tcase_create("pt_rewrite");

	tcase_add_loop_test(all, packets_become_what_libipt_follows, 0, COUNT_OF(rows));
	tcase_add_test(all, the_code_of_a_guest_stays_if_it_is_the_traced_code);
	tcase_add_loop_test(all, notes_have_the_values_of_their_packets, 0, 5);
	tcase_add_loop_test(all, notes_before_an_offset_are_skipped, 0, 4);
	tcase_add_loop_test(all, a_trace_that_resumes_gets_a_header, 0, 5);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
