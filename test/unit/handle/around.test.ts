import { expect } from 'chai';
import type { Resource } from '../../../src/express/resources/resource.js';
import { type AroundFactory, compileAround } from '../../../src/handle/around.js';

type Compiled = Parameters<AroundFactory>;

const NOTHING = [{}, {}] as unknown as [Compiled[1], Compiled[2]];

/** A resource with features of this work. */
function resourceOf(factories: readonly AroundFactory[]): Resource {
  return { features: { all: [{}, ...factories.map((around) => ({ around }))] } } as unknown as Resource;
}
const REQUEST = {} as Parameters<NonNullable<ReturnType<AroundFactory>>>[0];
const DONE = { status: 201, headers: {}, body: 'done' };

describe('the work around an operation', () => {
  const order: string[] = [];
  const noting =
    (name: string): AroundFactory =>
    () =>
    async () => ({
      async run(next) {
        order.push(`${name} begins`);
        const draft = await next();
        order.push(`${name} ends`);
        return draft;
      },
    });
  const replaying: AroundFactory = () => async () => ({ run: async () => ({ ...DONE, body: 'replayed' }) });
  const finding: AroundFactory = () => async () => null;
  const execute = async () => {
    order.push('executes');
    return DONE;
  };
  const run = async (...factories: readonly AroundFactory[]) => {
    order.length = 0;
    const around = await compileAround(resourceOf(factories), ...NOTHING)?.(REQUEST, null);
    return around && (await around.run(execute, 'text'));
  };

  it('is none where no feature has any', async () => {
    expect(compileAround(resourceOf([]), ...NOTHING)).to.equal(null);
    expect(compileAround(resourceOf([() => null]), ...NOTHING)).to.equal(null);
    expect(await run(finding, finding)).to.equal(null);
  });

  it('is that of each feature, the first one outermost', async () => {
    expect(await run(noting('a'), finding, noting('b'), () => null)).to.equal(DONE);
    expect(order).to.deep.equal(['a begins', 'b begins', 'executes', 'b ends', 'a ends']);
  });

  it('may answer in the place of the operation, and of what is inside', async () => {
    expect(await run(noting('a'), replaying, noting('b'))).to.deep.equal({ ...DONE, body: 'replayed' });
    expect(order).to.deep.equal(['a begins', 'a ends']);
  });
});
