// An incremental parser of HTTP/1.1 messages: stores the headers, passes the body to a callback, and detects the end of a message.
#ifndef HTTP1_H
#define HTTP1_H
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

enum reading { IN_HEAD, IN_FIXED, IN_CHUNK_SIZE, IN_CHUNK, AFTER_CHUNK, IN_TRAILER, COMPLETE, BROKEN };

struct message {
  enum reading reading;
  int head_length, line_length;
  long remaining, body_length;
  char head[2048];
};

typedef void (*body_sink)(void *owner, const char *data, size_t length);

static inline void message_reset(struct message *m) {
  m->reading = IN_HEAD;
  m->head_length = m->line_length = 0;
  m->remaining = m->body_length = 0;
}

// Returns the value of a header, or null; the name includes the colon.
static inline const char *message_header(const struct message *m, const char *name) {
  size_t length = strlen(name);
  for (const char *line = strchr(m->head, '\n'); line; line = strchr(line, '\n')) {
    if (strncasecmp(++line, name, length) == 0) return line + length + strspn(line + length, " ");
  }
  return NULL;
}

static void message_end_head(struct message *m) {
  const char *coding = message_header(m, "transfer-encoding:");
  const char *length = message_header(m, "content-length:");
  if (coding && strncasecmp(coding, "chunked", 7) == 0) {
    m->reading = IN_CHUNK_SIZE;
  } else if (length && atol(length) > 0) {
    m->remaining = atol(length);
    m->reading = IN_FIXED;
  } else {
    // No body. A body without a length, which ends with its connection, is not supported.
    m->reading = COMPLETE;
  }
}

static size_t message_read_head(struct message *m, const char *data, size_t length) {
  for (size_t i = 0; i < length; i++) {
    if (m->head_length == (int)sizeof m->head - 1) {
      m->reading = BROKEN;
      return i;
    }
    m->head[m->head_length++] = data[i];
    if (data[i] == '\n' && m->head_length > 3 && memcmp(m->head + m->head_length - 4, "\r\n\r\n", 4) == 0) {
      m->head[m->head_length] = 0;
      message_end_head(m);
      return i + 1;
    }
  }
  return length;
}

static void message_read_size(struct message *m, char c) {
  int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
  if (digit >= 0) {
    m->remaining = m->remaining * 16 + digit;
    m->line_length++;
  } else if (c == '\n' && m->line_length > 0) {
    m->reading = m->remaining > 0 ? IN_CHUNK : IN_TRAILER;
    m->line_length = 0;
  } else if (c != '\r') {
    m->reading = BROKEN;
  }
}

static void message_read_trailer(struct message *m, char c) {
  if (c == '\n') {
    if (m->line_length == 0) m->reading = COMPLETE;
    m->line_length = 0;
  } else if (c != '\r') {
    m->line_length++;
  }
}

static size_t message_read_body(struct message *m, const char *data, size_t length, body_sink sink, void *owner) {
  size_t taken = (long)length < m->remaining ? length : (size_t)m->remaining;
  m->remaining -= taken;
  m->body_length += taken;
  if (sink) sink(owner, data, taken);
  if (m->remaining == 0) m->reading = m->reading == IN_FIXED ? COMPLETE : AFTER_CHUNK;
  return taken;
}

// Reads until the data or the message ends; returns the number of bytes that belong to the message.
static size_t message_read(struct message *m, const char *data, size_t length, body_sink sink, void *owner) {
  size_t at = 0;
  while (at < length && m->reading < COMPLETE) {
    switch (m->reading) {
      case IN_HEAD: at += message_read_head(m, data + at, length - at); break;
      case IN_FIXED:
      case IN_CHUNK: at += message_read_body(m, data + at, length - at, sink, owner); break;
      case IN_CHUNK_SIZE: message_read_size(m, data[at++]); break;
      case AFTER_CHUNK:
        if (data[at++] == '\n') m->reading = IN_CHUNK_SIZE;
        break;
      default: message_read_trailer(m, data[at++]); break;
    }
  }
  return at;
}
#endif
