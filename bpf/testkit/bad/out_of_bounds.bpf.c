/* SPDX-License-Identifier: GPL-2.0-only */
/* Reads one of eight slots at an index of up to fifteen. */
#include "bad.h"

SEC("uprobe/policy")
int out_of_bounds(void *ctx)
{
	__u32 key = 0;
	struct row *row = bpf_map_lookup_elem(&rows, &key);

	if (!row)
		return 0;
	return row->slots[bpf_get_prandom_u32() & 15] == 1;
}
