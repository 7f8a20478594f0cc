import { readdir, stat, mkdir, writeFile, rm, mkdtemp, readFile, copyFile, rename, access, symlink, lstat, readlink, realpath, unlink, cp, utimes, chmod, open } from 'node:fs/promises';
import { join, relative, sep, extname, basename, resolve, isAbsolute, posix } from 'node:path';
import { tmpdir } from 'node:os';
import { constants, createReadStream } from 'node:fs';
const root = await mkdtemp(join(tmpdir(), 'walk-'));
await mkdir(join(root, 'a/b/c'), { recursive: true });
await Promise.all(['x.js', 'a/y.js', 'a/b/z.md', 'a/b/c/w.js'].map((f, i) => writeFile(join(root, f), 'x'.repeat(i + 1))));
async function* walk(dir) {
  for (const d of (await readdir(dir, { withFileTypes: true })).sort((p, q) => p.name.localeCompare(q.name))) {
    const p = join(dir, d.name);
    if (d.isDirectory()) yield* walk(p); else if (d.isFile()) yield p;
  }
}
let total = 0;
for await (const f of walk(root)) { const { size } = await stat(f); total += size; console.log(relative(root, f).split(sep).join('/'), extname(f), size, basename(f, '.js')); }
console.log({ total });
await symlink('x.js', join(root, 'link')); console.log((await lstat(join(root, 'link'))).isSymbolicLink(), await readlink(join(root, 'link')), (await realpath(join(root, 'link'))) === join(await realpath(root), 'x.js'));
await rename(join(root, 'x.js'), join(root, 'moved.js')); await copyFile(join(root, 'moved.js'), join(root, 'copy.js'));
try { await access(join(root, 'x.js')); } catch (e) { console.log(e.code, e.constructor.name, Object.keys(e), e.message.replace(root, 'ROOT')); }
try { await readFile(root); } catch (e) { console.log(e.code, e.message); }
try { await mkdir(join(root, 'a')); } catch (e) { console.log(e.code, e.message.replace(root, 'ROOT')); }
await cp(join(root, 'a'), join(root, 'a2'), { recursive: true }); console.log((await readdir(join(root, 'a2'), { recursive: true })).sort());
await utimes(join(root, 'copy.js'), 1, 2); console.log((await stat(join(root, 'copy.js'))).mtimeMs, (await stat(join(root, 'copy.js'))).mtime.toISOString());
await chmod(join(root, 'copy.js'), 0o600); console.log(((await stat(join(root, 'copy.js'))).mode & 0o777).toString(8));
const fh = await open(join(root, 'copy.js'), 'r+'); console.log(await fh.readFile('utf8')); await fh.close();
await rm(root, { recursive: true }); try { await rm(root); } catch (e) { console.log(e.code, e.syscall) }
