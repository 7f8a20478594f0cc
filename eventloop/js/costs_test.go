package js_test

// What each public call costs on its usual path.

import (
	"context"
	"testing"

	"github.com/turnloop/turnloop/eventloop/js"
	"github.com/turnloop/turnloop/internal/costs"
)

func TestCosts(t *testing.T) {
	costs.Check(t, costRows, map[string]string{
		`^(With|Once|Until)`:         "makes an option",
		`^(DOMException|Event)\.`:    "reads or writes a value",
		`^Performance\.MarshalJSON$`: "writes what was recorded",
		`^JS\.(All|AllSettled|Any|Race|Reject|Resolve|Try|WithResolvers)$`: "is package promise's, which has its own",
		`^New(Custom)?Event$|^NewEventListener$`:                           "makes a value",
	})
}

func BenchmarkCosts(b *testing.B) { costs.Benchmark(b, costRows) }

func nothing() {}

// kept is what a call returns, lest the compiler leaves it on the stack.
var kept any

var costRows = []costs.Row{
	costs.On("New", 6, 496, 0, func(e *costs.Env) func() { return func() { _, err := js.New(e.Loop); e.Must(err) } }),
	costs.On("JS.SetTimeout", 2, 256, 1, adapted(func(e *costs.Env, j *js.JS) { _, err := j.SetTimeout(nothing, 0); e.Must(err) })),
	costs.On("JS.ClearTimeout", 2, 144, 0, adapted(func(e *costs.Env, j *js.JS) {
		id, err := j.SetTimeout(nothing, 1000)
		e.Must(err)
		j.ClearTimeout(id)
	})),
	costs.On("JS.SetInterval", 2, 144, 0, adapted(func(e *costs.Env, j *js.JS) {
		id, err := j.SetInterval(nothing, 1000)
		e.Must(err)
		j.ClearInterval(id)
	})),
	costs.On("JS.ClearInterval", 2, 144, 0, adapted(func(e *costs.Env, j *js.JS) {
		id, err := j.SetInterval(nothing, 1000)
		e.Must(err)
		j.ClearInterval(id)
	})),
	costs.On("JS.SetImmediate", 0, 64, 1, adapted(func(e *costs.Env, j *js.JS) { _, err := j.SetImmediate(nothing); e.Must(err) })),
	costs.On("JS.ClearImmediate", 0, 64, 0, adapted(func(e *costs.Env, j *js.JS) {
		id, err := j.SetImmediate(nothing)
		e.Must(err)
		j.ClearImmediate(id)
	})),
	costs.On("JS.Ref", 0, 0, 0, timeout(func(_ *costs.Env, j *js.JS, id js.ID) { j.Ref(id) })),
	costs.On("JS.Unref", 0, 0, 0, timeout(func(_ *costs.Env, j *js.JS, id js.ID) { j.Unref(id) })),
	costs.On("JS.HasRef", 0, 0, 0, timeout(func(_ *costs.Env, j *js.JS, id js.ID) { j.HasRef(id) })),
	costs.On("JS.Refresh", 1, 32, 0, timeout(func(e *costs.Env, j *js.JS, id js.ID) { e.Must(j.Refresh(id)) })),
	costs.On("JS.QueueMicrotask", 0, 0, 1, adapted(func(e *costs.Env, j *js.JS) { e.Must(j.QueueMicrotask(nothing)) })),
	costs.On("JS.NextTick", 0, 0, 1, adapted(func(e *costs.Env, j *js.JS) { e.Must(j.NextTick(nothing)) })),

	costs.On("JS.NewAbortController", 2, 144, 0, adapted(func(_ *costs.Env, j *js.JS) { kept = j.NewAbortController() })),
	costs.On("AbortController.Signal", 0, 0, 0, controlled(func(_ *costs.Env, c *js.AbortController) { c.Signal() })),
	costs.On("AbortController.Abort", 2, 144, 0, adapted(func(e *costs.Env, j *js.JS) { e.Must(j.NewAbortController().Abort(nil)) })),
	costs.On("AbortSignal.Aborted", 0, 0, 0, controlled(func(_ *costs.Env, c *js.AbortController) { c.Signal().Aborted() })),
	costs.On("AbortSignal.Reason", 0, 0, 0, controlled(func(e *costs.Env, c *js.AbortController) { e.Must(c.Signal().Reason()) })),
	costs.On("AbortSignal.ThrowIfAborted", 0, 0, 0, controlled(func(e *costs.Env, c *js.AbortController) { e.Must(c.Signal().ThrowIfAborted()) })),
	costs.On("AbortSignal.OnAbort", 2, 48, 0, controlled(func(_ *costs.Env, c *js.AbortController) { c.Signal().OnAbort(func(error) {})() })),
	costs.On("AbortSignal.Context", 5, 160, 0, controlled(func(_ *costs.Env, c *js.AbortController) {
		_, cancel := c.Signal().Context(context.Background())
		cancel()
	})),
	costs.On("JS.AbortedSignal", 1, 128, 0, adapted(func(_ *costs.Env, j *js.JS) { kept = j.AbortedSignal(context.Canceled) })),
	costs.On("JS.AnySignal", 9, 432, 0, func(e *costs.Env) func() {
		j := adapter(e)
		a, b := j.NewAbortController().Signal(), j.NewAbortController().Signal()
		return func() { j.AnySignal(a, b) }
	}),
	costs.On("JS.TimeoutSignal", 15, 736, 0, adapted(func(e *costs.Env, j *js.JS) { _, err := j.TimeoutSignal(1e6); e.Must(err) })),
	costs.On("JS.SignalFromContext", 26, 1408, 0, adapted(func(_ *costs.Env, j *js.JS) {
		ctx, cancel := context.WithCancel(context.Background())
		j.SignalFromContext(ctx)
		cancel()
	})),

	costs.On("JS.NewEventTarget", 1, 32, 0, adapted(func(_ *costs.Env, j *js.JS) { kept = j.NewEventTarget() })),
	costs.On("EventTarget.AddEventListener", 6, 256, 0, listened(func(e *costs.Env, at *js.EventTarget, l *js.EventListener) {
		e.Must(at.AddEventListener("other", l))
		at.RemoveEventListener("other", l)
	})),
	costs.On("EventTarget.RemoveEventListener", 6, 256, 0, listened(func(e *costs.Env, at *js.EventTarget, l *js.EventListener) {
		e.Must(at.AddEventListener("other", l))
		at.RemoveEventListener("other", l)
	})),
	costs.On("EventTarget.DispatchEvent", 3, 144, 0, listened(func(e *costs.Env, at *js.EventTarget, _ *js.EventListener) {
		_, err := at.DispatchEvent(js.NewEvent("this"))
		e.Must(err)
	})),

	costs.On("JS.Performance", 0, 0, 0, adapted(func(_ *costs.Env, j *js.JS) { j.Performance() })),
	costs.On("Performance.Now", 0, 0, 0, adapted(func(_ *costs.Env, j *js.JS) { j.Performance().Now() })),
	costs.On("Performance.TimeOrigin", 0, 0, 0, adapted(func(_ *costs.Env, j *js.JS) { j.Performance().TimeOrigin() })),
	costs.On("Performance.Mark", 0, 0, 0, adapted(func(_ *costs.Env, j *js.JS) { j.Performance().Mark("m"); j.Performance().ClearMarks("m") })),
	costs.On("Performance.ClearMarks", 0, 0, 0, adapted(func(_ *costs.Env, j *js.JS) { j.Performance().Mark("m"); j.Performance().ClearMarks("m") })),
	costs.On("Performance.MarkAt", 0, 0, 0, adapted(func(e *costs.Env, j *js.JS) {
		_, err := j.Performance().MarkAt("m", 1, nil)
		e.Must(err)
		j.Performance().ClearMarks("m")
	})),
	costs.On("Performance.Measure", 0, 0, 0, measured(func(e *costs.Env, p *js.Performance) {
		_, err := p.Measure("d", "a", "b")
		e.Must(err)
		p.ClearMeasures("d")
	})),
	costs.On("Performance.MeasureTimes", 0, 0, 0, measured(func(e *costs.Env, p *js.Performance) {
		_, err := p.MeasureTimes("d", 1, 2, nil)
		e.Must(err)
		p.ClearMeasures("d")
	})),
	costs.On("Performance.ClearMeasures", 0, 0, 0, measured(func(_ *costs.Env, p *js.Performance) { p.ClearMeasures("d") })),
	costs.On("Performance.GetEntries", 2, 192, 0, measured(func(_ *costs.Env, p *js.Performance) { p.GetEntries() })),
	costs.On("Performance.GetEntriesByName", 1, 64, 0, measured(func(_ *costs.Env, p *js.Performance) { p.GetEntriesByName("a", "mark") })),
	costs.On("Performance.GetEntriesByType", 2, 192, 0, measured(func(_ *costs.Env, p *js.Performance) { p.GetEntriesByType("mark") })),
}

func adapter(e *costs.Env) *js.JS {
	j, err := js.New(e.Loop)
	e.Must(err)
	return j
}

func adapted(call func(*costs.Env, *js.JS)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		j := adapter(e)
		return func() { call(e, j) }
	}
}

func timeout(call func(*costs.Env, *js.JS, js.ID)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		j := adapter(e)
		id, err := j.SetTimeout(nothing, 1e6)
		e.Must(err)
		return func() { call(e, j, id) }
	}
}

func controlled(call func(*costs.Env, *js.AbortController)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		c := adapter(e).NewAbortController()
		return func() { call(e, c) }
	}
}

func listened(call func(*costs.Env, *js.EventTarget, *js.EventListener)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		at, l := adapter(e).NewEventTarget(), js.NewEventListener(func(*js.Event) {})
		e.Must(at.AddEventListener("this", l))
		return func() { call(e, at, l) }
	}
}

func measured(call func(*costs.Env, *js.Performance)) func(*costs.Env) func() {
	return func(e *costs.Env) func() {
		p := adapter(e).Performance()
		p.Mark("a")
		p.Mark("b")
		return func() { call(e, p) }
	}
}
