import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { pgProblem, TESTED_PG, versionProblem } from '../../../../src/postgres/protocol/pg-internals.js';
import { PACKAGE_ROOT } from '../../../support/package-root.js';

const { version } = createRequire(__filename)('pg/package.json') as { version: string };

describe('the tested versions of pg', () => {
  it('have the installed one among them, with all that is read of it', () => {
    expect(versionProblem(version)).to.equal(undefined);
    expect(pgProblem()).to.equal(undefined);
  });

  it('begin with the first one that package.json allows', () => {
    const { peerDependencies } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
    expect(peerDependencies.pg).to.equal(`^${TESTED_PG.major}.${TESTED_PG.first}.0`);
  });

  it('have a first and a last one', () => {
    const { major, first, last } = TESTED_PG;
    expect(versionProblem(`${major}.${first}.0`)).to.equal(undefined);
    expect(versionProblem(`${major}.${last}.9`)).to.equal(undefined);
    for (const other of [
      `${major}.${first - 1}.9`,
      `${major}.${last + 1}.0`,
      `${major + 1}.${first}.0`,
      '8.x',
    ]) {
      expect(versionProblem(other)).to.equal(`pg ${other} is not one of the tested versions, 8.11 to 8.23`);
    }
  });
});
