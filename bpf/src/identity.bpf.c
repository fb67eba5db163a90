// SPDX-License-Identifier: GPL-2.0-only
/*
 * Returns the caller's ids in the initial PID namespace. The other programs use these ids, which a process in another PID namespace
 * cannot know.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

/* The calling thread runs this program (BPF_PROG_TEST_RUN), which writes the ids into the context. */
SEC("syscall")
int who_am_i(struct ispan_identity *identity)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();

	identity->tgid = pid_tgid >> 32;
	identity->tid = (u32)pid_tgid;
	return 0;
}
