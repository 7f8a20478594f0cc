package modules

// Hashes, for node:crypto.

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha3"
	"crypto/sha512"
	"hash"

	"github.com/dop251/goja"
)

// hashes are the algorithms of node:crypto.
var hashes = map[string]func() hash.Hash{
	"md5": md5.New, "sha1": sha1.New, "sha224": sha256.New224, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New,
	"sha512-224": sha512.New512_224, "sha512-256": sha512.New512_256, "sha3-224": func() hash.Hash { return sha3.New224() },
	"sha3-256": func() hash.Hash { return sha3.New256() }, "sha3-384": func() hash.Hash { return sha3.New384() },
	"sha3-512": func() hash.Hash { return sha3.New512() },
}

func (p *Program) hashOf(name string) func() hash.Hash {
	h, ok := hashes[name]
	if !ok {
		panic(p.newError("Error", "Digest method not supported"))
	}
	return h
}

// hasher makes a function that takes data, and without an argument returns the hash, or the HMAC if there is a key. With null it
// returns another function that goes on from here.
func (p *Program) hasher(call goja.FunctionCall) goja.Value {
	newHash := p.hashOf(call.Argument(0).String())
	h := newHash()
	if key, ok := call.Argument(1).Export().(goja.ArrayBuffer); ok {
		h = hmac.New(newHash, key.Bytes())
	}
	return p.summing(h)
}

func (p *Program) summing(h hash.Hash) goja.Value {
	return p.host.Func(func(call goja.FunctionCall) goja.Value {
		v := call.Argument(0)
		if b, ok := v.Export().(goja.ArrayBuffer); ok {
			h.Write(b.Bytes())
			return nil
		}
		if goja.IsNull(v) {
			other, err := h.(hash.Cloner).Clone()
			if err != nil {
				panic(p.vm.NewGoError(err))
			}
			return p.summing(other)
		}
		return p.vm.ToValue(p.vm.NewArrayBuffer(h.Sum(nil)))
	})
}

// pbkdf2 takes a hash's name, a password, salt, the number of rounds, and the length of the key.
func (p *Program) pbkdf2(call goja.FunctionCall) goja.Value {
	key, err := pbkdf2.Key(p.hashOf(call.Argument(0).String()), string(bytesOf(call.Argument(1))), bytesOf(call.Argument(2)), int(call.Argument(3).ToInteger()), int(call.Argument(4).ToInteger()))
	if err != nil {
		panic(p.vm.NewGoError(err))
	}
	return p.vm.ToValue(p.vm.NewArrayBuffer(key))
}
