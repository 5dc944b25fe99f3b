/** A real Chromium for the tests: the one of CHROMIUM_PATH, one that is installed, or one that is installed for them. */
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { installPackage } from './install-package.js';

const PROGRAMS = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const FLAGS = [
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Starts a headless browser with an empty profile; a server of root's needs to do without its sandbox. */
export function startChromium(): Promise<Browser> {
  const isRoot = process.getuid?.() === 0;
  return chromium.launch({
    executablePath: provide(),
    args: isRoot ? ['--no-sandbox', ...FLAGS] : FLAGS,
    chromiumSandbox: !isRoot,
  });
}

/** The program, installed if need be. */
function provide(): string {
  const known = find();
  if (known) return known;
  installPackage('chromium');
  const installed = find();
  if (installed) return installed;
  throw new Error(
    'The tests need Chromium. Install it (Debian: sudo apt-get install chromium; anywhere: npx playwright-core install ' +
      'chromium), or set CHROMIUM_PATH to one of your own.',
  );
}

function find(): string | undefined {
  const { CHROMIUM_PATH, PATH = '' } = process.env;
  const installed = PATH.split(delimiter).flatMap((folder) => PROGRAMS.map((name) => join(folder, name)));
  return [CHROMIUM_PATH ?? '', chromium.executablePath(), ...installed].find(
    (path) => path && existsSync(path),
  );
}
