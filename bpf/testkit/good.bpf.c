/* SPDX-License-Identifier: GPL-2.0-only */
/* A program of each type that the bridge attaches or runs, for tests of its loader. They count their runs, or fill the ring. */
#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "GPL";

#define COUNTERS 16
#define AT_RETURN 8
#define AT_SYSTEM_CALL 9

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, COUNTERS);
	__type(key, __u32);
	__type(value, __u64);
} counts SEC(".maps");

/* The pid of the process whose system calls are counted. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, __u64);
} watched SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 8);
	__type(key, __u32);
	__type(value, __u64);
} table SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 64 << 10);
} ring SEC(".maps");

struct filling {
	__u64 value;
	__u32 records;
	__u32 written;
};

static __always_inline void count(__u32 index)
{
	__u64 *counter = bpf_map_lookup_elem(&counts, &index);

	if (counter)
		*counter += 1;
}

/* Increments the counter whose index is the attach cookie. */
SEC("uprobe")
int on_call(void *ctx)
{
	count(bpf_get_attach_cookie(ctx) % COUNTERS);
	return 0;
}

SEC("uprobe")
int on_return(void *ctx)
{
	count(AT_RETURN);
	return 0;
}

SEC("tp_btf/sys_enter")
int on_system_call(void *ctx)
{
	__u32 key = 0;
	__u64 *process = bpf_map_lookup_elem(&watched, &key);

	if (process && *process == bpf_get_current_pid_tgid() >> 32)
		count(AT_SYSTEM_CALL);
	return 0;
}

/* Writes up to 512 records to the ring; returns how many fitted. */
SEC("syscall")
int fill(struct filling *filling)
{
	__u64 value = filling->value;

	for (__u32 i = 0; i < 512 && i < filling->records; i++)
		if (bpf_ringbuf_output(&ring, &value, sizeof(value), 0) == 0)
			filling->written++;
	return filling->written;
}

/* Not loaded by default (SEC("?…")), because some kernels forbid fentry programs. */
SEC("?fentry/vfs_read")
int on_vfs_read(void *ctx)
{
	return 0;
}
