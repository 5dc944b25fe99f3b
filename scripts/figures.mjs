/** `npm run figures`: figures in the guide are those of `bench/results`. It writes them; `--check` compares them, and `--stale` lists results that are older than what they measure. */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import { BY_HAND, pagesOf, published } from './published-figures.mjs';
import { resultsIn } from './result-file.mjs';
import { root, StepFailed } from './step.mjs';

/** Features with folders of their own: plain reads and writes of one record enter none of the others. */
const FEATURES = readdirSync(path.join(root, 'src/features'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && entry.name !== 'preference')
  .map(({ name }) => name);

/** Parts of `src` that requests of the benchmark do not enter, unless a file names them. */
const UNMEASURED = [
  ...['command-line.ts', 'load-application.ts', 'landing', 'openapi', 'scaffold', 'transfer'].map(
    (name) => `src/${name}`,
  ),
  ...FEATURES.map((name) => `src/features/${name}`),
];

const features = (...names) => names.map((name) => `src/features/${name}`);

const LOAD = ['bench/load', 'bench/measure', 'bench/contenders/support'];

/** Files and folders that a file measures beside the rest of `src`. */
const MEASURED = {
  'feeds.md': ['bench/feeds', ...LOAD, ...features('capture', 'changes', 'history')],
  'memory.md': ['bench/memory', 'bench/contenders', ...LOAD],
  'relations.md': ['bench/relations', 'bench/peers', ...LOAD, ...features('include', 'sub-resources')],
  'scaling.md': [
    'bench/scaling',
    'bench/contenders',
    'bench/contenders.ts',
    ...LOAD,
    'src/openapi',
    ...features('include', 'sub-resources', 'aggregate'),
  ],
  'servers.md': ['bench/scaling', 'sample/shards', ...LOAD],
  'soak.md': ['test/soak', ...UNMEASURED],
  'start.md': ['bench/start', 'bench/scaling/prepare-tables.ts', ...LOAD],
  'queries.md': ['bench/queries', ...LOAD, ...features('aggregate', 'include', 'search')],
  'transfer.md': ['bench/transfer', ...LOAD, ...features('bulk', 'export', 'import', 'upsert')],
  'writes.md': [
    'bench/writes',
    'bench/peers',
    ...LOAD,
    ...features(
      'bulk',
      'capture',
      'changes',
      'history',
      'idempotency',
      'increment',
      'nested',
      'replace',
      'soft-delete',
      'upsert',
    ),
  ],
};
/** Files and folders that the other files measure. */
const ARTICLES = ['bench/contenders', 'bench/contenders.ts', 'bench/peers', ...LOAD];

const USAGE = 'Usage: npm run figures [-- --check | --stale]';

/** A figure of speed. Each is of a file, or of an example. */
const FIGURE = /\d[\d.,]* (?:times (?:as|the) |µs)|0\.\d+ of /g;

export function figures(args) {
  const [mode = '', ...more] = args;
  if (more.length > 0 || !['', '--check', '--stale'].includes(mode)) throw new StepFailed(USAGE, 2);
  if (mode === '--stale') {
    for (const line of staleResults(root)) process.stdout.write(`${line}\n`);
    return;
  }
  if (mode === '') {
    for (const page of writeFigures(root)) process.stdout.write(`${page} has other figures now.\n`);
  }
  const problems = checkFigures(root);
  if (problems.length > 0) throw new StepFailed(problems.join('\n'));
}

/** Problems of a checkout: a line for each figure. */
export function checkFigures(folder) {
  return pagesOf(folder).flatMap((page) => {
    const { text, found, problems } = readPage(folder, page);
    return [
      ...problems,
      ...found.flatMap((each) => differences(page, text, each)),
      ...others(page, text, found),
    ];
  });
}

/** Writes all figures whose places are there, and returns the pages that it changed. */
export function writeFigures(folder) {
  return pagesOf(folder).filter((page) => {
    const { text, found } = readPage(folder, page);
    // The last one first: those before it stay where they are.
    const written = found
      .filter((each) => differences(page, text, each).length > 0)
      .flatMap(({ blanks }) => blanks)
      .sort((one, other) => other.from - one.from)
      .reduce((rest, { from, to, right }) => rest.slice(0, from) + right + rest.slice(to), text);
    if (written !== text) writeFileSync(path.join(folder, page), written);
    return written !== text;
  });
}

/** Result files of an older revision than the last change of what they measure, a line for each. */
export function staleResults(folder) {
  const git = (...args) => execFileSync('git', args, { cwd: folder, encoding: 'utf8', stdio: 'pipe' }).trim();
  const there = readdirSync(path.join(folder, 'bench/results')).filter(
    (file) => file.endsWith('.md') && !/^(?:partial|compare)/.test(file),
  );
  return [...new Set([...there, ...Object.keys(MEASURED)])].sort().flatMap((file) => {
    if (!there.includes(file)) return [`${file} is not there.`];
    const text = readFileSync(path.join(folder, 'bench/results', file), 'utf8');
    const [, revision] = /^- Revision:? ([\da-f]{7,})/m.exec(text) ?? [];
    if (!revision) return [`${file} has no revision.`];
    try {
      const named = MEASURED[file] ?? ARTICLES;
      const left = UNMEASURED.filter((each) => !named.includes(each)).map((each) => `:!${each}`);
      const measured = ['src', ...named, ...left];
      const since = git('log', '--format=%H', `${revision}..HEAD`, '--', ...measured).split('\n');
      const changes = since.filter((commit) => commit !== '' && changesCode(git, commit, measured));
      if (changes.length === 0) return [];
      const last = git('show', '--no-patch', '--format=%h of %as, "%s"', changes[0]);
      return [`${file} is of ${revision}. Changes since: ${changes.length}, the last one ${last}`];
    } catch {
      return [`${file} is of ${revision}, which is no revision here.`];
    }
  });
}

/** False for a commit that changes comments alone. */
function changesCode(git, commit, paths) {
  return git('show', '--format=', '--unified=0', '--first-parent', commit, '--', ...paths)
    .split('\n')
    .some((line) => /^[+-](?!\+\+ |-- |\s*(?:$|\*|\/\*\*|\/\/))/.test(line));
}

/** Finds the places of a page. Each has blanks, with what is right for them, and the files that say so. */
function readPage(folder, page) {
  const text = readFileSync(path.join(folder, page), 'utf8');
  const used = new Set();
  const read = resultsIn(folder);
  const results = (name) => {
    used.add(`bench/results/${name}.md`);
    return read(name);
  };
  const problems = [];
  const found = published(results)
    .filter((place) => place.page === page)
    .flatMap((place) => {
      const matches = [...text.matchAll(patternOf(place.text))];
      if (matches.length !== 1) {
        problems.push(
          `${page} has '${place.text}' ${matches.length} times, and scripts/published-figures.mjs says once.`,
        );
        return [];
      }
      used.clear();
      const [from, to] = matches[0].indices[0];
      try {
        const right = place.values();
        const blanks = matches[0].indices.slice(1).map(([from, to], at) => ({ from, to, right: right[at] }));
        return [{ from, to, blanks, files: [...used].join(', ') }];
      } catch (error) {
        if (!(error instanceof StepFailed)) throw error;
        problems.push(`${page}:${lineAt(text, from)}: ${error.message}`);
        return [];
      }
    });
  return { text, found, problems };
}

/** Lines may be broken elsewhere than in the text of a place. A figure is within a sentence, or within a cell. */
function patternOf(text) {
  const literals = text.split('{}').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  const blank = text.startsWith('<!--') ? '([^]*?)' : '((?:(?!\\n\\n|\\||\\. )[^])*?)';
  return new RegExp(literals.join(blank).replace(/\s+/g, '\\s+'), 'dg');
}

/** Of a table each line that differs. */
function differences(page, text, { from, to, blanks, files }) {
  return blanks.flatMap((blank) => {
    const written = text.slice(blank.from, blank.to).split('\n');
    const right = blank.right.split('\n');
    const pairs =
      right.length > 1
        ? right.map((line, at) => [written[at] ?? '', line, at])
        : [[written.join(' '), right[0], 0]];
    const isTable = right.length > 1;
    return pairs
      .filter(([is, should]) => is !== should)
      .map(([is, should, at]) => {
        const where = `${page}:${lineAt(text, blank.from) + at}: '${is}' should be '${should}', by ${files}`;
        return isTable ? where : `${where}, in '${text.slice(from, to).replace(/\s+/g, ' ')}'`;
      });
  });
}

/** Figures of no file and no example. */
function others(page, text, found) {
  const byHand = BY_HAND.filter(([of]) => of === page).flatMap(([, phrase]) =>
    [...text.matchAll(patternOf(phrase))].map(({ indices: [[from, to]] }) => ({ from, to })),
  );
  const known = [...found, ...byHand];
  return [...text.matchAll(FIGURE)]
    .filter(({ index }) => !known.some(({ from, to }) => from <= index && index < to))
    .map(
      ({ index, 0: figure }) =>
        `${page}:${lineAt(text, index)}: '${figure}' is of no file. Add its place to scripts/published-figures.mjs, or delete it.`,
    );
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length;
}
