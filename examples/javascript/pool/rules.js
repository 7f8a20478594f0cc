// Prices. The numbers above a thousand are mistakes, which a service has to survive.
async function price(n) {
	if (n === 1001) throw new RangeError('far too many')
	if (n === 1002) for (;;);
	await null
	if (n === 1003) for (;;);
	if (n === 1004) await new Promise(() => {})
	return n < 10 ? n * 3 : n * 2.5
}
