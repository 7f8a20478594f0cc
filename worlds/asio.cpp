// Asio, version 1, without Boost: an io_context that one thread runs, and which is told so. A timer that is cancelled still calls its
// handler, with an error, in a later turn; that is part of what cancelling costs here.

#include <semaphore.h>

#include <algorithm>
#include <array>
#include <asio.hpp>
#include <chrono>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>

#include "harness.h"

namespace {

using asio::ip::tcp;
using std::chrono::milliseconds;

void check(const char *what, const std::error_code &err) {
	if (err) die("%s: %s", what, err.message().c_str());
}

// A reactor is a loop that runs on a thread of its own until stop.
class reactor {
public:
	reactor() {
		sem_init(&verdicts, 0, 0);
		thread = std::thread([this] { context.run(); });
		on_loop([] {});
	}

	reactor(const reactor &) = delete;
	reactor &operator=(const reactor &) = delete;

	template <typename Task> void submit(Task task) { asio::post(context, std::move(task)); }

	// A task says done when all is through. One wait answers one done.
	void done() { sem_post(&verdicts); }

	void wait() {
		while (sem_wait(&verdicts) != 0) {
		}
	}

	// on_loop runs a task to its end.
	template <typename Task> void on_loop(Task task) {
		submit([this, task] {
			task();
			done();
		});
		wait();
	}

	// stop ends the loop when it has nothing left to wait for.
	void stop() {
		work.reset();
		thread.join();
		sem_destroy(&verdicts);
	}

	asio::io_context context{1};

private:
	asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
	sem_t verdicts;
	std::thread thread;
};

int64_t submit_cell(int64_t count, int64_t) {
	reactor r;
	int64_t left = count;
	auto const task = [&] {
		if (--left == 0) r.done();
	};
	int64_t const begin = now();
	for (int64_t i = 0; i < count; i++) r.submit(task);
	r.wait();
	int64_t const took = now() - begin;
	r.stop();
	expect("tasks that have not run", left, 0);
	return took;
}

int64_t ping_pong(int64_t count, int64_t watching) {
	reactor r;
	asio::local::stream_protocol::socket silent(r.context), peer(r.context);
	if (watching) {
		asio::local::connect_pair(silent, peer);
		r.on_loop([&] {
			silent.async_wait(asio::socket_base::wait_read, [](const std::error_code &err) {
				if (err != asio::error::operation_aborted) die("an event on a silent socket: %s", err.message().c_str());
			});
		});
	}
	int64_t ran = 0;
	auto const task = [&] {
		ran++;
		r.done();
	};
	int64_t const begin = now();
	for (int64_t i = 0; i < count; i++) {
		r.submit(task);
		r.wait();
	}
	int64_t const took = now() - begin;
	r.on_loop([&] { silent.close(); });
	r.stop();
	expect("answers", ran, count);
	return took;
}

// timers is what the cells of timers have. All but the reactor belongs to the loop.
struct timers {
	timers(int64_t count, int64_t n) : count(count) {
		r.on_loop([&] {
			for (int64_t i = 0; i < n; i++) schedule(pending.emplace_back(r.context), later(i, n));
			for (int i = 0; i < DELAYS; i++) used.emplace_back(r.context);
		});
	}

	void schedule(asio::steady_timer &timer, int64_t delay) {
		timer.expires_after(milliseconds(delay));
		timer.async_wait([this](const std::error_code &err) {
			if (err != asio::error::operation_aborted) die("a timer fires that is cancelled or not due");
			aborted++;
		});
	}

	void cancel_batch() {
		int64_t const end = std::min(i + BATCH, count);
		for (; i < end; i++) {
			asio::steady_timer &timer = used[i & (DELAYS - 1)];
			schedule(timer, delay(i));
			timer.cancel();
		}
		if (i == count)
			r.submit([this] { r.done(); });
		else
			r.submit([this] { cancel_batch(); });
	}

	void arm() {
		used[0].expires_after(milliseconds(0));
		used[0].async_wait([this](const std::error_code &err) {
			check("a timer that fires", err);
			if (++i == count)
				r.done();
			else
				arm();
		});
	}

	// measure does what first begins. Of the timers, that many have been cancelled in the end.
	template <typename First> int64_t measure(First first, int64_t cancelled) {
		int64_t const begin = now();
		r.submit(first);
		r.wait();
		int64_t const took = now() - begin;
		r.on_loop([&] {
			expect("timers that are cancelled", aborted, cancelled);
			for (auto &timer : pending) timer.cancel();
		});
		r.stop();
		expect("timers done", i, count);
		expect("timers that were pending", aborted - cancelled, static_cast<int64_t>(pending.size()));
		return took;
	}

	reactor r;
	int64_t i = 0, count, aborted = 0;
	std::deque<asio::steady_timer> pending; // they do not fire
	std::deque<asio::steady_timer> used;    // those that are scheduled and cancelled, one for each delay
};

int64_t cancel_cell(int64_t count, int64_t pending) {
	timers t(count, pending);
	return t.measure([&] { t.cancel_batch(); }, count);
}

int64_t fire_cell(int64_t count, int64_t pending) {
	timers t(count, pending);
	return t.measure([&] { t.arm(); }, 0);
}

// A server sends back what arrives. All but the reactor belongs to the loop.
struct server {
	struct connection {
		explicit connection(tcp::socket &&socket) : socket(std::move(socket)) {}
		tcp::socket socket;
		std::array<char, READ_SIZE> buf;
	};

	explicit server(reactor &r) : r(r), listener(r.context) {
		listener.open(tcp::v4());
		listener.bind(tcp::endpoint(asio::ip::address_v4::loopback(), 0));
		listener.listen(BACKLOG);
		accept();
	}

	void accept() {
		listener.async_accept([this](const std::error_code &err, tcp::socket socket) {
			if (err == asio::error::operation_aborted) return;
			check("accept", err);
			socket.set_option(tcp::no_delay(true));
			socket.non_blocking(true);
			accepted++;
			open++;
			read(std::make_shared<connection>(std::move(socket)));
			accept();
		});
	}

	// read answers one message, and waits for the next. It writes at once, as the servers in Go do: there is room, since the client
	// sends nothing before it has its echo.
	void read(std::shared_ptr<connection> conn) {
		auto &socket = conn->socket;
		auto const buf = asio::buffer(conn->buf);
		socket.async_read_some(buf, [this, conn = std::move(conn)](std::error_code err, size_t n) mutable {
			if (err == asio::error::eof) {
				open--;
				settle();
				return;
			}
			check("reading a request", err);
			size_t const written = conn->socket.write_some(asio::buffer(conn->buf, n), err);
			check("writing a message", err);
			if (written < n) die("writing a message: only a part is taken");
			bytes += static_cast<int64_t>(n);
			read(std::move(conn));
		});
	}

	void end() {
		listener.close();
		ending = true;
		settle();
	}

	void settle() {
		if (ending && open == 0) r.done();
	}

	reactor &r;
	tcp::acceptor listener;
	int64_t accepted = 0, open = 0, bytes = 0;
	bool ending = false;
};

int64_t echo_cell(int64_t count, int64_t conns) {
	if (skip_echo(conns) == SKIPPED) return SKIPPED;
	reactor r;
	std::unique_ptr<server> s;
	r.on_loop([&] { s = std::make_unique<server>(r); });
	int64_t const took = run_client(s->listener.local_endpoint().port(), conns, count);
	r.submit([&] { s->end(); });
	r.wait();
	r.stop();
	expect("connections", s->accepted, conns);
	expect("bytes", s->bytes, (conns + count) * MESSAGE_SIZE);
	return took;
}

}  // namespace

int main() {
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
	try {
		return serve(cells, sizeof cells / sizeof *cells);
	} catch (const std::exception &err) {
		die("%s", err.what());
	}
}
