/* SPDX-License-Identifier: GPL-2.0-only */
/* A policy that drops every call, for tests: dropped calls must be counted, and those of the floor and failed calls must be kept. */
#include "inferspan_policy.h"

char LICENSE[] SEC("license") = "GPL";

ISPAN_POLICY(drop_all)
{
	return ISPAN_DROP;
}
