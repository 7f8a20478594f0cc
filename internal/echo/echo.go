// Package echo is the client of all benchmarks of echo servers, those of the tournament and those in other languages. It
// sends the same requests in the same way to every server.
//
// Client and server may share the processors of a small machine. There a goroutine per connection takes more processor
// time than the leanest servers do, and the figures would measure the client. So on Linux the client is one thread over
// epoll. It makes the fewest system calls for a request, which are a read, a write and a share of a wait, and leaves the
// other processors to the server. On other systems the client is a goroutine per connection on one processor. This is a
// weaker measure, but the same for all contestants, and timings of different machines are not compared.
package echo

import (
	"encoding/binary"
	"fmt"
)

// MessageSize is the number of bytes of each request and of its echo.
const MessageSize = 64

// A Client holds connections to a server. They stay open until the process ends.
type Client interface {
	// Exchange sends n requests over all connections, each connection one at a time, and compares every echo.
	Exchange(n int) error
}

// Dialers are the ways to connect to a server at an IPv4 address, by name. A system may lack some.
var Dialers = map[string]func(addr string, conns int) (Client, error){Net: dialNet}

// Net is the name of the client with a goroutine per connection, which every system has.
const Net = "net"

// Dial connects with the leanest client of the system, Usual.
func Dial(addr string, conns int) (Client, error) { return Dialers[Usual](addr, conns) }

// A dialogue makes the requests of a connection and checks the responses. No two requests are equal, on whatever
// connections.
type dialogue struct {
	conn     int
	count    uint64
	request  [MessageSize]byte
	response [MessageSize]byte
	received int // the number of bytes of the response that have arrived
}

// next makes the next request.
func (d *dialogue) next() []byte {
	if d.count == 0 {
		for i := range d.request {
			d.request[i] = byte(i)
		}
		binary.LittleEndian.PutUint32(d.request[:], uint32(d.conn))
	}
	d.count++
	d.received = 0
	binary.LittleEndian.PutUint64(d.request[4:], d.count)
	return d.request[:]
}

// check compares the response with the request.
func (d *dialogue) check() error {
	if d.request != d.response {
		at := 0
		for d.request[at] == d.response[at] {
			at++
		}
		return fmt.Errorf("connection %d: the echo of request %d is wrong from byte %d on", d.conn, d.count, at)
	}
	return nil
}

// lost returns the error of a request that gets no echo.
func (d *dialogue) lost(err error) error {
	return fmt.Errorf("connection %d: request %d has no echo: %w", d.conn, d.count, err)
}
