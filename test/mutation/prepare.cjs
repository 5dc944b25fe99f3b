/** Setup before the tests are loaded. The root hooks are left out: Stryker runs Mocha again for each mutant, and they would add theirs again. */
const Module = require('node:module');
const { creditHooks } = require('./credit-hooks.cjs');

require('reflect-metadata');
require('../../dist/test/support/express-version.js');

// The smallest counterexample of a mutant takes long to find, and is of no use.
require('fast-check').configureGlobal({ endOnFailure: true });

// Stryker brings a Mocha of its own, and a test has to import this one.
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) =>
  resolve.call(Module, request, request === 'mocha' ? module : parent, ...rest);

creditHooks();

const { untilConnectionsRest, watchAllPools } = require('../../dist/test/support/connections-at-rest.js');
watchAllPools();

/** Work that a test leaves open would fail the next one, and work that a mutant leaves those of the next mutant. */
exports.mochaHooks = {
  afterEach: untilConnectionsRest,
  async afterAll() {
    const { disposeEngine } = require('../../dist/src/index.js');
    await disposeEngine();
  },
};
