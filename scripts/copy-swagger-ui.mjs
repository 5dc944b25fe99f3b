/**
 * Copies what the page of the API documentation needs of Swagger UI, so that it is packed with this package. Its own package runs a
 * script when it is installed, which pnpm refuses and npm warns of, and has six times as many bytes. The files of the page become a
 * module, so that bundlers follow them.
 */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { brotliCompressSync, constants } from 'node:zlib';
import { root } from './step.mjs';

const LICENSES = ['swagger-ui-bundle.js.LICENSE.txt', 'LICENSE', 'NOTICE'];
const ASSETS = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

const from = path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
const to = path.join(root, 'dist/swagger-ui');
rmSync(to, { recursive: true, force: true });
mkdirSync(to, { recursive: true });
for (const name of LICENSES) copyFileSync(path.join(from, name), path.join(to, name));

/** The highest quality takes seconds, and saves a tenth. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };
const packed = ASSETS.map((name) => [
  name,
  brotliCompressSync(readFileSync(path.join(from, name)), { params }).toString('base64'),
]);
const code = `/** Files of Swagger UI, compressed by Brotli. */\nmodule.exports = ${JSON.stringify(Object.fromEntries(packed), null, 2)};\n`;
writeFileSync(path.join(to, 'assets.js'), code);
