// libuv, version 1. It has no queue that other threads may use: Submit is what its users write, an array under a mutex and
// uv_async_send. Timers are handles which their user owns; so the handles of timers that come and go are made once and used again.

#include <stdbool.h>
#include <sys/socket.h>
#include <uv.h>

#include "harness.h"

typedef struct {
	void (*run)(void *);
	void *arg;
} task;

typedef struct {
	task *tasks;
	size_t len, cap;
} queue;

// A reactor is a loop that runs on a thread of its own.
typedef struct {
	uv_loop_t loop;
	uv_thread_t thread;
	uv_async_t wake;
	uv_mutex_t lock; // guards inbox
	queue inbox;
	queue batch;       // the loop's: what it runs
	uv_sem_t verdicts; // one for each done
} reactor;

static void check(const char *what, int code) {
	if (code < 0) die("%s: %s", what, uv_strerror(code));
}

static void *allocate(size_t n, size_t size) {
	void *const p = calloc(n > 0 ? n : 1, size);
	if (p == NULL) die("out of memory");
	return p;
}

static void submit(reactor *r, void (*run)(void *), void *arg) {
	uv_mutex_lock(&r->lock);
	queue *const q = &r->inbox;
	if (q->len == q->cap) {
		q->cap = q->cap > 0 ? 2 * q->cap : BATCH;
		q->tasks = realloc(q->tasks, q->cap * sizeof *q->tasks);
		if (q->tasks == NULL) die("out of memory");
	}
	q->tasks[q->len++] = (task){run, arg};
	uv_mutex_unlock(&r->lock);
	check("uv_async_send", uv_async_send(&r->wake));
}

// on_wake runs what has been submitted, and leaves what that submits to the next turn.
static void on_wake(uv_async_t *wake) {
	reactor *const r = wake->data;
	uv_mutex_lock(&r->lock);
	queue const swapped = r->inbox;
	r->inbox = r->batch;
	r->batch = swapped;
	uv_mutex_unlock(&r->lock);
	for (size_t i = 0; i < r->batch.len; i++) r->batch.tasks[i].run(r->batch.tasks[i].arg);
	r->batch.len = 0;
}

static void done(void *arg) { uv_sem_post(&((reactor *)arg)->verdicts); }
static void wait_done(reactor *r) { uv_sem_wait(&r->verdicts); }

static void turn(void *arg) { uv_run(&((reactor *)arg)->loop, UV_RUN_DEFAULT); }

// start runs a loop until it has run a task.
static reactor *start(void) {
	reactor *const r = allocate(1, sizeof *r);
	check("uv_loop_init", uv_loop_init(&r->loop));
	check("uv_async_init", uv_async_init(&r->loop, &r->wake, on_wake));
	check("uv_mutex_init", uv_mutex_init(&r->lock));
	check("uv_sem_init", uv_sem_init(&r->verdicts, 0));
	r->wake.data = r;
	check("uv_thread_create", uv_thread_create(&r->thread, turn, r));
	submit(r, done, r);
	wait_done(r);
	return r;
}

// on_loop runs a task to its end.
static void on_loop(reactor *r, void (*run)(void *), void *arg) {
	submit(r, run, arg);
	submit(r, done, r);
	wait_done(r);
}

static void close_handle(uv_handle_t *handle, void *arg) {
	(void)arg;
	if (!uv_is_closing(handle)) uv_close(handle, NULL);
}

static void close_all(void *arg) { uv_walk(&((reactor *)arg)->loop, close_handle, NULL); }

// stop ends the loop. What its handles are in may be freed afterwards.
static void stop(reactor *r) {
	submit(r, close_all, r);
	check("uv_thread_join", uv_thread_join(&r->thread));
	check("uv_loop_close", uv_loop_close(&r->loop));
	uv_mutex_destroy(&r->lock);
	uv_sem_destroy(&r->verdicts);
	free(r->inbox.tasks);
	free(r->batch.tasks);
	free(r);
}

typedef struct {
	reactor *r;
	int64_t left;
} countdown;

static void count_down(void *arg) {
	countdown *const c = arg;
	if (--c->left == 0) done(c->r);
}

static int64_t submit_cell(int64_t count, int64_t arg) {
	(void)arg;
	reactor *const r = start();
	countdown c = {r, count};
	int64_t const begin = now();
	for (int64_t i = 0; i < count; i++) submit(r, count_down, &c);
	wait_done(r);
	int64_t const took = now() - begin;
	stop(r);
	expect("tasks that have not run", c.left, 0);
	return took;
}

typedef struct {
	reactor *r;
	int64_t ran;
	uv_poll_t poll;
	int fds[2];
} dialogue;

static void answer_ping(void *arg) {
	dialogue *const d = arg;
	d->ran++;
	done(d->r);
}

static void on_noise(uv_poll_t *poll, int status, int events) {
	(void)poll;
	die("status %d and events %d on a silent socket", status, events);
}

static void watch_silence(void *arg) {
	dialogue *const d = arg;
	check("uv_poll_init", uv_poll_init(&d->r->loop, &d->poll, d->fds[0]));
	check("uv_poll_start", uv_poll_start(&d->poll, UV_READABLE, on_noise));
}

static int64_t ping_pong(int64_t count, int64_t watching) {
	reactor *const r = start();
	dialogue d = {.r = r};
	if (watching) {
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, d.fds) != 0) die("socketpair: %s", strerror(errno));
		on_loop(r, watch_silence, &d);
	}
	int64_t const begin = now();
	for (int64_t i = 0; i < count; i++) {
		submit(r, answer_ping, &d);
		wait_done(r);
	}
	int64_t const took = now() - begin;
	stop(r);
	if (watching) {
		close(d.fds[0]);
		close(d.fds[1]);
	}
	expect("answers", d.ran, count);
	return took;
}

// timers is what the cells of timers have. All but the reactor belongs to the loop.
typedef struct {
	reactor *r;
	int64_t i, count;
	int64_t n;           // pending timers
	int64_t active;      // those that are found active in the end
	uv_timer_t *pending; // they do not fire
	uv_timer_t *used;    // the timers that are scheduled and cancelled, one for each delay, or the one that fires
} timers;

static void not_due(uv_timer_t *timer) {
	(void)timer;
	die("a timer fires that is cancelled or not due");
}

static void pend(void *arg) {
	timers *const t = arg;
	for (int64_t i = 0; i < t->n; i++) {
		check("uv_timer_init", uv_timer_init(&t->r->loop, &t->pending[i]));
		check("uv_timer_start", uv_timer_start(&t->pending[i], not_due, (uint64_t)later(i, t->n), 0));
	}
	for (int i = 0; i < DELAYS; i++) {
		check("uv_timer_init", uv_timer_init(&t->r->loop, &t->used[i]));
		t->used[i].data = t;
	}
}

static void cancel_batch(void *arg) {
	timers *const t = arg;
	int64_t const end = t->i + BATCH < t->count ? t->i + BATCH : t->count;
	for (; t->i < end; t->i++) {
		uv_timer_t *const timer = &t->used[t->i & (DELAYS - 1)];
		check("uv_timer_start", uv_timer_start(timer, not_due, (uint64_t)delay(t->i), 0));
		check("uv_timer_stop", uv_timer_stop(timer));
	}
	if (t->i == t->count)
		submit(t->r, done, t->r);
	else
		submit(t->r, cancel_batch, t);
}

static void fire(uv_timer_t *timer) {
	timers *const t = timer->data;
	if (++t->i == t->count)
		done(t->r);
	else
		check("uv_timer_start", uv_timer_start(timer, fire, 0, 0));
}

static void fire_first(void *arg) { check("uv_timer_start", uv_timer_start(((timers *)arg)->used, fire, 0, 0)); }

static void if_active(uv_handle_t *handle, void *arg) {
	if (handle->type == UV_TIMER && uv_is_active(handle)) ((timers *)arg)->active++;
}

static void count_active(void *arg) { uv_walk(&((timers *)arg)->r->loop, if_active, arg); }

static int64_t timer_cell(int64_t count, int64_t pending, void (*first)(void *)) {
	reactor *const r = start();
	timers t = {.r = r, .count = count, .n = pending};
	t.pending = allocate((size_t)pending, sizeof *t.pending);
	t.used = allocate(DELAYS, sizeof *t.used);
	on_loop(r, pend, &t);
	int64_t const begin = now();
	submit(r, first, &t);
	wait_done(r);
	int64_t const took = now() - begin;
	on_loop(r, count_active, &t);
	stop(r);
	free(t.pending);
	free(t.used);
	expect("timers done", t.i, count);
	expect("timers that are active", t.active, pending);
	return took;
}

static int64_t cancel_cell(int64_t count, int64_t pending) { return timer_cell(count, pending, cancel_batch); }
static int64_t fire_cell(int64_t count, int64_t pending) { return timer_cell(count, pending, fire_first); }

// A server sends back what arrives. All but the reactor belongs to the loop while it runs.
typedef struct {
	reactor *r;
	uv_tcp_t listener;
	int port;
	int64_t accepted, open, bytes;
	bool ending;
	char buf[READ_SIZE]; // shared by all connections: a loop runs one callback at a time
} server;

static void settle(server *s) {
	if (s->ending && s->open == 0) done(s->r);
}

static void lend(uv_handle_t *conn, size_t suggested, uv_buf_t *buf) {
	(void)suggested;
	server *const s = conn->data;
	*buf = uv_buf_init(s->buf, sizeof s->buf);
}

static void on_closed(uv_handle_t *conn) {
	server *const s = conn->data;
	free(conn);
	s->open--;
	settle(s);
}

// on_message writes at once, as the servers in Go do: there is room, since the client sends nothing before it has its echo.
static void on_message(uv_stream_t *conn, ssize_t n, const uv_buf_t *buf) {
	server *const s = conn->data;
	if (n == UV_EOF) {
		uv_close((uv_handle_t *)conn, on_closed);
		return;
	}
	check("reading a request", (int)n);
	if (n == 0) return;
	uv_buf_t const echo = uv_buf_init(buf->base, (unsigned)n);
	int const written = uv_try_write(conn, &echo, 1);
	check("writing a message", written);
	if (written < n) die("writing a message: only a part is taken");
	s->bytes += n;
}

static void on_connection(uv_stream_t *listener, int status) {
	server *const s = listener->data;
	check("accept", status);
	uv_tcp_t *const conn = allocate(1, sizeof *conn);
	conn->data = s;
	check("uv_tcp_init", uv_tcp_init(&s->r->loop, conn));
	check("uv_accept", uv_accept(listener, (uv_stream_t *)conn));
	check("uv_tcp_nodelay", uv_tcp_nodelay(conn, 1));
	check("uv_read_start", uv_read_start((uv_stream_t *)conn, lend, on_message));
	s->accepted++;
	s->open++;
}

static void listen_to(void *arg) {
	server *const s = arg;
	struct sockaddr_in addr;
	int len = sizeof addr;
	check("uv_ip4_addr", uv_ip4_addr("127.0.0.1", 0, &addr));
	check("uv_tcp_init", uv_tcp_init(&s->r->loop, &s->listener));
	s->listener.data = s;
	check("uv_tcp_bind", uv_tcp_bind(&s->listener, (struct sockaddr *)&addr, 0));
	check("uv_listen", uv_listen((uv_stream_t *)&s->listener, BACKLOG, on_connection));
	check("uv_tcp_getsockname", uv_tcp_getsockname(&s->listener, (struct sockaddr *)&addr, &len));
	s->port = ntohs(addr.sin_port);
}

static void end_server(void *arg) {
	server *const s = arg;
	s->ending = true;
	settle(s);
}

static int64_t echo_cell(int64_t count, int64_t conns) {
	if (skip_echo(conns) == SKIPPED) return SKIPPED;
	reactor *const r = start();
	server *const s = allocate(1, sizeof *s);
	s->r = r;
	on_loop(r, listen_to, s);
	int64_t const took = run_client(s->port, conns, count);
	submit(r, end_server, s);
	wait_done(r);
	stop(r);
	expect("connections", s->accepted, conns);
	expect("bytes", s->bytes, (conns + count) * MESSAGE_SIZE);
	free(s);
	return took;
}

int main(void) {
	static const cell cells[] = {
		{"Submit", submit_cell, 0},
		{"PingPongLatency/fd=0", ping_pong, 0},
		{"PingPongLatency/fd=1", ping_pong, 1},
		{"Timer/op=cancel/pending=0", cancel_cell, 0},
		{"Timer/op=cancel/pending=1000", cancel_cell, 1000},
		{"Timer/op=cancel/pending=100000", cancel_cell, 100000},
		{"Timer/op=fire/pending=0", fire_cell, 0},
		{"Timer/op=fire/pending=1000", fire_cell, 1000},
		{"Timer/op=fire/pending=100000", fire_cell, 100000},
		{"Echo/conns=64", echo_cell, 64},
		{"Echo/conns=512", echo_cell, 512},
		{"Echo/conns=1", echo_cell, 1},
	};
	return serve(cells, sizeof cells / sizeof *cells);
}
