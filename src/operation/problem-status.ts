/** Statuses of problem documents. */

/** The statuses that an endpoint can fail with. */
export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 412 | 413 | 415 | 422 | 428 | 500 | 503 | 504;
