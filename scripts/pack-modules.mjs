/**
 * Puts the modules that an application loads into one file, `modules.js`, for the package that is published. Node takes half a
 * millisecond for each file: to find it, to read it, and to compile it. A file of `dist/src` that is in `modules.js` becomes a line
 * that loads the module from there, so that each module has one state. Declarations of types stay where they are.
 *
 *     node scripts/pack-modules.mjs [dist/src]
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { transformSync } from 'esbuild';
import { root } from './step.mjs';

const REQUIRE = /\brequire\(["'](\.[^"']+)["']\)/g;
const PACK = 'modules.js';

/** Entries. Node reads the names of their exports from their text. */
const ENTRIES = ['index.js', 'opentelemetry.js'];

/** Files that depend on their place stay as they are. */
const PLACED = /\b__(?:dirname|filename)\b|\bimport\(/;

const folder = path.resolve(process.argv[2] ?? path.join(root, 'dist/src'));
const textOf = (file) => readFileSync(path.join(folder, file), 'utf8');
const targetOf = (file, request) => path.posix.join(path.posix.dirname(file), request);

const files = new Set();
const placed = new Set();
for (const entry of ENTRIES) follow(entry);

function follow(file) {
  for (const [, request] of textOf(file).matchAll(REQUIRE)) {
    const target = targetOf(file, request);
    if (files.has(target) || placed.has(target)) continue;
    if (target.startsWith('..') || PLACED.test(textOf(target))) placed.add(target);
    else {
      files.add(target);
      follow(target);
    }
  }
}

const ids = new Map([...files].map((file, id) => [file, id]));
const sections = [];
let code = `'use strict';
const loaded = [];
function loadModule(id) {
  const known = loaded[id];
  if (known) return known.exports;
  const module = (loaded[id] = { exports: {} });
  try {
    MODULES[id](module, module.exports);
  } catch (error) {
    loaded[id] = undefined;
    throw error;
  }
  return module.exports;
}
module.exports = loadModule;
const MODULES = [`;
for (const file of files) {
  code += `function (module, exports) { // ${file}\n`;
  const map = JSON.parse(textOf(`${file}.map`));
  const sources = map.sources.map((each) => targetOf(file, each));
  sections.push({ offset: { line: code.split('\n').length - 1, column: 0 }, map: { ...map, sources } });
  const module = textOf(file).replace(/\n\/\/# sourceMappingURL=.*\s*$/, '\n');
  if (module.includes('loadModule')) throw new Error(`${file} has the name loadModule.`);
  code += module.replace(REQUIRE, (_, request) => {
    const target = targetOf(file, request);
    return ids.has(target) ? `loadModule(${ids.get(target)})` : `require(${JSON.stringify(`./${target}`)})`;
  });
  code += '},\n';
}
const index = Buffer.from(JSON.stringify({ version: 3, sections })).toString('base64');
const packed = transformSync(`${code}];\n//# sourceMappingURL=data:application/json;base64,${index}\n`, {
  sourcefile: PACK,
  sourcemap: 'external',
  sourcesContent: false,
  legalComments: 'none',
  charset: 'ascii',
});
writeFileSync(path.join(folder, PACK), `${packed.code}//# sourceMappingURL=${PACK}.map\n`);
writeFileSync(path.join(folder, `${PACK}.map`), packed.map);

for (const file of ENTRIES) {
  const code = textOf(file).replace(REQUIRE, (whole, request) => {
    const id = ids.get(targetOf(file, request));
    return id === undefined ? whole : `require("./${PACK}")(${id})`;
  });
  writeFileSync(path.join(folder, file), code);
}
for (const [file, id] of ids) {
  const place = path.posix.relative(path.posix.dirname(file), PACK);
  const request = place.startsWith('.') ? place : `./${place}`;
  writeFileSync(path.join(folder, file), `'use strict';\nmodule.exports = require('${request}')(${id});\n`);
  rmSync(path.join(folder, `${file}.map`));
}
// The compiler writes all files again at its next run.
rmSync(path.join(folder, '../.tsbuildinfo'), { force: true });
