/** Time that the root hooks wait for work that a test has left under way. */

/** Milliseconds. A client that goes away, a closed socket and an ended process are noticed a little later. */
export const PATIENCE = Number(process.env['CRUD_TEST_PATIENCE'] ?? 10_000);
