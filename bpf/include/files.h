/* SPDX-License-Identifier: GPL-2.0-only */
/* Classifies file descriptors of the current thread. */
#ifndef INFERSPAN_FILES_H
#define INFERSPAN_FILES_H

#include "maps.h"
#include <bpf/bpf_core_read.h>

/*
 * Returns the file of a descriptor, or NULL. The verifier allows direct access to the task's own pointers, which is cheap; only the
 * descriptor table is read with a helper.
 */
static __always_inline struct file *file_of(struct task_struct *task, s32 fd)
{
	struct files_struct *files = task->files;
	struct fdtable *table = files ? files->fdt : NULL;
	struct file *file = NULL;

	if (!table || fd < 0 || (u32)fd >= table->max_fds)
		return NULL;
	bpf_probe_read_kernel(&file, sizeof(file), table->fd + (u32)fd);
	return file;
}

static __always_inline u32 socket_kind(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	u16 family = BPF_CORE_READ(socket, sk, __sk_common.skc_family);

	if (family == AF_INET || family == AF_INET6)
		return ISPAN_FD_INET;
	return family == AF_UNIX ? ISPAN_FD_UNIX : ISPAN_FD_UNKNOWN;
}

static __always_inline u32 fd_kind(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);

	if (!file)
		return ISPAN_FD_UNKNOWN;
	switch (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) {
	case S_IFSOCK:
		return socket_kind(file);
	case S_IFREG:
		return ISPAN_FD_FILE;
	case S_IFIFO:
		return ISPAN_FD_PIPE;
	case 0: /* eventfd, epoll, timerfd and others have an inode without a type */
		return ISPAN_FD_ANON;
	default:
		return ISPAN_FD_UNKNOWN;
	}
}

/* Returns whether heads are recognised on this descriptor: a TCP socket, or a Unix socket if the settings include them. */
static __always_inline bool may_bring_requests(const struct ispan_settings *settings, struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);
	struct socket *socket;
	u16 family;

	if (!file || (BPF_CORE_READ(file, f_inode, i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	socket = BPF_CORE_READ(file, private_data);
	family = BPF_CORE_READ(socket, sk, __sk_common.skc_family);
	if (family == AF_UNIX)
		return settings->flags & ISPAN_READ_UNIX_SOCKETS;
	return (family == AF_INET || family == AF_INET6) && BPF_CORE_READ(socket, sk, sk_protocol) == IPPROTO_TCP;
}

/* Returns whether a read from the descriptor blocks. */
static __always_inline bool is_waited_for(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);

	return file && !(BPF_CORE_READ(file, f_flags) & O_NONBLOCK);
}

/* Returns the number of the socket's inode, because a descriptor can be reused; 0 if the file is not a socket. */
static __always_inline u32 socket_number(struct file *file)
{
	struct inode *inode = file ? BPF_CORE_READ(file, f_inode) : NULL;

	if (!inode || (BPF_CORE_READ(inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	return BPF_CORE_READ(inode, i_ino);
}

/* Returns how many bytes were read from a TCP connection, plus a constant; 0 if the kernel does not count them. */
static __always_inline u32 bytes_taken(struct file *file)
{
	struct socket *socket = BPF_CORE_READ(file, private_data);
	struct sock *sk = BPF_CORE_READ(socket, sk);
	u16 family = BPF_CORE_READ(sk, __sk_common.skc_family);

	if ((family != AF_INET && family != AF_INET6) || BPF_CORE_READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return BPF_CORE_READ((struct tcp_sock *)sk, copied_seq);
}

static __always_inline const unsigned char *file_name(struct file *file)
{
	return BPF_CORE_READ(file, f_path.dentry, d_name.name);
}

#endif
