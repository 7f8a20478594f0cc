// What scripts print of dates without options.
const d = new Date(2024, 1, 9, 0, 5, 6), e = new Date(2024, 11, 31, 13, 0, 59)
console.log(d.toLocaleDateString(), d.toLocaleTimeString(), d.toLocaleString(), e.toLocaleString(), new Date(2024, 0, 1, 12).toLocaleTimeString())
console.log(new Date(NaN).toLocaleString(), `${d.toLocaleString.name} ${Object.keys(Date.prototype).length}`)
console.log(d.toISOString().length, new Date(Date.UTC(2024, 1, 29)).toJSON(), [new Date(0)], Date.UTC(2020, 1, 29), new Date('2024-02-30T00:00:00Z').getTime())
console.log(/\(UTC\)/.test(new Date(0)), `${new Date(NaN)} ${Date.prototype.toString.name} ${Date.prototype.toTimeString.length}`)
