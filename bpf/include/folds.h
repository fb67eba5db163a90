/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Folds events: adds them to sums instead of writing them to the ring. There is one sum per owner and kind of event. The owner is
 * what an event is attributed to, such as a request. The settings have a level for each class of events, which determines which
 * events are folded.
 */
#ifndef INFERSPAN_FOLDS_H
#define INFERSPAN_FOLDS_H

#include "context.h"

#define RAISES 4 /* attempts */

/* Raises a maximum. It may be updated concurrently, because several threads can have the same owner. */
static __always_inline void raise_maximum(u64 *most, u64 value)
{
	for (int i = 0; i < RAISES; i++) {
		u64 was = *most;

		if (was >= value || __sync_val_compare_and_swap(most, was, value) == was)
			return;
	}
}

/*
 * Finds or creates the event's fold, that is, the sum of its owner and kind. A new fold is a copy of no_fold that is filled in the
 * map, because the programs for system calls have no stack left for it.
 */
static __always_inline struct ispan_fold *fold_of(const struct ispan_record *record)
{
	struct ispan_fold_key key = {.owner = record->owner, .kind = record->kind};
	struct ispan_fold *fold = bpf_map_lookup_elem(&folds, &key);
	u32 zero = 0;
	void *blank;

	if (!fold) {
		blank = bpf_map_lookup_elem(&no_fold, &zero);
		if (!blank)
			return NULL;
		bpf_map_update_elem(&folds, &key, blank, BPF_NOEXIST);
		fold = bpf_map_lookup_elem(&folds, &key);
	}
	if (fold && !fold->tgid) {
		fold->first_ns = record->start_ns;
		fold->tid = record->tid;
		fold->source = record->source;
		fold->tgid = record->tgid;
	}
	return fold;
}

/* Adds the event to its fold. Returns false if the map is full; then the event is written. */
static __always_inline bool add_to_fold(const struct ispan_record *record, bool counted_only, u32 generation)
{
	u64 nanos = record->end_ns - record->start_ns;
	struct ispan_fold *fold = fold_of(record);

	if (!fold)
		return false;
	raise_maximum(&fold->last_ns, record->end_ns);
	fold->generation = generation;
	if (counted_only) {
		__sync_fetch_and_add(&fold->dropped, 1);
		return true;
	}
	__sync_fetch_and_add(&fold->sum_ns, nanos);
	__sync_fetch_and_add(&fold->amount, record->amount);
	raise_maximum(&fold->most_ns, nanos);
	raise_maximum(&fold->least_left, ~nanos);
	__sync_fetch_and_add(&fold->count, 1);
	return true;
}

/* Folds or counts the event if the level of its class requires it; returns whether it was folded or counted. */
static __always_inline bool shed_event(const struct ispan_settings *settings, u32 class, const struct ispan_record *record)
{
	u8 level = settings->levels[class];

	if (!level || (level == ISPAN_LEVEL_SAMPLED && bpf_get_prandom_u32() % ISPAN_SAMPLED_OF == 0))
		return false;
	if (!add_to_fold(record, level >= ISPAN_LEVEL_COUNTED, 0))
		return false;
	count(ISPAN_COUNT_SHED + class);
	return true;
}

#endif
