/** The limit with a transaction for each request. */
import './node-http.js';
import { runInTransactions } from './support/run-statement.js';

runInTransactions();
