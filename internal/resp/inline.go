package resp

// Inline requests, as typed by hand: lines of words that are separated by spaces and may be quoted.

import (
	"strconv"
	"strings"
)

const (
	spaces = " \t\n\v\f\r\x00" // may stand before a word, and behind a quoted one
	ends   = " \t\n\r\x00"     // end a word without quotes
)

// split returns the words of a line, in memory of their own. ok is false if the quotes are not balanced.
func split(line []byte) (words [][]byte, ok bool) {
	for i := 0; ; {
		for i < len(line) && among(spaces, line[i]) {
			i++
		}
		if i == len(line) {
			return words, true
		}
		word := []byte{}
		for ; i < len(line) && !among(ends, line[i]); i++ {
			if line[i] == '"' || line[i] == '\'' { // also in the middle of a word, which ends with the quotes
				if word, i, ok = quoted(word, line, i+1, line[i]); !ok {
					return nil, false
				}
				break
			}
			word = append(word, line[i])
		}
		words = append(words, word)
	}
}

func among(set string, c byte) bool { return strings.IndexByte(set, c) >= 0 }

// quoted appends the text from i to the closing quote, without escapes, to a word, and returns the index behind the
// quote too. ok is false unless there is a closing quote and a space behind it.
func quoted(word, line []byte, i int, quote byte) (longer []byte, end int, ok bool) {
	for ; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return word, i + 1, i+1 == len(line) || among(spaces, line[i+1])
		case c == '\\' && i+1 < len(line) && quote == '"':
			i++
			switch c = line[i]; c {
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'b':
				c = '\b'
			case 'a':
				c = '\a'
			case 'x':
				if i+2 < len(line) {
					if n, err := strconv.ParseUint(string(line[i+1:i+3]), 16, 8); err == nil {
						c = byte(n)
						i += 2
					}
				}
			}
			word = append(word, c)
		case c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			i++
			word = append(word, '\'')
		default:
			word = append(word, c)
		}
	}
	return nil, i, false
}
