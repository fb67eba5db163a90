/* SPDX-License-Identifier: GPL-2.0-only */
/* Outputs of an engine that are taken at once, as most can be. msgpack.h reads the others byte by byte. */
#ifndef INFERSPAN_OUTPUTS_H
#define INFERSPAN_OUTPUTS_H

#include "msgpack.h"

/* Bytes of a value that is no text, no container and none of the user's types; 0 of one that is. */
static __always_inline u32 zmtp_scalar_bytes(u8 head)
{
	if (head < 0x80 || head >= 0xe0)
		return 1;
	if (head < 0xc0 || head > 0xd3)
		return 0;
	return (head < 0xd0 ? 0x9532950000001101 : 0x9532) >> (head & 15) * 4 & 15;
}

#define ZMTP_PLAIN_BYTES 256 /* more than a plain output has, by eight at least; a power of two */

/* A reader may go beyond the end of what is there. */
struct zmtp_bytes {
	u8 at[ZMTP_PLAIN_BYTES + 8];
};

/* The same place. Older verifiers walk every one that it may be otherwise. */
static __always_inline u32 zmtp_place(u32 at)
{
	barrier_var(at);
	return at & (ZMTP_PLAIN_BYTES - 1);
}

/* Eight values that may be of one byte. */
static __always_inline u64 zmtp_eight(const struct zmtp_bytes *bytes, u32 at)
{
	u64 eight = 0;

	for (u32 i = 0; i < 8; i++)
		eight |= (u64)bytes->at[at + i] << i * 8;
	return eight;
}

#define EACH(byte) (0x0101010101010101ull * (byte))

/* The high bit of each of eight bytes that is not nil. */
static __always_inline u64 zmtp_not_nil(u64 eight)
{
	u64 other = eight ^ EACH(0xc0);

	return (((other & EACH(0x7f)) + EACH(0x7f)) | other) & EACH(0x80);
}

/* Whether the first of eight bytes are small numbers or nil. */
static __always_inline bool zmtp_are_small(u64 eight, u32 first)
{
	return first == 0 || !((eight & zmtp_not_nil(eight)) << (8 - first) * 8);
}

static __always_inline bool zmtp_begins_output(const struct zmtp *z)
{
	return z->at == AT_VALUE && z->value == VALUE_OUTPUT && !z->nested;
}

/*
 * Takes an output at once if all of it is there, and it is one as most are: of one token, and fields that are nil or small, but for
 * the number of cached tokens. Says how many bytes it has; 0, and nothing has happened, if it has to be read byte by byte. That is
 * slow: a step may have hundreds.
 */
ZMTP_APART int zmtp_plain_output(struct zmtp *z, const struct zmtp_bytes *bytes, u64 available)
{
	u32 fields, text, id = 2, at, size;
	u64 eight;

	if (!z || !bytes || bytes->at[0] < 0x97 || bytes->at[0] > 0x9f)
		return 0;
	fields = bytes->at[0] & 15;
	text = bytes->at[1] & 31;
	if (bytes->at[1] == 0xd9) {
		text = bytes->at[2];
		id = 3;
	} else if (bytes->at[1] < 0xa0 || bytes->at[1] > 0xbf) {
		return 0;
	}
	if (!text || text >= ZMTP_ID_BYTES)
		return 0;
	at = zmtp_place(id + text);
	if (bytes->at[at] != 0x91) /* a loop over several would not load on Linux 6.1 */
		return 0;
	size = zmtp_scalar_bytes(bytes->at[zmtp_place(at + 1)]);
	if (!size)
		return 0;
	at += 1 + size;
	eight = zmtp_eight(bytes, zmtp_place(at));
	if (!zmtp_are_small(eight, fields < 10 ? fields - 2 : 8))
		return 0;
	at += fields < 10 ? fields - 2 : 8;
	if (fields > 10) {
		size = zmtp_scalar_bytes(bytes->at[zmtp_place(at)]);
		at += size;
		if (!size || !zmtp_are_small(zmtp_eight(bytes, zmtp_place(at)), fields - 11))
			return 0;
		at += fields - 11;
	}
	if (at > available || at >= z->left)
		return 0;
	__builtin_memset(z->id.text, 0, sizeof(z->id.text));
	ZMTP_COPY(z->id.text, text, bytes->at + id);
	z->left -= at;
	z->id_length = z->id_read = text;
	z->length = z->field = fields;
	z->tokens = 1;
	z->finished = zmtp_not_nil(eight) >> ((fields < 10 ? 2 : 3) * 8 + 7) & 1;
	z->event = ZMTP_OUTPUT;
	z->value = --z->count ? VALUE_OUTPUT : VALUE_STATS;
	return at;
}

#endif
