/** Tags in the head of a test over HTTP: `// @runs fast`, or `// @runs unpooled: with a reason`. Scripts read them, too. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGE_ROOT } from './package-root.js';

/** Files without a tag run on the fast and on the general path. */
export const RUN_TAGS = {
  once: 'chooses path and pool itself, below Express, or proves that others can fail: one run has it',
  fast: 'the same on each path, or reached there by others: `npm test` runs it on the fast path alone',
  unpooled: 'is nothing behind PgBouncer; the reason stands behind the tag',
} as const;

export type RunTag = keyof typeof RUN_TAGS;

const TESTS = join(PACKAGE_ROOT, 'test/feature');
const TAG = /^\/\/ @runs (\w+)(?:: .+)?$/gm;

/** The tags of a source, known or not. */
export function runTags(source: string): readonly string[] {
  return [...source.matchAll(TAG)].map(([, tag = '']) => tag);
}

/** Each test over HTTP: its path in `test/feature`, without `.test.ts`, and its source. */
export function featureTests(): readonly (readonly [path: string, source: string])[] {
  return readdirSync(TESTS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.test.ts'))
    .sort()
    .map((path) => [path.slice(0, -'.test.ts'.length), readFileSync(join(TESTS, path), 'utf8')]);
}

/** The compiled tests that have a tag. */
export function testsTagged(tag: RunTag): readonly string[] {
  return featureTests()
    .filter(([, source]) => runTags(source).includes(tag))
    .map(([path]) => `dist/test/feature/${path}.test.js`);
}
