/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replaces libinferspan_ckp.so in tests. Appends the vLLM plugin's calls of bind, step_begin and step_end (see inferspan_ckp.h) as
 * lines to the file that the environment variable RECORDER_LOG names.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void record(const char *text, int length)
{
	static int file = -1;

	if (file < 0)
		file = open(getenv("RECORDER_LOG"), O_WRONLY | O_CREAT | O_APPEND, 0644);
	if (write(file, text, (size_t)length) != length)
		abort();
}

void inferspan_ckp_bind(uint64_t slot, const char *request_id, const char *traceparent)
{
	char line[512];

	record(line, snprintf(line, sizeof(line), "%d bind %" PRIu64 " %s %s\n", getpid(), slot,
			      request_id ? request_id : "-", traceparent ? traceparent : "-"));
}

void inferspan_ckp_step_begin(uint64_t step, const uint64_t *changes, uint32_t count, uint32_t flags)
{
	static char line[1 << 16];
	int at = snprintf(line, sizeof(line), "%d begin %" PRIu64 " %u", getpid(), step, flags);

	for (uint32_t i = 0; i < count && at < (int)sizeof(line) - 32; i++)
		at += snprintf(line + at, sizeof(line) - (size_t)at, " %" PRIu64, changes[i]);
	line[at++] = '\n';
	record(line, at);
}

void inferspan_ckp_step_end(uint64_t step)
{
	char line[64];

	record(line, snprintf(line, sizeof(line), "%d end %" PRIu64 "\n", getpid(), step));
}
