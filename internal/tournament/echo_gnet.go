// The outside reference among event loops for servers: gnet.

//go:build linux || darwin || dragonfly || freebsd || netbsd || openbsd

package tournament

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/panjf2000/gnet/v2"
	"github.com/panjf2000/gnet/v2/pkg/pool/goroutine"
	"golang.org/x/sys/unix"
)

// gnet's worker pool ticks in every process that links it, also in those that measure something else. Its servers do not need
// the pool.
func init() { goroutine.DefaultWorkerPool.Release() }

// gnetServer is gnet's event handler.
type gnetServer struct {
	gnet.BuiltinEventEngine
	b      *testing.B
	engine gnet.Engine // written before booted
	booted chan string // receives the address
}

// serveWithGnet runs gnet with one event loop, which accepts and serves, as the contestants do.
func serveWithGnet(b *testing.B) (addr string) {
	s := &gnetServer{b: b, booted: make(chan string, 1)}
	ended := make(chan error, 1)
	go func() {
		ended <- gnet.Run(s, "tcp4://127.0.0.1:0", gnet.WithMulticore(false), gnet.WithNumEventLoop(1), gnet.WithReusePort(true),
			gnet.WithTCPNoDelay(gnet.TCPNoDelay), gnet.WithLogger(gnetLog{b}))
	}()
	select {
	case addr = <-s.booted:
	case err := <-ended:
		b.Fatalf("gnet does not start: %v", err)
	}
	b.Cleanup(func() {
		// With an ended context Stop asks for the end and does not wait for it, which it would do by polling twice a
		// second. The end is the return of Run.
		over, cancel := context.WithCancel(context.Background())
		cancel()
		if err := s.engine.Stop(over); err != nil && !errors.Is(err, context.Canceled) {
			b.Errorf("gnet: Stop: %v", err)
		}
		select {
		case err := <-ended:
			if err != nil {
				b.Errorf("gnet: Run: %v", err)
			}
		case <-time.After(hung):
			b.Error("gnet has not ended after Stop")
		}
	})
	return addr
}

func (s *gnetServer) OnBoot(engine gnet.Engine) gnet.Action {
	fd, err := engine.Dup()
	if err != nil {
		s.b.Errorf("gnet: %v", err)
		return gnet.Shutdown
	}
	addr, err := unix.Getsockname(fd)
	if err = errors.Join(err, unix.Close(fd)); err != nil {
		s.b.Errorf("gnet: the listener's address: %v", err)
		return gnet.Shutdown
	}
	s.engine = engine
	s.booted <- printed(addr)
	return gnet.None
}

// OnTraffic sends back what has arrived. What a socket does not take at once, gnet keeps and sends later.
func (s *gnetServer) OnTraffic(c gnet.Conn) gnet.Action {
	request, err := c.Next(-1)
	if err == nil {
		_, err = c.Write(request)
	}
	if err != nil {
		s.b.Errorf("gnet: %v", err)
		return gnet.Close
	}
	return gnet.None
}

// gnetLog keeps gnet from writing between the results. Its errors fail the cell.
type gnetLog struct{ b *testing.B }

func (gnetLog) Debugf(string, ...any) {}
func (gnetLog) Infof(string, ...any)  {}
func (gnetLog) Warnf(string, ...any)  {}

func (l gnetLog) Errorf(format string, args ...any) { l.b.Errorf("gnet: "+format, args...) }
func (l gnetLog) Fatalf(format string, args ...any) { l.b.Errorf("gnet: "+format, args...) }
