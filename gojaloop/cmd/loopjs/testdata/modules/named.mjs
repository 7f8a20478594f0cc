export const b = 'b'
export default { n: 1 }
export function a() { return later }
export let later = 1
export class K {}
