package main

// Patterns of names. They are of bytes, as keys are: package path's are of characters.

// matches tells whether a name matches a pattern of Redis: * matches anything, ? one byte, [a-z] and [^a-z] one of a
// set; \ quotes the next byte. It takes time for the product of both lengths at most: only the last * is tried again.
func matches(pattern, name string) bool {
	star, from := -1, 0 // the place behind the last *, and where what follows it was tried last
	for p, n := 0, 0; n < len(name) || p < len(pattern); {
		if p < len(pattern) && pattern[p] == '*' {
			p++
			star, from = p, n
			continue
		}
		if p < len(pattern) && n < len(name) {
			if next, ok := one(pattern, p, name[n]); ok {
				p, n = next, n+1
				continue
			}
		}
		if star < 0 || from == len(name) {
			return false
		}
		from++
		p, n = star, from
	}
	return true
}

// one tells whether a byte matches the element at p, and returns the place behind it.
func one(pattern string, p int, b byte) (next int, ok bool) {
	switch pattern[p] {
	case '?':
		return p + 1, true
	case '[':
		return among(pattern, p+1, b)
	case '\\':
		if p+1 < len(pattern) {
			p++
		}
	}
	return p + 1, pattern[p] == b
}

// among tells whether a byte is in the set that begins at p, and returns the place behind it. A set without an end
// ends with the pattern.
func among(pattern string, p int, b byte) (next int, ok bool) {
	not := p < len(pattern) && pattern[p] == '^'
	if not {
		p++
	}
	for ; p < len(pattern) && pattern[p] != ']'; p++ {
		low, high := pattern[p], pattern[p]
		switch rest := len(pattern) - p; {
		case low == '\\' && rest >= 2:
			p++
			low, high = pattern[p], pattern[p]
		case rest >= 3 && pattern[p+1] == '-':
			p += 2
			low, high = min(low, pattern[p]), max(low, pattern[p])
		}
		ok = ok || low <= b && b <= high
	}
	return min(p+1, len(pattern)), ok != not
}
