package resp

// Lines of words, as somebody types them: words stand between spaces, and may be quoted.

import "strconv"

const spaces = " \t\r\x00"

// split returns the words of a line, in memory of their own, and tells whether its quotes are in order.
func split(line []byte) (words [][]byte, ok bool) {
	for i := 0; ; {
		for i < len(line) && space(line[i]) {
			i++
		}
		if i == len(line) {
			return words, true
		}
		word := []byte{}
		switch quote := line[i]; quote {
		case '"', '\'':
			if word, i, ok = quoted(line, i+1, quote); !ok {
				return nil, false
			}
		default:
			for ; i < len(line) && !space(line[i]); i++ {
				word = append(word, line[i])
			}
		}
		words = append(words, word)
	}
}

func space(c byte) bool {
	for i := range len(spaces) {
		if c == spaces[i] {
			return true
		}
	}
	return false
}

// quoted returns what stands up to the closing quote, behind which a word must end, and where that is.
func quoted(line []byte, i int, quote byte) (word []byte, end int, ok bool) {
	word = []byte{}
	for ; i < len(line); i++ {
		switch c := line[i]; {
		case c == quote:
			return word, i + 1, i+1 == len(line) || space(line[i+1])
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
