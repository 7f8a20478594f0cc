// Package resp reads requests and writes replies of the protocol of Redis, version 2, whose requests are those of version 3, too.
package resp
