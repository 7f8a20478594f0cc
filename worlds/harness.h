// What the programs in C and C++ share: the line protocol, the clock, the delays and the client of the echo. It is C and C++ at
// once, and for Linux. One thread, the main one, talks to the runner and is the producer of all cells; each run has a loop of its own
// on a thread of its own, as the benchmarks in Go have it.

#ifndef WORLDS_HARNESS_H
#define WORLDS_HARNESS_H

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

// PATIENCE is how many seconds a run may take in addition to 200 microseconds an operation, before the loop counts as hung.
#ifndef PATIENCE
#define PATIENCE 60
#endif

enum {
	BATCH = 128,        // operations in one task
	DELAYS = 1024,      // different delays of timers that are cancelled, a power of two
	READ_SIZE = 4096,   // bytes that a server reads at once
	BACKLOG = 1024,     // connections that may wait to be accepted
	MESSAGE_SIZE = 64,  // bytes of a message
	SKIPPED = -1        // what a cell returns that has called skip
};

// A cell does count operations and returns the nanoseconds that they took. What is wrong it tells with die.
typedef struct {
	const char *name;
	int64_t (*run)(int64_t count, int64_t arg);
	int64_t arg;
} cell;

// first_to_answer tells the thread that is the first to answer with an error, which is the only one that does.
static inline int first_to_answer(void) {
	static int answered;
	return !__atomic_exchange_n(&answered, 1, __ATOMIC_SEQ_CST);
}

// die answers that the run has gone wrong, and ends the program: nothing that it would measure later could be believed. It may be
// called on any thread.
__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...) {
	char line[512] = "error ";
	size_t const prefix = strlen(line);
	va_list args;
	va_start(args, format);
	vsnprintf(line + prefix, sizeof line - prefix - 1, format, args);
	va_end(args);
	strcat(line, "\n");
	while (!first_to_answer()) pause();
	if (write(STDOUT_FILENO, line, strlen(line)) < 0) _exit(2);
	_exit(1);
}

// expect dies unless what was counted is what should be.
static inline void expect(const char *what, int64_t got, int64_t want) {
	if (got != want) die("%s: %" PRId64 ", want %" PRId64, what, got, want);
}

static char skip_reason[256];

__attribute__((format(printf, 1, 2))) static inline int64_t skip(const char *format, ...) {
	va_list args;
	va_start(args, format);
	vsnprintf(skip_reason, sizeof skip_reason, format, args);
	va_end(args);
	return SKIPPED;
}

static inline int64_t now(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// later spreads n timers over an hour that begins after the run is over; milliseconds.
static inline int64_t later(int64_t i, int64_t n) { return 600000 + (int64_t)((double)i / (double)n * 3600000); }

// delay is the i-th of the delays of timers that are cancelled, drawn from the same hour. All worlds draw the same.
static int64_t delays[DELAYS];

static inline int64_t delay(int64_t i) { return delays[i & (DELAYS - 1)]; }

static inline void draw_delays(void) {
	uint32_t x = 1;
	for (int i = 0; i < DELAYS; i++) {
		x = x * UINT32_C(1664525) + UINT32_C(1013904223);
		delays[i] = later(x >> 22, DELAYS);
	}
}

// client_path is where the client of the echo is: beside the folder of the program.
static inline const char *client_path(void) {
	static char path[4096];
	ssize_t const n = readlink("/proc/self/exe", path, sizeof path - 32);
	if (n < 0) die("readlink: %s", strerror(errno));
	path[n] = 0;
	for (int up = 0; up < 2; up++) {
		char *const slash = strrchr(path, '/');
		if (slash != NULL) *slash = 0;
	}
	return strcat(path, "/echo-client");
}

// skip_echo tells, by skip, why there can be no echo over that many connections.
static inline int64_t skip_echo(int64_t conns) {
	int64_t const others = 64;
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0) die("getrlimit: %s", strerror(errno));
	if (limit.rlim_cur < (rlim_t)(conns + others))
		return skip("%" PRId64 " connections need more descriptors than a process may hold here", conns);
	if (access(client_path(), X_OK) != 0) return skip("%s: %s", client_path(), strerror(errno));
	return 0;
}

// run_client has the client open its connections and send a request on each, then count requests. It returns how long these took,
// when the client has ended and its connections are closed.
static inline int64_t run_client(int port, int64_t conns, int64_t count) {
	char command[4400], answer[256] = "";
	snprintf(command, sizeof command, "exec '%s' %d %" PRId64 " %" PRId64, client_path(), port, conns, count);
	FILE *const client = popen(command, "r");
	if (client == NULL) die("popen: %s", strerror(errno));
	if (fgets(answer, sizeof answer, client) == NULL) strcpy(answer, "has ended without an answer");
	answer[strcspn(answer, "\n")] = 0;
	int64_t took;
	int const answered = sscanf(answer, "through %" SCNd64, &took);
	if (pclose(client) != 0 || answered != 1) die("client: %s", answer);
	return took;
}

static void give_up(int sig) {
	(void)sig;
	static const char line[] = "error gave up waiting: a callback was lost or never ran\n";
	if (!first_to_answer()) return;
	if (write(STDOUT_FILENO, line, sizeof line - 1) < 0) _exit(2);
	_exit(1);
}

static inline void answer(const cell *cells, size_t n, char *line) {
	line[strcspn(line, "\r\n")] = 0;
	if (strcmp(line, "list") == 0) {
		for (size_t i = 0; i < n; i++) printf("bench %s\n", cells[i].name);
		puts("end");
		return;
	}
	char *const name = strncmp(line, "run ", 4) == 0 ? line + 4 : NULL;
	char *const space = name != NULL ? strchr(name, ' ') : NULL;
	if (space == NULL) {
		puts("error the commands are: list; run NAME COUNT");
		return;
	}
	*space = 0;
	char *end;
	errno = 0;
	int64_t const count = strtoll(space + 1, &end, 10);
	if (end == space + 1 || *end != 0 || errno != 0 || count < 1) {
		puts("error the count is not a number above zero");
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (strcmp(name, cells[i].name) != 0) continue;
		alarm((unsigned)(PATIENCE + count / 5000));
		int64_t const took = cells[i].run(count, cells[i].arg);
		alarm(0);
		if (took == SKIPPED)
			printf("skip %s %s\n", name, skip_reason);
		else
			printf("Benchmark%s %" PRId64 " %.2f ns/op\n", name, count, (double)took / (double)count);
		return;
	}
	printf("error there is no benchmark %s\n", name);
}

// serve answers the runner until it has no more commands.
static inline int serve(const cell *cells, size_t n) {
	char line[1024];
	signal(SIGALRM, give_up);
	signal(SIGPIPE, SIG_IGN);
	draw_delays();
	while (fgets(line, sizeof line, stdin) != NULL) {
		answer(cells, n, line);
		fflush(stdout);
	}
	return 0;
}

#endif
