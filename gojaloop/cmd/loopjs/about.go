package main

// What scripts are told of the process and the machine, for node:process and node:os.

import (
	"cmp"
	"maps"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"github.com/dop251/goja"
)

// about returns facts that stay the same while the program runs: arguments, machine, user.
func (p *program) about() goja.Value {
	vm := p.vm
	text := func(f func() string) func() goja.Value { return func() goja.Value { return vm.ToValue(f()) } }
	eol := "\n"
	if runtime.GOOS == "windows" {
		eol = "\r\n"
	}
	user := func() string {
		if u, err := user.Current(); err == nil {
			return u.Username
		}
		return ""
	}
	return vm.NewDynamicObject(&lazily{made: map[string]goja.Value{}, make: map[string]func() goja.Value{
		"argv": p.argv, "execArgv": func() goja.Value { return p.list(p.options.own) },
		"eol": text(func() string { return eol }), "devNull": text(func() string { return os.DevNull }),
		"type": text(func() string { return systemName()[0] }), "release": text(func() string { return systemName()[1] }),
		"version": text(func() string { return systemName()[2] }), "machine": text(func() string { return systemName()[3] }),
		"hostname": text(func() string { name, _ := os.Hostname(); return name }), "user": text(user),
		"home":      text(func() string { home, _ := os.UserHomeDir(); return home }),
		"temporary": text(func() string { return filepath.Clean(os.TempDir()) }), "processors": func() goja.Value { return vm.ToValue(runtime.NumCPU()) },
		"uid": func() goja.Value { return vm.ToValue(os.Getuid()) }, "gid": func() goja.Value { return vm.ToValue(os.Getgid()) },
		"signals": func() goja.Value { return p.numbered(signalNumbers()) }, "errno": func() goja.Value { return p.numbered(errorNumbers()) },
		"fileConstants": func() goja.Value { return p.numbered(fileConstants()) },
	}})
}

// numbered returns names with their numbers as an object, by number.
func (p *program) numbered(numbers map[string]int) goja.Value {
	names := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
	})
	o := p.vm.NewObject()
	for _, name := range names {
		_ = o.Set(name, numbers[name])
	}
	return o
}

func (p *program) list(texts []string) goja.Value {
	all := make([]any, len(texts))
	for i, t := range texts {
		all[i] = t
	}
	return p.vm.NewArray(all...)
}

// argv returns the arguments of the process, for process.argv.
func (p *program) argv() goja.Value {
	executable, err := os.Executable()
	if err != nil {
		executable = os.Args[0]
	}
	argv := []string{executable}
	if p.options.code == nil {
		name := p.options.file
		if name != "-" {
			if file, err := filepath.Abs(name); err == nil {
				name = file
				if found := p.compiler.resolver.fileOrFolder(file); found != "" {
					name = found
				}
			}
		}
		if name != "" {
			argv = append(argv, name)
		}
	}
	return p.list(append(argv, p.options.args...))
}

// machine returns what the system tells now of the machine.
func (p *program) machine() goja.Value {
	uptime, load, total, free := machine()
	o := p.plain(map[string]any{"uptime": uptime, "total": total, "free": free}).ToObject(p.vm)
	_ = o.Set("load", p.vm.NewArray(load[0], load[1], load[2]))
	interfaces := p.vm.NewObject()
	all, _ := net.Interfaces()
	for _, i := range all {
		var list []any
		addresses, _ := i.Addrs()
		for _, a := range addresses {
			n, ok := a.(*net.IPNet)
			if !ok || i.Flags&net.FlagUp == 0 {
				continue
			}
			mac := i.HardwareAddr.String()
			if mac == "" {
				mac = "00:00:00:00:00:00"
			}
			family, ones := "IPv4", 0
			if n.IP.To4() == nil {
				family = "IPv6"
			}
			ones, _ = n.Mask.Size()
			list = append(list, p.plain(map[string]any{"address": n.IP.String(), "netmask": net.IP(n.Mask).String(), "family": family,
				"mac": mac, "internal": i.Flags&net.FlagLoopback != 0, "cidr": n.IP.String() + "/" + strconv.Itoa(ones)}))
		}
		if list != nil {
			_ = interfaces.Set(i.Name, p.vm.NewArray(list...))
		}
	}
	_ = o.Set("interfaces", interfaces)
	return o
}

func (p *program) ids() goja.Value {
	groups, _ := os.Getgroups()
	all := make([]any, len(groups))
	for i, g := range groups {
		all[i] = g
	}
	o := p.plain(map[string]any{"getuid": os.Getuid(), "geteuid": os.Geteuid(), "getgid": os.Getgid(), "getegid": os.Getegid()}).ToObject(p.vm)
	_ = o.Set("getgroups", p.vm.NewArray(all...))
	return o
}
