/* SPDX-License-Identifier: GPL-2.0-only */
/* Included by the programs in this folder. Each makes one mistake, in a form that the verifiers of all kernels refuse. */
#ifndef INFERSPAN_BAD_H
#define INFERSPAN_BAD_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

struct row {
	__u64 slots[8];
};

/* A hash, because newer verifiers know that a look-up of a constant index in an array never returns NULL. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, struct row);
} rows SEC(".maps");

#endif
