// Package resp is the protocol of Redis, version 2: requests as clients send them, and replies as they expect them.
package resp
