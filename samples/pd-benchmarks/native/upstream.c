// A stand-in for the engines and for an OTLP collector: upstream <decode port> <prefill port> [processes]
//
// The server on the prefill port responds to every request like a prefill engine. The one on the decode port selects the response by the
// path and the query:
//   /v1/models               200 bytes of JSON              ?mode=sse     64 events at intervals of 5 ms
//   /v1/chat/completions     a completion                   ?mode=burst   64 events at once, with a write for each
//   /v1/traces               an empty JSON object           ?mode=slow    an event every 5 to 10 s, without an end
//   /stats                   numbers of received requests, which the harness checks
//   /last/prefill  /last/decode   the body of the last request with x-bench-record
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>
#include "http1.h"

#define EVENTS 64
#define LAST_BYTES (1 << 20)
#define JSON_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s"
#define STREAM_HEAD \
  "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-cache\r\n" \
  "Transfer-Encoding: chunked\r\n\r\n"
#define DELTA \
  "data: {\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion.chunk\",\"created\":1700000000," \
  "\"model\":\"bench\",\"choices\":[{\"index\":0,\"delta\":%s,\"finish_reason\":%s}]%s}\n\n"
#define USAGE(cached) \
  "\"usage\":{\"prompt_tokens\":512,\"completion_tokens\":64,\"total_tokens\":576," \
  "\"prompt_tokens_details\":{\"cached_tokens\":" cached "}}"
#define TRANSFER \
  "\"kv_transfer_params\":{\"do_remote_decode\":false,\"do_remote_prefill\":true,\"remote_engine_id\":" \
  "\"4f1c2a8e-bench\",\"remote_block_ids\":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16],\"remote_host\":\"10.0.0.7\"," \
  "\"remote_port\":5600}"
#define CHAT(extra) \
  "{\"id\":\"chatcmpl-bench\",\"object\":\"chat.completion\",\"created\":1700000000,\"model\":\"bench\"," \
  "\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"An answer of some length, as it is.\"}," \
  "\"finish_reason\":\"length\"}]," extra "}"

struct last { long length; char body[LAST_BYTES]; };
static struct shared {
  long models, chats, streams, prefills, traces, trace_bytes, aborted;
  struct last prefill, decode;
} *shared;

enum { EVERY_5_MS, EVERY_5_S, QUEUES = EVERY_5_S + 6 };
struct connection {
  int fd, queue, event;
  bool prefill;
  long due;
  struct connection *before, *after;
  struct last *record;
  struct message request;
};
// A queue of connections that wait for their next event equally long, so they are due in the order in which they were added.
static struct queue { long interval; struct connection *first, *last; } queues[QUEUES];
static char json[512], chat[2048], prefilled[2048], event[EVENTS][512];
static int event_length[EVENTS], polling, timer;

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void die(const char *what) { perror(what); exit(1); }

static void leave_queue(struct connection *c) {
  if (c->queue < 0) return;
  struct queue *t = &queues[c->queue];
  *(c->before ? &c->before->after : &t->first) = c->after;
  *(c->after ? &c->after->before : &t->last) = c->before;
  c->queue = -1;
}

static void join_queue(struct connection *c, int queue, long from) {
  struct queue *t = &queues[queue];
  c->queue = queue;
  c->due = from + t->interval;
  c->before = t->last;
  c->after = NULL;
  *(t->last ? &t->last->after : &t->first) = c;
  t->last = c;
}

static void close_connection(struct connection *c) {
  if (c->queue >= 0) __atomic_add_fetch(&shared->aborted, 1, __ATOMIC_RELAXED);
  leave_queue(c);
  close(c->fd);
  free(c);
}

static bool send_bytes(struct connection *c, const char *data, size_t length) {
  // A response fits into the socket's buffer unless the peer has stopped reading. For such a peer, this closes the connection.
  if (send(c->fd, data, length, MSG_NOSIGNAL) == (ssize_t)length) return true;
  close_connection(c);
  return false;
}

static bool send_json(struct connection *c, const char *body) {
  char answer[4096];
  return send_bytes(c, answer, snprintf(answer, sizeof answer, JSON_HEAD, strlen(body), body));
}

static bool send_stats(struct connection *c) {
  char body[512];
  snprintf(body, sizeof body,
           "{\"models\":%ld,\"chats\":%ld,\"streams\":%ld,\"prefills\":%ld,\"traces\":%ld,\"trace_bytes\":%ld,"
           "\"aborted\":%ld}",
           shared->models, shared->chats, shared->streams, shared->prefills, shared->traces, shared->trace_bytes,
           shared->aborted);
  return send_json(c, body);
}

static bool send_last(struct connection *c, struct last *last) {
  char head[256];
  int length = snprintf(head, sizeof head, JSON_HEAD, (size_t)last->length, "");
  return send_bytes(c, head, length) && send_bytes(c, last->body, last->length);
}

static bool send_burst(struct connection *c) {
  if (!send_bytes(c, STREAM_HEAD, sizeof STREAM_HEAD - 1)) return false;
  for (int i = 0; i < EVENTS; i++) {
    if (!send_bytes(c, event[i], event_length[i])) return false;
  }
  return true;
}

static bool send_stream(struct connection *c, int queue) {
  char start[1024];
  int head = sizeof STREAM_HEAD - 1;
  memcpy(start, STREAM_HEAD, head);
  memcpy(start + head, event[0], event_length[0]);
  if (!send_bytes(c, start, head + event_length[0])) return false;
  c->event = 1;
  join_queue(c, queue, now());
  return true;
}

static void send_next_event(struct connection *c) {
  int queue = c->queue;
  bool endless = queue != EVERY_5_MS;
  long due = c->due;
  leave_queue(c);
  int i = endless ? 0 : c->event++;
  if (send_bytes(c, event[i], event_length[i]) && c->event < EVENTS) {
    join_queue(c, endless ? EVERY_5_S + (int)(due / 1000 % 6) : queue, endless ? now() : due);
  }
}

#define COUNT(what) __atomic_add_fetch(&shared->what, 1, __ATOMIC_RELAXED)

static bool answer(struct connection *c) {
  const char *head = c->request.head, *mode;
  const char *path = strchr(head, ' ');
  const char *line_end = strchr(head, '\r');
  if (!path++ || !line_end) return false;
  if (c->prefill) return COUNT(prefills), send_json(c, prefilled);
  if (strncmp(path, "/v1/traces", 10) == 0) {
    __atomic_add_fetch(&shared->trace_bytes, c->request.body_length, __ATOMIC_RELAXED);
    return COUNT(traces), send_json(c, "{}");
  }
  if (strncmp(path, "/stats", 6) == 0) return send_stats(c);
  if (strncmp(path, "/last/prefill", 13) == 0) return send_last(c, &shared->prefill);
  if (strncmp(path, "/last/decode", 12) == 0) return send_last(c, &shared->decode);
  mode = strstr(path, "?mode=");
  if (mode && mode < line_end) {
    COUNT(streams);
    if (mode[6] == 'b') return send_burst(c);
    return send_stream(c, mode[7] == 's' ? EVERY_5_MS : EVERY_5_S + c->fd % 6);
  }
  if (strncmp(path, "/v1/chat", 8) == 0) return COUNT(chats), send_json(c, chat);
  return COUNT(models), send_json(c, json);
}

// Stores the body of a request with x-bench-record. Storing every body would cost CPU time.
static void record(void *owner, const char *data, size_t length) {
  struct connection *c = owner;
  bool first = c->request.body_length == (long)length;
  if (first) {
    bool asked = message_header(&c->request, "x-bench-record:") != NULL;
    c->record = !asked ? NULL : c->prefill ? &shared->prefill : &shared->decode;
    if (asked) c->record->length = 0;
  }
  if (!c->record || c->record->length + length > LAST_BYTES) return;
  memcpy(c->record->body + c->record->length, data, length);
  c->record->length += length;
}

static void receive(struct connection *c) {
  static char buffer[256 * 1024];
  ssize_t length = recv(c->fd, buffer, sizeof buffer, 0);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0) return close_connection(c);
  for (ssize_t at = 0; at < length;) {
    at += message_read(&c->request, buffer + at, length - at, record, c);
    if (c->request.reading == BROKEN || c->queue >= 0) return close_connection(c);
    if (c->request.reading == COMPLETE) {
      if (!answer(c)) return;
      message_reset(&c->request);
    }
  }
}

static void accept_connections(int listener, bool prefill) {
  for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0;) {
    struct connection *c = calloc(1, sizeof *c);
    c->fd = fd;
    c->queue = -1;
    c->prefill = prefill;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &(int){1 << 20}, sizeof(int));
    struct epoll_event on = {.events = EPOLLIN, .data.ptr = c};
    if (epoll_ctl(polling, EPOLL_CTL_ADD, fd, &on)) die("epoll_ctl");
  }
}

static void send_due_events(void) {
  long time = now(), next = 0;
  for (struct queue *t = queues; t < queues + QUEUES; t++) {
    while (t->first && t->first->due <= time) send_next_event(t->first);
    if (t->first && (!next || t->first->due < next)) next = t->first->due;
  }
  static long armed;
  if (next == armed) return;
  armed = next;
  struct itimerspec at = {.it_value = {next / 1000000000, next % 1000000000}};
  timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
}

static int listen_on(int port) {
  struct sockaddr_in at = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &(int){1}, sizeof(int));
  setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &(int){1}, sizeof(int));
  if (bind(fd, (struct sockaddr *)&at, sizeof at) || listen(fd, 4096)) die("listen");
  return fd;
}

static void write_responses(void) {
  int length = snprintf(json, sizeof json, "{\"object\":\"list\",\"data\":[{\"id\":\"bench\",\"object\":\"model\",\"root\":\"");
  snprintf(json + length, sizeof json - length, "%0*d\"}]}", 200 - length - 4, 0);
  strcpy(chat, CHAT(USAGE("512")));
  strcpy(prefilled, CHAT(TRANSFER "," USAGE("256")));
  for (int i = 0; i < EVENTS; i++) {
    char data[400];
    bool usage = i == EVENTS - 2;
    snprintf(data, sizeof data, i == EVENTS - 1 ? "data: [DONE]\n\n" : DELTA,
             usage ? "{}" : "{\"content\":\" token\"}", usage ? "\"length\"" : "null", usage ? "," USAGE("512") : "");
    event_length[i] = snprintf(event[i], sizeof event[i], "%zx\r\n%s\r\n%s", strlen(data), data,
                               i == EVENTS - 1 ? "0\r\n\r\n" : "");
  }
}

static void serve(int decode_port, int prefill_port) {
  int listeners[] = {listen_on(decode_port), listen_on(prefill_port)};
  polling = epoll_create1(0);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  int *known[] = {&listeners[0], &listeners[1], &timer};
  for (int i = 0; i < 3; i++) {
    struct epoll_event on = {.events = EPOLLIN, .data.ptr = known[i]};
    epoll_ctl(polling, EPOLL_CTL_ADD, *known[i], &on);
  }
  struct epoll_event ready[64];
  for (;;) {
    // A connection that an event closes has no other event in this array, because epoll reports each descriptor once.
    int count = epoll_wait(polling, ready, 64, -1);
    for (int i = 0; i < count; i++) {
      void *what = ready[i].data.ptr;
      if (what == &timer) continue;
      if (what == &listeners[0] || what == &listeners[1]) accept_connections(*(int *)what, what == &listeners[1]);
      else receive(what);
    }
    send_due_events();
  }
}

int main(int argc, char **argv) {
  if (argc < 3) return fputs("usage: upstream <decode port> <prefill port> [processes]\n", stderr), 2;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  queues[EVERY_5_MS].interval = 5000000;
  for (int i = 0; i < 6; i++) queues[EVERY_5_S + i].interval = (5 + i) * 1000000000L;
  prctl(PR_SET_TIMERSLACK, 1);
  write_responses();
  for (int processes = argc > 3 ? atoi(argv[3]) : 1; processes > 1 && fork() != 0; processes--) continue;
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  serve(atoi(argv[1]), atoi(argv[2]));
}
