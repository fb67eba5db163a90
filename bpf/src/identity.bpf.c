// SPDX-License-Identifier: GPL-2.0-only
/*
 * Returns the caller's ids in the initial PID namespace, which the other programs use and a process in a PID namespace cannot
 * know.
 */
#include "kernel.h"
#include <bpf/bpf_helpers.h>
#include "wire.h"

char LICENSE[] SEC("license") = "GPL";

/* The asking thread runs it (BPF_PROG_TEST_RUN); the result is written into the context. */
SEC("syscall")
int who_am_i(struct ispan_identity *identity)
{
	u64 pid_tgid = bpf_get_current_pid_tgid();

	identity->tgid = pid_tgid >> 32;
	identity->tid = (u32)pid_tgid;
	return 0;
}
