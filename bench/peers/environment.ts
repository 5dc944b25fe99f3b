/** Settings of all peers: those from the environment, and those that are the same for all. */

/** The address to listen on. */
export const HOST = '127.0.0.1';

/** Connections of a pool. */
export const CONNECTIONS = 10;

/** Set by the benchmark. */
export const PORT = Number(process.env['PORT']);

/** Set by the benchmark. */
export const DATABASE_URL = process.env['DATABASE_URL'] ?? '';
