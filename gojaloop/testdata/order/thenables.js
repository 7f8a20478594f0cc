const thenable = { then(r) { console.log('then called'); r('value') } }
Promise.resolve(thenable).then(v => console.log(v))
Promise.resolve().then(() => console.log(1)).then(() => console.log(2)).then(() => console.log(3)).then(() => console.log(4))
const p = new Promise(r => r(Promise.resolve('adopted')))
p.then(v => console.log(v))
Promise.all([1, Promise.resolve(2), thenable]).then(v => console.log(v.join()))
Promise.race([new Promise(() => {}), Promise.resolve('won')]).then(v => console.log(v))
Promise.allSettled([Promise.reject(1), 2]).then(r => console.log(r.map(x => x.status).join()))
Promise.any([Promise.reject(1), Promise.resolve(3)]).then(v => console.log('any', v))
