/* SPDX-License-Identifier: GPL-2.0-only */
/* Dereferences the result of a map lookup without a null check. */
#include "bad.h"

SEC("uprobe/policy")
int null_lookup(void *ctx)
{
	__u32 key = 0;
	struct row *row = bpf_map_lookup_elem(&rows, &key);

	row->slots[0] += 1;
	return 0;
}
