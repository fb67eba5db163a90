/* SPDX-License-Identifier: GPL-2.0-only */
/* System call numbers and argument registers of x86-64. Another architecture is another block here. */
#ifndef INFERSPAN_NUMBERS_H
#define INFERSPAN_NUMBERS_H

#if !defined(__TARGET_ARCH_x86)
#error "system call numbers are known for x86-64 only"
#endif

enum {
	NR_read = 0,
	NR_write = 1,
	NR_open = 2,
	NR_close = 3,
	NR_poll = 7,
	NR_mmap = 9,
	NR_ioctl = 16,
	NR_pread64 = 17,
	NR_pwrite64 = 18,
	NR_readv = 19,
	NR_writev = 20,
	NR_select = 23,
	NR_nanosleep = 35,
	NR_sendfile = 40,
	NR_connect = 42,
	NR_accept = 43,
	NR_sendto = 44,
	NR_recvfrom = 45,
	NR_sendmsg = 46,
	NR_recvmsg = 47,
	NR_fsync = 74,
	NR_fdatasync = 75,
	NR_futex = 202,
	NR_clock_nanosleep = 230,
	NR_epoll_wait = 232,
	NR_openat = 257,
	NR_pselect6 = 270,
	NR_ppoll = 271,
	NR_splice = 275,
	NR_epoll_pwait = 281,
	NR_accept4 = 288,
	NR_preadv = 295,
	NR_pwritev = 296,
	NR_recvmmsg = 299,
	NR_sendmmsg = 307,
	NR_openat2 = 437,
	NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449,
};

#define NUMBER(regs) ((long)(regs)->orig_ax)
#define ARG1(regs) ((u64)(regs)->di)
#define ARG2(regs) ((u64)(regs)->si)
#define ARG3(regs) ((u64)(regs)->dx)
#define ARG4(regs) ((u64)(regs)->r10)

/* A 32-bit program numbers its system calls otherwise; none of them is looked at. */
#define IS_NATIVE(regs) ((regs)->cs != 0x23)

#define CASE_READS                                                                                                     \
	case NR_read:                                                                                                  \
	case NR_recvfrom:                                                                                              \
	case NR_readv:                                                                                                 \
	case NR_recvmsg

#define CASE_WRITES                                                                                                    \
	case NR_write:                                                                                                 \
	case NR_sendto:                                                                                                \
	case NR_writev:                                                                                                \
	case NR_sendmsg:                                                                                               \
	case NR_sendmmsg:                                                                                              \
	case NR_sendfile

#define CASE_WAITS                                                                                                     \
	case NR_poll:                                                                                                  \
	case NR_ppoll:                                                                                                 \
	case NR_select:                                                                                                \
	case NR_pselect6:                                                                                              \
	case NR_epoll_wait:                                                                                            \
	case NR_epoll_pwait:                                                                                           \
	case NR_epoll_pwait2:                                                                                          \
	case NR_futex:                                                                                                 \
	case NR_futex_waitv:                                                                                           \
	case NR_nanosleep:                                                                                             \
	case NR_clock_nanosleep

#define CASE_ACCEPTS                                                                                                   \
	case NR_accept:                                                                                                \
	case NR_accept4

#endif
