/** The queue for a pool, in whatever order statements come, end, fail and time out. */
import fc from 'fast-check';
import { FakeClock } from '../../../support/fake-clock.js';
import { QueueSimulation, type Step } from '../../../support/queue-simulation.js';
import { wholeOr } from '../../../support/short.js';

const USUAL = ['join', 'join', 'join', 'leave', 'leave', 'connect'] as const;
const UNUSUAL = [
  ['takeAlong', 'requeueFirst'],
  ['requeue', 'lock'],
  ['acquire', 'release'],
  ['break', 'refuse'],
  ['goAway', 'joinAndThrow'],
  ['bypass'],
  ['wait'],
] as const;

/** Few kinds of unusual steps at a time: of all at once hardly any would meet another of its kind. */
const stepsArbitrary: fc.Arbitrary<Step[]> = fc.subarray([...UNUSUAL], { maxLength: 4 }).chain((unusual) => {
  const kind = fc.constantFrom<Step['kind'][]>(...USUAL, ...unusual.flat());
  return fc.array(fc.record({ kind, choice: fc.nat(1_000) }), { maxLength: 60, size: 'max' });
});
const journeyArbitrary = fc.record({
  size: fc.integer({ min: 1, max: 4 }),
  steps: stepsArbitrary,
  isDrained: fc.boolean(),
});

/** One that goes to the pool by itself is served before one that returned, and must not take another along. */
const aloneBeforeReturned = {
  size: 1,
  steps: [
    { kind: 'join', choice: 1 },
    ...(['join', 'bypass', 'connect', 'join', 'break', 'requeueFirst', 'bypass'] as const).map((kind) => ({
      kind,
      choice: 0,
    })),
  ],
  isDrained: false,
};

describe('a queue for the connections of a pool', () => {
  it('serves or fails each waiter once, in its turn, and loses no connection', async () => {
    const property = fc.asyncProperty(journeyArbitrary, async ({ size, steps, isDrained }) => {
      using clock = new FakeClock();
      const simulation = new QueueSimulation(clock, size);
      for (const step of steps) await simulation.run(step);
      await simulation.finish(isDrained);
    });
    await fc.assert(property, { numRuns: wholeOr(300, 1_000), examples: [[aloneBeforeReturned]] });
  });
});
