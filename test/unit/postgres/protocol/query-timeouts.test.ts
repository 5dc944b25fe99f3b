/** When queries are given up, whatever begins and ends meanwhile. */
import { expect } from 'chai';
import fc from 'fast-check';
import { QueryWatch, type TimedQuery } from '../../../../src/postgres/protocol/query-timeouts.js';
import { FakeClock } from '../../../support/fake-clock.js';

/** Milliseconds that a query may be given up late. */
const LATENESS = 200;

interface Query extends TimedQuery {
  /** Milliseconds on the clock. */
  readonly deadline: number;
}

/** What is done; and once more by the next query that is given up. */
type Step = readonly ['begin', limit: number] | readonly ['end', choice: number];

const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  fc.tuple(fc.constant('begin' as const), fc.integer({ min: 1, max: 700 })),
  fc.tuple(fc.constant('end' as const), fc.nat(1_000)),
);
const journeyArbitrary = fc.array(
  fc.record({ step: stepArbitrary, next: fc.option(stepArbitrary), pause: fc.nat(150) }),
  { maxLength: 50, size: 'max' },
);

class Simulation {
  readonly clock: FakeClock;
  readonly #watch = new QueryWatch();
  readonly #underway = new Set<Query>();
  /** What queries that are given up bring about. */
  readonly #consequences: Step[] = [];

  constructor(clock: FakeClock) {
    this.clock = clock;
  }

  do([kind, number]: Step): void {
    if (kind === 'begin') this.#begin(number);
    else this.#end(number);
  }

  plan(step: Step): void {
    this.#consequences.push(step);
  }

  async pause(milliseconds: number): Promise<void> {
    await this.clock.advance(milliseconds);
    const late = [...this.#underway].filter(({ deadline }) => deadline + LATENESS < this.clock.now);
    expect(late).to.deep.equal([]);
  }

  #begin(limit: number): void {
    const deadline = this.clock.now + limit;
    const giveUp = (): void => {
      expect(this.#underway.delete(query), 'under way').to.equal(true);
      expect(this.clock.now).to.be.within(deadline, deadline + LATENESS);
      const next = this.#consequences.shift();
      if (next) this.do(next);
    };
    const query: Query = { giveUp, deadline };
    this.#watch.begin(limit, query);
    this.#underway.add(query);
  }

  #end(choice: number): void {
    const all = [...this.#underway];
    const query = all[choice % all.length];
    if (!query) return;
    this.#underway.delete(query);
    this.#watch.end(query);
  }
}

describe('the clock of queries', () => {
  it('gives each up once in its time, and none that is answered', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async (journey) => {
      using clock = new FakeClock();
      const simulation = new Simulation(clock);
      for (const { step, next, pause } of journey) {
        if (next) simulation.plan(next);
        simulation.do(step);
        await simulation.pause(pause);
      }
      // All are given up, and what these bring about, too.
      await simulation.pause(50_000);
      expect(clock.timersOf('query-timeouts.js'), 'timers without a query').to.equal(0);
    });
    await fc.assert(property, { numRuns: 300 });
  });
});
