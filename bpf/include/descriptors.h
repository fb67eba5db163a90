/* SPDX-License-Identifier: GPL-2.0-only */
/* Maps system calls to event kinds, and reads the arguments that an event reports. */
#ifndef INFERSPAN_DESCRIPTORS_H
#define INFERSPAN_DESCRIPTORS_H

#include "files.h"
#include "numbers.h"

#define CKP_WINDOW_NANOS 1000000
#define NVIDIA_IOCTL_TYPE 0x46
#define MESSAGES 64 /* maximum number of messages of a call whose bytes are counted */
#define FUTEX_COMMAND 0x7f /* without the private and clock bits */

/* Returns the kind of a system call, or 0. Not static, so that the verifier does not check the callers for each case. */
__noinline u32 kind_of(u64 number)
{
	switch (number) {
	case NR_read:
	case NR_pread64:
	case NR_readv:
	case NR_preadv:
	case NR_preadv2:
		return ISPAN_KIND_READ;
	case NR_write:
	case NR_pwrite64:
	case NR_writev:
	case NR_pwritev:
	case NR_pwritev2:
	case NR_sendfile:
		return ISPAN_KIND_WRITE;
	case NR_recvfrom:
	case NR_recvmsg:
	case NR_recvmmsg:
		return ISPAN_KIND_RECV;
	case NR_sendto:
	case NR_sendmsg:
	case NR_sendmmsg:
		return ISPAN_KIND_SEND;
	case NR_futex:
	case NR_futex_waitv:
		return ISPAN_KIND_FUTEX;
	case NR_poll:
	case NR_ppoll:
		return ISPAN_KIND_POLL;
	case NR_epoll_wait:
	case NR_epoll_pwait:
	case NR_epoll_pwait2:
		return ISPAN_KIND_EPOLL_WAIT;
	case NR_select:
	case NR_pselect6:
		return ISPAN_KIND_SELECT;
	case NR_open:
	case NR_openat:
	case NR_openat2:
		return ISPAN_KIND_OPENAT;
	case NR_mmap:
		return ISPAN_KIND_MMAP;
	case NR_ioctl:
		return ISPAN_KIND_IOCTL_GPU;
	case NR_connect:
		return ISPAN_KIND_CONNECT;
	case NR_accept:
	case NR_accept4:
		return ISPAN_KIND_ACCEPT;
	case NR_close:
		return ISPAN_KIND_CLOSE;
	case NR_fsync:
	case NR_fdatasync:
		return ISPAN_KIND_FSYNC;
	default:
		return 0;
	}
}

/* Returns whether a futex operation may block: FUTEX_WAIT, _LOCK_PI, _WAIT_BITSET, _WAIT_REQUEUE_PI or _LOCK_PI2. */
static __always_inline bool is_futex_wait(u64 operation)
{
	u64 command = operation & FUTEX_COMMAND;

	return command == 0 || command == 6 || command == 9 || command == 11 || command == 13;
}

static __always_inline bool is_gpu_command(u64 command)
{
	return (command >> 8 & 0xff) == NVIDIA_IOCTL_TYPE;
}

/*
 * Returns whether a descriptor refers to a device whose name begins with nvidia, such as nvidia0 or nvidia-uvm. The ioctl type does
 * not suffice, because frame buffers use the same one.
 */
static __always_inline bool is_gpu_file(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);
	char begin[8] = {};

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFCHR)
		return false;
	return !bpf_probe_read_kernel(begin, sizeof(begin), file_name(file)) &&
	       !__builtin_memcmp(begin, "nvidia", 6);
}

static __always_inline u64 path_of(struct pt_regs *regs)
{
	return NUMBER(regs) == NR_open ? ARG1(regs) : ARG2(regs);
}

/*
 * Sums the bytes of the messages of recvmmsg and sendmmsg, which return only the number of messages. Counts the first MESSAGES
 * messages. Not static, so that the verifier checks it once.
 */
__noinline u64 bytes_of_messages(u64 messages, u64 count)
{
	u64 bytes = 0;

	for (u32 i = 0; i < MESSAGES && i < count; i++) {
		u32 length = 0;

		bpf_probe_read_user(&length, sizeof(length), (void *)(messages + i * MMSGHDR_BYTES + MMSGHDR_LENGTH));
		bytes += length;
	}
	return bytes;
}

/* Returns the ispan_fd_kind of a descriptor. Not static, so that the verifier checks it once. */
__noinline int kind_of_fd(u32 fd)
{
	return fd_kind(bpf_get_current_task_btf(), (s32)fd);
}

/* Fills in values from the system call's arguments and result: the descriptor with its type, bytes, or other arguments. */
static __always_inline void describe(struct ispan_record *record, const struct ispan_thread *thread,
				     struct pt_regs *regs, u16 kind, long result)
{
	s32 fd = (s32)ARG1(regs);

	switch (kind) {
	case ISPAN_KIND_FUTEX:
		record->detail = ARG2(regs) & FUTEX_COMMAND;
		record->extra = ARG1(regs);
		return;
	case ISPAN_KIND_MMAP:
		record->amount = ARG2(regs);
		record->detail = (u32)ARG5(regs);
		record->result = result < 0 && result > -4096 ? (s32)result : 0;
		return;
	case ISPAN_KIND_IOCTL_GPU:
		record->detail = ARG2(regs);
		return;
	case ISPAN_KIND_POLL:
	case ISPAN_KIND_SELECT:
	case ISPAN_KIND_OPENAT:
		return;
	case ISPAN_KIND_READ:
	case ISPAN_KIND_WRITE:
	case ISPAN_KIND_RECV:
	case ISPAN_KIND_SEND:
		record->amount = result > 0 ? result : 0;
	}
	if (record->amount && (NUMBER(regs) == NR_recvmmsg || NUMBER(regs) == NR_sendmmsg))
		record->amount = bytes_of_messages(ARG2(regs), result);
	record->detail = (u64)(u32)fd << 32;
	record->detail |= kind == ISPAN_KIND_CLOSE ? thread->closed_kind : kind_of_fd(fd);
}

#endif
