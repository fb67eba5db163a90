/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the bad programs share. Each makes one mistake that the verifier must find, in a form that no kernel accepts;
 * each is correct but for that.
 */
#ifndef INFERSPAN_BAD_H
#define INFERSPAN_BAD_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct row {
	__u64 slots[8];
};

/* A hash, because newer kernels know that a constant key of an array is always there. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct row);
} rows SEC(".maps");

#endif
