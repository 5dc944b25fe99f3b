/** A version of a framework that has a field under another name. It must never read as "the user has none". */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { freshDatabase } from '../support/postgres.js';
import { wholeOr } from '../support/short.js';
import type { Change } from './rename-internals.js';

const run = promisify(execFile);

/** What the process prints. */
interface Outcome {
  readonly answers: readonly unknown[];
  readonly seen: readonly string[];
  readonly warnings: readonly string[];
  /** How many routes take the fast path. */
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

  // The first and each sixth one.
  const step = wholeOr(6, 1);
  for (const [file, name] of RENAMED.filter((_, index) => index % step === 0)) {
    it(`changes no answer where it is ${name} of ${file}, and is told once`, async () => {
      const { warnings, fast, ...shown } = await outcome(renamed(file, name));
      expect(shown).to.deep.equal({ answers: plain.answers, seen: plain.seen });
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/^Sequelize 6\.\d+\.\d+ /);
      expect(fast).to.equal(0);
    });
  }

  for (const name of ['_pulseQueryQueue', '_queryQueue', 'connectionParameters', '_queryable'].slice(
    wholeOr(2, 0),
  )) {
    it(`changes no answer where it is ${name} of pg, and is told once`, async () => {
      const { warnings, fast, ...shown } = await outcome(renamed('pg/lib/', name));
      expect(shown).to.deep.equal({ answers: plain.answers, seen: plain.seen });
      expect(fast).to.equal(0);
      expect(warnings).to.have.length(1);
      expect(warnings[0]).to.match(/^pg 8\.\d+\.\d+ has no /);
    });
  }

  it('need not be there for a version of pg that is not tested: Sequelize sends all queries', async () => {
    const version = { file: 'pg/package.json', from: '"version": "[^"]+"', to: '"version": "8.99.0"' };
    const { warnings, fast, ...shown } = await outcome(version);
    expect(shown).to.deep.equal({ answers: plain.answers, seen: plain.seen });
    expect(fast).to.equal(0);
    expect(warnings).to.deep.equal([
      'pg 8.99.0 is not one of the tested versions, 8.11 to 8.23. Requests are served through public interfaces only, which is slower.',
    ]);
  });
});

function renamed(file: string, name: string): Change {
  return { file, from: `(?<![\\w$])${name}\\b`, to: '$&Renamed' };
}

async function outcome(change?: Change): Promise<Outcome> {
  const database = await freshDatabase('renamed');
  try {
    const { stdout } = await run(
      process.execPath,
      ['--require', join(__dirname, 'rename-internals.js'), join(__dirname, 'renamed-fixture.js')],
      { env: { ...process.env, DATABASE_URL: database.url, CHANGED: JSON.stringify(change ?? {}) } },
    );
    return JSON.parse(stdout) as Outcome;
  } finally {
    await database.drop();
  }
}
