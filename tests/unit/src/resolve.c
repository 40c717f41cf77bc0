/* SPDX-License-Identifier: MIT */
/* Names of addresses, by the contents of a recording. */
#include <string.h>
#include <unistd.h>

#include "decoder/perf_data/perf_file.h"
#include "src/resolve/resolve.h"
#include "tests/support/perf_data.h"
#include "tests/support/unit.h"

#define BPF UINT64_C(0xffffffffc0100000)

static struct perf_data data;
static struct perf_file file;
static struct timeline *timeline;
static struct name_table names;
static struct dso_store *store;
static struct diag diag;
static struct resolver resolver;

static void setup(void)
{
	struct perf_data_pt_info info = { .pmu_type = 8 };

	perf_data_init(&data);
	perf_data_add_pt_event(&data, 8, 0x300e601);
	perf_data_add_pt_info(&data, &info, NULL);
}

static void at(uint64_t time, int32_t pid)
{
	perf_data_stamp(&data, (struct perf_data_stamp){ .time = time, .pid = pid, .tid = pid });
}

static void open_built(void)
{
	struct dso_store_options options = { 0 };
	char path[PERF_DATA_PATH];
	struct error err = { 0 };

	perf_data_write_temporary(&data, path);
	ck_assert_msg(perf_file_open(&file, path, &diag, &err) == 0, "%s", err.text);
	unlink(path);
	timeline = timeline_open(&file, NULL, 0, &diag);
	ck_assert_ptr_nonnull(timeline);
	name_table_init(&names);
	store = dso_store_open(&options, &names, &diag);
	resolver_init(&resolver, timeline, store, &names);
}

static void teardown(void)
{
	resolver_release(&resolver);
	dso_store_close(store);
	name_table_release(&names);
	timeline_close(timeline);
	perf_file_close(&file);
	perf_data_release(&data);
	diag_release(&diag);
}

/* ---- Code that the kernel makes (linux/perf_event.h, PERF_RECORD_KSYMBOL) -- */

enum { TYPE_BPF = 1, TYPE_OUT_OF_LINE = 2 };
enum { REGISTER = 0, UNREGISTER = 1 };

struct ksymbol {
	uint64_t address;
	uint32_t length;
	uint16_t type, flags;
	char name[32];
};

static void register_symbol(uint64_t time, struct ksymbol symbol)
{
	at(time, 5);
	perf_data_add_record(&data, PERF_RECORD_KSYMBOL, 0, &symbol, sizeof(symbol));
}

static void expect(uint64_t time, uint64_t ip, const char *name, uint64_t offset)
{
	struct location location;

	resolver_advance(&resolver, time);
	location = resolver_find(&resolver, NULL, ip);
	if (!name) {
		ck_assert_ptr_null(location.symbol);
		return;
	}
	ck_assert_msg(location.symbol, "no %s at %lu", name, (unsigned long)time);
	ck_assert_str_eq(location.symbol->name->text, name);
	ck_assert_uint_eq(location.offset, offset);
}

START_TEST(kernel_code_has_the_name_under_which_it_was_registered_last)
{
	register_symbol(100, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_one" });
	register_symbol(200, (struct ksymbol){ BPF, 64, TYPE_BPF, UNREGISTER, "bpf_prog_one" });
	register_symbol(300, (struct ksymbol){ BPF + 32, 64, TYPE_OUT_OF_LINE, REGISTER,
					       "ftrace_trampoline" });
	register_symbol(400, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_two" });
	open_built();
	expect(100, BPF, "bpf_prog_one", 0);
	expect(199, BPF + 63, "bpf_prog_one", 63);
	expect(199, BPF + 64, NULL, 0);
	expect(199, BPF - 1, NULL, 0);
	expect(200, BPF + 32, NULL, 0);
	expect(300, BPF + 95, "ftrace_trampoline", 63);
	expect(300, BPF, NULL, 0);
	expect(400, BPF + 32, "bpf_prog_two", 32);
	expect(400, BPF + 64, NULL, 0);
}
END_TEST

START_TEST(kernel_code_that_takes_the_place_of_none_has_its_name_from_the_beginning)
{
	register_symbol(300, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_late" });
	register_symbol(200,
			(struct ksymbol){ BPF + 64, 64, TYPE_BPF, UNREGISTER, "bpf_prog_early" });
	open_built();
	expect(100, BPF, "bpf_prog_late", 0);
	expect(100, BPF + 64, "bpf_prog_early", 0);
	expect(250, BPF + 64, NULL, 0);
	expect(300, BPF, "bpf_prog_late", 0);
}
END_TEST

START_TEST(kernel_code_at_the_end_of_all_addresses_or_without_length_is_harmless)
{
	register_symbol(1,
			(struct ksymbol){ UINT64_MAX - 8, UINT32_MAX, TYPE_BPF, REGISTER, "last" });
	register_symbol(1, (struct ksymbol){ BPF, 0, TYPE_BPF, REGISTER, "empty" });
	register_symbol(1, (struct ksymbol){ UINT64_MAX, 9, TYPE_BPF, REGISTER, "none" });
	open_built();
	expect(1, UINT64_MAX - 1, "last", 7);
	expect(1, UINT64_MAX, NULL, 0);
	expect(1, BPF, NULL, 0);
	ck_assert_uint_eq(diag_kinds(&diag), 0);
}
END_TEST

/* ---- Branches ------------------------------------------------------------ */

static const struct name name = { .text = "f", .length = 1 };
static const struct symbol function = { .name = &name, .kind = SYMBOL_FUNCTION };
static const struct symbol with_traps = { .name = &name,
					  .kind = SYMBOL_FUNCTION,
					  .has_traps = true };
static const struct location here = { 0x1000, &function, 0 }, there = { 0x2000, &function, 16 };

START_TEST(a_branch_is_cached_once_it_was_put)
{
	const struct address_space *other = (const struct address_space *)&data;
	const struct location_pair *places;

	open_built();
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip, there.ip));
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, 0, 0));
	branch_cache_put(&resolver, NULL, &here, &there);
	places = branch_cache_get(&resolver, NULL, here.ip, there.ip);
	ck_assert_ptr_nonnull(places);
	ck_assert_mem_eq(&places->from, &here, sizeof(here));
	ck_assert_mem_eq(&places->to, &there, sizeof(there));
	for (uint64_t i = 1; i < 4096; i++) {
		ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip + i, there.ip));
		ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip, there.ip + i));
	}
	ck_assert_ptr_null(branch_cache_get(&resolver, other, here.ip, there.ip));
}
END_TEST

/* Also if another branch has the same slot. */
START_TEST(a_branch_is_of_its_address_space_only)
{
	const struct address_space *other;
	uintptr_t address = 0;

	open_built();
	do {
		other = (const struct address_space *)++address;
	} while (branch_cache_slot(&resolver, other, here.ip, there.ip) !=
		 branch_cache_slot(&resolver, NULL, here.ip, there.ip));
	branch_cache_put(&resolver, NULL, &here, &there);
	ck_assert_ptr_null(branch_cache_get(&resolver, other, here.ip, there.ip));
	branch_cache_put(&resolver, other, &here, &there);
	ck_assert_ptr_nonnull(branch_cache_get(&resolver, other, here.ip, there.ip));
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip, there.ip));
}
END_TEST

START_TEST(a_branch_is_never_cached_where_more_than_its_ends_matters)
{
	const struct location in_bpf = { BPF + 8, NULL, 0 }, behind = { BPF + 64, NULL, 0 };
	const struct location trapping = { 0x3000, &with_traps, 0 };

	register_symbol(300, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_late" });
	open_built();
	branch_cache_put(&resolver, NULL, &in_bpf, &here);
	branch_cache_put(&resolver, NULL, &here, &in_bpf);
	branch_cache_put(&resolver, NULL, &trapping, &here);
	branch_cache_put(&resolver, NULL, &here, &trapping);
	branch_cache_put(&resolver, NULL, &here, &behind);
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, in_bpf.ip, here.ip));
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip, in_bpf.ip));
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, trapping.ip, here.ip));
	ck_assert_ptr_null(branch_cache_get(&resolver, NULL, here.ip, trapping.ip));
	ck_assert_ptr_nonnull(branch_cache_get(&resolver, NULL, here.ip, behind.ip));
}
END_TEST

/* ---- Branches of events -------------------------------------------------- */

static struct known_branches *known;

static struct branch_event event_of(uint64_t from, uint64_t to)
{
	return (struct branch_event){
		.from = from,
		.to = to,
		.kind = BRANCH_CALL,
		.known = known_branches_find(known, NULL, from, to),
	};
}

START_TEST(names_stay_with_the_branch_of_an_event)
{
	struct branch_event event, other;
	const struct location_pair *places;

	open_built();
	known = known_branches_open();
	event = event_of(here.ip, there.ip);
	ck_assert_ptr_null(resolver_get_known(&resolver, &event));
	places = resolver_find_event(&resolver, &event);
	ck_assert_ptr_eq(places, &event.known->places);
	ck_assert_uint_eq(places->from.ip, here.ip);
	ck_assert_uint_eq(places->to.ip, there.ip);
	ck_assert_ptr_eq(resolver_get_known(&resolver, &event), places);
	other = event_of(here.ip, there.ip + 1);
	ck_assert_ptr_null(resolver_get_known(&resolver, &other));
	known_branches_close(known);
}
END_TEST

START_TEST(names_that_depend_on_time_do_not_stay)
{
	struct branch_event event;

	register_symbol(100, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_one" });
	register_symbol(200, (struct ksymbol){ BPF, 64, TYPE_BPF, REGISTER, "bpf_prog_two" });
	open_built();
	known = known_branches_open();
	event = event_of(here.ip, BPF);
	resolver_advance(&resolver, 100);
	ck_assert_str_eq(resolver_find_event(&resolver, &event)->to.symbol->name->text,
			 "bpf_prog_one");
	ck_assert_ptr_null(resolver_get_known(&resolver, &event));
	resolver_advance(&resolver, 200);
	ck_assert_str_eq(resolver_find_event(&resolver, &event)->to.symbol->name->text,
			 "bpf_prog_two");
	known_branches_close(known);
}
END_TEST

/* The engine keeps no more of them; another event's word is no branch. */
START_TEST(events_without_a_known_branch_are_looked_up)
{
	struct branch_event event = { .from = here.ip, .to = there.ip, .kind = BRANCH_CALL };
	struct branch_event other = { .from = here.ip, .word = 1, .kind = BRANCH_CPU_EVENT };

	open_built();
	ck_assert_uint_eq(resolver_find_event(&resolver, &event)->to.ip, there.ip);
	ck_assert_ptr_nonnull(resolver_get_known(&resolver, &event));
	ck_assert_uint_eq(resolver_find_event(&resolver, &other)->from.ip, here.ip);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("resolve");
	TCase *all = tcase_create("resolve");

	tcase_add_checked_fixture(all, setup, teardown);
	tcase_add_test(all, kernel_code_has_the_name_under_which_it_was_registered_last);
	tcase_add_test(all,
		       kernel_code_that_takes_the_place_of_none_has_its_name_from_the_beginning);
	tcase_add_test(all, kernel_code_at_the_end_of_all_addresses_or_without_length_is_harmless);
	tcase_add_test(all, a_branch_is_cached_once_it_was_put);
	tcase_add_test(all, a_branch_is_of_its_address_space_only);
	tcase_add_test(all, a_branch_is_never_cached_where_more_than_its_ends_matters);
	tcase_add_test(all, names_stay_with_the_branch_of_an_event);
	tcase_add_test(all, names_that_depend_on_time_do_not_stay);
	tcase_add_test(all, events_without_a_known_branch_are_looked_up);
	suite_add_tcase(suite, all);
	return unit_run(suite);
}
