/* SPDX-License-Identifier: GPL-2.0-only */
/* Frames of the messages between vLLM's API server and its engine. msgpack.h reads the values in them. */
#ifndef INFERSPAN_ZMTP_H
#define INFERSPAN_ZMTP_H

/* Not static where a verifier reads it, so that it reads each once. */
#ifndef ZMTP_APART
#define ZMTP_APART __noinline
#endif

#ifndef ZMTP_COPY
#define ZMTP_COPY bpf_probe_read_kernel
#endif
#ifndef barrier_var
#define barrier_var(value) asm volatile("" : "+r"(value))
#endif

#define ZMTP_MORE 1
#define ZMTP_LONG 2
#define ZMTP_COMMAND 4
#define ZMTP_MOST (1ull << 40) /* of a frame; a longer one is none */

#define ZMTP_ADD 0
#define ZMTP_ABORT 1
#define ZMTP_OTHER 0xff
#define ZMTP_ID_BYTES 124
#define ZMTP_MOST_TOKENS 0xffff

/* What a byte completed. */
enum zmtp_event {
	ZMTP_NOTHING,
	ZMTP_ADDED,    /* id: a request that comes; length: fields of its array */
	ZMTP_ABORTED,  /* id: one that goes */
	ZMTP_OUTPUT,   /* id: one that got tokens, and may have finished; length: fields of its array */
	ZMTP_OUTPUTS,  /* all outputs of a step; number: its time, a double in seconds */
	ZMTP_MALFORMED, /* not such a message: nothing behind this byte can be read */
};

/* What the next byte is. */
enum zmtp_at {
	AT_FLAGS,
	AT_SIZE,
	AT_REST, /* of a frame that is not looked at */
	AT_TYPE, /* of a message to the engine */
	AT_VALUE,
	AT_NUMBER, /* of a value: its length, or itself */
	AT_BYTES,  /* of a value that is not looked at */
	AT_ID,
};

/* Which value of a frame's array of arrays is read. */
enum zmtp_value {
	VALUE_REQUEST,  /* the array that a request is */
	VALUE_ID,	/* of a request to come, or to go */
	VALUE_ABORTS,	/* the array of ids */
	VALUE_STEP,	/* the array that a step's outputs are in */
	VALUE_ENGINE,	/* its first field */
	VALUE_OUTPUTS,	/* the array of outputs */
	VALUE_OUTPUT,	/* the next of them: an array of its fields */
	VALUE_FIELD,
	VALUE_STATS,
	VALUE_TIME,
};

struct zmtp {
	u64 left;   /* of the frame */
	u64 skip;   /* of the value */
	u64 number; /* as far as it is read */
	u64 nested; /* values still to be stepped over before the next one that counts */
	u32 count;  /* outputs or ids still to come */
	u32 tokens; /* of the output */
	u32 field;  /* of the output, from 0 */
	u32 length; /* fields of a request or an output */
	u8 outputs; /* these are messages from the engine */
	u8 at;
	u8 value;
	u8 flags; /* of the frame */
	u8 part;  /* number of the frame in its message */
	u8 type;
	u8 want; /* bytes of the number still to come */
	u8 head; /* first byte of the value */
	u8 finished;
	u8 event;
	u8 id_length; /* 0: it was too long, or no id */
	u8 id_read;
	u8 pad[4];
	struct {
		u32 process;
		char text[ZMTP_ID_BYTES]; /* zero behind the last */
	} id;
};

static __always_inline void zmtp_fail(struct zmtp *z)
{
	z->event = ZMTP_MALFORMED;
}

static __always_inline void zmtp_frame_ended(struct zmtp *z)
{
	z->at = AT_FLAGS;
	if (z->flags & ZMTP_COMMAND) /* outside of messages */
		return;
	if (!(z->flags & ZMTP_MORE))
		z->part = 0;
	else if (z->part < 2)
		z->part++;
}

static __always_inline void zmtp_step_over_rest(struct zmtp *z)
{
	z->at = AT_REST;
	if (!z->left)
		zmtp_frame_ended(z);
}

/* A frame whose size is known: what is in it? Messages to the engine have two that count, those from it one. */
ZMTP_APART int zmtp_frame_begins(struct zmtp *z)
{
	if (!z)
		return 0;
	z->nested = 0;
	z->at = AT_VALUE;
	if (z->flags & ZMTP_COMMAND) {
		zmtp_step_over_rest(z);
	} else if (z->outputs && !z->part && z->left > 1) {
		z->value = VALUE_STEP;
	} else if (!z->outputs && !z->part && z->left == 1) {
		z->at = AT_TYPE;
	} else if (!z->outputs && z->part == 1 && z->left && z->type <= ZMTP_ABORT) {
		z->value = z->type == ZMTP_ADD ? VALUE_REQUEST : VALUE_ABORTS;
	} else {
		if (!z->part)
			z->type = ZMTP_OTHER;
		zmtp_step_over_rest(z);
	}
	return 0;
}

#endif
