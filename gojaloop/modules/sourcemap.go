package modules

// Source maps: from esbuild's form to goja's.

import (
	"encoding/json"
	"path/filepath"
	"strings"
)

// adjust changes esbuild's source map to what goja expects. The names of sources lose the namespace in front and the
// ending, and are URLs if the module is an ES module in a file. The map gets one more line at the beginning, for the line that the wrapper puts in front of the code.
// Columns count from 1, both those of the code, which goja looks up, and those of the sources, which goja reports.
func adjust(sourceMap []byte, namespace, ending string, esm bool) []byte {
	var m struct {
		Version  int      `json:"version"`
		Sources  []string `json:"sources"`
		Mappings string   `json:"mappings"`
		Names    []string `json:"names"`
	}
	if json.Unmarshal(sourceMap, &m) != nil {
		return nil
	}
	for i, s := range m.Sources {
		m.Sources[i] = strings.TrimSuffix(strings.TrimPrefix(s, namespace), ending)
		if esm && filepath.IsAbs(m.Sources[i]) {
			m.Sources[i] = toURL(m.Sources[i])
		}
	}
	lines := strings.Split(m.Mappings, ";")
	first := true
	for i, line := range lines {
		if line == "" {
			continue
		}
		segment, rest, more := strings.Cut(line, ",")
		values := decodeVLQ(segment)
		values[0]++
		if first && len(values) >= 4 {
			values[3]++
			first = false
		}
		lines[i] = encodeVLQ(values)
		if more {
			lines[i] += "," + rest
		}
	}
	m.Mappings = ";" + strings.Join(lines, ";")
	text, err := json.Marshal(m)
	if err != nil {
		return nil
	}
	return text
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

// decodeVLQ decodes the numbers of a segment. A digit has five bits, and the least significant digit is first; the
// lowest bit of a number is its sign.
func decodeVLQ(s string) (values []int) {
	n, shift := 0, 0
	for i := range len(s) {
		digit := strings.IndexByte(base64Digits, s[i])
		n |= digit & 31 << shift
		shift += 5
		if digit&32 == 0 {
			if n&1 != 0 {
				n = -n
			}
			values = append(values, n/2)
			n, shift = 0, 0
		}
	}
	return values
}

func encodeVLQ(values []int) string {
	var b strings.Builder
	for _, v := range values {
		n := v << 1
		if v < 0 {
			n = -v<<1 | 1
		}
		for {
			digit := n & 31
			if n >>= 5; n > 0 {
				digit |= 32
			}
			b.WriteByte(base64Digits[digit])
			if n == 0 {
				break
			}
		}
	}
	return b.String()
}
