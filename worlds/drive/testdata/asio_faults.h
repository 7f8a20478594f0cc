// Asio with the fault that the environment's FAULT names, for asio.cpp, into which this is included first.

#include <asio.hpp>
#include <cstdlib>
#include <cstring>

static bool faulty(const char *name) {
	const char *const fault = getenv("FAULT");
	return fault != nullptr && strcmp(fault, name) == 0;
}

namespace asio {
template <typename Task> void faulty_post(io_context &context, Task task) {
	static int posted;
	if (faulty("wakes are lost") && ++posted > 10) return;
	post(context, task);
	if (faulty("tasks run twice") && ++posted > 10) post(context, task);
}

struct faulty_timer : steady_timer {
	using steady_timer::steady_timer;
	void cancel() {
		if (!faulty("timers are not cancelled")) steady_timer::cancel();
	}
	void expires_after(std::chrono::milliseconds delay) {
		steady_timer::expires_after(faulty("timers fire at once") ? std::chrono::milliseconds(0) : delay);
	}
};
}  // namespace asio

#define post faulty_post
#define steady_timer faulty_timer
#define write_some(echo, err) write_some((faulty("echoes are wrong") ? conn->buf[5]++ : 0, echo), err)

// Only what waits in vain is given up soon.
#define PATIENCE (faulty("wakes are lost") ? 1 : 3600)
