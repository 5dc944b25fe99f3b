/** Ours: `bootstrap` and `serve`. */
import { serveQueries } from './ours-application.js';

void serveQueries();
