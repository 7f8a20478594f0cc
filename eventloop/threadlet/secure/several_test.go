//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd || windows

package secure_test

// Several threadlets on one connection, and peers that would stop them.

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop/threadlet"
	"github.com/turnloop/turnloop/eventloop/threadlet/secure"
)

// sender makes records of TLS 1.3 in the name of a client, behind the back of its crypto/tls.
type sender struct {
	t      *testing.T
	secret []byte
	sent   uint64 // records encrypted with the current key
}

func (s *sender) expand(label string, n int) []byte {
	info := binary.BigEndian.AppendUint16(nil, uint16(n))
	info = append(info, byte(len("tls13 ")+len(label)))
	info = append(append(append(info, "tls13 "...), label...), 0)
	out, err := hkdf.Expand(sha256.New, s.secret, string(info), n)
	require.NoError(s.t, err)
	return out
}

func (s *sender) record(kind byte, content ...byte) []byte {
	block, err := aes.NewCipher(s.expand("key", 16))
	require.NoError(s.t, err)
	aead, err := cipher.NewGCM(block)
	require.NoError(s.t, err)
	nonce := s.expand("iv", 12)
	binary.BigEndian.PutUint64(nonce[4:], binary.BigEndian.Uint64(nonce[4:])^s.sent)
	s.sent++
	plain := append(content, kind)
	header := []byte{23, 3, 3, 0, byte(len(plain) + aead.Overhead())}
	return aead.Seal(header, nonce, plain, header)
}

// keyUpdate asks for new keys, and uses new ones from then on.
func (s *sender) keyUpdate() []byte {
	r := s.record(22, 24, 0, 0, 1, 1) // of the handshake's kind; key_update, one byte: requested
	s.secret, s.sent = s.expand("traffic upd", 32), 0
	return r
}

func (s *sender) data() []byte { return s.record(23, 'x') }

// silentPeer connects, and returns the connection below TLS, the one above, and a sender in its name.
func silentPeer(t *testing.T, to string, config *tls.Config) (net.Conn, *tls.Conn, *sender) {
	t.Helper()
	raw, err := net.Dial("tcp", to)
	require.NoError(t, err)
	t.Cleanup(func() { _ = raw.Close() })
	var log bytes.Buffer
	config = config.Clone()
	config.KeyLogWriter = &log
	c := tls.Client(raw, config)
	require.NoError(t, c.Handshake())
	for line := range strings.Lines(log.String()) {
		if of := strings.Fields(line); of[0] == "CLIENT_TRAFFIC_SECRET_0" {
			secret, err := hex.DecodeString(of[2])
			require.NoError(t, err)
			return raw, c, &sender{t: t, secret: secret}
		}
	}
	return raw, c, nil
}

const much = 16 << 20 // more than the system buffers for a peer that does not read

// A peer does not read, so that a writer waits; then it sends a record that the reader has to answer. With a tls.Conn the
// reader would wait for a lock of the writer, and the loop with it.
func TestPeerThatDoesNotRead(t *testing.T) {
	server, client := certificate(t)
	for name, version := range versions {
		for _, what := range []string{"a record that is broken", "a request for new keys", "many of them"} {
			if version != tls.VersionTLS13 && what != "a record that is broken" {
				continue
			}
			t.Run(name+"/"+what, func(t *testing.T) {
				client := client.Clone()
				client.MaxVersion = version
				l := start(t)
				type result struct {
					n   int
					err error
				}
				wrote, read := make(chan result, 1), make(chan result, 5000)
				to := listen(t, l, func(c *threadlet.Conn) {
					s := secure.Server(c, server)
					writer, _ := threadlet.Go(l, func() {
						n, err := s.Write(make([]byte, much))
						wrote <- result{n, err}
					})
					for err := error(nil); err == nil; {
						var n int
						n, err = s.Read(make([]byte, 1))
						read <- result{n, err}
					}
					_ = writer.Join(background)
				})
				raw, c, by := silentPeer(t, to, client)
				if c.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 && what != "a record that is broken" {
					t.Skip("the records are encrypted with AES, which this machine does not prefer")
				}
				waiting(t, l, "write")
				switch what {
				case "a record that is broken":
					_, err := raw.Write(append([]byte{23, 3, 3, 0, 40}, make([]byte, 40)...))
					require.NoError(t, err)
					answers(t, l)
					require.Error(t, (<-read).err)
					require.NoError(t, raw.Close())
					require.Error(t, (<-wrote).err)
				case "a request for new keys":
					_, err := raw.Write(append(by.keyUpdate(), by.data()...))
					require.NoError(t, err)
					answers(t, l)
					require.Equal(t, result{1, nil}, <-read)
					n, err := io.CopyN(io.Discard, c, much) // with the new keys in the middle
					require.NoError(t, err)
					require.EqualValues(t, much, n)
					require.Equal(t, result{much, nil}, <-wrote)
				default: // until there are too many answers; more than 16 requests without data would be an error of its own
					var all []byte
					for range 4000 {
						all = append(append(all, by.keyUpdate()...), by.data()...)
					}
					go raw.Write(all)
					for r := range read {
						if r.err != nil {
							break
						}
					}
					require.NoError(t, raw.Close())
					require.Error(t, (<-wrote).err)
				}
				answers(t, l)
			})
		}
	}
}

// Many threadlets use a connection at once, from the handshake on; a third closes it while two wait.
func TestSeveral(t *testing.T) {
	server, client := certificate(t)
	l := start(t)
	const each, of = 4, 50_000
	to := listen(t, l, secureEcho(server))
	require.NoError(t, do(t, l, func() {
		raw, err := threadlet.Dial(background, "tcp", to)
		if err != nil {
			t.Error(err)
			return
		}
		c := secure.Client(raw.(*threadlet.Conn), client)
		var all []*threadlet.Threadlet
		spawn := func(fn func()) {
			th, _ := threadlet.Go(l, fn)
			all = append(all, th)
		}
		var counts [each]int
		for i := range each {
			spawn(func() {
				if err := c.Handshake(); err != nil || !c.ConnectionState().HandshakeComplete {
					t.Error(err)
				}
				if n, err := c.Write(bytes.Repeat([]byte{byte(i)}, of)); n != of || err != nil {
					t.Error(n, err)
				}
			})
		}
		left := each * of
		for range each {
			spawn(func() {
				for p := make([]byte, 1000); left > 0; {
					n, err := c.Read(p[:min(left, len(p))])
					if left == 0 && errors.Is(err, os.ErrDeadlineExceeded) {
						return
					}
					if err != nil {
						t.Error(err)
						return
					}
					left -= n
					for _, b := range p[:n] {
						counts[b]++
					}
					if left == 0 {
						c.SetReadDeadline(time.Now()) // others may wait for data that does not come
					}
				}
			})
		}
		for _, th := range all {
			_ = th.Join(background)
		}
		if counts != [each]int{of, of, of, of} {
			t.Error(counts)
		}
	}))
	answers(t, l)

	to = listen(t, l, func(c *threadlet.Conn) { // never reads what is sent
		s := secure.Server(c, server)
		_ = s.Handshake()
		_ = threadlet.Sleep(time.Hour)
	})
	for _, onLoop := range []bool{false, true} {
		var c *secure.Conn
		var users []*threadlet.Threadlet
		require.NoError(t, do(t, l, func() {
			raw, _ := threadlet.Dial(background, "tcp", to)
			c = secure.Client(raw.(*threadlet.Conn), client)
			_ = c.Handshake()
			for _, op := range []func() error{
				func() error { _, err := c.Write(make([]byte, much)); return err },
				func() error { _, err := c.Write(make([]byte, 1)); return err },
				func() error { _, err := c.Read(make([]byte, 1)); return err },
				func() error { _, err := c.Read(make([]byte, 1)); return err },
			} {
				th, _ := threadlet.Go(l, func() {
					if err := op(); !errors.Is(err, net.ErrClosed) {
						t.Error(err)
					}
				})
				users = append(users, th)
			}
		}))
		waiting(t, l, "write")
		waiting(t, l, "mutex")
		if onLoop {
			require.NoError(t, do(t, l, func() { _ = c.Close() }))
		} else {
			require.NoError(t, c.Close())
		}
		for _, u := range users {
			require.NoError(t, u.Join(background))
		}
		require.ErrorIs(t, c.Close(), net.ErrClosed)
	}
}

// writeSome writes until a deadline, which on a busy machine may have to be a later one: something is written.
func writeSome(s *secure.Conn, data []byte) (n int, err error) {
	for soon := 20 * time.Millisecond; n == 0 && (err == nil || errors.Is(err, os.ErrDeadlineExceeded)); soon *= 2 {
		_ = s.SetWriteDeadline(time.Now().Add(soon))
		n, err = s.Write(data)
	}
	_ = s.SetWriteDeadline(time.Time{})
	return n, err
}

// The end of a wait does not end the connection: of the data in either direction nothing is lost or doubled.
func TestGoesOn(t *testing.T) {
	server, client := certificate(t)
	l := start(t)
	data := make([]byte, much)
	_, _ = rand.Read(data)
	more := make(chan struct{})
	to := listen(t, l, func(c *threadlet.Conn) {
		s := secure.Server(c, server)
		_ = s.Handshake()
		n, err := writeSome(s, data)
		if !errors.Is(err, os.ErrDeadlineExceeded) || n == len(data) {
			t.Error(n, err)
		}
		s.Signal()
		if n, err := s.Read(make([]byte, 1)); n != 0 || !errors.Is(err, threadlet.ErrSignaled) {
			t.Error(n, err)
		}
		close(more)
		if n, err := s.Write(data[n:]); err != nil {
			t.Error(n, err)
		}
		if err := s.CloseWrite(); err != nil {
			t.Error(err)
		}
		if got, err := io.ReadAll(s); string(got) != "thanks" || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	})
	_, c, _ := silentPeer(t, to, client)
	<-more
	got, err := io.ReadAll(c)
	require.NoError(t, err)
	require.True(t, bytes.Equal(data, got))
	_, err = io.WriteString(c, "thanks")
	require.NoError(t, err)
	require.NoError(t, c.CloseWrite())
	_, _ = io.Copy(io.Discard, c.NetConn())
}

// Data that a Write has left is sent with the next answer, although no other Write follows.
func TestAnswerWithoutAWriter(t *testing.T) {
	server, client := certificate(t)
	l := start(t)
	wrote := make(chan int, 1)
	to := listen(t, l, func(c *threadlet.Conn) {
		s := secure.Server(c, server)
		_ = s.Handshake()
		n, _ := writeSome(s, make([]byte, much))
		wrote <- n
		_, _ = s.Read(make([]byte, 1))
	})
	raw, c, by := silentPeer(t, to, client)
	if c.ConnectionState().CipherSuite != tls.TLS_AES_128_GCM_SHA256 {
		t.Skip("the records are encrypted with AES, which this machine does not prefer")
	}
	n := <-wrote
	_, err := raw.Write(by.keyUpdate())
	require.NoError(t, err)
	got, err := io.CopyN(io.Discard, c, int64(n))
	require.NoError(t, err)
	require.EqualValues(t, n, got)
}

// A caller that is no threadlet of the loop is refused.
func TestElsewhere(t *testing.T) {
	l := start(t)
	near, far := net.Pipe()
	defer far.Close()
	_, err := threadlet.Wrap(l, near)
	require.ErrorIs(t, err, errors.ErrUnsupported)
	_, client := certificate(t)
	to := listen(t, l, func(c *threadlet.Conn) { _ = threadlet.Sleep(time.Hour) })
	var c *secure.Conn
	require.NoError(t, do(t, l, func() {
		raw, _ := threadlet.Dial(background, "tcp", to)
		c = secure.Client(raw.(*threadlet.Conn), client)
	}))
	use := func() {
		_, read := c.Read(make([]byte, 1))
		_, write := c.Write(make([]byte, 1))
		for _, err := range []error{read, write, c.Handshake(), c.CloseWrite()} {
			if !errors.Is(err, threadlet.ErrNotThreadlet) {
				t.Error(err)
			}
		}
		if c.ConnectionState().HandshakeComplete {
			t.Error("there was none")
		}
	}
	use()
	require.NoError(t, do(t, start(t), use))
	require.NoError(t, c.Close())
}
