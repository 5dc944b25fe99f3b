/**
 * Halves the processor time in which a process of the tests loads the library and its frameworks: over a thousand small files.
 * A first process writes where each file was found, and what V8 has compiled of it, into a pack. All later ones read that, and
 * load whatever is not in it as ever. `NODE_COMPILE_CACHE` of Node 22 compiles nothing again either, and finds each file again.
 *
 * V8 also optimizes later: most functions of a test are not called often enough to win back what that costs.
 *
 * Required by `NODE_OPTIONS`; `CRUD_TEST_PACK` is the file of the pack.
 */
const { readFileSync, writeFileSync } = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { setFlagsFromString } = require('node:v8');
const { Script } = require('node:vm');

// Bytes of code that a function executes before: some four times as many as without it.
setFlagsFromString('--interrupt-budget=500000');

const file = process.env.CRUD_TEST_PACK;
/** Of files that stay as they are while tests run. */
const LASTING = /\/node_modules\/|\/dist\/(?:src|sample|test)\//;
const { _resolveFilename: resolve, _extensions: loaders } = Module;
const { '.js': load } = loaders;
const pack = readPack();

if (pack) usePack(pack);
else recordPack();

/** Has files found and compiled as the pack has them. */
function usePack({ found, compiled }) {
  Module._resolveFilename = function (request, parent, isMain, options) {
    const known = isMain || options ? undefined : found.get(keyOf(request, parent));
    return known ?? resolve.call(this, request, parent, isMain, options);
  };
  loaders['.js'] = (module, name) => {
    const cachedData = compiled.get(name);
    if (cachedData) run(scriptOf(name, cachedData), module, name);
    else load(module, name);
  };
}

/** Has the pack written when the process ends. */
function recordPack() {
  const found = {};
  const scripts = new Map();
  Module._resolveFilename = function (request, parent, isMain, options) {
    const name = resolve.call(this, request, parent, isMain, options);
    if (!isMain && !options && LASTING.test(parent?.filename)) found[keyOf(request, parent)] = name;
    return name;
  };
  loaders['.js'] = (module, name) => {
    const script = /\.c?js$/.test(name) && LASTING.test(name) && scriptOf(name);
    if (!script) return load(module, name);
    scripts.set(name, script);
    run(script, module, name);
  };
  // Only then is it known which functions are called.
  process.on('exit', () => {
    const all = [...scripts].map(([name, script]) => [name, script.createCachedData()]);
    const index = JSON.stringify({ found, files: all.map(([name, { length }]) => [name, length]) });
    writeFileSync(file, Buffer.concat([Buffer.from(`${index}\n`), ...all.map(([, data]) => data)]));
  });
}

/** The index is the first line. Behind it is the compiled code of one file after the other. */
function readPack() {
  let bytes;
  try {
    bytes = readFileSync(file);
  } catch {
    return null;
  }
  let at = bytes.indexOf('\n');
  const { found, files } = JSON.parse(bytes.toString('utf8', 0, at));
  at += 1;
  const compiled = new Map();
  for (const [name, length] of files) {
    compiled.set(name, bytes.subarray(at, at + length));
    at += length;
  }
  return { found: new Map(Object.entries(found)), compiled };
}

function keyOf(request, parent) {
  return `${parent?.path}\0${request}`;
}

/**
 * A file as a script. V8 takes no code of a text of another length.
 *
 * @returns null for an ES module, and where there is an `import()`, which code out of a pack cannot do
 */
function scriptOf(filename, cachedData) {
  const source = readFileSync(filename, 'utf8').replace(/^#!.*/, '');
  if (!cachedData && /(?<!\{|typeof )\bimport\(/.test(source)) return null;
  try {
    return new Script(Module.wrap(source), { filename, cachedData });
  } catch {
    return null;
  }
}

/** Runs a module as Node does. */
function run(script, module, name) {
  const require = (id) => module.require(id);
  const resolveFrom = (request, options) => Module._resolveFilename(request, module, false, options);
  const paths = (request) => Module._resolveLookupPaths(request, module);
  Object.assign(require, {
    resolve: Object.assign(resolveFrom, { paths }),
    main: process.mainModule,
    extensions: loaders,
    cache: Module._cache,
  });
  const { exports } = module;
  script.runInThisContext().call(exports, exports, require, module, name, path.dirname(name));
}
