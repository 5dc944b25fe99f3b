/** Ours as it is behind a pooler that knows no prepared statements. */
import { serveApplication } from './support/ours.js';

void serveApplication({ engine: { preparedStatements: false } });
