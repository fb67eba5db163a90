/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the structs that the BPF programs and the reader share (wire.h, settings.h, calls.h), with known values. A Java test
 * checks that the bridge decodes them.
 */
#include <stdio.h>
#include <string.h>

#include "../include/calls.h"

static void fill(__u8 *bytes, int count, int first)
{
	for (int i = 0; i < count; i++)
		bytes[i] = (__u8)(first + i);
}

static struct ispan_record record(__u16 kind)
{
	return (struct ispan_record){
		.start_ns = 0x1112131415161718ull,
		.end_ns = 0x2122232425262728ull,
		.owner = 0xa0a1a2a3a4a5a6a7ull,
		.tgid = 0x31323334u,
		.tid = 0x41424344u,
		.kind = kind,
		.source = ISPAN_SOURCE_INHERITED,
		.flags = ISPAN_RECORD_TEXT_CUT,
		.result = -110,
		.amount = 0x5152535455565758ull,
		.detail = 0x6162636465666768ull,
		.extra = 0x7172737475767778ull,
	};
}

static __u64 word(const __u8 *bytes)
{
	__u64 word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/* Order: record, text record, head record, request, own, settings, cookie: 64 + 192 + 192 + 56 + 32 + 88 + 8 = 632 bytes. */
int main(void)
{
	struct ispan_record plain = record(ISPAN_KIND_CUDA_LAUNCH);
	struct ispan_text_record text = {.record = record(ISPAN_KIND_OPENAT)};
	struct ispan_head_record head = {.owner.record = record(ISPAN_KIND_OWNER_BEGAN), .request_id = "chatcmpl-7"};
	struct ispan_request request = {.began_ns = 0x8182838485868788ull, .tgid = 0x91929394u, .fd = -1, .flags = 1, .tid = 7};
	struct ispan_own own = {};
	struct ispan_settings settings = {
		.version = ISPAN_WIRE_VERSION,
		.scope = ISPAN_SCOPE_EVERYTHING,
		.self_tgid = 0x01020304u,
		.flags = 0x03ffu,
		.min_nanos = 0x1122334455667788ull,
		.cgroup = 0x99aabbccddeeff00ull,
		.wakeup_bytes = 65536,
		.cgroup_level = 3,
	};
	struct ispan_call call = {
		.kind = ISPAN_KIND_CUDA_LAUNCH,
		.amount = ISPAN_FROM(DIM3, 2),
		.detail = ISPAN_FROM(VALUE, 8),
		.extra = ISPAN_FROM(VALUE, 1),
		.flags = ISPAN_CALL_RUNTIME,
		.shift = 2,
	};
	strcpy(text.text, "/models/example/config.json");
	fill(request.trace_id, sizeof(request.trace_id), 0x10);
	fill(request.span_id, sizeof(request.span_id), 0x30);
	fill(head.owner.trace_id, sizeof(head.owner.trace_id), 0xa0);
	fill(head.owner.span_id, sizeof(head.owner.span_id), 0xc0);
	fill(own.ids.trace_id, sizeof(own.ids.trace_id), 0x50);
	fill(own.ids.span_id, sizeof(own.ids.span_id), 0x70);
	own.owner = ispan_span_owner(word(own.ids.trace_id), word(own.ids.trace_id + 8), word(own.ids.span_id));
	fwrite(&plain, sizeof(plain), 1, stdout);
	fwrite(&text, sizeof(text), 1, stdout);
	fwrite(&head, sizeof(head), 1, stdout);
	fwrite(&request, sizeof(request), 1, stdout);
	fwrite(&own, sizeof(own), 1, stdout);
	fwrite(&settings, sizeof(settings), 1, stdout);
	fwrite(&call, sizeof(call), 1, stdout);
	return ferror(stdout);
}
