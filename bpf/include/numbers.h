/* SPDX-License-Identifier: GPL-2.0-only */
/* System call numbers. To add an architecture, add a block here and in registers.h. */
#ifndef INFERSPAN_NUMBERS_H
#define INFERSPAN_NUMBERS_H

#include "registers.h"

#if defined(__TARGET_ARCH_x86)
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
	NR_semop = 65,
	NR_msgrcv = 70,
	NR_fsync = 74,
	NR_fdatasync = 75,
	NR_rt_sigtimedwait = 128,
	NR_futex = 202,
	NR_semtimedop = 220,
	NR_clock_nanosleep = 230,
	NR_epoll_wait = 232,
	NR_mq_timedreceive = 243,
	NR_openat = 257,
	NR_pselect6 = 270,
	NR_ppoll = 271,
	NR_splice = 275,
	NR_epoll_pwait = 281,
	NR_timerfd_settime = 286,
	NR_uretprobe = 335, /* called by the kernel's trampoline when a probed function returns */
	NR_accept4 = 288,
	NR_preadv = 295,
	NR_pwritev = 296,
	NR_recvmmsg = 299,
	NR_sendmmsg = 307,
	NR_preadv2 = 327,
	NR_pwritev2 = 328,
	NR_openat2 = 437,
	NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449,
};

#else
/* The generic numbers that newer architectures share. Negative: system calls that they do not have. */
enum {
	NR_open = -1,
	NR_uretprobe = -5,
	NR_poll = -2,
	NR_select = -3,
	NR_epoll_wait = -4,
	NR_epoll_pwait = 22,
	NR_ioctl = 29,
	NR_openat = 56,
	NR_close = 57,
	NR_read = 63,
	NR_write = 64,
	NR_readv = 65,
	NR_writev = 66,
	NR_pread64 = 67,
	NR_pwrite64 = 68,
	NR_preadv = 69,
	NR_pwritev = 70,
	NR_sendfile = 71,
	NR_pselect6 = 72,
	NR_ppoll = 73,
	NR_splice = 76,
	NR_fsync = 82,
	NR_fdatasync = 83,
	NR_timerfd_settime = 86,
	NR_futex = 98,
	NR_nanosleep = 101,
	NR_clock_nanosleep = 115,
	NR_rt_sigtimedwait = 137,
	NR_mq_timedreceive = 183,
	NR_msgrcv = 188,
	NR_semtimedop = 192,
	NR_semop = 193,
	NR_accept = 202,
	NR_connect = 203,
	NR_sendto = 206,
	NR_recvfrom = 207,
	NR_sendmsg = 211,
	NR_recvmsg = 212,
	NR_mmap = 222,
	NR_accept4 = 242,
	NR_recvmmsg = 243,
	NR_sendmmsg = 269,
	NR_preadv2 = 286,
	NR_pwritev2 = 287,
	NR_openat2 = 437,
	NR_epoll_pwait2 = 441,
	NR_futex_waitv = 449,
};
#endif

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

#define CASE_EPOLLS                                                                                                    \
	case NR_epoll_wait:                                                                                            \
	case NR_epoll_pwait:                                                                                           \
	case NR_epoll_pwait2

#define CASE_POLLS                                                                                                     \
	case NR_poll:                                                                                                  \
	case NR_ppoll:                                                                                                 \
	case NR_select:                                                                                                \
	case NR_pselect6

/* Waits for messages, semaphores and signals. */
#define CASE_QUEUES                                                                                                    \
	case NR_msgrcv:                                                                                                \
	case NR_mq_timedreceive:                                                                                       \
	case NR_semop:                                                                                                 \
	case NR_semtimedop:                                                                                            \
	case NR_rt_sigtimedwait

#define CASE_WAITS                                                                                                     \
	CASE_EPOLLS:                                                                                                   \
	CASE_POLLS:                                                                                                    \
	CASE_QUEUES:                                                                                                   \
	case NR_futex:                                                                                                 \
	case NR_futex_waitv:                                                                                           \
	case NR_nanosleep:                                                                                             \
	case NR_clock_nanosleep

#define CASE_ACCEPTS                                                                                                   \
	case NR_accept:                                                                                                \
	case NR_accept4

#endif
