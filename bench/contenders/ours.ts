/** Ours, as the README shows it: `bootstrap` and `serve`. */
import { serveApplication } from './support/ours.js';

void serveApplication();
