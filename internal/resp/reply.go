package resp

// Replies, and a client's requests, each appended to a buffer.

import (
	"strconv"
	"strings"
)

// AppendSimple appends a simple string, such as OK. s must not contain a line break.
func AppendSimple(b []byte, s string) []byte {
	b = append(b, '+')
	b = append(b, s...)
	return append(b, "\r\n"...)
}

// AppendError appends an error, whose first word is its kind. Line breaks become spaces; those at the end are left out.
func AppendError(b []byte, s string) []byte {
	b = append(b, '-')
	from := len(b)
	b = append(b, strings.TrimRight(s, "\r\n")...)
	for i := from; i < len(b); i++ {
		if b[i] == '\r' || b[i] == '\n' {
			b[i] = ' '
		}
	}
	return append(b, "\r\n"...)
}

// AppendInt appends a number.
func AppendInt(b []byte, n int64) []byte { return head(b, ':', n) }

// AppendBulk appends a bulk string, which may contain any bytes.
func AppendBulk[T string | []byte](b []byte, v T) []byte {
	b = head(b, '$', int64(len(v)))
	b = append(b, v...)
	return append(b, "\r\n"...)
}

// AppendNull appends the null bulk string.
func AppendNull(b []byte) []byte { return append(b, "$-1\r\n"...) }

// AppendNullArray appends the null array.
func AppendNullArray(b []byte) []byte { return append(b, "*-1\r\n"...) }

// AppendArray appends the beginning of an array; its n elements follow.
func AppendArray(b []byte, n int) []byte { return head(b, '*', int64(n)) }

// AppendRequest appends an array of bulk strings.
func AppendRequest[T string | []byte](b []byte, words ...T) []byte {
	b = AppendArray(b, len(words))
	for _, w := range words {
		b = AppendBulk(b, w)
	}
	return b
}

func head(b []byte, kind byte, n int64) []byte {
	b = append(b, kind)
	b = strconv.AppendInt(b, n, 10)
	return append(b, "\r\n"...)
}
