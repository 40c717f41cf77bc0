/* SPDX-License-Identifier: MIT */
/* The tables of names, in the order of OCaml's enumerations. */
#include "overlays/runtime_events_names.h"

#include <stddef.h>

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

static const char *const phases[] = {
	"explicit_gc_set",
	"explicit_gc_stat",
	"explicit_gc_minor",
	"explicit_gc_major",
	"explicit_gc_full_major",
	"explicit_gc_compact",
	"major",
	"major_sweep",
	"major_mark_roots",
	"major_memprof_roots",
	"major_mark",
	"minor",
	"minor_local_roots",
	"minor_memprof_roots",
	"minor_memprof_clean",
	"minor_finalized",
	"explicit_gc_major_slice",
	"finalise_update_first",
	"finalise_update_last",
	"interrupt_remote",
	"major_ephe_mark",
	"major_ephe_sweep",
	"major_finish_marking",
	"major_gc_cycle_domains",
	"major_gc_phase_change",
	"major_gc_stw",
	"major_mark_opportunistic",
	"major_slice",
	"major_finish_cycle",
	"minor_clear",
	"minor_finalizers_oldify",
	"minor_global_roots",
	"minor_leave_barrier",
	"stw_api_barrier",
	"stw_handler",
	"stw_leader",
	"major_finish_sweeping",
	"major_memprof_clean",
	"minor_finalizers_admin",
	"minor_remembered_set",
	"minor_remembered_set_promote",
	"minor_local_roots_promote",
	"domain_condition_wait",
	"domain_resize_heap_reservation",
	"compaction",
	"compaction_evacuate",
	"compaction_forward",
	"compaction_release",
	"empty_minor",
	"minor_ephe_clean",
};

/* Phases that OCaml 5.3 put before others, by their number there; others came at the end. */
static const unsigned inserted_5_3[] = { 9, 13, 14, 37 };

static const struct {
	const char *name;
	enum runtime_counter_unit unit;
} counters[] = {
	{ "force_minor_alloc_small", RUNTIME_UNIT_EVENTS },
	{ "force_minor_make_vect", RUNTIME_UNIT_EVENTS },
	{ "force_minor_set_minor_heap_size", RUNTIME_UNIT_EVENTS },
	{ "force_minor_memprof", RUNTIME_UNIT_EVENTS },
	{ "minor_promoted", RUNTIME_UNIT_BYTES },
	{ "minor_allocated", RUNTIME_UNIT_BYTES },
	{ "request_major_alloc_shr", RUNTIME_UNIT_EVENTS },
	{ "request_major_adjust_gc_speed", RUNTIME_UNIT_EVENTS },
	{ "request_minor_realloc_ref_table", RUNTIME_UNIT_EVENTS },
	{ "request_minor_realloc_ephe_ref_table", RUNTIME_UNIT_EVENTS },
	{ "request_minor_realloc_custom_table", RUNTIME_UNIT_EVENTS },
	{ "major_heap_pool_words", RUNTIME_UNIT_WORDS },
	{ "major_heap_pool_live_words", RUNTIME_UNIT_WORDS },
	{ "major_heap_large_words", RUNTIME_UNIT_WORDS },
	{ "major_heap_pool_frag_words", RUNTIME_UNIT_WORDS },
	{ "major_heap_pool_live_blocks", RUNTIME_UNIT_BLOCKS },
	{ "major_heap_large_blocks", RUNTIME_UNIT_BLOCKS },
	{ "major_heap_words", RUNTIME_UNIT_WORDS },
	{ "major_allocated_words", RUNTIME_UNIT_WORDS },
	{ "major_allocated_work", RUNTIME_UNIT_WORK },
	{ "major_dependent_work", RUNTIME_UNIT_WORK },
	{ "major_extra_work", RUNTIME_UNIT_WORK },
	{ "major_work_counter", RUNTIME_UNIT_WORK },
	{ "major_alloc_counter", RUNTIME_UNIT_WORK },
	{ "major_slice_target", RUNTIME_UNIT_WORK },
	{ "major_slice_budget", RUNTIME_UNIT_WORK },
	/* OCaml 5.5.0 counts bytes here, whatever the name says. */
	{ "minor_allocated_words", RUNTIME_UNIT_BYTES },
	{ "minor_promoted_words", RUNTIME_UNIT_WORDS },
};

static const char *const lifecycles[] = {
	"ring_start",  "ring_stop",  "ring_pause",   "ring_resume",
	"fork_parent", "fork_child", "domain_spawn", "domain_terminate",
};

const char *runtime_phase_name(enum runtime_phases table, unsigned phase)
{
	if (table == RUNTIME_PHASES_5_0) {
		if (phase >= RUNTIME_PHASE_ONLY_5_3)
			return NULL;
		for (size_t i = 0; i < COUNT_OF(inserted_5_3); i++)
			phase += phase >= inserted_5_3[i];
	}
	return phase < COUNT_OF(phases) ? phases[phase] : NULL;
}

const char *runtime_counter_name(unsigned counter)
{
	return counter < COUNT_OF(counters) ? counters[counter].name : NULL;
}

enum runtime_counter_unit runtime_counter_unit(unsigned counter)
{
	return counter < COUNT_OF(counters) ? counters[counter].unit : RUNTIME_UNIT_WORK;
}

const char *runtime_lifecycle_name(unsigned event)
{
	return event < COUNT_OF(lifecycles) ? lifecycles[event] : NULL;
}
