export type Cents = number
export const round = (n: number): Cents => Math.round(n * 100)
