/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Probes of the observer on functions of libraries. */
#ifndef INFERSPAN_ATTACH_H
#define INFERSPAN_ATTACH_H

#define UPROBE_MULTI 48
#define UPROBE_SESSION 57

struct bpf_program;

/* Ends the observer with the reason. */
void die(const char *what, const char *which);
struct bpf_program *program_named(const char *name);
int kernel_is_from(int major, int minor);

/* Watches the functions that the table lists, in one library, by session or by a pair of programs. */
void attach_library(const char *table, const char *path, int by_pair);
/* Watches the functions of inferspan_ckp.h in one file. */
void attach_ckp(const char *path);

#endif
