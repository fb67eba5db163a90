/* SPDX-License-Identifier: GPL-2.0-only */
/* Writing records to the ring, with every one of them accounted for. */
#ifndef INFERSPAN_EMIT_H
#define INFERSPAN_EMIT_H

#include "maps.h"

/* How far beyond the wake-up mark a wake-up is still sent: one suffices, because the reader then takes all there is. */
#define WAKEUP_WINDOW (64 * 1024)
/* The ring's fill is looked at once in so many events of a kind and CPU; the window is wide enough not to be jumped. */
#define WAKEUP_STRIDE 16

/* Atomic, because the scheduler's programs interrupt the others on the same CPU. */
static __always_inline u64 count(u32 index)
{
	u64 *value = bpf_map_lookup_elem(&counters, &index);

	if (!value)
		return 0;
	__sync_fetch_and_add(value, 1);
	return *value; /* about: the instruction that tells exactly came with Linux 5.12 */
}

/* The settings, or NULL as long as the reader has not filled them in. */
static __always_inline struct ispan_settings *current_settings(void)
{
	u32 zero = 0;
	struct ispan_settings *now = bpf_map_lookup_elem(&settings, &zero);

	return now && now->version == ISPAN_WIRE_VERSION ? now : NULL;
}

/* The first that calls calls for all that come until the reader looks: to call costs more than a record. */
static __always_inline u64 call_reader(void)
{
	struct ispan_settings *now = current_settings();

	if (now)
		now->reader = ISPAN_READER_LOOKS;
	return BPF_RB_FORCE_WAKEUP;
}

/*
 * Asked between having room and submitting, so that a reader that falls asleep meanwhile sees that something comes. To
 * send a wake-up costs more than a record, so a reader that polls is not woken.
 */
static __always_inline u64 wakeup_flags(const struct ispan_settings *settings, u64 produced)
{
	u64 mark = settings->wakeup_bytes;
	u64 waiting;

	/* Of its own the ring would not call where a record that was written quietly has not been read. */
	if (settings->reader == ISPAN_READER_SLEEPS)
		return call_reader();
	if (settings->reader != ISPAN_READER_WAITS || produced % WAKEUP_STRIDE)
		return BPF_RB_NO_WAKEUP;
	waiting = bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA);
	return waiting >= mark && waiting < mark + WAKEUP_WINDOW ? BPF_RB_FORCE_WAKEUP : BPF_RB_NO_WAKEUP;
}

/* Room in the ring for so many bytes, that are then submitted with wakeup_flags, or NULL: then the record is counted as dropped. */
static __always_inline void *room_of(u64 bytes, u16 kind, u64 *produced)
{
	void *room;

	*produced = count(ISPAN_COUNT_PRODUCED + (kind & (ISPAN_KINDS - 1)));
	room = bpf_ringbuf_reserve(&events, bytes, 0);
	if (!room)
		count(ISPAN_COUNT_DROPPED_RING_FULL);
	return room;
}

static __always_inline struct ispan_record *room_for(u16 kind, u64 *produced)
{
	return room_of(sizeof(struct ispan_record), kind, produced);
}

static __always_inline void emit(const struct ispan_settings *settings, struct ispan_record *record)
{
	u64 produced;
	struct ispan_record *room = room_for(record->kind, &produced);

	if (!room)
		return;
	*room = *record;
	bpf_ringbuf_submit(room, wakeup_flags(settings, produced));
}

/* For records that may wait until the reader polls: it is not woken. */
static __always_inline void emit_quietly(struct ispan_record *record)
{
	u64 produced;
	struct ispan_record *room = room_for(record->kind, &produced);

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
	struct ispan_text_record *slot = room_of(sizeof(*slot), record->kind, &produced);
	long length;

	if (!slot)
		return;
	/* The ring holds what was written there before: none of it may be mistaken for this record's text. */
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
