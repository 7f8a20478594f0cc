package httploop

// What http.ReadRequest lets through, and net/http's server does not.

import (
	"bufio"
	"bytes"
	"net/http"
	"net/textproto"
	"strings"
)

const alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// The bytes of the names of fields, and of hosts.
var (
	token = bytesOf(alphanumeric + "!#$%&'*+-.^_`|~")
	host  = bytesOf(alphanumeric + "!$%&'()*+,-.:;=[]_~")
)

func bytesOf(s string) (set [256]bool) {
	for _, c := range []byte(s) {
		set[c] = true
	}
	return set
}

func consists(s string, of *[256]bool) bool {
	for i := range len(s) {
		if !of[s[i]] {
			return false
		}
	}
	return true
}

// valid tells whether the names of the fields are of the characters allowed. A proxy may read a request with others in
// another way: "Content-Length : 1" is a length to some.
func valid(r *http.Request) bool {
	for name := range r.Header {
		if name == "" || !consists(name, &token) {
			return false
		}
	}
	return true
}

// validHost tells whether a request has the fields Host that it needs. ReadRequest refuses more than one.
func validHost(r *http.Request, fields []string) bool {
	if len(fields) == 0 || fields[0] == "" {
		return !r.ProtoAtLeast(1, 1) || r.Method == http.MethodConnect
	}
	return consists(fields[0], &host)
}

// wholeURL tells whether the target of the request that begins may be no path. Of such a request ReadRequest returns the host
// in the target, and hides the field Host.
func wholeURL(in *bufio.Reader) bool {
	for n := max(1, in.Buffered()); ; n = max(n+1, in.Buffered()) {
		begin, err := in.Peek(n)
		line, _, ended := bytes.Cut(begin, []byte("\n"))
		_, target, found := bytes.Cut(line, []byte(" "))
		switch {
		case len(target) > 0:
			return target[0] != '/' && target[0] != '*'
		case ended:
			return false // no request
		case err != nil:
			return !found // the buffer is full of a method, or the connection ends
		}
	}
}

// hosts returns the fields Host of a header that was valid.
func hosts(head []byte) []string {
	in := textproto.NewReader(bufio.NewReader(bytes.NewReader(head)))
	_, _ = in.ReadLine()
	fields, _ := in.ReadMIMEHeader()
	return fields["Host"]
}

// listed tells whether one of the fields, which are lists with commas or spaces, has a word, in upper or lower case.
func listed(fields []string, word string) bool {
	for _, f := range fields {
		for w := range strings.FieldsFuncSeq(f, func(c rune) bool { return c == ',' || c == ' ' || c == '\t' }) {
			if strings.EqualFold(w, word) {
				return true
			}
		}
	}
	return false
}
