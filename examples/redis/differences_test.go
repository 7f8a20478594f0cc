package main

// What redis-server answers in another way. The page of this example has this table; TestStrangers holds it to both servers.

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the table of differences and the list of commands into README.md")

// differences are streams of requests, with what both servers answer and why they differ.
var differences = []struct{ why, stream, ours, theirs string }{
	{"there are fewer words in a request", "*1048577\r\n", "-ERR Protocol error: invalid multibulk length\r\n", ""},
	{"what must be the end of a line is looked at", "*1\r\n$4\r\nPINGxx*1\r\n$4\r\nPING\r\n", "-ERR Protocol error: expected the end of a line after a bulk\r\n", "+PONG\r\n+PONG\r\n"},
	{"", "*1\r\n$3\r\nPING\r\nPING\r\n", "-ERR Protocol error: expected the end of a line after a bulk\r\n", "-ERR unknown command 'PIN', with args beginning with: \r\n+PONG\r\n"},
	{"", "*1\r$4\r\nPING\r\n", "-ERR Protocol error: invalid multibulk length\r\n", "-ERR Protocol error: expected '$', got '4'\r\n"},
	{"", "*1\rx$4\r\nPING\r\n", "-ERR Protocol error: invalid multibulk length\r\n", "+PONG\r\n"},
	{"", "*1\r\n$4\rxPING\r\n", "-ERR Protocol error: invalid bulk length\r\n", "+PONG\r\n"},
	{"a zero byte does not end a text", "*1\r\n\x00\r\n", "-ERR Protocol error: expected '$', got '\x00'\r\n", ""},
	{"", bulks("pi\x00ng", "a\x00b"), "-ERR unknown command 'pi\x00ng', with args beginning with: 'a\x00b' \r\n", "-ERR unknown command 'pi', with args beginning with: 'a' \r\n"},
	{"", "PING\x00\r\n", "+PONG\r\n", ""},
	{"", "ECHO '\x00a'\n", "$2\r\n\x00a\r\n", ""},
	{"newer clients send it", "CLIENT SETINFO lib-name x\n", "+OK\r\n", "-ERR unknown subcommand 'SETINFO'. Try CLIENT HELP.\r\n"},
	{"there are no sorted sets", "ZADD z 1 a\n", "-ERR unknown command 'ZADD', with args beginning with: 'z' '1' 'a' \r\n", ":1\r\n"},
	{"no streams", "XLEN x\n", "-ERR unknown command 'XLEN', with args beginning with: 'x' \r\n", ":0\r\n"},
	{"no approximate counts, places or counts of bits", "PFCOUNT p\n", "-ERR unknown command 'PFCOUNT', with args beginning with: 'p' \r\n", ":0\r\n"},
	{"", "GEODIST g a b\n", "-ERR unknown command 'GEODIST', with args beginning with: 'g' 'a' 'b' \r\n", "$-1\r\n"},
	{"", "BITCOUNT b\n", "-ERR unknown command 'BITCOUNT', with args beginning with: 'b' \r\n", ":0\r\n"},
	{"no scripts but the one that releases a lock", "EVAL 'return 1' 0\n", "-ERR the only script is the one that compares a key with a value and deletes it\r\n", ":1\r\n"},
	{"", "SCRIPT LOAD 'return 1'\n", "-ERR the only script is the one that compares a key with a value and deletes it\r\n", "$40\r\ne0e1f9fabfc9d4800c877a703b823ac0578ff8db\r\n"},
	{"no functions, but none can be removed", "FUNCTION LIST\n", "-ERR unknown subcommand 'LIST'. Try FUNCTION HELP.\r\n", "*0\r\n"},
	{"no replicas", "REPLICAOF NO ONE\n", "-ERR unknown command 'REPLICAOF', with args beginning with: 'NO' 'ONE' \r\n", "+OK\r\n"},
	{"", "WAIT 0 0\n", "-ERR unknown command 'WAIT', with args beginning with: '0' '0' \r\n", ":0\r\n"},
	{"no users", "ACL WHOAMI\n", "-ERR unknown command 'ACL', with args beginning with: 'WHOAMI' \r\n", "$7\r\ndefault\r\n"},
	{"no snapshots: values have no form on a disk but the requests that made them", "DUMP none\n", "-ERR unknown command 'DUMP', with args beginning with: 'none' \r\n", "$-1\r\n"},
	{"nothing is evicted", "CONFIG SET maxmemory-policy allkeys-lru\nCONFIG SET maxmemory-policy noeviction\n", "-ERR CONFIG SET failed (possibly related to argument 'maxmemory-policy') - argument is out of range\r\n+OK\r\n", "+OK\r\n+OK\r\n"},
	{"when a key was used is not kept", "SET k v\nOBJECT FREQ k\n", "+OK\r\n-ERR unknown subcommand 'FREQ'. Try OBJECT HELP.\r\n", "+OK\r\n-ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please note that when switching between policies at runtime LRU and LFU data will take some time to adjust.\r\n"},
	{"DEBUG is open, as it can do no harm", "DEBUG JMAP\n", "+OK\r\n", "-ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a local connection, otherwise you need to set this option in the configuration file, and then restart the server.\r\n"},
	{"channels are not sharded", "SPUBLISH c m\n", "-ERR unknown command 'SPUBLISH', with args beginning with: 'c' 'm' \r\n", ":0\r\n"},
	{"clients are not paused or traced", "CLIENT UNPAUSE\n", "-ERR unknown subcommand 'UNPAUSE'. Try CLIENT HELP.\r\n", "+OK\r\n"},
	{"", "SLOWLOG LEN\n", "-ERR unknown command 'SLOWLOG', with args beginning with: 'LEN' \r\n", ":0\r\n"},
}

// differencesTable is the differences as the page has them.
func differencesTable() string {
	text := "| | sent | answer here | redis-server's |\n| --- | --- | --- | --- |\n"
	show := func(s string) string {
		s = strings.Trim(fmt.Sprintf("%q", s), `"`)
		s = strings.TrimSuffix(strings.ReplaceAll(s, `\r\n`, "↵"), "↵")
		if r := []rune(s); len(r) > 60 {
			s = string(r[:60]) + "…"
		}
		if s == "" {
			return "the end of the connection, or nothing"
		}
		return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
	}
	for _, d := range differences {
		text += fmt.Sprintf("| %s | %s | %s | %s |\n", d.why, show(strings.TrimRight(d.stream, "\r\n")), show(d.ours), show(d.theirs))
	}
	return text
}

// The page lists the differences that there are.
func TestDifferencesPage(t *testing.T) {
	page, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- differences -->\n", "<!-- end of the differences -->\n"
	before, rest, found := strings.Cut(string(page), begin)
	_, after, foundToo := strings.Cut(rest, end)
	want := before + begin + differencesTable() + end + after
	switch {
	case !found || !foundToo:
		t.Fatal("README.md has no place for the differences")
	case want == string(page):
	case *update:
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Error("README.md has other differences: go test ./examples/redis -run Page -update")
	}
}
