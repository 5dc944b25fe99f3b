/** Express 4 and `pg`, by hand. */
import type express from 'express';
import { serveExpressPg } from './support/express-pg.js';

// The package has another name here, under which it has no types.
serveExpressPg(require('express4') as typeof express);
