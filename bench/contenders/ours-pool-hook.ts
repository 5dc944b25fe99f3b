/** Ours where the pool has to see each use of a connection, so that no read shares one. */
import { serveApplication } from './support/ours.js';

void serveApplication({ engine: { hooks: { afterPoolAcquire: () => {} } } });
