// TextEncoder and TextDecoder, as the Encoding standard has them, for the encodings that host.decoder knows.
(function (host, use) {
'use strict'
const { idl, dictionary } = use('events')

class TextEncoder {
	get encoding() { return 'utf-8' }
	encode(input = '') { return new Uint8Array(host.encode(`${input}`)) }
	encodeInto(source, destination) {
		if (!(destination instanceof Uint8Array)) throw new TypeError('The "dest" argument must be an instance of Uint8Array')
		source = `${source}`
		let read = 0, written = 0
		for (const c of source) {
			const n = c.codePointAt(0)
			const size = n < 0x80 ? 1 : n < 0x800 ? 2 : n < 0x10000 ? 3 : 4
			if (written + size > destination.length) break
			read += c.length
			written += size
		}
		destination.set(new Uint8Array(host.encode(source.slice(0, read))))
		return { read, written }
	}
}
idl(TextEncoder)

class TextDecoder {
	#name; #fatal; #ignoreBOM
	#decoder = null // while a stream is under way
	constructor(label = 'utf-8', options) {
		options = dictionary(options, 'The "options" argument')
		this.#name = host.encodingOf(`${label}`)
		if (this.#name === '') throw Object.assign(new RangeError(`The "${label}" encoding is not supported`), { code: 'ERR_ENCODING_NOT_SUPPORTED' })
		this.#fatal = !!options.fatal
		this.#ignoreBOM = !!options.ignoreBOM
	}
	get encoding() { return this.#name }
	get fatal() { return this.#fatal }
	get ignoreBOM() { return this.#ignoreBOM }
	decode(input, options) {
		const stream = !!dictionary(options).stream
		let bytes = null
		if (input !== undefined) {
			if (ArrayBuffer.isView(input)) bytes = input.buffer.slice(input.byteOffset, input.byteOffset + input.byteLength)
			else if (host.classOf(input) === 'ArrayBuffer') bytes = input
			else throw Object.assign(new TypeError('The "list" argument must be an instance of ArrayBuffer or ArrayBufferView.'), { code: 'ERR_INVALID_ARG_TYPE' })
		}
		const d = this.#decoder || host.decoder(this.#name, this.#fatal, this.#ignoreBOM)
		this.#decoder = null
		const text = d(bytes, !stream)
		if (text === null) throw Object.assign(new TypeError(`The encoded data was not valid for encoding ${this.#name}`), { code: 'ERR_ENCODING_INVALID_ENCODED_DATA' })
		if (stream) this.#decoder = d
		return text
	}
}
idl(TextDecoder)

return { TextEncoder, TextDecoder }
})
