// SPDX-License-Identifier: Apache-2.0
/*
 * A server with a thread per connection, where each request has its own call path: for GET /N, path<N> computes, sleeps,
 * launches the GPU function kernel<N> N + 1 times, and copies 1000 + N bytes. Prints its port.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

extern "C" {
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *stream, void **, void **);
/* In the parcagpu stand-in, if it is loaded: reports the end of the runtime's launch. */
__attribute__((weak)) void fake_runtime_returns();
int cuMemcpyHtoD_v2(unsigned long long to, const void *from, size_t bytes);
}

enum { PATHS = 60, TURNS = 20000000, NAP_MICROS = 20000 };

static void compute()
{
	volatile unsigned long sum = 0;

	for (int i = 0; i < TURNS; i++)
		sum = sum * 31 + i;
}

static void nap()
{
	usleep(NAP_MICROS);
}

static void launch(int number)
{
	static char bytes[2000];
	char name[40];
	void *function;

	snprintf(name, sizeof(name), "_Z6kernelILi%dEEvPf", number);
	cuModuleGetFunction(&function, nullptr, name);
	for (int i = 0; i <= number; i++) {
		cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr);
		if (fake_runtime_returns)
			fake_runtime_returns();
	}
	cuMemcpyHtoD_v2(0x1000, bytes, 1000 + number);
}

template <int number> void path()
{
	compute();
	nap();
	launch(number);
}

template <int... numbers> void run(int number, std::integer_sequence<int, numbers...>)
{
	static void (*const paths[])() = {path<numbers>...};

	paths[number]();
}

static void *serve(void *socket)
{
	static const char answer[] = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
	int connection = (int)(long)socket;
	char head[4096];
	ssize_t length;

	while ((length = read(connection, head, sizeof(head) - 1)) > 0) {
		head[length] = 0;
		run(atoi(head + strlen("GET /")) % PATHS, std::make_integer_sequence<int, PATHS>());
		if (write(connection, answer, strlen(answer)) < 0)
			break;
	}
	close(connection);
	return nullptr;
}

int main()
{
	struct sockaddr_in address = {};
	socklen_t size = sizeof(address);
	int server = socket(AF_INET, SOCK_STREAM, 0);

	address.sin_family = AF_INET;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(server, (struct sockaddr *)&address, sizeof(address)) || listen(server, 128) ||
	    getsockname(server, (struct sockaddr *)&address, &size))
		return 1;
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	for (;;) {
		pthread_t thread;
		long connection = accept(server, nullptr, nullptr);

		if (connection < 0 || pthread_create(&thread, nullptr, serve, (void *)connection))
			return 1;
		pthread_detach(thread);
	}
}
