package main

// What http.ReadRequest lets through, and net/http's server does not.

import (
	"net/http"
	"strings"
)

const (
	alphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
	token        = alphanumeric + "!#$%&'*+-.^_`|~"
	host         = alphanumeric + "!$%&'()*+,-.:;=@[]_~"
)

// valid tells whether the host and the names of the fields are of the characters allowed. A proxy may read a request
// with others in another way: "Content-Length : 1" is a length to some.
func valid(r *http.Request) bool {
	for name := range r.Header {
		if name == "" || strings.Trim(name, token) != "" {
			return false
		}
	}
	return strings.Trim(r.Host, host) == ""
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
