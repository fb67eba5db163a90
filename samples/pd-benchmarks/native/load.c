// A load generator for HTTP/1.1, which reads every response to its end. It prints key=value pairs: one line at the end, and for streams
// also one line at the beginning. A response counts as an error unless it is complete and has status 200. Latencies are in microseconds.
//
//   closed loop: load --port=P --connections=C --requests=N
//   open loop:   load --port=P --connections=C --requests=N --rate=PER_SECOND     latency counts from the time when a request is due
//   streams:     load --port=P --connections=C --hold=SECONDS                     responses that must not end
//
//   --path=/x --header='name: value' --source=127.0.0.X
//   --chat-bytes=N      sends a chat request with a body of about this size, and with "stream": true if --stream is given
//   --least-body=N      a response with a shorter body is an error
//   --sampled=PERCENT   adds a traceparent, and samples this percentage of the requests
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "http1.h"

#define MOST_OPENING 64
#define SILENCE_SECONDS 15  // an event is due every 5 to 10 seconds

struct connection {
  int fd;
  bool answering, waits_for_write;
  size_t written, head_length;
  long began;
  char head[1024];
  struct message answer;
};

static int port, connections = 32, hold, sampled = -1, polling, timer;
static long requests, rate, least_body, chat_bytes, begun, finished, errors, lost, started;
static bool streaming;
static const char *path = "/", *source;
static char head[900], *body = "";
static size_t body_length;
static unsigned *latency_micros;
static struct connection *all, **idle;
static int idle_count, opening, opened;

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000L + t.tv_nsec;
}

static void die(const char *what) { perror(what); exit(1); }

static unsigned long random_bits(void) {
  static unsigned long x = 88172645463325252UL;
  x ^= x << 13, x ^= x >> 7, x ^= x << 17;
  return x;
}

static void connect_to_server(struct connection *c) {
  struct sockaddr_in to = {AF_INET, htons(port), {htonl(INADDR_LOOPBACK)}, {0}};
  c->fd = socket(AF_INET, SOCK_STREAM, 0);
  if (c->fd < 0) die("socket");
  if (source) {
    struct sockaddr_in from = {AF_INET, 0, {inet_addr(source)}, {0}};
    setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &(int){1}, sizeof(int));
    if (bind(c->fd, (struct sockaddr *)&from, sizeof from)) die("bind");
  }
  if (connect(c->fd, (struct sockaddr *)&to, sizeof to)) die("connect");
  setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
  fcntl(c->fd, F_SETFL, O_NONBLOCK);
  struct epoll_event on = {.events = EPOLLIN, .data.ptr = c};
  if (epoll_ctl(polling, EPOLL_CTL_ADD, c->fd, &on)) die("epoll_ctl");
}

static void want_to_write(struct connection *c, bool wanted) {
  if (c->waits_for_write == wanted) return;
  c->waits_for_write = wanted;
  struct epoll_event on = {.events = EPOLLIN | (wanted ? EPOLLOUT : 0), .data.ptr = c};
  epoll_ctl(polling, EPOLL_CTL_MOD, c->fd, &on);
}

static void fail(struct connection *c) {
  close(c->fd);
  if (hold) {
    lost++;
    if (c->answer.body_length == 0) opening--;
    c->fd = -1;
    return;
  }
  c->waits_for_write = false;
  connect_to_server(c);
  if (c->answering) errors++, finished++;
  c->answering = false;
  idle[idle_count++] = c;
}

static void write_on(struct connection *c) {
  size_t total = c->head_length + body_length;
  while (c->written < total) {
    bool in_head = c->written < c->head_length;
    size_t body_at = in_head ? 0 : c->written - c->head_length;
    struct iovec parts[] = {{c->head + c->written, in_head ? c->head_length - c->written : 0},
                            {body + body_at, body_length - body_at}};
    ssize_t length = in_head ? writev(c->fd, parts, 2) : write(c->fd, parts[1].iov_base, parts[1].iov_len);
    if (length < 0 && errno == EAGAIN) return want_to_write(c, true);
    if (length < 0) return fail(c);
    c->written += length;
  }
  want_to_write(c, false);
}

static void begin(struct connection *c, long at) {
  c->answering = true;
  c->began = at;
  c->written = 0;
  message_reset(&c->answer);
  if (sampled < 0) {
    c->head_length = snprintf(c->head, sizeof c->head, "%s\r\n", head);
  } else {
    c->head_length = snprintf(c->head, sizeof c->head, "%straceparent: 00-%016lx%016lx-%016lx-0%d\r\n\r\n", head,
                              random_bits(), random_bits(), random_bits(), begun % 100 * 37 % 100 < sampled);
  }
  begun++;
  write_on(c);
}

static void finish(struct connection *c) {
  bool whole = strncmp(c->answer.head, "HTTP/1.1 200", 12) == 0 && c->answer.body_length >= least_body;
  if (!whole || hold) return fail(c);
  latency_micros[finished++] = (now() - c->began) / 1000;
  c->answering = false;
  idle[idle_count++] = c;
}

static void receive(struct connection *c) {
  static char buffer[256 * 1024];
  ssize_t length = recv(c->fd, buffer, sizeof buffer, 0);
  if (length < 0 && errno == EAGAIN) return;
  if (length <= 0 || !c->answering) return fail(c);
  bool first = c->answer.body_length == 0;
  ssize_t used = message_read(&c->answer, buffer, length, NULL, NULL);
  if (used < length || c->answer.reading == BROKEN) return fail(c);
  if (hold && first && c->answer.body_length > 0) opening--, opened++;
  if (hold) c->began = now();
  if (c->answer.reading == COMPLETE) finish(c);
}

static void begin_due(void) {
  if (hold) {
    for (; begun < connections && opening < MOST_OPENING; opening++) {
      connect_to_server(&all[begun]);
      begin(&all[begun], now());
    }
    return;
  }
  long time = now();
  while (idle_count > 0 && begun < requests) {
    long due = rate ? started + begun * (1000000000L / rate) : time;
    if (due > time) {
      struct itimerspec at = {.it_value = {due / 1000000000, due % 1000000000}};
      timerfd_settime(timer, TFD_TIMER_ABSTIME, &at, NULL);
      return;
    }
    begin(idle[--idle_count], due);
  }
}

static void handle_events(int timeout_millis) {
  struct epoll_event ready[64];
  int count = epoll_wait(polling, ready, 64, timeout_millis);
  for (int i = 0; i < count; i++) {
    struct connection *c = ready[i].data.ptr;
    long expirations;
    if (!c) {
      if (read(timer, &expirations, sizeof expirations) < 0 && errno != EAGAIN) die("timer");
      continue;
    }
    if (ready[i].events & EPOLLOUT) write_on(c);
    if (ready[i].events & ~EPOLLOUT) receive(c);
  }
}

static int by_size(const void *a, const void *b) {
  return (*(unsigned *)a > *(unsigned *)b) - (*(unsigned *)a < *(unsigned *)b);
}

static void run_requests(void) {
  while (finished < requests) {
    begin_due();
    handle_events(-1);
  }
  double seconds = (now() - started) / 1e9;
  long good = finished - errors;
  qsort(latency_micros, finished, sizeof *latency_micros, by_size);
  printf("requests=%ld errors=%ld seconds=%.3f p50=%u p99=%u most=%u\n", finished, errors, seconds,
         latency_micros[finished / 2], latency_micros[finished * 99 / 100], good ? latency_micros[finished - 1] : 0);
}

static void print_streams(void) {
  long silent = 0, bytes = 0;
  for (int i = 0; i < connections; i++) {
    bytes += all[i].answer.body_length;
    silent += all[i].fd > 0 && now() - all[i].began > SILENCE_SECONDS * 1000000000L;
  }
  printf("held=%d lost=%ld silent=%ld bytes=%ld\n", connections - (int)lost, lost, silent, bytes);
  fflush(stdout);
}

static void run_streams(void) {
  while (opened + lost < connections) {
    begin_due();
    handle_events(100);
  }
  print_streams();
  for (long end = now() + hold * 1000000000L; now() < end;) handle_events(100);
  print_streams();
}

static void write_chat_body(void) {
  static const char text[] =
      "The quick brown fox said \\\"jump\\\" and, a moment later, jumped over the lazy dog;\\nnobody had asked it to. ";
  char *at = body = malloc(chat_bytes + 4096);
  at += sprintf(at, "{\"model\":\"bench\",\"messages\":[{\"role\":\"system\",\"content\":\"You answer briefly.\"}");
  for (int turn = 0; at - body < chat_bytes - 250; turn++) {
    at += sprintf(at, ",{\"role\":\"%s\",\"content\":\"", turn % 2 ? "assistant" : "user");
    for (int i = 0; i < 12 && at - body < chat_bytes - 250; i++) at += sprintf(at, "%s", text);
    at += sprintf(at, "\"}");
  }
  at += sprintf(at, "],\"temperature\":0.7,\"top_p\":0.95,\"n\":1,\"user\":\"u-1234\",\"max_tokens\":64,%s}",
                streaming ? "\"stream\":true,\"stream_options\":{\"include_usage\":true}" : "\"stream\":false");
  body_length = at - body;
}

static void read_options(int argc, char **argv, char *headers, size_t most) {
  enum { PORT, PATH, CONNECTIONS, REQUESTS, RATE, HOLD, HEADER, CHAT, STREAM, LEAST, SAMPLED, SOURCE };
  static const struct option known[] = {
      {"port", 1, 0, PORT},         {"path", 1, 0, PATH},           {"connections", 1, 0, CONNECTIONS},
      {"requests", 1, 0, REQUESTS}, {"rate", 1, 0, RATE},           {"hold", 1, 0, HOLD},
      {"header", 1, 0, HEADER},     {"chat-bytes", 1, 0, CHAT},     {"stream", 0, 0, STREAM},
      {"least-body", 1, 0, LEAST},  {"sampled", 1, 0, SAMPLED},     {"source", 1, 0, SOURCE},
      {0}};
  for (int option; (option = getopt_long(argc, argv, "", known, NULL)) >= 0;) {
    switch (option) {
      case PORT: port = atoi(optarg); break;
      case PATH: path = optarg; break;
      case CONNECTIONS: connections = atoi(optarg); break;
      case REQUESTS: requests = atol(optarg); break;
      case RATE: rate = atol(optarg); break;
      case HOLD: hold = atoi(optarg); break;
      case CHAT: chat_bytes = atol(optarg); break;
      case STREAM: streaming = true; break;
      case LEAST: least_body = atol(optarg); break;
      case SAMPLED: sampled = atoi(optarg); break;
      case SOURCE: source = optarg; break;
      case HEADER:
        strncat(headers, optarg, most - strlen(headers) - 3);
        strcat(headers, "\r\n");
        break;
      default: exit(2);
    }
  }
}

int main(int argc, char **argv) {
  char headers[600] = "";
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  prctl(PR_SET_TIMERSLACK, 1);
  signal(SIGPIPE, SIG_IGN);
  read_options(argc, argv, headers, sizeof headers);
  if (chat_bytes) write_chat_body();
  int length = snprintf(head, sizeof head, "%s %s HTTP/1.1\r\nHost: bench\r\nUser-Agent: load\r\nAccept: */*\r\n%s",
                        chat_bytes ? "POST" : "GET", path, headers);
  if (chat_bytes) {
    snprintf(head + length, sizeof head - length, "Content-Type: application/json\r\nContent-Length: %zu\r\n", body_length);
  }
  all = calloc(connections, sizeof *all);
  idle = calloc(connections, sizeof *idle);
  latency_micros = calloc(requests + 1, sizeof *latency_micros);
  polling = epoll_create1(0);
  timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
  struct epoll_event on = {.events = EPOLLIN};
  epoll_ctl(polling, EPOLL_CTL_ADD, timer, &on);
  started = now();
  if (hold) return run_streams(), 0;
  for (int i = 0; i < connections; i++) connect_to_server(idle[idle_count++] = &all[i]);
  started = now();
  run_requests();
  return errors > 0;
}
