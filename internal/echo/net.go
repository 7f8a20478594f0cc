// The client of every system: a goroutine per connection.

package echo

import (
	"io"
	"net"
	"sync/atomic"
)

type netClient struct {
	conns     []net.Conn
	dialogues []dialogue
}

func dialNet(addr string, conns int) (Client, error) {
	c := &netClient{dialogues: make([]dialogue, conns)}
	for i := range conns {
		conn, err := net.Dial("tcp4", addr)
		if err != nil {
			return nil, err
		}
		c.conns = append(c.conns, conn)
		c.dialogues[i].conn = i
	}
	return c, nil
}

func (c *netClient) Exchange(n int) error {
	var left atomic.Int64
	left.Store(int64(n))
	ended := make(chan error, len(c.conns))
	for i, conn := range c.conns {
		go func() {
			d := &c.dialogues[i]
			var err error
			for err == nil && left.Add(-1) >= 0 {
				err = d.converse(conn)
			}
			ended <- err
		}()
	}
	for range c.conns {
		if err := <-ended; err != nil {
			return err
		}
	}
	return nil
}

// converse sends one request and waits for its echo.
func (d *dialogue) converse(conn net.Conn) error {
	if _, err := conn.Write(d.next()); err != nil {
		return d.lost(err)
	}
	if _, err := io.ReadFull(conn, d.response[:]); err != nil {
		return d.lost(err)
	}
	return d.check()
}
