/** Time that the root hooks wait for work that a test has left under way. */

/** Milliseconds. The end of a client, of a socket and of a process is noticed a little later. */
export const PATIENCE = Number(process.env['CRUD_TEST_PATIENCE'] ?? 10_000);
