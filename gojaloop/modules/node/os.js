// node:os
(function (go) {
'use strict'
const about = go.about
return {
	EOL: about.eol, devNull: about.devNull,
	arch: () => process.arch, platform: () => process.platform, type: () => about.type,
	hostname: () => about.hostname, homedir: () => process.env.HOME || about.home, tmpdir: () => (process.env.TMPDIR || process.env.TMP || process.env.TEMP || about.temporary).replace(/(.)\/$/, '$1'),
	release: () => about.release, version: () => about.version, machine: () => about.machine, endianness: () => 'LE',
	availableParallelism: () => about.processors,
	cpus: () => Array.from({ length: about.processors }, () => ({ model: 'unknown', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })),
	userInfo: () => ({ uid: about.uid, gid: about.gid, username: about.user, homedir: about.home, shell: process.env.SHELL || null }),
	uptime: () => go.machine().uptime, loadavg: () => go.machine().load, totalmem: () => go.machine().total, freemem: () => go.machine().free,
	networkInterfaces: () => go.machine().interfaces,
	getPriority: go.refuse('os', 'getPriority', 'child_process'), setPriority: go.refuse('os', 'setPriority', 'child_process'),
	constants: {
		UV_UDP_REUSEADDR: 4, dlopen: {}, errno: about.errno, signals: about.signals,
		priority: { PRIORITY_LOW: 19, PRIORITY_BELOW_NORMAL: 10, PRIORITY_NORMAL: 0, PRIORITY_ABOVE_NORMAL: -7, PRIORITY_HIGH: -14, PRIORITY_HIGHEST: -20 },
	},
}
})
