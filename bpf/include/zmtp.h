/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Decodes the frames of ZMTP, the protocol of ZeroMQ, between vLLM's API server and its engine. A message consists of one or more
 * frames; msgpack.h decodes their contents.
 */
#ifndef INFERSPAN_ZMTP_H
#define INFERSPAN_ZMTP_H

/* Not static in BPF programs, so that the verifier checks each function once. */
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
#define ZMTP_MOST (1ull << 40) /* maximum size of a frame; a longer one is malformed */

#define ZMTP_ADD 0
#define ZMTP_ABORT 1
#define ZMTP_OTHER 0xff
#define ZMTP_ID_BYTES 124
#define ZMTP_MOST_TOKENS 0xffff

/* Events that the decoder reports after the last byte of an item. */
enum zmtp_event {
	ZMTP_NOTHING,
	ZMTP_ADDED,    /* id: a new request; length: number of fields of its array */
	ZMTP_ABORTED,  /* id: an aborted request */
	ZMTP_OUTPUT,   /* id: a request that got tokens, and may have finished; length: number of fields of its array */
	ZMTP_OUTPUTS,  /* all outputs of a step; number: the step's time, a double in seconds */
	ZMTP_MALFORMED, /* not a message of an engine: the rest of the stream cannot be decoded */
};

/* The meaning of the next byte. */
enum zmtp_at {
	AT_FLAGS,
	AT_SIZE,
	AT_REST, /* in a frame that is skipped */
	AT_TYPE, /* the type of a message to the engine */
	AT_VALUE,
	AT_NUMBER, /* in a number: a value's length, or the value itself */
	AT_BYTES,  /* in a value that is skipped */
	AT_ID,
};

/* The value in a frame that the decoder expects next. */
enum zmtp_value {
	VALUE_REQUEST,  /* the array of a request's fields */
	VALUE_ID,	/* the id of a new or an aborted request */
	VALUE_ABORTS,	/* the array of aborted ids */
	VALUE_STEP,	/* the array of a step: engine, outputs, … */
	VALUE_ENGINE,	/* the first field of a step */
	VALUE_OUTPUTS,	/* the array of outputs */
	VALUE_OUTPUT,	/* the next output: an array of its fields */
	VALUE_FIELD,
	VALUE_STATS,
	VALUE_TIME,
};

struct zmtp {
	u64 left;   /* remaining bytes of the frame */
	u64 skip;   /* bytes of the value to skip */
	u64 number; /* the number that is being read */
	u64 nested; /* values to skip before the next relevant one */
	u32 count;  /* remaining outputs or ids */
	u32 tokens; /* number of tokens of the output */
	u32 field;  /* index of the output's current field */
	u32 length; /* number of fields of a request or an output */
	u8 outputs; /* whether the messages are from the engine */
	u8 at;
	u8 value;
	u8 flags; /* ZMTP flags of the frame */
	u8 part;  /* index of the frame in its message */
	u8 type;
	u8 want; /* remaining bytes of the number */
	u8 head; /* first byte of the value */
	u8 finished;
	u8 event;
	u8 id_length; /* 0: no id, or it is too long */
	u8 id_read;
	u8 pad[4];
	struct {
		u32 process;
		char text[ZMTP_ID_BYTES]; /* zero after the last character */
	} id;
};

static __always_inline void zmtp_fail(struct zmtp *z)
{
	z->event = ZMTP_MALFORMED;
}

static __always_inline void zmtp_frame_ended(struct zmtp *z)
{
	z->at = AT_FLAGS;
	if (z->flags & ZMTP_COMMAND) /* commands are not part of messages */
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

/* Called when the size of a frame is known. Messages to the engine have two relevant frames, messages from the engine one. */
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
