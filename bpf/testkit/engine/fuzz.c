/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fuzz [ROUNDS [SEED]]: tests the decoder of include/msgpack.h. Feeds it random messages of vLLM's processes, valid and corrupted, in
 * random pieces, and compares its events with the expected ones. engine/check runs this program. Its licence is that of the headers
 * that it includes.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t u8;
typedef uint32_t u32;
typedef uint64_t u64;
#define ZMTP_APART static
#define ZMTP_COPY(to, bytes, from) memcpy(to, from, bytes)
#include "../../include/outputs.h"

#define MOST_BYTES (1 << 16)
#define MOST_EVENTS 512

struct event {
	u8 event, finished;
	u32 tokens, length;
	u64 number;
	char id[ZMTP_ID_BYTES];
};

static u64 state;
static u8 bytes[MOST_BYTES + sizeof(struct zmtp_bytes)];
static u32 written;
static struct event wanted[MOST_EVENTS], found[MOST_EVENTS];
static u32 wanted_count, found_count;
static u64 fast_outputs; /* number of outputs that the fast path (include/outputs.h) decoded */
static bool is_broken;

static u32 below(u32 bound)
{
	state = state * 6364136223846793005ull + 1442695040888963407ull;
	return (u32)(state >> 33) % bound;
}

static void put(u8 byte)
{
	if (written < MOST_BYTES)
		bytes[written++] = byte;
}

static void put_number(u64 number, int count)
{
	while (count--)
		put(count < 8 ? number >> count * 8 & 0xff : 0);
}

static void put_text(const char *text, u32 length)
{
	if (length < 32 && below(2))
		put(0xa0 | length);
	else if (length < 256) {
		put(0xd9);
		put(length);
	} else {
		put(0xda);
		put_number(length, 2);
	}
	for (u32 i = 0; i < length; i++)
		put(text[i]);
}

static void put_array(u32 count)
{
	if (count < 16 && below(4))
		put(0x90 | count);
	else {
		put(0xdc);
		put_number(count, 2);
	}
}

/*
 * Writes nil. In a corrupted message, it may also be 0xc1, which msgpack does not use, or the first byte of binary data or an
 * extension.
 */
static void put_nil(void)
{
	put(!is_broken || below(16) ? 0xc0 : below(2) ? 0xc1 : 0xc4 + below(6));
}

static void put_scalar(void)
{
	switch (below(9)) {
	case 0: put(below(128)); return;
	case 1: put(0xc2 + below(2)); return;
	case 2: put(0xcc); put(below(256)); return;
	case 3: put(0xcd); put_number(below(65536), 2); return;
	case 4: put(0xce); put_number(state, 4); return;
	case 5: put(below(2) ? 0xcb : 0xcf); put_number(state, 8); return;
	case 6: put(0xca); put_number(state, 4); return;
	case 7: put(0xd0 + below(4)); put_number(state, 1 << (bytes[written - 1] & 3)); return;
	default:
		if (below(2))
			put_nil();
		else
			put(0xe0 | below(32));
	}
}

static void put_value(int depth)
{
	char canary[300];
	u32 count = below(5);

	memset(canary, 'C', sizeof(canary));
	switch (below(depth ? 12 : 10)) {
	case 0: put(below(128)); return;
	case 1: put(0xc0); return;
	case 2: put(0xcd); put_number(below(65536), 2); return;
	case 3: put(0xce); put_number(below(1 << 30), 4); return;
	case 4: put(0xcb); put_number(state, 8); return;
	case 5: put_text(canary, below(300)); return;
	case 6: put(0xc5); put_number(count * 9, 2); put_number(0, count * 9); return;
	case 7: put(0xd8); put_number(0, 17); return;
	case 8: put(0xc7); put(count); put(3); put_number(0, count); return;
	case 9: put(0xe0 | below(32)); return;
	case 10:
		put_array(count);
		while (count--)
			put_value(depth - 1);
		return;
	default:
		put(0x80 | count);
		for (count *= 2; count--;)
			put_value(depth - 1);
	}
}

static struct event *want(u8 what)
{
	struct event *event = &wanted[wanted_count < MOST_EVENTS - 1 ? wanted_count++ : wanted_count];

	memset(event, 0, sizeof(*event));
	event->event = what;
	return event;
}

static void put_id(struct event *event)
{
	u32 length = 1 + below(140);
	char text[160];

	for (u32 i = 0; i < length; i++)
		text[i] = 'a' + below(26);
	if (length < ZMTP_ID_BYTES)
		memcpy(event->id, text, length);
	put_text(text, length);
}

static u32 open_frame(void)
{
	u32 at = written;

	put_number(0, 9);
	return at;
}

/* Fills in the size of the frame. A size below 256 has one byte or eight. */
static void close_frame(u32 at, u8 flags)
{
	u32 size = written - at - 9;

	if (size < 256 && below(4)) {
		memmove(bytes + at + 2, bytes + at + 9, size);
		bytes[at] = flags;
		bytes[at + 1] = size;
		written -= 7;
		return;
	}
	bytes[at] = flags | ZMTP_LONG;
	for (int i = 0; i < 8; i++)
		bytes[at + 8 - i] = (u64)size >> i * 8 & 0xff;
}

static void put_add(void)
{
	struct event *event = want(ZMTP_ADDED);
	u32 at = open_frame();

	event->length = 10 + below(13);
	put_array(event->length);
	put_id(event);
	for (u32 i = 1; i < event->length; i++)
		put_value(2);
	close_frame(at, below(4) ? 0 : ZMTP_MORE);
	while (bytes[at] & ZMTP_MORE) { /* tensors */
		at = open_frame();
		put_number(state, below(9));
		close_frame(at, below(2) ? 0 : ZMTP_MORE);
	}
}

static void put_to_engine(void)
{
	u32 at = open_frame(), count = below(4);
	u8 type = below(4);

	put(type);
	close_frame(at, ZMTP_MORE);
	if (type == ZMTP_ADD) {
		put_add();
		return;
	}
	at = open_frame();
	put_array(count);
	for (u32 i = 0; i < count; i++) {
		struct event ignored;

		put_id(type == ZMTP_ABORT ? want(ZMTP_ABORTED) : &ignored);
	}
	close_frame(at, 0);
}

static void put_outputs(void)
{
	u32 at = open_frame(), count = below(6), length = 7 + below(12);
	bool short_fields = below(2);
	struct event *event;

	put_array(8);
	put(0);
	put_array(count);
	for (u32 i = 0; i < count; i++) {
		event = want(ZMTP_OUTPUT);
		event->length = length;
		put_array(length);
		put_id(event);
		put_array(event->tokens = short_fields && below(8) ? 1 : below(4));
		for (u32 token = 0; token < event->tokens; token++)
			if (short_fields)
				put_scalar();
			else
				put_value(0);
		for (u32 field = 2; field < length; field++) {
			bool is_finish = field == (length < 10 ? 4u : 5u);

			if (is_finish && (event->finished = below(2)))
				put(below(4));
			else if (is_finish)
				put_nil();
			else if (short_fields && (field == 10 || !below(64)))
				put_scalar();
			else if (short_fields && below(2))
				put_nil();
			else if (short_fields)
				put(below(128));
			else
				put_value(2);
		}
	}
	put_value(2);
	put(0xcb);
	event = want(ZMTP_OUTPUTS);
	event->number = state;
	put_number(state, 8);
	put_number(0xc0c0c0c0, 4);
	close_frame(at, 0);
}

static void put_command(void)
{
	u32 at = open_frame();

	put_number(state, below(9));
	close_frame(at, ZMTP_COMMAND);
}

/* Feeds the bytes in pieces, as from a socket. The decoder gets only the remaining bytes of a piece. */
static void read_all(bool outputs, bool fast)
{
	struct zmtp decoder = {.outputs = outputs}, *z = &decoder;
	u32 at = 0, piece = 0;

	found_count = 0;
	while (at < written) {
		u64 taken;

		if (!piece)
			piece = below(8) ? written - at : 1 + below(written - at);
		taken = fast && zmtp_begins_output(z) ? zmtp_plain_output(z, (struct zmtp_bytes *)(bytes + at), piece) : 0;
		fast_outputs += !!taken;
		if (!taken)
			taken = zmtp_take(z, bytes[at], piece);
		if (!taken || taken > piece)
			abort();
		at += taken;
		piece -= taken;
		if (z->event && found_count < MOST_EVENTS) {
			struct event *event = &found[found_count++];
			bool is_id = z->event < ZMTP_OUTPUTS;

			memset(event, 0, sizeof(*event));
			event->event = z->event;
			if (is_id && z->id_length)
				memcpy(event->id, z->id.text, ZMTP_ID_BYTES);
			event->length = z->event == ZMTP_ADDED || z->event == ZMTP_OUTPUT ? z->length : 0;
			event->tokens = z->event == ZMTP_OUTPUT ? z->tokens : 0;
			event->finished = z->event == ZMTP_OUTPUT ? z->finished : 0;
			event->number = z->event == ZMTP_OUTPUTS ? z->number : 0;
		}
		if (z->event == ZMTP_MALFORMED)
			return;
	}
}

static void compare(u64 seed)
{
	if (found_count != wanted_count || memcmp(found, wanted, found_count * sizeof(*found))) {
		printf("seed %llu: the decoder reported other events than expected (%u events, expected %u)\n", (unsigned long long)seed,
		       found_count, wanted_count);
		exit(1);
	}
}

static void play(u64 seed, bool broken)
{
	bool outputs = seed & 1;
	u32 messages = 1 + below(6);

	state = seed * 0x9e3779b97f4a7c15ull;
	is_broken = broken;
	written = wanted_count = found_count = 0;
	while (messages--) {
		if (!below(8))
			put_command();
		if (outputs)
			put_outputs();
		else
			put_to_engine();
	}
	if (broken && below(4) == 0)
		for (u32 i = 0; i < written; i++)
			bytes[i] = below(256);
	for (u32 faults = broken ? 1 + below(4) : 0; faults--;)
		bytes[below(written)] = below(2) ? below(256) : 0xc0 | below(32);
	read_all(outputs, false);
	if (broken) { /* the expected events are unknown, but must be the same on the fast path */
		wanted_count = found_count;
		memcpy(wanted, found, sizeof(found));
	}
	compare(seed);
	read_all(outputs, true);
	compare(seed);
}

int main(int argc, char **argv)
{
	u64 rounds = argc > 1 ? strtoull(argv[1], NULL, 10) : 100000;
	u64 seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	for (u64 round = 0; round < rounds; round++)
		play(seed + round, round % 4);
	printf("%llu streams of messages were decoded, with %llu outputs on the fast path\n", (unsigned long long)rounds,
	       (unsigned long long)fast_outputs);
	return !fast_outputs;
}
