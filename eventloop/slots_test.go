package eventloop_test

// Tests of the table of registrations.

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/turnloop/turnloop/eventloop"
)

// Slots behave as a map by tags does whose tags never come twice, wherever the counter of tags begins: also as it wraps,
// and passes over slots that long-lived registrations keep.
func TestSlotsAgainstModel(t *testing.T) {
	for _, begin := range []uint32{math.MaxUint32, 0, 1, math.MaxUint32 - 1, math.MaxUint32 - 300, math.MaxUint32 / 2} {
		t.Run(fmt.Sprint(begin), func(t *testing.T) {
			var s eventloop.Slots
			s.StartAt(begin)
			model, used := map[uint32]eventloop.IOEvents{}, map[uint32]bool{}
			fds, tags := map[uint32]int{}, map[int]uint32{}
			var live, ended []uint32
			r := rand.New(rand.NewPCG(1, uint64(begin)))
			check := func(tag uint32) {
				t.Helper()
				got, ok := s.Find(tag)
				want, is := model[tag]
				require.Equal(t, is, ok, "tag %d is found: %v", tag, ok)
				require.Equal(t, want, got, "tag %d", tag)
			}
			checkFD := func(fd int) {
				t.Helper()
				got, ok := s.Of(fd)
				want, is := tags[fd]
				require.Equal(t, is, ok, "descriptor %d is found: %v", fd, ok)
				require.Equal(t, want, got, "descriptor %d", fd)
			}
			remove := func(tag uint32) {
				t.Helper()
				s.Remove(tag)
				fd := fds[tag]
				delete(model, tag)
				delete(fds, tag)
				delete(tags, fd)
				check(tag)
				checkFD(fd)
			}
			free := func() (fd int) { // often the next, as the system gives them, or a handle of Windows, or anything
				for taken := true; taken; _, taken = tags[fd] {
					fd = []int{len(tags) + r.IntN(4), 4 * (len(tags) + r.IntN(4)), r.IntN(1 << 14), r.Int()}[r.IntN(4)]
				}
				return fd
			}
			for step := range scale(2000, 10_000, 100_000) {
				if step%4000 == 3999 { // all go at once, and many come
					for _, tag := range live[min(len(live), r.IntN(3)):] { // but for a few
						remove(tag)
					}
					live = live[:len(model)]
				}
				growing := step%400 < 200
				if len(live) == 0 || r.IntN(4) == 0 != growing {
					tag := s.Next()
					require.False(t, used[tag], "the tag %d comes again", tag)
					used[tag] = true
					if r.IntN(8) != 0 { // or else the poller has refused it
						events := eventloop.IOEvents(r.Uint32())
						fd := free()
						s.Put(tag, fd, events)
						model[tag], fds[tag], tags[fd] = events, fd, tag
						checkFD(fd)
						live = append(live, tag)
					}
					check(tag)
				} else {
					i := r.IntN(len(live))
					if r.IntN(2) == 0 {
						i = len(live) - 1 // the old ones live long
					}
					tag := live[i]
					live[i] = live[len(live)-1]
					live = live[:len(live)-1]
					remove(tag)
					ended = append(ended, tag)
				}
				if step%16 == 0 {
					require.Equal(t, len(live), s.Held(), "slots that are taken, or have not been cleared")
					require.LessOrEqual(t, 4*len(live), 3*s.Len(), "slots are free")
					require.Zero(t, s.Len()&(s.Len()-1))
				}
				if len(live) > 0 {
					tag := live[r.IntN(len(live))]
					check(tag)
					checkFD(fds[tag])
				}
				checkFD(r.IntN(1 << 14))
				if len(ended) > 0 {
					check(ended[r.IntN(len(ended))])
				}
				check(0)
				check(r.Uint32())
			}
			for _, tag := range live {
				check(tag)
				remove(tag)
			}
			require.LessOrEqual(t, s.Len(), 4, "the memory that many took is given back")
			_, ok := s.Find(0)
			require.False(t, ok)
		})
	}
}

// Looking for a free slot takes a few looks on average, also where most of those that come next are taken for long.
func TestSlotsPassOverFew(t *testing.T) {
	var s eventloop.Slots
	var first, last uint32
	for range 3 << 12 { // three quarters of the slots
		last = s.Next()
		s.Put(last, int(last), 0)
	}
	first = last
	const registrations = 1 << 16
	for range registrations {
		s.Remove(last)
		last = s.Next()
		s.Put(last, int(last), 0)
	}
	require.Equal(t, 4<<12, s.Len())
	require.LessOrEqual(t, last-first, uint32(4*registrations))
	require.Zero(t, s.Far(), "each is in its own slot")
}

// A table that many have left is soon as small as those that stay need, also if their tags have the same slot there.
func TestSlotsShrink(t *testing.T) {
	const n = 3 << 12
	for _, every := range []int{n, 1 << 12, 1 << 7, 1<<7 - 1} {
		var s eventloop.Slots
		for i := range n {
			s.Put(s.Next(), i, 0)
		}
		var kept []uint32
		for tag := uint32(1); tag <= n; tag++ {
			if (tag-1)%uint32(every) == 0 {
				kept = append(kept, tag)
			} else {
				s.Remove(tag)
			}
		}
		require.LessOrEqual(t, s.Len(), 16*len(kept), "%d of %d stay", len(kept), n)
		for _, tag := range kept {
			of, ok := s.Of(int(tag - 1))
			require.True(t, ok)
			require.Equal(t, tag, of)
			_, ok = s.Find(tag)
			require.True(t, ok)
		}
		s.Remove(kept[0])
		for _, tag := range kept[1:] {
			s.StartAt(tag - 1) // the counter has gone through all numbers
			require.NotEqual(t, tag, s.Next(), "the tag is in use, if not in its own slot")
		}
	}
}

// Whole rows of tags may stay whose slots are the same in the smaller table: each is found after a few looks all the same, and
// a registration is not behind a row.
func TestSlotsOfRows(t *testing.T) {
	const n, row, apart = 3 << 12, 1 << 9, 1 << 13
	var s eventloop.Slots
	for i := range n {
		s.Put(s.Next(), i, 0)
	}
	for tag := uint32(1); tag <= n; tag++ {
		if (tag-1)%apart >= row {
			s.Remove(tag)
		}
	}
	require.Equal(t, 1<<12, s.Len())
	require.NotZero(t, s.Far(), "some have the same slot")
	require.LessOrEqual(t, s.Far(), 8)
	for tag := uint32(1); tag <= row; tag++ {
		for _, tag := range []uint32{tag, tag + apart} {
			_, ok := s.Find(tag)
			require.True(t, ok, "tag %d", tag)
		}
	}
}
