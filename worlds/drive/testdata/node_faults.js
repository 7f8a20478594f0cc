// Node with the fault that the environment's FAULT names; it is required before the program.

"use strict";

const net = require("node:net");
const { isMainThread, parentPort } = require("node:worker_threads");

const faults = {
	"tasks run twice": () => {
		if (isMainThread) return;
		const post = parentPort.postMessage;
		let posted = 0;
		parentPort.postMessage = function (message) {
			post.call(this, message);
			if (message === null && posted++ > 0) post.call(this, message);
		};
	},
	"microtasks run twice": () => {
		const queue = globalThis.queueMicrotask;
		globalThis.queueMicrotask = (fn) => {
			queue(fn);
			queue(fn);
		};
	},
	"timers are not scheduled": () => {
		const schedule = globalThis.setTimeout;
		globalThis.setTimeout = (fn, delay) => (delay >= 600_000 ? undefined : schedule(fn, delay));
	},
	"timers are not cancelled": () => {
		globalThis.clearTimeout = () => {};
	},
	"timers fire at once": () => {
		const schedule = globalThis.setTimeout;
		globalThis.setTimeout = (fn, delay) => schedule(fn, delay >= 600_000 ? 0 : delay);
	},
	"promises settle wrong": () => {
		const P = globalThis.Promise;
		globalThis.Promise = function (f) {
			return new P((resolve) => f((v) => resolve(typeof v === "number" ? -1 : v)));
		};
		globalThis.Promise.all = P.all.bind(P);
		globalThis.Promise.race = P.race.bind(P);
	},
	"echoes are wrong": () => {
		const write = net.Socket.prototype.write;
		net.Socket.prototype.write = function (message, ...rest) {
			if (message.length === 64) message[5]++;
			return write.call(this, message, ...rest);
		};
	},
};

faults[process.env.FAULT]();
