/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy that the verifier accepts and no operator wants: what it drops must be visible, and some calls are kept all the same. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(drop_all)
{
	return ISPAN_DROP;
}
