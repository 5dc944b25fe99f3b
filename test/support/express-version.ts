/** Lets `require('express')` give Express 4 to everything in this process when CRUD_TEST_EXPRESS is 4. */
import Module from 'node:module';

type Resolve = (request: string, ...rest: unknown[]) => string;

// Node has no public hook for require() before version 22.15. The alias is a dev dependency.
const loader = Module as unknown as { _resolveFilename: Resolve };

if (process.env.CRUD_TEST_EXPRESS === '4') {
  const resolve = loader._resolveFilename;
  loader._resolveFilename = (request, ...rest) =>
    resolve.call(loader, request.replace(/^express(?=\/|$)/, 'express4'), ...rest);
}
