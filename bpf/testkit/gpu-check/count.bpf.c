/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probes of `gpu-check` that do not report calls: a program that counts the calls of functions, and an empty program, which
 * measures the cost of a probe alone.
 */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define FUNCTIONS 4096

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, FUNCTIONS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* Increments the counter whose index is the attach cookie. */
SEC("uprobe")
int count(void *registers)
{
	__u32 index = (__u32)bpf_get_attach_cookie(registers) % FUNCTIONS;
	__u64 *counter = bpf_map_lookup_elem(&counts, &index);

	if (counter)
		*counter += 1;
	return 0;
}

SEC("uprobe")
int nothing(void *registers)
{
	return 0;
}
