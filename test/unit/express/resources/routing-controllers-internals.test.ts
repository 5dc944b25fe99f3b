/** A version of routing-controllers that keeps its decorators or its driver elsewhere. It must never read as "no decorators". */
import { expect } from 'chai';
import {
  Authorized,
  ExpressDriver,
  Get,
  getMetadataArgsStorage,
  HttpCode,
  Param,
  UseBefore,
  UseInterceptor,
} from 'routing-controllers';
import {
  checkDriver,
  routingStorage,
  withMetadataIndex,
} from '../../../../src/express/resources/routing-controllers-internals.js';

/** Runs something while a value, or its prototype, has no such member. */
function without(value: object, name: string, run: () => void): void {
  let owner: object = value;
  while (!Object.hasOwn(owner, name)) owner = Object.getPrototypeOf(owner);
  const member = Object.getOwnPropertyDescriptor(owner, name) as PropertyDescriptor;
  Reflect.deleteProperty(owner, name);
  try {
    run();
  } finally {
    Object.defineProperty(owner, name, member);
  }
}

describe('the internals of routing-controllers', () => {
  const LISTS =
    'controllers actions params uses useInterceptors responseHandlers middlewares interceptors'.split(' ');
  const METHODS =
    'getParamFromRequest handleError handleSuccess registerAction registerMiddleware transformResult prepareMiddlewares'.split(
      ' ',
    );
  for (const [owner, name, members, check] of [
    [getMetadataArgsStorage(), 'MetadataArgsStorage', LISTS, routingStorage],
    [ExpressDriver.prototype, 'ExpressDriver', METHODS, checkDriver],
  ] as const) {
    for (const member of members) {
      it(`are refused without ${name}.${member}`, () =>
        without(owner, member, () => {
          const words = new RegExp(`^routing-controllers \\d+\\.\\d+\\.\\d+ has no ${name}\\.${member}, `);
          expect(check).to.throw(words);
        }));
    }
  }

  it('are taken as they are', () => {
    expect(routingStorage()).to.equal(getMetadataArgsStorage());
    expect(checkDriver).not.to.throw();
  });
});

describe('the index of metadata', () => {
  @Authorized()
  @UseBefore(() => {})
  class Some {
    @Get('/:id')
    @HttpCode(202)
    @UseInterceptor((_action: unknown, result: unknown) => result)
    one(@Param('id') _id: string): void {}

    @Get('/')
    @UseBefore(() => {})
    all(): void {}
  }
  class Other extends Some {}

  const search = () => {
    const storage = getMetadataArgsStorage();
    return [Some, Other, Object].flatMap((target) => [
      storage.filterActionsWithTarget(target),
      storage.filterResponseHandlersWithTarget(target),
      ...['one', 'all', 'none', undefined as unknown as string].flatMap((method) => [
        storage.filterUsesWithTargetAndMethod(target, method),
        storage.filterInterceptorUsesWithTargetAndMethod(target, method),
        storage.filterParamsWithTargetAndMethod(target, method),
        storage.filterResponseHandlersWithTargetAndMethod(target, method),
      ]),
    ]);
  };

  it('finds what the searches of routing-controllers find, and is gone afterwards', () => {
    const found = search();
    expect(found.flat().length).to.be.greaterThan(6);
    const own = Object.keys(getMetadataArgsStorage());
    expect(withMetadataIndex(search)).to.deep.equal(found);
    expect(() =>
      withMetadataIndex(() => {
        throw new RangeError('midway');
      }),
    ).to.throw('midway');
    expect(Object.keys(getMetadataArgsStorage())).to.deep.equal(own);
  });
});
