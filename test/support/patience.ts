/** How long the root hooks wait for what a test has had under way. */

/** Milliseconds. A client that goes away, a closed socket and an ended process are noticed a little later. */
export const PATIENCE = Number(process.env['CRUD_TEST_PATIENCE'] ?? 10_000);
