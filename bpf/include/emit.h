/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes records to the ring buffer for the reader (the bridge or a test program), and counts each of them. */
#ifndef INFERSPAN_EMIT_H
#define INFERSPAN_EMIT_H

#include "maps.h"

/*
 * A waiting reader is woken only while the unread bytes exceed settings.wakeup_bytes by less than this number. More wake-ups are
 * not needed, because the reader then takes all records.
 */
#define WAKEUP_WINDOW (64 * 1024)
/* Each CPU checks the unread bytes at every 16th event of a kind. Fewer bytes than the window are written between two checks. */
#define WAKEUP_STRIDE 16

/*
 * Increments a counter and returns its value. The addition is atomic, because the scheduler's programs interrupt other programs
 * on the same CPU.
 */
static __always_inline u64 count(u32 index)
{
	u64 *value = bpf_map_lookup_elem(&counters, &index);

	if (!value)
		return 0;
	__sync_fetch_and_add(value, 1);
	return *value; /* approximate: the atomic fetch instruction needs Linux 5.12 */
}

static __always_inline void count_more(u32 index, u64 more)
{
	u64 *value = bpf_map_lookup_elem(&counters, &index);

	if (value)
		__sync_fetch_and_add(value, more);
}

/* Returns the settings, or NULL until the reader has filled them in. */
static __always_inline struct ispan_settings *current_settings(void)
{
	u32 zero = 0;
	struct ispan_settings *now = bpf_map_lookup_elem(&settings, &zero);

	return now && now->version == ISPAN_WIRE_VERSION ? now : NULL;
}

/*
 * Returns the time in nanoseconds if runs of programs are measured. Otherwise, returns 0, or 1 if measuring ends at this moment.
 * Reads the flag twice, so that the verifier does not check the rest of the program once for each value of the flag.
 */
static __always_inline u64 run_begins(const struct ispan_settings *settings)
{
	const volatile u32 *measured = &settings->measured;
	u64 began = *measured;

	if (*measured)
		began = bpf_ktime_get_ns();
	return began;
}

/* Counts a run and its time. Not static, so that the verifier checks it once. */
__noinline int add_run(u32 which, u64 began)
{
	count_more(ISPAN_COUNT_RUNS + which, 1);
	count_more(ISPAN_COUNT_RUN_NANOS + which, bpf_ktime_get_ns() - began);
	return 0;
}

static __always_inline void run_ends(u32 which, u64 began)
{
	if (began > 1)
		add_run(which, began);
}

/* Wakes a sleeping reader. From then on, it counts as polling, because more wake-ups would cost more than the records. */
static __always_inline u64 wake_reader(void)
{
	struct ispan_settings *now = current_settings();

	if (now)
		now->reader = ISPAN_READER_POLLS;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * Returns the flags with which to submit a record: whether it wakes the reader. Called after the record was reserved, so that a
 * reader that falls asleep meanwhile is still woken.
 */
static __always_inline u64 wakeup_flags(const struct ispan_settings *settings, u64 produced)
{
	u64 threshold = settings->wakeup_bytes;
	u64 waiting;

	/* Force the wake-up: by default, the ring wakes the reader only if it has read all earlier records. */
	if (settings->reader == ISPAN_READER_SLEEPS)
		return wake_reader();
	if (settings->reader != ISPAN_READER_WAITS || produced % WAKEUP_STRIDE)
		return BPF_RB_NO_WAKEUP;
	waiting = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
	return waiting >= threshold && waiting < threshold + WAKEUP_WINDOW ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/*
 * Reserves bytes in the ring; the caller submits them with wakeup_flags. If the ring is full, returns NULL and counts a dropped record.
 */
static __always_inline void *reserve_bytes(u64 bytes, u16 kind, u64 *produced)
{
	void *room;

	*produced = count(ISPAN_COUNT_PRODUCED + (kind & (ISPAN_KINDS - 1)));
	room = bpf_ringbuf_reserve(&events, bytes, 0);
	if (!room)
		count(ISPAN_COUNT_DROPPED_RING_FULL);
	return room;
}

static __always_inline struct ispan_record *reserve_record(u16 kind, u64 *produced)
{
	return reserve_bytes(sizeof(struct ispan_record), kind, produced);
}

static __always_inline void emit(const struct ispan_settings *settings, struct ispan_record *record)
{
	u64 produced;
	struct ispan_record *room = reserve_record(record->kind, &produced);

	if (!room)
		return;
	*room = *record;
	bpf_ringbuf_submit(room, wakeup_flags(settings, produced));
}

/* Writes a record that can wait for the reader's next poll, without a wake-up. */
static __always_inline void emit_quietly(struct ispan_record *record)
{
	u64 produced;
	struct ispan_record *room = reserve_record(record->kind, &produced);

	if (!room)
		return;
	*room = *record;
	bpf_ringbuf_submit(room, BPF_RB_NO_WAKEUP);
}

enum text_origin { TEXT_USER, TEXT_KERNEL };

static __always_inline void write_text(const struct ispan_settings *settings, struct ispan_record *record,
				       const void *text, enum text_origin origin, bool quietly)
{
	u64 produced;
	struct ispan_text_record *slot = reserve_bytes(sizeof(*slot), record->kind, &produced);
	long length;

	if (!slot)
		return;
	/* Clear the text: the ring still contains data of an earlier record. */
	__builtin_memset(slot->text, 0, sizeof(slot->text));
	slot->record = *record;
	if (origin == TEXT_USER)
		length = bpf_probe_read_user_str(slot->text, sizeof(slot->text), text);
	else
		length = bpf_probe_read_kernel_str(slot->text, sizeof(slot->text), text);
	if (length == sizeof(slot->text))
		slot->record.flags |= ISPAN_RECORD_TEXT_CUT;
	bpf_ringbuf_submit(slot, quietly ? BPF_RB_NO_WAKEUP : wakeup_flags(settings, produced));
}

static __always_inline void emit_text(const struct ispan_settings *settings, struct ispan_record *record,
				      const void *text, enum text_origin origin)
{
	write_text(settings, record, text, origin, false);
}

#endif
