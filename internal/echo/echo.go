// Package echo is the client of all benchmarks of echo servers, those of the tournament and those in other languages: the same requests,
// sent in the same way, whoever serves.
//
// Client and server share the processors of what may be a small machine. A goroutine per connection takes more of two
// processors than the leanest servers do, and figures would tell about the client. So on Linux it is one thread over epoll that makes
// the fewest system calls which a request takes, a read, a write and its share of a wait, and leaves the server the other
// processor. Elsewhere it is a goroutine per connection on one processor: a weaker measure, but the same for all
// contestants, and timings of different machines are not compared.
package echo

import (
	"encoding/binary"
	"fmt"
)

// MessageSize is how many bytes each request has, and its echo.
const MessageSize = 64

// A Client holds connections to a server. The process that ends closes them.
type Client interface {
	// Exchange sends n requests over all connections, each connection one at a time, and compares every echo.
	Exchange(n int) error
}

// Dialers are the ways to connect to a server at an address of IPv4, by name. Not every system has all.
var Dialers = map[string]func(addr string, conns int) (Client, error){Net: dialNet}

// Net is a goroutine per connection, which every system has.
const Net = "net"

// Dial connects in the leanest way that the system has.
func Dial(addr string, conns int) (Client, error) { return Dialers[Usual](addr, conns) }

// A dialogue is what is said on a connection: no two requests are equal, also on different connections.
type dialogue struct {
	conn     int
	count    uint64
	request  [MessageSize]byte
	response [MessageSize]byte
	got      int // bytes of the response
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
	d.got = 0
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

// lost is the error of a connection that ended.
func (d *dialogue) lost(err error) error {
	return fmt.Errorf("connection %d: request %d has no echo: %w", d.conn, d.count, err)
}
