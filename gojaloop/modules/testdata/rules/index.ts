import { basename } from 'node:path'
import { round, type Cents } from './money'

/** price is what a host calls. */
export async function price(n: number): Promise<Cents> {
	return round(n * await Promise.resolve(1.5))
}
export const file = basename(import.meta.filename)
