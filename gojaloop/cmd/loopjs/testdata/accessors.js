const o = {}
o.__defineGetter__('a', () => 1)
o.__defineSetter__('a', function (v) { this.b = v })
o.a = 2
console.log(o, o.__lookupGetter__('a')(), typeof Object.create(o).__lookupSetter__('a'), o.__lookupGetter__('b'), o.__lookupGetter__('c'), Object.keys({}))
