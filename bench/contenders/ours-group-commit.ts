/** Ours with writes that go together where they wait for a connection. */
import { serveApplication } from './support/ours.js';

void serveApplication({ engine: { groupCommit: true } });
