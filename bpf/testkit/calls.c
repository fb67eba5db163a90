/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the table of probed functions, prebuilt/calls.tsv: library, function and attach cookie (see include/calls.h). */
#include <stdio.h>
#include <string.h>

#include "../include/functions.h"

static void print(const char *library, const char *function, struct ispan_call call)
{
	__u64 cookie;

	memcpy(&cookie, &call, sizeof(cookie));
	printf("%s\t%s\t%#llx\n", library, function, (unsigned long long)cookie);
}

#define PRINT(library, function, what, from, about, more, how, by)                                                     \
	print(library, #function,                                                                                      \
	      (struct ispan_call){.kind = ISPAN_KIND_##what,                                                           \
				  .amount = from,                                                                      \
				  .detail = about,                                                                     \
				  .extra = more,                                                                       \
				  .flags = how,                                                                        \
				  .shift = by});

int main(void)
{
	ISPAN_CALLS(PRINT)
	return 0;
}
