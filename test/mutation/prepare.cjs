/** What tests need before they are loaded. The root hooks are left out: Stryker runs Mocha again for each mutant, and would add them again. */
const Module = require('node:module');

require('reflect-metadata');
require('../../dist/test/support/express-version.js');

// The smallest counterexample of a mutant takes long to find, and tells nothing.
require('fast-check').configureGlobal({ endOnFailure: true });

// Stryker brings a Mocha of its own, and a test has to import this one.
const resolve = Module._resolveFilename;
Module._resolveFilename = (request, parent, ...rest) =>
  resolve.call(Module, request, request === 'mocha' ? module : parent, ...rest);
