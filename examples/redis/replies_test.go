package main

// Replies outside of the model.

// replies are requests with their replies, in order: commands and errors that the model does not know.
var replies = []struct{ request, reply string }{
	{"PING", "PONG"}, {"PING hello", `"hello"`}, {"PING a b", "ERR wrong number of arguments for 'ping' command"}, {"ECHO hello", `"hello"`},
	{"SELECT 0", "OK"}, {"SELECT 1", "ERR DB index is out of range"}, {"NOSUCH a", "ERR unknown command 'NOSUCH', with args beginning with: 'a' "},
	{"GET", "ERR wrong number of arguments for 'get' command"}, {"get a b", "ERR wrong number of arguments for 'get' command"},
	{"HELLO", `["server" "redis" "version" "7.0.0" "proto" 2 "id" 1 "mode" "standalone" "role" "master" "modules" []]`},
	{"HELLO 3", "NOPROTO unsupported protocol version"}, {"AUTH default x", "OK"},
	{"CLIENT ID", "1"}, {"CLIENT SETNAME me", "OK"}, {"CLIENT GETNAME", `"me"`}, {"CLIENT SETINFO lib-name x", "OK"},
	{"CLIENT NOSUCH", "ERR unknown subcommand 'NOSUCH'. Try CLIENT HELP."}, {"COMMAND DOCS", "[]"},
	{"CONFIG GET append*", `["appendonly" "no" "appendfsync" "no"]`}, {"CONFIG SET a b", "ERR unknown subcommand 'SET'. Try CONFIG HELP."},
	{"SET a 1 NX", "OK"}, {"SET a 2 NX", "nil"}, {"SET a 2 XX", "OK"}, {"SET b 2 XX", "nil"}, {"SET a 3 GET", `"2"`}, {"SET a 4 NX GET", `"3"`}, {"GET a", `"3"`},
	{"SET a 1 EX 100", "OK"}, {"TTL a", "100"}, {"SET a 2 KEEPTTL", "OK"}, {"TTL a", "100"}, {"SET a 3", "OK"}, {"TTL a", "-1"}, {"TTL none", "-2"},
	{"SET a 1 EX 0", "ERR invalid expire time in 'set' command"}, {"SET a 1 EX x", notInt}, {"SET a 1 EX", "ERR syntax error"},
	{"SET a 1 NX XX", "ERR syntax error"}, {"SET a 1 EX 9223372036854775807", "ERR invalid expire time in 'set' command"}, {"SETEX a 100 v", "OK"}, {"TTL a", "100"},
	{"EXPIREAT a 1", "1"}, {"GET a", "nil"}, {"SETNX a 1", "1"}, {"SETNX a 2", "0"}, {"GETSET a 5", `"1"`}, {"MSET a 1 b 2", "OK"}, {"MGET a none b", `["1" nil "2"]`},
	{"MSET a 1 b", "ERR wrong number of arguments for 'mset' command"}, {"INCR a", "2"}, {"DECR a", "1"}, {"DECRBY a 3", "-2"}, {"INCRBY a x", notInt},
	{"SET a 9223372036854775807", "OK"}, {"INCR a", "ERR increment or decrement would overflow"}, {"DECRBY a -9223372036854775808", "ERR decrement would overflow"},
	{"RPUSH l a b c d", "4"}, {"LPOP l 2", `["a" "b"]`}, {"LPOP none 2", "nil"}, {"LPOP l -1", "ERR value is out of range, must be positive"}, {"LPOP l 0", "[]"},
	{"GET l", wrongType}, {"SADD l x", wrongType}, {"SINTER a l", wrongType}, {"TYPE l", "list"}, {"LRANGE l x 1", notInt}, {"LRANGE l 0 -1", `["c" "d"]`},
	{"HMSET h a 1 b 2", "OK"}, {"HMGET h a c", `["1" nil]`}, {"HSETNX h a 2", "0"}, {"HSETNX h d 2", "1"}, {"HEXISTS h d", "1"}, {"HSET h a", "ERR wrong number of arguments for 'hset' command"},
	{"HINCRBY h a 9223372036854775807", "ERR increment or decrement would overflow"},
	{"SADD s a", "1"}, {"SPOP s", `"a"`}, {"SPOP s", "nil"}, {"SPOP s 3", "[]"}, {"SADD s a", "1"}, {"SPOP s 3", `["a"]`}, {"EXISTS s", "0"},
	{"SSCAN s 0", `["0" []]`}, {"SADD s one two", "2"}, {"SSCAN s 0 MATCH t* COUNT 100", `["0" ["two"]]`}, {"SSCAN s 0 COUNT 0", "ERR syntax error"}, {"SSCAN s x", "ERR invalid cursor"},
	{"HSCAN h 0 MATCH a", `["0" ["a" "1"]]`}, {"SCAN 0 MATCH l", `["0" ["l"]]`}, {"SCAN 0 NOSUCH", "ERR syntax error"},
	{"KEYS ?", `["b" "a" "l" "h" "s"]`}, {"DBSIZE", "5"}, {"UNWATCH", "OK"}, {"PUBLISH c m", "0"}, {"FLUSHALL", "OK"}, {"DBSIZE", "0"},
	{"EXEC", "ERR EXEC without MULTI"}, {"DISCARD", "ERR DISCARD without MULTI"},
}
