import { expect } from 'chai';
import { lazyDocument } from '../../../src/openapi/docs-router.js';
import type { OpenAPIObject } from '../../../src/openapi/openapi-object.js';

const STEPS = 5;

describe('lazyDocument', () => {
  let made: number;

  /** Steps that each take longer than a slice. */
  function* write(): Generator<void, OpenAPIObject> {
    for (let step = 0; step < STEPS; step += 1) {
      const end = performance.now() + 11;
      while (performance.now() < end);
      yield;
    }
    made += 1;
    return { openapi: '3.1.0' } as OpenAPIObject;
  }

  beforeEach(() => {
    made = 0;
  });

  it('does other work between the slices', async () => {
    let turns = 0;
    let isOver = false;
    const turn = (): void => {
      turns += 1;
      if (!isOver) setImmediate(turn);
    };
    turn();
    await lazyDocument(write).soon();
    isOver = true;
    expect(turns).to.be.above(STEPS);
  });

  it('makes one document for all that ask', async () => {
    const { now, soon } = lazyDocument(write);
    const [first, second] = await Promise.all([soon(), soon()]);
    expect([second, await soon(), now()].every((each) => each === first)).to.equal(true);
    expect(made).to.equal(1);
  });

  it('gives the document that was made at once while slices were under way', async () => {
    const { now, soon } = lazyDocument(write);
    const later = soon();
    const document = now();
    expect(await later).to.equal(document);
    expect(await soon()).to.equal(document);
  });
});
