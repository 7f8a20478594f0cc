// Package resp reads requests and writes replies of the protocol of Redis, version 2.
package resp
