package modules

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
	"strings"
	"time"

	"github.com/dop251/goja"
)

// about returns facts that stay the same while the program runs: arguments, machine, user.
func (p *Program) about() goja.Value {
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
		"argv": p.argv, "execArgv": func() goja.Value { return p.list(p.own) },
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
func (p *Program) numbered(numbers map[string]int) goja.Value {
	names := slices.SortedFunc(maps.Keys(numbers), func(a, b string) int {
		return cmp.Or(cmp.Compare(numbers[a], numbers[b]), cmp.Compare(a, b))
	})
	o := p.vm.NewObject()
	for _, name := range names {
		_ = o.Set(name, numbers[name])
	}
	return o
}

func (p *Program) list(texts []string) goja.Value {
	all := make([]any, len(texts))
	for i, t := range texts {
		all[i] = t
	}
	return p.vm.NewArray(all...)
}

// machine returns what the system tells now of the machine.
func (p *Program) machine() goja.Value {
	uptime, load, total, free := machine()
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
	return p.plain(map[string]any{"uptime": uptime, "total": total, "free": free, "load": []any{load[0], load[1], load[2]}, "interfaces": interfaces})
}

// zone returns the name of a time zone, or of the local one, with the minutes by which it is ahead of UTC at a time and its letters then;
// null if there is no such zone.
func (p *Program) zone(name string, ms float64) goja.Value {
	at, err := time.Local, error(nil)
	if name != "" {
		at, err = time.LoadLocation(name)
	} else if name = os.Getenv("TZ"); name == "" {
		link, _ := os.Readlink("/etc/localtime")
		_, name, _ = strings.Cut(link, "zoneinfo/")
	}
	if err != nil {
		return goja.Null()
	}
	letters, offset := time.UnixMilli(int64(ms)).In(at).Zone()
	if name = strings.TrimPrefix(name, "Etc/"); name == "" || strings.EqualFold(name, "UTC") || name == "GMT" {
		name = "UTC"
	}
	return p.vm.NewArray(name, offset/60, letters)
}

func (p *Program) ids() goja.Value {
	groups, _ := os.Getgroups()
	all := make([]any, len(groups))
	for i, g := range groups {
		all[i] = g
	}
	return p.plain(map[string]any{"getuid": os.Getuid(), "geteuid": os.Geteuid(), "getgid": os.Getgid(), "getegid": os.Getegid(), "getgroups": all})
}
