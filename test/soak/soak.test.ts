/** A short soak: each fault once, under waves of requests. CRUD_TEST_SOAK makes it last that many seconds. */
import { expect } from 'chai';
import { wholeOr } from '../support/short.js';
import { FAULTS } from './faults.js';
import { list } from './report.js';
import { soak } from './soak.js';

const SECONDS = Number(process.env['CRUD_TEST_SOAK'] ?? 0);
const SEED = Number(process.env['CRUD_TEST_SEED'] ?? Date.now() % 1_000_000);
/** Milliseconds between waves: other tests need the processors, too. */
const PACE = wholeOr(225, 150);
const LONGEST_FAULT = 400;

describe('an application under four times the load that its pools have connections for', function () {
  this.timeout(120_000 + 2_000 * SECONDS);

  it('[I1] keeps its promises while everything around it fails', async () => {
    const say = () => {};
    const result = await soak({ seed: SEED, seconds: SECONDS, pace: PACE, longest: LONGEST_FAULT, say });
    expect(list(result.problems), `CRUD_TEST_SEED=${SEED} CRUD_TEST_SOAK=${SECONDS}`).to.equal('');
    // A run without faults would test nothing.
    expect(result.faults.map(({ name }) => name)).to.include.members(FAULTS.map(({ name }) => name));
    expect(result.faults.filter(({ failures }) => failures > 0)).to.have.length.above(FAULTS.length / 3);
    expect(result.acknowledged).to.be.above(100);
  });
});
