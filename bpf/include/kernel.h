/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel types that the programs access. Only names matter, not layouts: each access is relocated at load time with the
 * running kernel's BTF (CO-RE). This replaces vmlinux.h, a generated header of 3 MB.
 */
#ifndef INFERSPAN_KERNEL_H
#define INFERSPAN_KERNEL_H

#define __VMLINUX_H__ /* makes libbpf's headers use the kernel's register names */
#include <linux/bpf.h>
#include <stdbool.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef __u64 u64;
typedef __s32 s32;
typedef __s64 s64;
typedef int pid_t;
typedef unsigned long size_t;

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define S_IFMT 0170000
#define S_IFSOCK 0140000
#define S_IFREG 0100000
#define S_IFCHR 0020000
#define S_IFIFO 0010000
#define AF_UNIX 1
#define AF_INET 2
#define AF_INET6 10
#define IPPROTO_TCP 6
#define MSG_PEEK 2
#define MSG_TRUNC 0x20
#define MSG_DONTWAIT 0x40
#define O_NONBLOCK 04000
#define PROT_EXEC 4

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

#if defined(__TARGET_ARCH_arm64)
struct pt_regs {
	u64 regs[31];
	u64 sp, pc, pstate, orig_x0;
	s32 syscallno;
};
#else
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax, ip, cs, flags, sp, ss;
};
#endif

struct signal_struct {
	struct {
		int counter;
	} live;
};

struct qstr {
	const unsigned char *name;
};

struct dentry {
	struct qstr d_name;
};

struct path {
	struct dentry *dentry;
};

struct sock_common {
	unsigned short skc_family;
	volatile unsigned char skc_state;
};

struct pid;

struct sock {
	struct sock_common __sk_common;
	u16 sk_protocol;
	int sk_err;
	struct pid *sk_peer_pid;
};

struct tcp_sock {
	u32 write_seq;
	u32 copied_seq;
};

struct sk_buff {
	unsigned int len;
};

struct socket {
	struct sock *sk;
};

struct inode {
	unsigned short i_mode;
	unsigned long i_ino;
};

struct file {
	unsigned int f_flags;
	struct inode *f_inode;
	void *private_data;
	struct path f_path;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct task_struct {
	pid_t pid;
	pid_t tgid;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	u64 start_time;
	struct pid *thread_pid;
	struct files_struct *files;
	struct signal_struct *signal;
	unsigned int __state;
};

struct linux_binprm {
	const char *filename;
};

#pragma clang attribute pop

struct iovec {
	void *iov_base;
	u64 iov_len;
};

/* struct user_msghdr: part of the system call interface, so its layout is fixed. */
struct user_msghdr {
	void *msg_name;
	int msg_namelen;
	struct iovec *msg_iov;
	u64 msg_iovlen;
};

/* struct mmsghdr: a message header and the message's length. */
#define MMSGHDR_BYTES 64
#define MMSGHDR_LENGTH 56

#endif
