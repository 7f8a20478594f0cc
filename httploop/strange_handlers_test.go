package httploop

// Handlers that do what a careful one would not.

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"testing"
)

// strange returns them. /late and /close have a request's body read after the response has begun, or closed.
func strange(t *testing.T) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", handlers())
	mux.HandleFunc("/none", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/noread", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "unread") })
	mux.HandleFunc("/some", func(w http.ResponseWriter, r *http.Request) {
		b := make([]byte, 3)
		n, err := io.ReadFull(r.Body, b)
		fmt.Fprint(w, n, err)
	})
	mux.HandleFunc("/all", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		n, again := r.Body.Read(make([]byte, 1))
		fmt.Fprintf(w, "%.20q %d %v %v, %d %q %v %v %q", b, len(b), err, len(r.Trailer), n, again, r.ContentLength, r.TransferEncoding, r.Trailer.Get("T"))
	})
	mux.HandleFunc("/close", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, r.Body.Close())
		_, err := r.Body.Read(make([]byte, 1))
		fmt.Fprint(w, err)
	})
	mux.HandleFunc("/late", func(w http.ResponseWriter, r *http.Request) {
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil { // here it is always so
			t.Error(err)
		}
		io.WriteString(w, "early")
		w.(http.Flusher).Flush()
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(b), err)
	})
	mux.HandleFunc("/more", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "3")
		for range 2 {
			if _, err := io.WriteString(w, "12345"); err != http.ErrContentLength {
				t.Error(err)
			}
		}
	})
	mux.HandleFunc("/moreflushed", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "3")
		io.WriteString(w, "12")
		w.(http.Flusher).Flush()
		io.WriteString(w, "345")
	})
	mux.HandleFunc("/less", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "300")
		io.WriteString(w, "12")
	})
	mux.HandleFunc("/panic", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("/panicwritten", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "written")
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/panicflushed", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "written")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	mux.HandleFunc("/204body", func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(204)
		_, err := io.WriteString(w, "x")
		if err != http.ErrBodyNotAllowed {
			t.Error(err)
		}
	})
	mux.HandleFunc("/304cl", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(304)
	})
	mux.HandleFunc("/204cl", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		w.WriteHeader(204)
	})
	mux.HandleFunc("/badcl", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", r.FormValue("cl"))
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("/te", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Transfer-Encoding", r.FormValue("te"))
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("/tecl", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Transfer-Encoding", "chunked")
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("/inject", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-A", "a\r\nX-Injected: b")
		w.Header()["x bad\r\nname"] = []string{"v"}
		io.WriteString(w, "hello")
	})
	mux.HandleFunc("/status", func(w http.ResponseWriter, r *http.Request) {
		n := 0
		fmt.Sscan(r.FormValue("n"), &n)
		w.WriteHeader(n)
		io.WriteString(w, "x")
	})
	mux.HandleFunc("/1xx", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "a")
		w.Header().Set("Content-Length", "1")
		w.WriteHeader(103)
		w.WriteHeader(200)
		io.WriteString(w, "x")
	})
	mux.HandleFunc("/keep", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "keep-alive")
		io.WriteString(w, "x")
	})
	mux.HandleFunc("/nil", func(w http.ResponseWriter, r *http.Request) {
		for _, name := range []string{"Date", "Content-Type", "Connection"} {
			w.Header()[name] = nil
		}
		io.WriteString(w, "x")
	})
	mux.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "T")
		io.WriteString(w, "x")
		w.(http.Flusher).Flush()
		w.Header().Set("T", "1")
	})
	mux.HandleFunc("/more-trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "T")
		io.WriteString(w, "short") // so that the header leaves with the end
		w.Header().Set("T", "1")
		w.Header().Set(http.TrailerPrefix+"Other", "2")
		w.Header().Set("Late", "3")
	})
	mux.HandleFunc("/ctype", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		io.WriteString(w, "xxxxx")
	})
	mux.HandleFunc("/upgrade", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(101) })
	mux.HandleFunc("/what", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%q %q %q %q %v %q", r.Method, r.RequestURI, r.URL, r.Host, r.Close, r.Header)
	})
	return mux
}

// TestForm: the files that a form is kept in are gone when its request is over, although the handler does not remove them.
func TestForm(t *testing.T) {
	i := serve(t, &Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseMultipartForm(0) // nothing of a file in memory
		file, _, err := r.FormFile("f")
		if err != nil {
			t.Error(err)
			return
		}
		defer file.Close()
		io.WriteString(w, file.(*os.File).Name())
		if r.URL.Path == "/panic" {
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}
	})})
	const form = "--b\r\nContent-Disposition: form-data; name=f; filename=f\r\n\r\nhello\r\n--b--\r\n"
	for _, path := range []string{"/", "/panic"} {
		conn, in := dial(t, i.addr)
		io.WriteString(conn, post(path, fmt.Sprintf("Connection: close\r\nContent-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n", len(form)), form))
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		name, _ := io.ReadAll(r.Body)
		if _, err := in.ReadByte(); err == nil {
			t.Error("the connection goes on")
		}
		if _, err := os.Stat(string(name)); len(name) == 0 || !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: %q: %v", path, name, err)
		}
	}
}
