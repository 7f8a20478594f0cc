// libuv with the fault that the environment's FAULT names, for libuv.c, into which this is included first.

#include <stdlib.h>
#include <string.h>
#include <uv.h>

static int faulty(const char *name) {
	const char *const fault = getenv("FAULT");
	return fault != NULL && strcmp(fault, name) == 0;
}

static inline int faulty_async_send(uv_async_t *wake) {
	static int sent;
	return faulty("wakes are lost") && ++sent > 10 ? 0 : uv_async_send(wake);
}

static inline int faulty_timer_start(uv_timer_t *timer, uv_timer_cb cb, uint64_t delay, uint64_t repeat) {
	if (faulty("timers are not scheduled")) return 0;
	if (faulty("timers fire at once")) delay = 0;
	return uv_timer_start(timer, cb, delay, repeat);
}

static inline int faulty_timer_stop(uv_timer_t *timer) { return faulty("timers are not cancelled") ? 0 : uv_timer_stop(timer); }

static inline int faulty_try_write(uv_stream_t *conn, const uv_buf_t bufs[], unsigned n) {
	if (faulty("echoes are wrong")) bufs[0].base[5]++;
	return uv_try_write(conn, bufs, n);
}


#define uv_async_send faulty_async_send
#define uv_timer_start faulty_timer_start
#define uv_timer_stop faulty_timer_stop
#define uv_try_write faulty_try_write

// Only what waits in vain is given up soon.
#define PATIENCE (faulty("wakes are lost") ? 1 : 3600)
