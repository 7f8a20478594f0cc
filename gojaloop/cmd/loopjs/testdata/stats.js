const fs = require('fs');
const path = require('path');
const os = require('os');
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'stats-'));
fs.writeFileSync(path.join(dir, 'a.txt'), 'hello world\nfoo bar\n');
fs.writeFileSync(path.join(dir, 'b.md'), '# title\n\nsome text here\n');
fs.mkdirSync(path.join(dir, 'sub'));
fs.writeFileSync(path.join(dir, 'sub', 'c.txt'), 'x'.repeat(1500));
function human(n) { return n < 1024 ? `${n} B` : `${(n / 1024).toFixed(1)} KiB`; }
const stats = new Map();
for (const e of fs.readdirSync(dir, { withFileTypes: true })) {
  const full = path.join(dir, e.name);
  if (e.isDirectory()) { console.log('dir', e.name, fs.readdirSync(full).length); continue; }
  const s = fs.statSync(full);
  const text = fs.readFileSync(full, 'utf-8');
  const words = text.split(/\s+/).filter(Boolean).length;
  stats.set(e.name, { size: s.size, lines: text.split('\n').length - 1, words, mtime: s.mtime instanceof Date, mode: (s.mode & 0o777).toString(8), isFile: s.isFile() });
}
console.log(stats);
console.table([...stats].map(([name, s]) => ({ name, size: human(s.size), lines: s.lines })));
console.log(human(fs.statSync(path.join(dir, 'sub/c.txt')).size));
fs.renameSync(path.join(dir,'a.txt'), path.join(dir,'z.txt'));
fs.copyFileSync(path.join(dir,'z.txt'), path.join(dir,'y.txt'));
fs.appendFileSync(path.join(dir,'y.txt'), 'more');
fs.unlinkSync(path.join(dir,'z.txt'));
console.log(fs.readdirSync(dir));
console.log(fs.readdirSync(dir,{recursive:true}).sort());
fs.accessSync(dir, fs.constants.R_OK);
try { fs.accessSync(dir+'/nope') } catch (e) { console.log(e.code, e.errno, e.syscall, e.message.replace(dir,'DIR')) }
try { fs.rmdirSync(dir) } catch (e) { console.log(e.code, e.syscall) }
try { fs.readFileSync(undefined) } catch (e) { console.log(e.name, e.code, e.message) }
fs.rmSync(dir, { recursive: true, force: true });
console.log(fs.existsSync(dir));
const fd = fs.openSync(__filename, 'r'); const buf = Buffer.alloc(10); console.log(fs.readSync(fd, buf, 0, 10, 0), buf.toString().trim()); fs.closeSync(fd);
