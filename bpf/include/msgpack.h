/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes the messages between vLLM's API server and its engine, byte by byte. Finds out which requests arrive, end, and get tokens.
 * Decodes only the id of a request that arrives, and skips the rest of the frame. testkit/engine/fuzz.c also compiles this file, as
 * ordinary C.
 */
#ifndef INFERSPAN_MSGPACK_H
#define INFERSPAN_MSGPACK_H

#include "zmtp.h"

/* Called at the end of a value; determines the next one. */
ZMTP_APART int zmtp_value_ended(struct zmtp *z)
{
	if (!z)
		return 0;
	z->at = AT_VALUE;
	if (z->nested && --z->nested)
		return 0;
	switch (z->value) {
	case VALUE_ID:
		z->event = z->type == ZMTP_ADD ? ZMTP_ADDED : ZMTP_ABORTED;
		if (z->type == ZMTP_ADD || !--z->count)
			zmtp_step_over_rest(z);
		return 0;
	case VALUE_ENGINE:
		z->value = VALUE_OUTPUTS;
		return 0;
	case VALUE_FIELD:
		if (++z->field < z->length)
			return 0;
		z->event = ZMTP_OUTPUT;
		z->value = --z->count ? VALUE_OUTPUT : VALUE_STATS;
		return 0;
	case VALUE_STATS:
		z->value = VALUE_TIME;
		return 0;
	case VALUE_TIME:
		z->event = ZMTP_OUTPUTS;
		zmtp_step_over_rest(z);
		return 0;
	}
	return 0;
}

static __always_inline void zmtp_skip(struct zmtp *z, u64 bytes)
{
	if (bytes > z->left) {
		zmtp_fail(z);
		return;
	}
	z->skip = bytes;
	z->at = AT_BYTES;
	if (!bytes)
		zmtp_value_ended(z);
}

/* Begins an array or a map: enters it if its content is relevant, else skips its values. */
ZMTP_APART int zmtp_container(struct zmtp *z, u64 values, u64 is_array)
{
	if (!z)
		return 0;
	if (values > z->left) { /* each value has at least one byte */
		zmtp_fail(z);
		return 0;
	}
	if (z->nested) {
		z->nested += values;
		zmtp_value_ended(z);
		return 0;
	}
	switch (is_array ? z->value : VALUE_STATS) {
	case VALUE_REQUEST:
		z->length = values;
		z->value = VALUE_ID;
		z->at = AT_VALUE;
		if (values < 10 || values > 22)
			zmtp_fail(z);
		return 0;
	case VALUE_ABORTS:
		z->count = values;
		z->value = VALUE_ID;
		z->at = AT_VALUE;
		if (!values)
			zmtp_step_over_rest(z);
		return 0;
	case VALUE_STEP:
		z->value = VALUE_ENGINE;
		z->at = AT_VALUE;
		if (values != 8)
			zmtp_fail(z);
		return 0;
	case VALUE_OUTPUTS:
		z->count = values;
		z->value = values ? VALUE_OUTPUT : VALUE_STATS;
		z->at = AT_VALUE;
		return 0;
	case VALUE_OUTPUT:
		z->length = values;
		z->field = z->tokens = z->finished = 0;
		z->value = VALUE_FIELD;
		z->at = AT_VALUE;
		if (values < 7 || values > 18)
			zmtp_fail(z);
		return 0;
	default:
		if (z->value == VALUE_FIELD && z->field == 1)
			z->tokens = values < ZMTP_MOST_TOKENS ? values : ZMTP_MOST_TOKENS;
		if (z->value != VALUE_FIELD && z->value != VALUE_STATS) {
			zmtp_fail(z);
			return 0;
		}
		z->nested = values + 1;
		zmtp_value_ended(z);
	}
	return 0;
}

static __always_inline bool zmtp_is_id(const struct zmtp *z)
{
	return !z->nested && (z->value == VALUE_ID || (z->value == VALUE_FIELD && !z->field));
}

static __always_inline void zmtp_text(struct zmtp *z, u64 bytes)
{
	if (!zmtp_is_id(z)) {
		zmtp_skip(z, bytes);
		return;
	}
	__builtin_memset(z->id.text, 0, sizeof(z->id.text));
	z->id_length = 0;
	z->id_read = 0;
	if (!bytes || bytes >= ZMTP_ID_BYTES || bytes > z->left) {
		zmtp_skip(z, bytes);
		return;
	}
	z->id_length = bytes;
	z->at = AT_ID;
}

static __always_inline void zmtp_want(struct zmtp *z, u8 bytes)
{
	z->number = 0;
	z->want = bytes;
	z->at = AT_NUMBER;
}

/*
 * Returns whether the field is the finish reason; nil means that the request continues. In arrays of fewer than 10 fields, it
 * is one field earlier.
 */
static __always_inline bool zmtp_is_finish(const struct zmtp *z)
{
	return !z->nested && z->value == VALUE_FIELD && z->field == (z->length < 10 ? 4 : 5);
}

/* Called when the number after a value's first byte is complete: it is the value's length, or the value itself. */
ZMTP_APART int zmtp_number(struct zmtp *z)
{
	if (!z)
		return 0;
	switch (z->head) {
	case 0xc4 ... 0xc6:
		zmtp_skip(z, z->number);
		return 0;
	case 0xc7 ... 0xc9:
		zmtp_skip(z, z->number + 1);
		return 0;
	case 0xd9 ... 0xdb:
		zmtp_text(z, z->number);
		return 0;
	case 0xdc ... 0xdd:
		zmtp_container(z, z->number, true);
		return 0;
	case 0xde ... 0xdf:
		zmtp_container(z, z->number * 2, false);
		return 0;
	default:
		zmtp_value_ended(z);
	}
	return 0;
}

/* Returns whether a relevant value has the expected type. Otherwise, the bytes are not a message of an engine. */
static __always_inline bool zmtp_fits(const struct zmtp *z, u8 head)
{
	bool text = (head >= 0xa0 && head <= 0xbf) || (head >= 0xd9 && head <= 0xdb);
	bool array = (head >= 0x90 && head <= 0x9f) || head == 0xdc || head == 0xdd;

	if (z->nested)
		return true;
	if (zmtp_is_id(z))
		return text;
	switch (z->value) {
	case VALUE_REQUEST:
	case VALUE_ABORTS:
	case VALUE_STEP:
	case VALUE_OUTPUTS:
	case VALUE_OUTPUT:
		return array;
	case VALUE_TIME:
		return head == 0xcb;
	default:
		return true;
	}
}

ZMTP_APART int zmtp_value(struct zmtp *z, u64 first)
{
	u8 head = first;

	if (!z)
		return 0;
	z->head = head;
	if (!zmtp_fits(z, head)) {
		zmtp_fail(z);
		return 0;
	}
	if (zmtp_is_finish(z) && head != 0xc0)
		z->finished = 1;
	switch (head) {
	case 0x80 ... 0x8f:
		zmtp_container(z, (head & 15) * 2, false);
		return 0;
	case 0x90 ... 0x9f:
		zmtp_container(z, head & 15, true);
		return 0;
	case 0xa0 ... 0xbf:
		zmtp_text(z, head & 31);
		return 0;
	case 0xc1:
		zmtp_fail(z);
		return 0;
	case 0xc4 ... 0xc6: /* 1, 2 or 4 bytes of length */
		zmtp_want(z, 1 << (head - 0xc4));
		return 0;
	case 0xc7 ... 0xc9:
		zmtp_want(z, 1 << (head - 0xc7));
		return 0;
	case 0xca ... 0xcb:
		zmtp_want(z, 4 << (head - 0xca));
		return 0;
	case 0xcc ... 0xcf:
		zmtp_want(z, 1 << (head - 0xcc));
		return 0;
	case 0xd0 ... 0xd3:
		zmtp_want(z, 1 << (head - 0xd0));
		return 0;
	case 0xd4 ... 0xd8:
		zmtp_skip(z, (1 << (head - 0xd4)) + 1);
		return 0;
	case 0xd9 ... 0xdb:
		zmtp_want(z, 1 << (head - 0xd9));
		return 0;
	case 0xdc ... 0xdd:
		zmtp_want(z, 2 << (head - 0xdc));
		return 0;
	case 0xde ... 0xdf:
		zmtp_want(z, 2 << (head - 0xde));
		return 0;
	default:
		zmtp_value_ended(z);
	}
	return 0;
}

/*
 * Consumes the next byte, or skips available bytes; returns the number of consumed bytes. A frame that ends within a value is
 * malformed.
 */
ZMTP_APART u64 zmtp_take(struct zmtp *z, u64 next, u64 available)
{
	u8 byte = next;
	u64 taken = 1;

	if (!z)
		return 1;

	z->event = ZMTP_NOTHING;
	if (z->at == AT_FLAGS) {
		if (byte & ~(ZMTP_MORE | ZMTP_LONG | ZMTP_COMMAND))
			zmtp_fail(z);
		z->flags = byte;
		z->want = byte & ZMTP_LONG ? 8 : 1;
		z->left = 0;
		z->at = AT_SIZE;
		return 1;
	}
	if (z->at == AT_SIZE) {
		z->left = z->left << 8 | byte;
		if (!--z->want) {
			if (z->left > ZMTP_MOST)
				zmtp_fail(z);
			else
				zmtp_frame_begins(z);
		}
		return 1;
	}
	if (z->at == AT_REST || z->at == AT_BYTES) {
		u64 whole = z->at == AT_REST ? z->left : z->skip;

		taken = whole < available ? whole : available;
	}
	if (z->left < taken) {
		zmtp_fail(z);
		return 1;
	}
	z->left -= taken;
	switch (z->at) {
	case AT_REST:
		if (!z->left)
			zmtp_frame_ended(z);
		return taken;
	case AT_TYPE:
		z->type = byte;
		zmtp_frame_ended(z);
		return taken;
	case AT_VALUE:
		zmtp_value(z, byte);
		break;
	case AT_NUMBER:
		z->number = z->number << 8 | byte;
		if (!--z->want)
			zmtp_number(z);
		break;
	case AT_BYTES:
		z->skip -= taken;
		if (!z->skip)
			zmtp_value_ended(z);
		break;
	case AT_ID:
		if (z->id_read < ZMTP_ID_BYTES)
			z->id.text[z->id_read] = byte;
		if (++z->id_read == z->id_length)
			zmtp_value_ended(z);
		break;
	default:
		zmtp_fail(z);
	}
	if (!z->left && z->at >= AT_VALUE)
		zmtp_fail(z);
	return taken;
}

#endif
