"""uvloop with the fault that the environment's FAULT names; Python imports it before the program."""

import os

import uvloop

fault = os.environ.get("FAULT")


class Uncancellable:
    def cancel(self):
        pass

    def cancelled(self):
        return False


class FaultyLoop(uvloop.Loop):
    submitted = 0

    def call_soon_threadsafe(self, callback, *args):
        self.submitted += 1
        if fault == "wakes are lost" and self.submitted > 10:
            return
        super().call_soon_threadsafe(callback, *args)
        if fault == "tasks run twice" and self.submitted > 10:
            super().call_soon_threadsafe(callback, *args)

    def call_later(self, delay, callback, *args):
        if fault == "timers fire at once":
            delay = 0.001
        handle = super().call_later(delay, callback, *args)
        return Uncancellable() if fault == "timers are not cancelled" else handle

    def create_server(self, factory, *args, **kwargs):
        def faulty_factory():
            protocol = factory()
            receive = protocol.data_received
            if fault == "echoes are wrong":
                protocol.data_received = lambda data: receive(data[:5] + bytes([data[5] ^ 1]) + data[6:])
            return protocol

        return super().create_server(faulty_factory, *args, **kwargs)


uvloop.new_event_loop = FaultyLoop
