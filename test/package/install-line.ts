/** The command of the README that installs the package. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from '../support/package-root.js';

const INSTALL = /^```\w*\n(?:(?!```)[\s\S])*?^(npm install crud-controllers\b[^\n]*)$/m;

/** The packages that it installs besides this one: `express`, `class-validator@^0.14`. */
export function packagesOfReadme(): string[] {
  return installedPackages(readFileSync(join(PACKAGE_ROOT, 'README.md'), 'utf8'));
}

/** The packages of the first line in a code block of a text that installs this one. */
export function installedPackages(text: string): string[] {
  const line = INSTALL.exec(text)?.[1];
  if (!line) throw new Error('README.md has no code block with a line `npm install crud-controllers …`');
  return line.split(/\s+/).slice(3);
}
