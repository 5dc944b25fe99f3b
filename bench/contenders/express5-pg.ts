/** Express 5 and `pg`, by hand. */
import express from 'express';
import { serveExpressPg } from './support/express-pg.js';

serveExpressPg(express);
