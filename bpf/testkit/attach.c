/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* For `observe`: finds functions in a library's file, attaches BPF programs to them, and reports failures. */
#define _GNU_SOURCE
#include "attach.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define RETURN_FLAG 1
#define FUNCTIONS 256

void die(const char *what, const char *which)
{
	fprintf(stderr, "observe: cannot %s %s: %s\n", what, which, strerror(errno));
	exit(1);
}

void refuse(const char *what, const char *which)
{
	fprintf(stderr, "observe: %s %s\n", what, which);
	exit(1);
}

static unsigned long file_offset(Elf *elf, GElf_Addr address)
{
	size_t count;
	GElf_Phdr segment;

	elf_getphdrnum(elf, &count);
	for (size_t i = 0; i < count; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address < segment.p_vaddr + segment.p_filesz)
			return address - segment.p_vaddr + segment.p_offset;
	return 0;
}

/* Returns the function's offset in the file, or 0 if the library does not have it. */
static unsigned long offset_of(Elf *elf, const char *function)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym symbol;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; gelf_getsym(data, i, &symbol); i++)
			if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_value &&
			    !strcmp(elf_strptr(elf, header.sh_link, symbol.st_name), function))
				return file_offset(elf, symbol.st_value);
	}
	return 0;
}

static Elf *open_elf(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (!elf)
		die("read", path);
	return elf;
}

int kernel_is_from(int major, int minor)
{
	struct utsname kernel;
	int running_major = 0, running_minor = 0;

	uname(&kernel);
	sscanf(kernel.release, "%d.%d", &running_major, &running_minor);
	return running_major > major || (running_major == major && running_minor >= minor);
}

/* Attaches with one perf event per function: kernels before 6.6 lack uprobe_multi. */
static void link_one_by_one(const char *program, bool at_return, const char *path, const unsigned long *offsets,
			    const __u64 *cookies, __u32 count)
{
	for (__u32 i = 0; i < count; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookies[i], .retprobe = at_return);

		if (!bpf_program__attach_uprobe_opts(program_named(program), -1, path, offsets[i], &options))
			die("attach to", path);
	}
}

static void link_uprobes(const char *program, __u32 type, __u32 flags, const char *path, unsigned long *offsets,
			 __u64 *cookies, __u32 count)
{
	struct {
		__u32 program, target, type, flags;
		__u64 path, offsets, counters, cookies;
		__u32 count, uprobe_flags, pid, pad;
	} attributes = {
		.program = (__u32)bpf_program__fd(program_named(program)),
		.type = type,
		.path = (__u64)path,
		.offsets = (__u64)offsets,
		.cookies = (__u64)cookies,
		.count = count,
		.uprobe_flags = flags,
	};

	if (!kernel_is_from(6, 6))
		link_one_by_one(program, flags & RETURN_FLAG, path, offsets, cookies, count);
	else if (syscall(SYS_bpf, BPF_LINK_CREATE, &attributes, sizeof(attributes)) < 0)
		die("attach to", path);
}

void attach_library(const char *table, const char *path, int by_pair)
{
	unsigned long offsets[FUNCTIONS];
	__u64 cookies[FUNCTIONS];
	char library[64], function[128];
	Elf *elf = open_elf(path);
	__u64 cookie;
	__u32 count = 0;
	FILE *file;

	file = fopen(table, "r");
	if (!file)
		die("open", table);
	while (fscanf(file, "%63s %127s %llx", library, function, &cookie) == 3) {
		unsigned long offset = strstr(path, library) ? offset_of(elf, function) : 0;

		/* A function with two names gets only one probe. */
		for (__u32 i = 0; i < count; i++)
			if (offsets[i] == offset)
				offset = 0;
		if (!offset || count == FUNCTIONS)
			continue;
		offsets[count] = offset;
		cookies[count++] = cookie;
	}
	fclose(file);
	if (!count)
		refuse("the table has no function of the library", path);
	if (by_pair) {
		link_uprobes("call_enter", UPROBE_MULTI, 0, path, offsets, cookies, count);
		link_uprobes("call_return", UPROBE_MULTI, RETURN_FLAG, path, offsets, cookies, count);
	} else {
		link_uprobes("call_session", UPROBE_SESSION, 0, path, offsets, cookies, count);
	}
}

void attach_ckp(const char *path)
{
	static const char *const functions[] = {"ckp_request_begin", "ckp_request_end", "ckp_operation_begin",
						"ckp_operation_end", "ckp_bind", "ckp_step_begin", "ckp_step_end"};
	Elf *elf = open_elf(path);

	for (unsigned i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		char symbol[64];
		unsigned long offset;
		__u64 cookie = 0;

		snprintf(symbol, sizeof(symbol), "inferspan_%s", functions[i]);
		offset = offset_of(elf, symbol);
		if (!offset)
			refuse("a function of inferspan_ckp.h is missing in", path);
		link_uprobes(functions[i], UPROBE_MULTI, 0, path, &offset, &cookie, 1);
	}
}
