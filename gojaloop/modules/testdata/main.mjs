import { price } from './rules/index.ts'

process.on('exit', code => console.log('exit', code))
setTimeout(async () => console.log(await price(2)), 1)
console.log(process.argv.slice(1))
