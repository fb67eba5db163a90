// SPDX-License-Identifier: GPL-2.0-only
/* Who am I? A process in a PID namespace cannot know the numbers by which the other programs see its threads. */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

/* Run by the asking thread itself (BPF_PROG_TEST_RUN); the answer is written back into the context. */
SEC("syscall")
int who_am_i(struct ispan_identity *identity)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();

	identity->tgid = pid_tgid >> 32;
	identity->tid = (u32)pid_tgid;
	return 0;
}
