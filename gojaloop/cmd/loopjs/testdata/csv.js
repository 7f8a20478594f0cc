#!/usr/bin/env node
'use strict';
const { readFileSync, writeFileSync } = require('node:fs');
const { EOL } = require('os');
function parseCSV(text) {
  const rows = []; let row = [], field = '', quoted = false;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (quoted) {
      if (c === '"' && text[i + 1] === '"') { field += '"'; i++; }
      else if (c === '"') quoted = false;
      else field += c;
    } else if (c === '"') quoted = true;
    else if (c === ',') { row.push(field); field = ''; }
    else if (c === '\n') { row.push(field); rows.push(row); row = []; field = ''; }
    else if (c !== '\r') field += c;
  }
  if (field || row.length) { row.push(field); rows.push(row); }
  return rows;
}
const text = ['id,name,price,note', '1,"Apple, red",1.50,"He said ""hi"""', '2,Birne,2.25,é ü', '3,,,'].join(EOL);
const [head, ...rows] = parseCSV(text);
const data = rows.map(r => Object.fromEntries(head.map((h, i) => [h, r[i] === '' ? null : isNaN(r[i]) ? r[i] : Number(r[i])])));
console.log(JSON.stringify(data, null, 2));
console.log(data);
console.log('%s has %d rows, %i cols, %f %j %o %O %%', 'table', data.length, 4.9, 1.5, { a: 1 }, [1], { b: { c: {} } });
const total = data.reduce((s, { price }) => s + (price ?? 0), 0);
console.log(total.toLocaleString('en-US', { minimumFractionDigits: 2 }), total.toFixed(2).padStart(10, '.'));
console.log(Object.groupBy ? 'groupBy' : 'none', data.at(-1), structuredClone(data[0]));
console.error('done: %d', rows.length);
console.group('Group'); console.log('inside\nlines'); console.groupEnd(); console.log('out');
console.dir({ a: { b: { c: { d: 1 } } } }, { depth: 0 });
console.assert(1 === 2, 'not equal %d', 5);
console.count(); console.count('x'); console.countReset(); console.count();
