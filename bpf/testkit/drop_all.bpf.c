/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy that drops every call, for tests. Dropped calls must be counted. Failed calls must be kept, and so must one in N calls
 * of each kind (the floor).
 */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(drop_all)
{
	return ISPAN_DROP;
}
