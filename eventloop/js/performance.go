package js

// Performance: a clock that never goes back, and named times on it.

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/turnloop/turnloop/internal/slim"
)

// Performance is the clock of a [JS], and the marks and measures made on it (High Resolution Time and User Timing of
// the W3C). All methods may be called from any goroutine. Entries are kept until they are cleared.
type Performance struct {
	origin  time.Time
	mu      sync.Mutex                // guards what follows
	entries []PerformanceEntry        // in order of making
	readers int                       // goroutines that look at entries without mu: none of those is moved meanwhile
	marks   slim.Map[string, float64] // by name, the time of the mark that was made last
}

// PerformanceEntry is a mark or a measure. Its JSON is that of JavaScript's toJSON.
type PerformanceEntry struct {
	Name      string  `json:"name"`
	EntryType string  `json:"entryType"` // "mark" or "measure"
	StartTime float64 `json:"startTime"` // milliseconds since the time origin
	Duration  float64 `json:"duration"`  // milliseconds; 0 for a mark
	Detail    any     `json:"detail"`
}

const (
	markType    = "mark"
	measureType = "measure"
)

// Performance returns the adapter's clock.
func (j *JS) Performance() *Performance { return &j.performance }

func (p *Performance) start() { p.origin = time.Now() }

// Now returns the milliseconds since the time origin, with fractions to the resolution of Go's monotonic clock. It
// never goes back.
func (p *Performance) Now() float64 {
	return float64(time.Since(p.origin)) / float64(time.Millisecond)
}

// TimeOrigin returns the time of New in milliseconds since 1970.
func (p *Performance) TimeOrigin() float64 { return float64(p.origin.UnixMicro()) / 1000 }

// Mark records a name with the time of now. Names may be used again.
func (p *Performance) Mark(name string) PerformanceEntry {
	return p.add(PerformanceEntry{Name: name, EntryType: markType, StartTime: p.Now()})
}

// MarkAt records a name with a time, in milliseconds since the time origin, and a detail, which may be nil. It returns
// an error that wraps ErrTime if the time is negative or not a number.
func (p *Performance) MarkAt(name string, startTime float64, detail any) (PerformanceEntry, error) {
	if err := checkTime(startTime); err != nil {
		return PerformanceEntry{}, err
	}
	return p.add(PerformanceEntry{Name: name, EntryType: markType, StartTime: startTime, Detail: detail}), nil
}

// Measure records the time from one mark to another: from the last mark of the name startMark to the last one of the name
// endMark. An empty startMark stands for the time origin, an empty endMark for now. If there is no such mark, Measure
// returns a DOMException "SyntaxError" that wraps ErrNoMark.
func (p *Performance) Measure(name, startMark, endMark string) (PerformanceEntry, error) {
	start, end := 0.0, p.Now()
	var err error
	if startMark != "" {
		start, err = p.markTime(startMark)
	}
	if endMark != "" && err == nil {
		end, err = p.markTime(endMark)
	}
	if err != nil {
		return PerformanceEntry{}, err
	}
	return p.MeasureTimes(name, start, end, nil)
}

// MeasureTimes records the time between two times, in milliseconds since the time origin, with a detail, which may be
// nil. The duration is negative if end is before start. It returns an error that wraps ErrTime if a time is
// negative or not a number.
func (p *Performance) MeasureTimes(name string, start, end float64, detail any) (PerformanceEntry, error) {
	if err := cmp.Or(checkTime(start), checkTime(end)); err != nil {
		return PerformanceEntry{}, err
	}
	e := PerformanceEntry{Name: name, EntryType: measureType, StartTime: start, Duration: end - start, Detail: detail}
	return p.add(e), nil
}

func checkTime(ms float64) error {
	if !(ms >= 0 && ms <= float64(maxID)) {
		return fmt.Errorf("%w: %v", ErrTime, ms)
	}
	return nil
}

// markTime returns the time of the mark that was made last under a name.
func (p *Performance) markTime(name string) (float64, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if ms, ok := p.marks.Of[name]; ok {
		return ms, nil
	}
	return 0, &DOMException{Name: "SyntaxError", Message: fmt.Sprintf("there is no mark %q", name), Err: ErrNoMark}
}

func (p *Performance) add(e PerformanceEntry) PerformanceEntry {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.entries = append(p.entries, e); e.EntryType == markType {
		p.marks.Put(e.Name, e.StartTime)
	}
	return e
}

// GetEntries returns all entries in order of their times, equal ones in order of making.
func (p *Performance) GetEntries() []PerformanceEntry {
	return p.filter(func(PerformanceEntry) bool { return true })
}

// GetEntriesByName returns the entries with a name, and with an entry type unless that is "", in order of their times.
func (p *Performance) GetEntriesByName(name, entryType string) []PerformanceEntry {
	return p.filter(func(e PerformanceEntry) bool {
		return e.Name == name && (entryType == "" || e.EntryType == entryType)
	})
}

// GetEntriesByType returns the entries of a type, "mark" or "measure", in order of their times.
func (p *Performance) GetEntriesByType(entryType string) []PerformanceEntry {
	return p.filter(func(e PerformanceEntry) bool { return e.EntryType == entryType })
}

func (p *Performance) filter(keep func(PerformanceEntry) bool) (kept []PerformanceEntry) {
	p.mu.Lock()
	entries := p.entries
	p.readers++
	p.mu.Unlock() // there may be a million, and the loop may be about to make one
	for _, e := range entries {
		if keep(e) {
			kept = append(kept, e)
		}
	}
	p.mu.Lock()
	p.readers--
	p.mu.Unlock()
	slices.SortStableFunc(kept, func(a, b PerformanceEntry) int { return cmp.Compare(a.StartTime, b.StartTime) })
	return kept
}

// ClearMarks removes the marks with a name, or all if it is "".
func (p *Performance) ClearMarks(name string) { p.clear(markType, name) }

// ClearMeasures removes the measures with a name, or all if it is "".
func (p *Performance) ClearMeasures(name string) { p.clear(measureType, name) }

func (p *Performance) clear(entryType, name string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.readers != 0 {
		p.entries = slices.Clone(p.entries)
	}
	p.entries = slim.Slice(slices.DeleteFunc(p.entries, func(e PerformanceEntry) bool {
		return e.EntryType == entryType && (name == "" || e.Name == name)
	}))
	switch {
	case entryType != markType:
	case name == "":
		p.marks = slim.Map[string, float64]{}
	default:
		p.marks.Delete(name)
	}
}

// MarshalJSON returns what JavaScript's toJSON gives: an object with the timeOrigin.
func (p *Performance) MarshalJSON() ([]byte, error) {
	return json.Marshal(map[string]float64{"timeOrigin": p.TimeOrigin()})
}
