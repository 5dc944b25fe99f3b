/** The back office of the atlas, where `npm run admin` has built it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import express, { type Express } from 'express';

const BUILT = join(__dirname, '../admin');

/** True where the back office is built. */
export function isAdminBuilt(): boolean {
  return existsSync(join(BUILT, 'index.html'));
}

/** Serves its files at `/admin`, on the origin of the API, so that no CORS is needed. */
export function serveAdmin(app: Express): void {
  app.use('/admin', express.static(BUILT));
}
