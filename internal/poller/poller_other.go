//go:build !linux && !darwin && !dragonfly && !freebsd && !netbsd && !openbsd && !windows

package poller

// The poller of all other systems: wake-ups, and no descriptors.

import (
	"errors"
	"sync"
	"time"

	"github.com/turnloop/turnloop/internal/loopapi"
)

// Supported says whether descriptors can be added on this system.
const Supported = false

// Poller waits for wake-ups on a channel.
type Poller struct {
	mu     sync.RWMutex // guards closed
	closed bool
	wake   chan struct{} // of capacity one
}

// New makes a poller. It holds no descriptors.
func New() (*Poller, error) { return &Poller{wake: make(chan struct{}, 1)}, nil }

func (p *Poller) open() error {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	return nil
}

func (p *Poller) refuse() error {
	if err := p.open(); err != nil {
		return err
	}
	return errors.ErrUnsupported
}

// Add returns errors.ErrUnsupported.
func (p *Poller) Add(int, loopapi.IOEvents, uint32) error { return p.refuse() }

// Modify returns errors.ErrUnsupported.
func (p *Poller) Modify(int, loopapi.IOEvents, loopapi.IOEvents, uint32) error { return p.refuse() }

// Remove returns errors.ErrUnsupported.
func (p *Poller) Remove(int, loopapi.IOEvents) error { return p.refuse() }

// Wait waits for a wake-up.
func (p *Poller) Wait(timeout time.Duration) ([]Event, error) {
	if timeout < 0 {
		<-p.wake
		return nil, nil
	}
	select {
	case <-p.wake:
		return nil, nil
	default:
	}
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		select {
		case <-p.wake:
		case <-timer.C:
		}
	}
	return nil, nil
}

// Watch returns errors.ErrUnsupported.
func (p *Poller) Watch(func(error)) (stop func(), err error) { return nil, p.refuse() }

// Wake ends a Wait. A full channel holds a wake-up already.
func (p *Poller) Wake() error {
	if err := p.open(); err != nil {
		return err
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
	return nil
}

// Reset does nothing, as no descriptor can be added. It returns ErrPollerClosed after Close.
func (p *Poller) Reset() error { return p.open() }

// Close ends the poller.
func (p *Poller) Close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		return loopapi.ErrPollerClosed
	}
	p.closed = true
	return nil
}
