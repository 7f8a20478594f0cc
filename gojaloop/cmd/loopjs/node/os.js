// node:os
(function (go) {
'use strict'
const about = go.about
return {
	EOL: about.eol, devNull: about.devNull,
	arch: () => process.arch, platform: () => process.platform, type: () => about.type,
	hostname: () => about.hostname, homedir: () => process.env.HOME || about.home, tmpdir: () => about.temporary,
	release: () => about.release, version: () => about.release, machine: () => about.machine, endianness: () => 'LE',
	availableParallelism: () => about.processors,
	cpus: () => Array.from({ length: about.processors }, () => ({ model: 'unknown', speed: 0, times: { user: 0, nice: 0, sys: 0, idle: 0, irq: 0 } })),
	userInfo: () => ({ username: about.user, uid: about.uid, gid: about.gid, homedir: about.home, shell: process.env.SHELL || null }),
	uptime: () => process.uptime(), loadavg: () => [0, 0, 0],
	totalmem: () => process.memoryUsage().rss, freemem: () => 0,
	networkInterfaces: () => ({}),
	constants: { signals: { SIGHUP: 1, SIGINT: 2, SIGQUIT: 3, SIGKILL: 9, SIGTERM: 15 } },
}
})
