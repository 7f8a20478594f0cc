// node:string_decoder: text of bytes that come in pieces.
(function (go, require) {
'use strict'
const { Buffer } = require('buffer')
// How many bytes make whole characters of these encodings.
const whole = { base64: 3, base64url: 3, hex: 1, latin1: 1, ascii: 1 }
const names = { 'utf-8': 'utf8', ucs2: 'utf16le', 'ucs-2': 'utf16le', 'utf-16le': 'utf16le', binary: 'latin1' }
function StringDecoder(encoding) {
	const name = String(encoding || 'utf8').toLowerCase()
	if (!Buffer.isEncoding(name)) throw Object.assign(new TypeError(`Unknown encoding: ${encoding}`), { code: 'ERR_UNKNOWN_ENCODING' })
	this.encoding = names[name] || name
	const hidden = (name, value) => Object.defineProperty(this, name, { value, writable: true, configurable: true })
	hidden('rest', Buffer.alloc(0))
	if (!whole[this.encoding]) hidden('text', new TextDecoder(this.encoding === 'utf8' ? 'utf-8' : 'utf-16le', { ignoreBOM: true }))
}
StringDecoder.prototype.write = function (bytes) {
	if (typeof bytes === 'string') return bytes
	if (!ArrayBuffer.isView(bytes)) throw go.invalidType('buf', 'instance of Buffer, TypedArray, or DataView', bytes)
	if (this.text) return this.text.decode(bytes, { stream: true })
	let b = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
	if (this.rest.length > 0) b = Buffer.concat([this.rest, b])
	const n = b.length - b.length % whole[this.encoding]
	this.rest = Buffer.from(b.subarray(n))
	return b.toString(this.encoding, 0, n)
}
StringDecoder.prototype.end = function (bytes) {
	const text = bytes === undefined ? '' : this.write(bytes), rest = this.rest
	this.rest = Buffer.alloc(0)
	return text + (this.text ? this.text.decode() : rest.toString(this.encoding))
}
return { StringDecoder }
})
