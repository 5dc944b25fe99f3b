/**
 * Copies what the page of the API documentation needs of Swagger UI, so that it is packed with this package. Its own package runs a
 * script when it is installed, which pnpm refuses and npm warns of, and has six times as many bytes.
 */
import { copyFileSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { root } from './step.mjs';

const FILES = [
  'swagger-ui.css',
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'favicon-32x32.png',
  'LICENSE',
  'NOTICE',
];

const from = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const to = path.join(root, 'dist/swagger-ui');
mkdirSync(to, { recursive: true });
for (const name of FILES) copyFileSync(path.join(from, name), path.join(to, name));
