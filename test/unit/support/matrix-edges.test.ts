/** The edges that `npm run matrix` runs on: those of the ranges that package.json promises. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { EDGES, type Edge, lowestVersions, RUNS, together } from '../../support/matrix-edges.js';
import { PACKAGE_ROOT } from '../../support/package-root.js';

const { peerDependencies, engines } = JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8'));
/** By the names under which packages are known to npm. */
const edges: readonly Edge[] = Object.values(EDGES);
const specs = edges.flatMap(({ packages = [] }) => packages.map((spec) => spec.replace(/^.*@npm:/, '')));

describe('the edges of the matrix', () => {
  for (const [name, range] of Object.entries<string>(peerDependencies)) {
    const parts = range.split(' || ');

    it(`have the lowest and the highest version of ${name}`, () =>
      expect(specs).to.include.members([`${name}@${lowestVersions(range)[0]}`, `${name}@${range}`]));

    // npm installs the newest of the last one for the whole range.
    for (const part of parts.slice(0, -1)) {
      it(`have a version of ${name} in ${part}`, () =>
        expect(specs).to.include.oneOf([`${name}@${lowestVersions(part)[0]}`, `${name}@${part}`]));
    }
  }

  it('have the lowest version of Node', () => {
    const lowest = lowestVersions(engines.node).map((version) => `${version}.0`);
    expect(edges.map(({ node }) => node)).to.include.members(lowest);
  });

  it('are each part of one run', () => expect(RUNS.flat()).to.have.members(Object.keys(EDGES)));

  it('are together in a run, each with the version that it is about', () => {
    for (const run of RUNS) {
      const names = ['lowest', 'newest'];
      const own = run.filter((name) => !names.includes(name)).map((name): Edge => EDGES[name]);
      expect(together(run).packages).to.include.members(own.flatMap(({ packages = [] }) => packages));
      expect(own.filter(({ node }) => node)).to.have.lengthOf.at.most(1);
    }
  });

  it('are read from ranges with parts', () => {
    expect(lowestVersions('^4.21.0 || ^5.0.0')).to.deep.equal(['4.21.0', '5.0.0']);
    expect(lowestVersions('>=20.19')).to.deep.equal(['20.19']);
  });
});
