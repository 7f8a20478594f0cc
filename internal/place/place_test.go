package place

// Places are told by their first foreign function, and a ledger keeps them.

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A stack is told by the first function that is not the module's own, and by its last one if all are.
func TestPlace(t *testing.T) {
	p := Here(0)
	require.True(t, p.Outside())
	require.Contains(t, p.String(), "internal/place.TestPlace at place_test.go:")
	require.Equal(t, "from "+p.String(), p.From())
	require.NotContains(t, Here(1).String(), "TestPlace")

	var none *Place
	require.Empty(t, none.String()+none.From())

	before := own
	defer func() { own = before }()
	own = append([]string{"github.com/turnloop/turnloop/internal/place."}, own...)
	require.Contains(t, p.String(), "testing.tRunner")
	own = []string{""}
	require.False(t, p.Outside())
}

// A ledger keeps what it is told, by shelf, and its end spares the workers. A nil one knows nothing.
func TestLedger(t *testing.T) {
	var none *Ledger
	none.Put(Timers, 1, 2, nil)
	none.Tell(Timers, 1, 2, nil, "runs")
	none.Drop(Timers, 1)
	none.End()
	none.Each(Timers, 1, func(any, Entry) { t.Error("nil has an entry") })
	require.Equal(t, Entry{}, none.Get(Timers, 1))

	g, from := new(Ledger), Here(0)
	g.Put(Timers, 1, 0, from)
	require.Equal(t, Entry{Since: 1, From: from, turn: 1}, g.Get(Timers, 1), "a time of 0 is none")
	require.Equal(t, Entry{}, g.Get(Workers, 1))
	g.Tell(Threadlets, 1, 5, from, "begins")
	g.Tell(Threadlets, 1, 9, nil, "waits")
	require.Equal(t, Entry{5, from, "waits", 2}, g.Get(Threadlets, 1))
	g.Put(Workers, 1, 7, nil)
	for key := range 9 {
		g.Put(Workers, 10-key, 7, nil)
	}
	var seen []any
	g.Each(Workers, 10, func(key any, _ Entry) { seen = append(seen, key) })
	require.Equal(t, []any{1, 10, 9, 8, 7, 6, 5, 4, 3, 2}, seen, "the oldest is first")
	for key := range 9 {
		g.Drop(Workers, 10-key)
	}
	g.Each(Workers, 0, func(any, Entry) { t.Error("more than most") })
	require.Len(t, g.notes[Workers].Of, 1)
	require.Len(t, g.notes[Threadlets].Of, 1)
	g.End()
	require.Len(t, g.notes[Workers].Of, 1)
	require.Equal(t, Entry{}, g.Get(Threadlets, 1))
	require.EqualValues(t, 7, g.Get(Workers, 1).Since)
}
