#!/usr/bin/env node
// Node. The main thread runs the loop, as it does in every program; where the benchmarks in Go have a goroutine that submits, here is a
// worker thread: to submit is to post a message to the main thread, and to wait is Atomics.wait.

"use strict";

const { execFile } = require("node:child_process");
const { accessSync, constants, writeSync } = require("node:fs");
const net = require("node:net");
const path = require("node:path");
const readline = require("node:readline");
const { Worker, isMainThread, parentPort, workerData } = require("node:worker_threads");

const hung = 60_000; // ms that a run may take in addition to 0.2 an operation, before the loop counts as hung
const batch = 128; // operations in one task
const crowd = 100; // links, handlers or promises that belong together
const storm = 10_000; // timeouts that one task sets
const width = 1000; // microtasks that one task queues
const messageSize = 64; // bytes

const now = () => process.hrtime.bigint();

// die answers that the run has gone wrong, and ends the program: nothing that it would measure later could be believed.
function die(why) {
	writeSync(1, `error ${String(why).replaceAll("\n", "; ")}\n`);
	process.exit(1);
}

function expect(what, got, want) {
	if (got !== want) die(`${what}: ${got}, want ${want}`);
}

// timed measures what begin does until it calls done.
const timed = (begin) =>
	new Promise((resolve) => {
		setImmediate(() => {
			const began = now();
			begin(() => resolve(now() - began));
		});
	});

// The verdicts are what a producer waits for: how many tasks have said done.
const verdict = 0;

// produce has a worker submit, in one of the ways of producers, and runs task for each message.
async function produce(how, count, task) {
	const verdicts = new Int32Array(new SharedArrayBuffer(4));
	const done = () => {
		Atomics.add(verdicts, verdict, 1);
		Atomics.notify(verdicts, verdict);
	};
	const worker = new Worker(__filename, { workerData: { how, count, verdicts } });
	let took;
	await new Promise((resolve) => {
		worker.on("error", die);
		worker.on("exit", resolve);
		worker.once("message", () => {
			done(); // the loop has run a task
			worker.on("message", (message) => {
				if (message === null) task(done);
				else took = message;
			});
		});
	});
	return took;
}

// producers run on the worker. Each posts a message for a task, and waits for the n-th verdict.
const producers = {
	all(count, submit, wait) {
		for (let i = 0; i < count; i++) submit();
		wait(1);
	},
	alternately(count, submit, wait) {
		for (let i = 1; i <= count; i++) {
			submit();
			wait(i);
		}
	},
};

function producerMain({ how, count, verdicts }) {
	const wait = (n) => {
		for (let have; (have = Atomics.load(verdicts, verdict)) < n; ) Atomics.wait(verdicts, verdict, have);
	};
	const submit = () => parentPort.postMessage(null);
	submit();
	wait(1);
	const began = now();
	producers[how](count, submit, (n) => wait(n + 1));
	parentPort.postMessage(now() - began);
}

async function submit(count) {
	let left = count;
	const took = await produce("all", count, (done) => {
		if (--left === 0) done();
	});
	expect("tasks that have not run", left, 0);
	return took;
}

async function pingPong(count, watching) {
	let ran = 0;
	const silence = watching && net.createServer(() => die("a connection to a silent socket"));
	if (silence) await new Promise((resolve) => silence.listen(0, "127.0.0.1", resolve));
	const took = await produce("alternately", count, (done) => {
		ran++;
		done();
	});
	if (silence) await new Promise((resolve) => silence.close(resolve));
	expect("answers", ran, count);
	return took;
}

// later spreads n timers over an hour that begins after the run is over; milliseconds.
const later = (i, n) => 600_000 + Math.floor((i / n) * 3_600_000);

// The delays of timers that are cancelled are drawn from the same hour. All worlds draw the same.
const delays = (() => {
	const drawn = [];
	for (let x = 1; drawn.length < 1024; ) {
		x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
		drawn.push(later(x >>> 22, 1024));
	}
	return drawn;
})();

const notDue = () => die("a timer fires that is cancelled or not due");

// active counts the timers that will fire.
const active = () => process.getActiveResourcesInfo().filter((resource) => resource === "Timeout").length;

async function cancelTimers(count, n) {
	const before = active();
	const pending = [];
	for (let i = 0; i < n; i++) pending.push(setTimeout(notDue, later(i, n)));
	let i = 0;
	const took = await timed((done) => {
		const task = () => {
			for (const end = Math.min(i + batch, count); i < end; i++) {
				clearTimeout(setTimeout(notDue, delays[i % delays.length]));
			}
			setImmediate(i === count ? done : task); // one turn more in the end: what was only deferred is part of the price
		};
		task();
	});
	expect("timers done", i, count);
	expect("timers that are active", active() - before, n);
	for (const timer of pending) clearTimeout(timer);
	return took;
}

const fireTimers = async () => ({ skip: "a timeout of zero milliseconds is one of one: the figure would be the wait" });

async function chainMicrotasks(count) {
	let left = count;
	const took = await timed((done) => {
		const link = () => {
			if (--left === 0) done();
			else queueMicrotask(link);
		};
		queueMicrotask(link);
	});
	expect("links that have not run", left, 0);
	return took;
}

async function fanOutMicrotasks(count) {
	let todo = count;
	let left = 0;
	let ran = 0;
	const took = await timed((done) => {
		const microtask = () => {
			ran++;
			if (--left > 0) return;
			if (todo > 0) setImmediate(fan);
			else done();
		};
		const fan = () => {
			left = Math.min(todo, width);
			todo -= left;
			for (let n = left; n > 0; n--) queueMicrotask(microtask);
		};
		fan();
	});
	expect("microtasks", ran, count);
	return took;
}

// rounds does count operations, in rounds of at most size. A round is over, and the next begins, when it calls next.
const rounds = (size, round) => async (count) => {
	let left = count;
	let n = 0;
	const took = await timed((done) => {
		const next = () => {
			if (left === 0) return done();
			n = Math.min(left, size);
			left -= n;
			round(n, next);
		};
		next();
	});
	expect("operations left", left, 0);
	return took;
};

const pend = () => {
	let resolve;
	const promise = new Promise((r) => {
		resolve = r;
	});
	return { promise, resolve };
};

// goOn is a handler that goes on if the value is right.
const goOn = (right, next) => (value) => (right(value) ? next() : die(`wrong value ${value}`));

// arrivals returns a function that goes on at its n-th call, which is its last.
const arrivals = (n, next) => () => {
	if (--n === 0) next();
	else if (n < 0) die("a callback ran twice");
};

const link = (value) => value + 1;

const thenChain = rounds(crowd, (n, next) => {
	const { promise, resolve } = pend();
	let p = promise;
	for (let i = 1; i < n; i++) p = p.then(link);
	p.then(goOn((v) => v === n - 1, next));
	resolve(0);
});

const fanOut = rounds(crowd, (n, next) => {
	const { promise, resolve } = pend();
	const handler = goOn((v) => v === 1, arrivals(n, next));
	for (let i = 0; i < n; i++) promise.then(handler);
	resolve(1);
});

// combine makes promises, hands them to wait, and settles them with their indexes, the last first.
const combine = (wait) =>
	rounds(crowd, (n, next) => {
		const promises = [];
		const resolves = [];
		for (let i = 0; i < n; i++) {
			const { promise, resolve } = pend();
			promises.push(promise);
			resolves.push(resolve);
		}
		wait(promises, n, next);
		for (let i = n - 1; i >= 0; i--) resolves[i](i);
	});

const combineAll = combine((promises, n, next) => {
	Promise.all(promises).then(goOn((v) => v.length === n && v[0] === 0 && v[n - 1] === n - 1, next));
});

const combineRace = combine((promises, n, next) => {
	Promise.race(promises).then(goOn((v) => v === n - 1, next));
});

// The next storm comes with a task, since timeouts that a timeout sets may wait longer.
const setTimeouts = rounds(storm, (n, next) => {
	const fires = arrivals((n + 1) >> 1, () => setImmediate(next));
	const cleared = () => die("a timeout fires that was cleared");
	const ids = [];
	for (let i = 0; i < n; i++) ids.push(setTimeout(i % 2 ? cleared : fires, (i >> 1) % 2));
	for (let i = 1; i < n; i += 2) clearTimeout(ids[i]);
});

// Scripts do count operations each, as those on goja do; what is pending at once does not depend on the count.
const waves = (set) =>
	async (count) => {
		let ran = 0;
		const took = await timed((done) => {
			const wave = () => {
				let left = Math.min(count - ran, 1000);
				for (let i = left; i > 0; i--) {
					set(() => {
						ran++;
						if (--left === 0) (ran < count ? wave : done)();
					});
				}
			};
			wave();
		});
		expect("callbacks", ran, count);
		return took;
	};

async function setAndClear(count) {
	const before = active();
	const took = await timed((done) => {
		for (let i = 0; i < count; i++) clearTimeout(setTimeout(notDue, 1000));
		done();
	});
	expect("timers that are active", active() - before, 0);
	return took;
}

async function awaitNothing(count) {
	let n = 0;
	const took = await timed(async (done) => {
		for (; n < count; n++) await null;
		done();
	});
	expect("awaits", n, count);
	return took;
}

const client = path.join(__dirname, "..", "echo-client");

async function echo(count, conns) {
	try {
		accessSync(client, constants.X_OK);
	} catch (err) {
		return { skip: err.message };
	}
	let accepted = 0;
	let bytes = 0;
	const server = net.createServer({ noDelay: true }, (socket) => {
		accepted++;
		socket.on("data", (message) => {
			bytes += message.length;
			socket.write(message);
		});
		socket.on("error", die);
	});
	await new Promise((resolve) => server.listen({ port: 0, host: "127.0.0.1", backlog: 1024 }, resolve));
	const answer = await new Promise((resolve) => {
		const args = [server.address().port, conns, count].map(String);
		execFile(client, args, (err, stdout) => resolve(stdout.trim() || `has ended without an answer: ${err}`));
	});
	await new Promise((resolve) => server.close(resolve)); // when the last connection is closed
	const through = /^through (\d+)$/.exec(answer);
	if (!through) die(`client: ${answer}`);
	expect("connections", accepted, conns);
	expect("bytes", bytes, (conns + count) * messageSize);
	return BigInt(through[1]);
}

const pendings = [0, 1_000, 100_000];
const cells = new Map([
	["Submit", submit],
	["PingPongLatency/fd=0", (count) => pingPong(count, false)],
	["PingPongLatency/fd=1", (count) => pingPong(count, true)],
	...pendings.map((n) => [`Timer/op=cancel/pending=${n}`, (count) => cancelTimers(count, n)]),
	...pendings.map((n) => [`Timer/op=fire/pending=${n}`, fireTimers]),
	["SetTimeout", setTimeouts],
	["Microtask/kind=chain", chainMicrotasks],
	["Microtask/kind=fanout", fanOutMicrotasks],
	["Promise/op=then", thenChain],
	["Promise/op=fanout", fanOut],
	["Promise/op=all", combineAll],
	["Promise/op=race", combineRace],
	["Script/op=storm", waves((callback) => setTimeout(callback, 0))],
	["Script/op=chain", fireTimers],
	["Script/op=clear", setAndClear],
	["Script/op=immediate", waves(setImmediate)],
	["Script/op=await", awaitNothing],
	["Script/op=submit", submit],
	...[64, 512, 1].map((conns) => [`Echo/conns=${conns}`, (count) => echo(count, conns)]),
]);

async function answer(line) {
	if (line === "list") return [...[...cells.keys()].map((name) => `bench ${name}`), "end"].join("\n");
	const [command, name, number, ...rest] = line.split(" ");
	if (command !== "run" || number === undefined || rest.length > 0) return "error the commands are: list; run NAME COUNT";
	if (!/^\d+$/.test(number) || Number(number) < 1) return "error the count is not a number above zero";
	const cell = cells.get(name);
	if (!cell) return `error there is no benchmark ${name}`;
	const count = Number(number);
	const watchdog = setTimeout(() => die("gave up waiting: a callback was lost or never ran"), hung + count / 5);
	const took = await cell(count);
	clearTimeout(watchdog);
	if (took.skip) return `skip ${name} ${took.skip}`;
	return `Benchmark${name} ${count} ${(Number(took) / count).toFixed(2)} ns/op`;
}

async function main() {
	process.on("uncaughtException", die);
	process.on("unhandledRejection", die);
	for await (const line of readline.createInterface({ input: process.stdin })) console.log(await answer(line));
}

if (isMainThread) main();
else producerMain(workerData);
