#!/usr/bin/env python3
"""uvloop, which is asyncio on libuv. The main thread is the producer; each run has a loop of its own on a thread of its own.

What a zero-delay call_later does there is call_soon, and asyncio has no microtasks: these cells are left out.
"""

import asyncio
import functools
import os
import queue
import resource
import signal
import socket
import subprocess
import sys
import threading
import time

import uvloop

PATIENCE = 60  # seconds that a run may take in addition to 200 microseconds an operation, before the loop counts as hung
BATCH = 128  # operations in one task
DELAYS = 1024  # different delays of timers that are cancelled
BACKLOG = 1024  # connections that may wait to be accepted
MESSAGE_SIZE = 64  # bytes
CLIENT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "echo-client")

now = time.perf_counter_ns


class Skip(Exception):
    """Says why a cell has no figure."""


dying = threading.Lock()


def die(why):
    """Answers that the run has gone wrong, and ends the program: nothing that it would measure later could be believed.

    It may be called on any thread; the first one answers.
    """
    dying.acquire()
    os.write(1, ("error " + str(why).replace("\n", "; ") + "\n").encode())
    os._exit(1)


def expect(what, got, want):
    if got != want:
        die(f"{what}: {got}, want {want}")


class Reactor:
    """A loop that runs on a thread of its own until stop."""

    def __init__(self):
        self.loop = uvloop.new_event_loop()
        self.loop.set_exception_handler(lambda loop, context: die(context.get("exception") or context["message"]))
        self.submit = self.loop.call_soon_threadsafe
        verdicts = queue.SimpleQueue()
        self.done = functools.partial(verdicts.put, None)  # a task says that all is through
        self.wait = verdicts.get  # one wait answers one done
        self.thread = threading.Thread(target=self.loop.run_forever)
        self.thread.start()
        self.on_loop(lambda: None)

    def on_loop(self, task):
        """Runs a task to its end."""
        self.submit(task)
        self.submit(self.done)
        self.wait()

    def stop(self):
        self.submit(self.loop.stop)
        self.thread.join()
        self.loop.close()


def submit(count):
    r = Reactor()
    left = count

    def task():
        nonlocal left
        left -= 1
        if left == 0:
            r.done()

    begin = now()
    for _ in range(count):
        r.submit(task)
    r.wait()
    took = now() - begin
    r.stop()
    expect("tasks that have not run", left, 0)
    return took


def ping_pong(count, watching):
    r = Reactor()
    ran = 0
    pair = socket.socketpair()
    if watching:
        r.on_loop(lambda: r.loop.add_reader(pair[0], lambda: die("an event on a silent socket")))

    def task():
        nonlocal ran
        ran += 1
        r.done()

    begin = now()
    for _ in range(count):
        r.submit(task)
        r.wait()
    took = now() - begin
    if watching:
        r.on_loop(lambda: r.loop.remove_reader(pair[0]))
    r.stop()
    for end in pair:
        end.close()
    expect("answers", ran, count)
    return took


def later(i, n):
    """Spreads n timers over an hour that begins after the run is over; seconds, a whole number of milliseconds."""
    return (600_000 + int(i / n * 3_600_000)) / 1000


def draw():
    """Draws the delays of timers that are cancelled from the same hour. All worlds draw the same."""
    x = 1
    for _ in range(DELAYS):
        x = (x * 1664525 + 1013904223) % 2**32
        yield later(x >> 22, DELAYS)


delays = list(draw())


def cancel_timers(count, n):
    r = Reactor()
    call_later = r.loop.call_later
    i = 0
    last = None
    pending = []

    def not_due():
        die("a timer fires that is cancelled or not due")

    def pend():
        pending.extend(call_later(later(i, n), not_due) for i in range(n))

    def task():
        nonlocal i, last
        end = min(i + BATCH, count)
        while i < end:
            last = call_later(delays[i % DELAYS], not_due)
            last.cancel()
            i += 1
        r.submit(r.done if i == count else task)

    r.on_loop(pend)
    begin = now()
    r.submit(task)
    r.wait()
    took = now() - begin

    def check():
        expect("the last timer is cancelled", last.cancelled(), True)
        expect("pending timers", sum(not timer.cancelled() for timer in pending), n)
        for timer in pending:
            timer.cancel()

    r.on_loop(check)
    r.stop()
    expect("timers done", i, count)
    return took


class Server:
    """Sends back what arrives. All belongs to the loop while it runs."""

    def __init__(self, done):
        self.done = done
        self.accepted = self.open = self.bytes = 0
        self.ending = False

    def settle(self):
        if self.ending and self.open == 0:
            self.done()

    def end(self):
        self.ending = True
        self.settle()


class Connection(asyncio.Protocol):
    def __init__(self, server):
        self.server = server

    def connection_made(self, transport):
        self.write = transport.write
        self.server.accepted += 1
        self.server.open += 1

    def data_received(self, data):
        self.server.bytes += len(data)
        self.write(data)

    def connection_lost(self, exc):
        if exc is not None:
            die(exc)
        self.server.open -= 1
        self.server.settle()


def echo(count, conns):
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < conns + 64:
        raise Skip(f"{conns} connections need more descriptors than a process may hold here")
    if not os.access(CLIENT, os.X_OK):
        raise Skip(f"{CLIENT} is missing")
    r = Reactor()
    server = Server(r.done)
    listening = asyncio.run_coroutine_threadsafe(
        r.loop.create_server(lambda: Connection(server), "127.0.0.1", 0, backlog=BACKLOG), r.loop
    ).result()
    port = listening.sockets[0].getsockname()[1]
    client = subprocess.run([CLIENT, str(port), str(conns), str(count)], stdout=subprocess.PIPE, text=True, check=False)
    answer = client.stdout.split()
    if client.returncode != 0 or answer[:1] != ["through"]:
        die("client: " + (client.stdout.strip() or "has ended without an answer"))
    r.submit(server.end)
    r.wait()
    r.on_loop(listening.close)
    r.stop()
    expect("connections", server.accepted, conns)
    expect("bytes", server.bytes, (conns + count) * MESSAGE_SIZE)
    return int(answer[1])


cells = {
    "Submit": submit,
    "PingPongLatency/fd=0": functools.partial(ping_pong, watching=False),
    "PingPongLatency/fd=1": functools.partial(ping_pong, watching=True),
    **{f"Timer/op=cancel/pending={n}": functools.partial(cancel_timers, n=n) for n in (0, 1_000, 100_000)},
    **{f"Echo/conns={n}": functools.partial(echo, conns=n) for n in (64, 512, 1)},
}


def answer(line):
    if line == "list":
        return "\n".join([*("bench " + name for name in cells), "end"])
    words = line.split(" ")
    if len(words) != 3 or words[0] != "run":
        return "error the commands are: list; run NAME COUNT"
    name, count = words[1], words[2]
    if not (count.isascii() and count.isdigit()) or int(count) < 1:
        return "error the count is not a number above zero"
    if name not in cells:
        return "error there is no benchmark " + name
    count = int(count)
    watchdog = threading.Timer(PATIENCE + count / 5000, die, ["gave up waiting: a callback was lost or never ran"])
    watchdog.daemon = True
    watchdog.start()
    try:
        took = cells[name](count)
    except Skip as why:
        return f"skip {name} {why}"
    except Exception as err:  # of whatever kind: the figure is void
        die(repr(err))
    finally:
        watchdog.cancel()
    return f"Benchmark{name} {count} {took / count:.2f} ns/op"


def main():
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    for line in sys.stdin:
        print(answer(line.rstrip("\r\n")), flush=True)


main()
