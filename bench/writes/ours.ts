/** Ours: `bootstrap` and `serve`. */
import { serveWrites } from './ours-application.js';

void serveWrites();
