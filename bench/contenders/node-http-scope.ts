/** The limit with rows of one tenant for each request. */
import './node-http.js';
import { scopeStatements, TENANT } from './support/statements.js';

scopeStatements(TENANT);
