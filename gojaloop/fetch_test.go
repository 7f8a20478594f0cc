package gojaloop_test

// fetch, against a server on loopback.

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/turnloop/turnloop/gojaloop"
	"github.com/turnloop/turnloop/internal/beat"
)

// site is the server that the scripts of these tests ask.
func site(t *testing.T) (url string) {
	mux := http.NewServeMux()
	mux.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Method", r.Method)
		w.Header().Add("X-Twice", "1")
		w.Header().Add("X-Twice", "2")
		w.Header().Add("Set-Cookie", "a=1")
		w.Header().Add("Set-Cookie", "b=2")
		fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.Header.Get("X-Own"), r.Header.Get("Accept"), body)
	})
	mux.HandleFunc("/to/{code}/{n}", func(w http.ResponseWriter, r *http.Request) {
		n, _ := strconv.Atoi(r.PathValue("n"))
		code, _ := strconv.Atoi(r.PathValue("code"))
		to := "/echo"
		if n > 1 {
			to = fmt.Sprintf("/to/%d/%d", code, n-1)
		}
		w.Header().Set("Location", to)
		w.WriteHeader(code)
	})
	mux.HandleFunc("/status/{code}", func(w http.ResponseWriter, r *http.Request) {
		code, _ := strconv.Atoi(r.PathValue("code"))
		w.WriteHeader(code)
	})
	mux.HandleFunc("/never", func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("/begun", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "first")
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("/broken", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "100")
		io.WriteString(w, "some")
	})
	mux.HandleFunc("/chunks", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			fmt.Fprint(w, i)
			w.(http.Flusher).Flush()
		}
	})
	mux.HandleFunc("/text/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Query().Get("t")) })
	mux.HandleFunc("/coded/{codings}", func(w http.ResponseWriter, r *http.Request) {
		body := []byte("plain")
		for _, coding := range strings.Split(r.PathValue("codings"), ",") {
			var b bytes.Buffer
			var c io.WriteCloser = gzip.NewWriter(&b)
			switch strings.ToLower(coding) {
			case "deflate":
				c = zlib.NewWriter(&b)
			case "raw":
				c, _ = flate.NewWriter(&b, -1)
			case "br":
				c = brotli.NewWriter(&b)
			case "other", "empty":
				continue
			}
			_, _ = c.Write(body)
			c.Close()
			body = b.Bytes()
		}
		if r.PathValue("codings") == "empty" {
			body = nil
		}
		w.Header().Set("Content-Encoding", strings.NewReplacer("raw", "deflate", "empty", "gzip").Replace(r.PathValue("codings")))
		_, _ = w.Write(body)
	})
	mux.HandleFunc("/bytes", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Latin", "caf\xe9")
		fmt.Fprintf(w, "%x", r.Header.Get("X-Own"))
	})
	mux.HandleFunc("/away", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.WriteHeader(307)
	})
	mux.HandleFunc("/secrets", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Header.Get("Authorization"), r.Header.Get("Cookie"), r.Header.Get("X-Own"))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server.URL
}

func TestFetch(t *testing.T) {
	url := site(t)
	for _, c := range []struct{ what, source, want string }{
		{"get", "const r = await fetch(u + '/echo', { headers: { 'X-Own': 'o' } }); return [r.status, r.ok, r.statusText, r.url === u + '/echo', r.redirected, r.type, await r.text()]", "200,true,OK,true,false,basic,GET  o */* "},
		{"headers of a response", "const h = (await fetch(u + '/echo')).headers; return [h.get('x-twice'), h.getSetCookie().length, h.has('X-METHOD'), name(() => h.set('a', 'b'))]", "1, 2,2,true,TypeError"},
		{"post text", "return (await fetch(u + '/echo', { method: 'post', body: 'é' })).text()", "POST text/plain;charset=UTF-8  */* é"},
		{"post bytes", "return (await fetch(u + '/echo', { method: 'POST', body: new Uint8Array([65, 66]) })).text()", "POST   */* AB"},
		{"post form", "return (await fetch(u + '/echo', { method: 'POST', body: new URLSearchParams({ a: 'b c' }) })).text()", "POST application/x-www-form-urlencoded;charset=UTF-8  */* a=b+c"},
		{"post stream", "return (await fetch(u + '/echo', { method: 'POST', duplex: 'half', body: new Response('streamed').body })).text()", "POST   */* streamed"},
		{"a request", "const q = new Request(u + '/echo', { method: 'PUT', body: 'x', headers: { 'content-type': 'own' } }); const r = await fetch(q); return [q.bodyUsed, await r.text()]", "true,PUT own  */* x"},
		{"redirects", "const r = await fetch(u + '/to/302/3'); return [r.redirected, r.url === u + '/echo', r.status]", "true,true,200"},
		{"303 makes a GET", "return (await fetch(u + '/to/303/1', { method: 'POST', body: 'x' })).text()", "GET   */* "},
		{"302 of a POST makes a GET", "return (await fetch(u + '/to/302/1', { method: 'POST', body: 'x' })).text()", "GET   */* "},
		{"307 keeps", "return (await fetch(u + '/to/307/2', { method: 'POST', body: 'x' })).text()", "POST text/plain;charset=UTF-8  */* x"},
		{"twenty redirects", "return (await fetch(u + '/to/301/20')).status", "200"},
		{"too many", "return fails(() => fetch(u + '/to/301/21'))", "TypeError fetch failed"},
		{"redirect error", "return fails(() => fetch(u + '/to/301/1', { redirect: 'error' }))", "TypeError fetch failed"},
		{"redirect manual", "const r = await fetch(u + '/to/301/1', { redirect: 'manual' }); return [r.status, r.headers.get('location'), r.redirected]", "301,/echo,false"},
		{"statuses are no errors", "return [(await fetch(u + '/status/404')).ok, (await fetch(u + '/status/500')).status]", "false,500"},
		{"null bodies", "const r = await fetch(u + '/status/204'); const h = await fetch(u + '/echo', { method: 'HEAD' }); return [r.body, await r.text(), h.headers.get('x-method'), await h.text()]", ",,HEAD,"},
		{"json", "return (await (await fetch(u + '/text/?t=' + encodeURIComponent('{\"a\":[1]}'))).json()).a[0]", "1"},
		{"json that is none", "return fails(async () => (await fetch(u + '/text/?t={')).json())", "SyntaxError"},
		{"bytes", "const r = await fetch(u + '/text/?t=AB'); return [...await r.bytes()]", "65,66"},
		{"arrayBuffer", "return (await (await fetch(u + '/text/?t=ABC')).arrayBuffer()).byteLength", "3"},
		{"used", "const r = await fetch(u + '/text/?t=x'); await r.text(); return [r.bodyUsed, await fails(() => r.text())]", "true,TypeError"},
		{"clone", "const r = await fetch(u + '/text/?t=x'); const c = r.clone(); return [await r.text(), await c.text()]", "x,x"},
		{"iterator", "const r = await fetch(u + '/chunks'); const i = r.body[Symbol.for('Symbol.asyncIterator')](); let s = ''; for (;;) { const { value, done } = await i.next(); if (done) break; s += new TextDecoder().decode(value) } return [s, r.body.locked]", "01234,false"},
		{"reader", "const r = (await fetch(u + '/chunks')).body.getReader(); let s = ''; for (;;) { const { value, done } = await r.read(); if (done) return s; s += new TextDecoder().decode(value) }", "01234"},
		{"cancel", "const r = (await fetch(u + '/begun')).body.getReader(); await r.read(); await r.cancel(); return (await r.read()).done", "true"},
		{"a body that breaks off", "const r = await fetch(u + '/broken'); return fails(() => r.text())", "TypeError terminated"},
		{"aborted before", "return fails(() => fetch(u + '/never', { signal: AbortSignal.abort() }))", "AbortError"},
		{"aborted with a reason", "return fails(() => fetch(u + '/never', { signal: AbortSignal.abort(new RangeError('why')) }))", "RangeError why"},
		{"aborted while it waits for headers", "const c = new AbortController(); setTimeout(() => c.abort(), 10); return fails(() => fetch(u + '/never', { signal: c.signal }))", "AbortError"},
		{"a timeout", "return fails(() => fetch(u + '/never', { signal: AbortSignal.timeout(10) }))", "TimeoutError"},
		{"aborted while it waits for the body", "const c = new AbortController(); const r = await fetch(u + '/begun', { signal: c.signal }); setTimeout(() => c.abort(), 10); return fails(() => r.text())", "AbortError"},
		{"aborted between headers and body", "const c = new AbortController(); const r = await fetch(u + '/begun', { signal: c.signal }); c.abort(); return fails(() => r.text())", "AbortError"},
		{"aborted by the signal of a request", "const c = new AbortController(); const q = new Request(u + '/never', { signal: c.signal }); setTimeout(() => c.abort(), 5); return fails(() => fetch(q))", "AbortError"},
		{"aborted when it is over", "const c = new AbortController(); const r = await fetch(u + '/echo', { signal: c.signal }); const s = await r.text(); c.abort(); return s.length > 0", "true"},
		{"nobody listens", "return fails(() => fetch('http://127.0.0.1:1/'))", "TypeError fetch failed"},
		{"codings", "const all = []; for (const c of ['gzip', 'x-gzip', 'GZip', 'deflate', 'raw', 'br', 'deflate,gzip', 'empty', 'other']) { const r = await fetch(u + '/coded/' + c); all.push(await r.text(), r.headers.get('content-encoding')) } return all", "plain,gzip,plain,x-gzip,plain,GZip,plain,deflate,plain,deflate,plain,br,plain,deflate,gzip,,gzip,plain,other"},
		{"codings that are asked for", "return (await fetch(u + '/coded/gzip', { headers: { 'accept-encoding': 'gzip' } })).text()", "plain"},
		{"a coding that is none", "const r = await fetch(u + '/text/?t=x'); const c = await fetch(u + '/coded/gzip,other'); return (await c.text()) !== 'plain'", "true"},
		{"bytes of headers", "const r = await fetch(u + '/bytes', { headers: { 'x-own': 'caf\\xe9' } }); return [r.headers.get('x-latin').charCodeAt(3), await r.text(), new Headers([...r.headers]).get('x-latin').length]", "233,636166e9,4"},
		{"PUT keeps its method with 302", "return (await fetch(u + '/to/302/1', { method: 'PUT', body: 'x' })).text()", "PUT text/plain;charset=UTF-8  */* x"},
		{"HEAD keeps its method with 303", "return (await fetch(u + '/to/303/1', { method: 'HEAD' })).headers.get('x-method')", "HEAD"},
		{"a redirect of a stream", "const body = () => new Response('x').body; return [await fails(() => fetch(u + '/to/307/1', { method: 'POST', duplex: 'half', body: body() })), (await fetch(u + '/to/303/1', { method: 'POST', duplex: 'half', body: body() })).status]", "TypeError fetch failed,200"},
		{"a redirect to another origin", "const headers = { authorization: 'a', cookie: 'c', 'x-own': 'o' }, to = u.replace('127.0.0.1', 'localhost') + '/secrets'; return [await (await fetch(u + '/away?to=' + to, { headers })).text(), await (await fetch(u + '/away?to=/secrets', { headers })).text()]", "o,aco"},
		{"a redirect to another scheme", "return fails(() => fetch(u + '/away?to=data:,x'))", "TypeError fetch failed"},
		{"fragments", "return [(await fetch(u + '/echo#a')).url === u + '/echo', (await fetch(u + '/to/301/1#a')).url === u + '/echo']", "true,true"},
		{"parts of forms", `const form = d => new Response('--x\r\nContent-Disposition: ' + d + '\r\n\r\nt\r\n--x--\r\n', { headers: { 'content-type': 'multipart/form-data; boundary=x' } }).formData().then(f => [...f].map(([k, v]) => k + '=' + (v.name === undefined ? v : v.name + ':' + v.type)), e => e.name)
			return Promise.all(['name="a\\"', 'name="f"; filename="C:\\x\\"', 'name="a%22b"', 'name="f"; filename=""', 'filename="x"', 'name="f"; more=1'].map(d => form('form-data; ' + d)))`, `a\=t,f=C:\x\:text/plain,a"b=t,f=:text/plain,TypeError,TypeError`},
		{"a form there and back", `const f = new FormData(); f.append('dir\\', new File(['x'], 'a"b\\.txt')); f.append('q"\n', 'v\nw'); return [...await new Response(f).formData()].map(([k, v]) => JSON.stringify([k, v.name || v]))`, `["dir\\","a\"b\\.txt"],["q\"\r\n","v\r\nw"]`},
		{"a body that is canceled is used", "const r = new Response('abc'); await r.body.cancel(); return [r.bodyUsed, await fails(() => r.text())]", "true,TypeError"},
		{"readers' closed", "const of = s => { const r = s.getReader(); return r.closed.then(() => 'closed', e => e.name) }; const released = new ReadableStream().getReader(); released.releaseLock(); const canceled = new ReadableStream().getReader(); canceled.cancel(); return [await of(new ReadableStream({ start(c) { c.close() } })), await of(new ReadableStream({ start(c) { c.error(new RangeError()) } })), await released.closed.catch(e => e.name), await canceled.closed]", "closed,RangeError,TypeError,"},
		{"reasons of branches", "let why; const [a, b] = new ReadableStream({ cancel(x) { why = x } }).tee(); a.cancel(1); await b.cancel(2); const f = new ReadableStream({ pull(c) { c.error(new TypeError()) } }).tee()[1].getReader(); return [why, await f.closed.catch(e => e.name)]", "1,2,TypeError"},
		{"sizes of chunks", "let left; new ReadableStream({ start(c) { c.enqueue('abc'); left = c.desiredSize } }, { highWaterMark: 10, size: x => x.length }); return left", "7"},
		{"many at once", "return (await Promise.all(Array.from({ length: 20 }, (_, i) => fetch(u + '/text/?t=' + i).then(r => r.text())))).join('')", "012345678910111213141516171819"},
	} {
		t.Run(strings.ReplaceAll(c.what, " ", "_"), func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			h := newHost(t, gojaloop.WithOutput(&out, &out))
			_, err := h.Run(ctx, "a.js", fmt.Sprintf(`
				const u = '%s'
				const name = f => { try { return f() } catch (e) { return e.name } }
				const fails = f => Promise.resolve().then(f).then(() => 'fine', e => e.name + (['fetch failed', 'terminated', 'why'].includes(e.message) ? ' ' + e.message : ''))
				;(async () => { %s })().then(v => console.log(String(v)))`, url, c.source))
			if got := strings.TrimSuffix(out.String(), "\n"); err != nil || got != c.want {
				t.Errorf("%v, %q, want %q", err, got, c.want)
			}
		})
	}
}

// Requests under way are aborted when the host or its loop ends, and the server notices.
func TestFetchEndsWithTheHost(t *testing.T) {
	left := make(chan struct{})
	came := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(came)
		<-r.Context().Done()
		close(left)
	}))
	defer server.Close()
	for name, end := range map[string]func(*gojaloop.Host){
		"Close":             (*gojaloop.Host).Close,
		"Close of the loop": func(h *gojaloop.Host) { h.Loop().Close() },
	} {
		left, came = make(chan struct{}), make(chan struct{})
		h := running(t)
		done := make(chan error, 1)
		go func() { _, err := h.Run(ctx, "a.js", "fetch('"+server.URL+"')"); done <- err }()
		<-came
		end(h)
		if err := <-done; err == nil {
			t.Errorf("%s: Run returns no error", name)
		}
		beat.Receive(t, left, "the end of the request by "+name)
	}
}
