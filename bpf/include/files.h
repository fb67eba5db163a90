/* SPDX-License-Identifier: GPL-2.0-only */
/* Classifies file descriptors of the current thread. */
#ifndef INFERSPAN_FILES_H
#define INFERSPAN_FILES_H

#include "maps.h"
#include <bpf/bpf_core_read.h>

/* Linux 6.2 added this map type, and bpf_rdonly_cast. */
enum bpf_map_type___since_6_2 { BPF_MAP_TYPE_CGRP_STORAGE___since_6_2 = 32 };

/* Turns an address into a pointer that a program can dereference: a plain load is cheaper than a helper. */
extern void *bpf_rdonly_cast(const void *address, u32 type) __weak __ksym;

#define CAST(pointer) ((typeof(pointer))bpf_rdonly_cast(pointer, bpf_core_type_id_kernel(typeof(*(pointer)))))
#define READ(pointer, field)                                                                                           \
	({                                                                                                             \
		typeof(pointer) from = (pointer);                                                                      \
		bpf_core_enum_value_exists(enum bpf_map_type___since_6_2, BPF_MAP_TYPE_CGRP_STORAGE___since_6_2) ?     \
			CAST(from)->field :                                                                            \
			BPF_CORE_READ(from, field);                                                                    \
	})

/*
 * Returns the file of a descriptor, or NULL. The verifier allows direct reads of the task's pointers, which are cheap. Only the
 * descriptor table must be read with a helper.
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
	struct socket *socket = READ(file, private_data);
	u16 family = READ(READ(socket, sk), __sk_common.skc_family);

	if (family == AF_INET || family == AF_INET6)
		return ISPAN_FD_INET;
	return family == AF_UNIX ? ISPAN_FD_UNIX : ISPAN_FD_UNKNOWN;
}

static __always_inline u32 fd_kind(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);

	if (!file)
		return ISPAN_FD_UNKNOWN;
	switch (READ(READ(file, f_inode), i_mode) & S_IFMT) {
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

/* Returns whether the descriptor is a socket of a kind on which requests are recognised: TCP, or Unix if the settings allow it. */
static __always_inline bool may_bring_requests(const struct ispan_settings *settings, struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);
	struct socket *socket;
	u16 family;

	if (!file || (READ(READ(file, f_inode), i_mode) & S_IFMT) != S_IFSOCK)
		return false;
	socket = READ(file, private_data);
	family = READ(READ(socket, sk), __sk_common.skc_family);
	if (family == AF_UNIX)
		return settings->flags & ISPAN_READ_UNIX_SOCKETS;
	return (family == AF_INET || family == AF_INET6) && READ(READ(socket, sk), sk_protocol) == IPPROTO_TCP;
}

/* Returns whether a read from the descriptor blocks until data arrives, that is, O_NONBLOCK is not set. */
static __always_inline bool does_read_block(struct task_struct *task, s32 fd)
{
	struct file *file = file_of(task, fd);

	return file && !(READ(file, f_flags) & O_NONBLOCK);
}

/* Returns the socket's inode number, which identifies the socket even if its descriptor is reused; 0 if the file is not a socket. */
static __always_inline u32 socket_number(struct file *file)
{
	struct inode *inode = file ? READ(file, f_inode) : NULL;

	if (!inode || (READ(inode, i_mode) & S_IFMT) != S_IFSOCK)
		return 0;
	return READ(inode, i_ino);
}

/*
 * Returns the TCP sequence number up to which the connection's data was read (copied_seq). It grows by one with each byte that is
 * read. Returns 0 if the socket is not TCP.
 */
static __always_inline u32 bytes_taken(struct file *file)
{
	struct socket *socket = READ(file, private_data);
	struct sock *sk = READ(socket, sk);
	u16 family = READ(sk, __sk_common.skc_family);

	if ((family != AF_INET && family != AF_INET6) || READ(sk, sk_protocol) != IPPROTO_TCP)
		return 0;
	return READ((struct tcp_sock *)sk, copied_seq);
}

static __always_inline const unsigned char *file_name(struct file *file)
{
	return READ(READ(file, f_path.dentry), d_name.name);
}

#endif
