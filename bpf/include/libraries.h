/* SPDX-License-Identifier: GPL-2.0-only */
/* Reports that a process maps a library that may have probed functions, so that the reader can attach to it. */
#ifndef INFERSPAN_LIBRARIES_H
#define INFERSPAN_LIBRARIES_H

#include "context.h"
#include "files.h"

/*
 * Returns whether a library may have probed functions, by its name, such as libcuda.so.1, libcudart-d0da41ae.so.11.0 (from a
 * Python wheel), libnccl.so.2, libcupti.so.13 or libinferspan_ckp.so.
 */
static __always_inline bool is_watched_library(const char *name)
{
	return !__builtin_memcmp(name, "libcuda", 7) || !__builtin_memcmp(name, "libnccl", 7) ||
	       !__builtin_memcmp(name, "libcupti", 8) || !__builtin_memcmp(name, "libinfer", 8);
}

/* Not inlined, so that its record does not use stack in all other paths at the end of a system call. */
static __noinline int library_mapped(const struct ispan_settings *settings, s32 fd)
{
	struct ispan_record record = {};
	struct file *file = file_of(bpf_get_current_task_btf(), fd);
	const unsigned char *name;
	char begin[8] = {};

	if (!file)
		return 0;
	name = file_name(file);
	if (bpf_probe_read_kernel(begin, sizeof(begin), name) || !is_watched_library(begin))
		return 0;
	record.start_ns = record.end_ns = bpf_ktime_get_ns();
	record.tgid = bpf_get_current_pid_tgid() >> 32;
	record.tid = (u32)bpf_get_current_pid_tgid();
	record.kind = ISPAN_KIND_LIBRARY_APPEARED;
	emit_text(settings, &record, name, TEXT_KERNEL);
	return 0;
}

#endif
