/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* Attaches the probes of `observe` to library functions, and reports failures. */
#ifndef INFERSPAN_ATTACH_H
#define INFERSPAN_ATTACH_H

#define UPROBE_MULTI 48
#define UPROBE_SESSION 57

struct bpf_program;

/* Prints that the program cannot do `what` with the file or value `which`, and errno's text; then exits. */
void die(const char *what, const char *which);
/* Prints the sentence `what` `which`, for failures that do not set errno; then exits. */
void refuse(const char *what, const char *which);
struct bpf_program *program_named(const char *name);
int kernel_is_from(int major, int minor);

/* Probes the functions of a library that are in the table: with a session program or, if by_pair, with an entry and a return program. */
void attach_library(const char *table, const char *path, int by_pair);
/* Probes the functions of inferspan_ckp.h in one file. */
void attach_ckp(const char *path);

#endif
