package poller

// Handles are those of the poller's own.
func (p *Poller) Handles() []int { return []int{int(p.port), int(p.afd)} }

// Polls is how many sockets are being polled.
func (p *Poller) Polls() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.polls
}

// Slots is how many sockets there is room for.
func (p *Poller) Slots() int { return len(p.slots) }
