/** Ours as it is behind a pooler without prepared statements. */
import { serveApplication } from './support/ours.js';

void serveApplication({ engine: { preparedStatements: false } });
