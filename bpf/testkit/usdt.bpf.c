/* SPDX-License-Identifier: GPL-2.0-only */
/* Counts the hits of the USDT probe in usdt.c, and stores its arguments and cookie, for tests of the bridge's loader. */
#define __VMLINUX_H__
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __s8 s8;
typedef __u16 u16;
typedef __s16 s16;
typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};

#include <bpf/bpf_helpers.h>
#include <bpf/usdt.bpf.h>

char LICENSE[] SEC("license") = "GPL";

#define SLOTS 4

/* The number of hits; the two arguments and the cookie of the last one. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLOTS);
	__type(key, __u32);
	__type(value, __u64);
} seen SEC(".maps");

static __always_inline void keep(__u32 slot, __u64 value, bool add)
{
	__u64 *kept = bpf_map_lookup_elem(&seen, &slot);

	if (kept)
		*kept = add ? *kept + value : value;
}

SEC("usdt")
int BPF_USDT(on_point, long first, long second)
{
	keep(0, 1, true);
	keep(1, first, false);
	keep(2, second, false);
	keep(3, bpf_usdt_cookie(ctx), false);
	return 0;
}
