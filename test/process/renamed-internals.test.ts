/** A version of a framework that has a field under another name. It must never read as "the user has none". */
import { join } from 'node:path';
import { expect } from 'chai';
import { run } from '../package/run.js';
import { freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import type { Change } from './rename-internals.js';

/** Output of the process. */
interface Outcome {
  readonly answers: readonly unknown[];
  readonly seen: readonly string[];
  readonly warnings: readonly string[];
  /** Number of routes on the fast path. */
  readonly fast: number;
}

const RENAMED: readonly (readonly [file: string, name: string])[] = [
  ['sequelize/lib/model.js', '_scope'],
  ['sequelize/lib/hooks.js', 'options\\.hooks'],
  ['sequelize/lib/model.js', '_defaultValues'],
  ['sequelize/lib/model.js', '_dataTypeSanitizers'],
  ['sequelize/lib/model.js', '_dataTypeChanges'],
  ['sequelize/lib/model.js', '_schema'],
  ['sequelize/lib/model.js', '_previousDataValues'],
  ['sequelize/lib/model.js', '_changed'],
  ['sequelize/lib/sequelize.js', '_cls'],
  ['sequelize/lib/transaction.js', '_afterCommitHooks'],
  ['sequelize/lib/transaction.js', 'forceCleanup'],
  ['sequelize/lib/dialects', '_connect'],
  ['sequelize/lib/dialects', '_invalid'],
  ['sequelize-pool/lib', '_draining'],
];

describe('a field of a framework under another name', () => {
  let plain: Outcome;

  before(async () => {
    plain = await outcome();
  });

  it('is none of those that there are', () => {
    expect(plain.warnings).to.deep.equal([]);
    expect(plain.fast).to.be.above(4);
    expect(plain.seen).to.include.members(['create wide', 'count']);
  });

  // The first and each seventh one.
  const step = wholeOr(7, 1);
  /** Expects each answer of Sequelize alone, and one warning with the reason. */
  async function expectTold(change: Change, warning: RegExp): Promise<void> {
    const { warnings, ...shown } = await outcome(change);
    expect(shown).to.deep.equal({ answers: plain.answers, seen: plain.seen, fast: 0 });
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.match(warning);
  }

  for (const [file, name] of RENAMED.filter((_, index) => index % step === 0)) {
    it(`changes no answer where it is ${name} of ${file}, and is told once`, () =>
      expectTold(renamed(file, name), /^Sequelize 6\.\d+\.\d+ /));
  }

  for (const name of ['_pulseQueryQueue', '_queryQueue', 'connectionParameters', '_queryable'].slice(
    wholeOr(3, 0),
  )) {
    it(`changes no answer where it is ${name} of pg, and is told once`, () =>
      expectTold(renamed('pg/lib/', name), /^pg 8\.\d+\.\d+ has no /));
  }

  it('need not be there for a version of pg that is not tested: Sequelize sends all queries', () =>
    expectTold(
      { file: 'pg/package.json', from: '"version": "[^"]+"', to: '"version": "8.99.0"' },
      /^pg 8\.99\.0 is not one of the tested versions, 8\.11 to 8\.23\. .* public interfaces only, which is slower\.$/,
    ));
});

function renamed(file: string, name: string): Change {
  return { file, from: `(?<![\\w$])${name}\\b`, to: '$&Renamed' };
}

async function outcome(change?: Change): Promise<Outcome> {
  await using database = await freshDatabase('renamed');
  const { output } = await run(
    process.execPath,
    ['--require', join(__dirname, 'rename-internals.js'), join(__dirname, 'renamed-fixture.js')],
    __dirname,
    { DATABASE_URL: database.url, CHANGED: JSON.stringify(change ?? {}) },
  );
  return JSON.parse(output) as Outcome;
}
