/** A version of routing-controllers that keeps its decorators or its driver elsewhere. It must never read as "no decorators". */
import { expect } from 'chai';
import { ExpressDriver, getMetadataArgsStorage } from 'routing-controllers';
import { checkDriver, routingStorage } from '../../../../src/http/resources/routing-controllers-internals.js';

/** Runs something while a value, or what it inherits from, has no such member. */
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
  for (const list of [
    'controllers',
    'actions',
    'params',
    'uses',
    'useInterceptors',
    'responseHandlers',
    'middlewares',
  ]) {
    it(`are refused without the list ${list}`, () => {
      without(getMetadataArgsStorage(), list, () => {
        expect(routingStorage).to.throw(
          new RegExp(`^routing-controllers \\d+\\.\\d+\\.\\d+ has no MetadataArgsStorage\\.${list}, `),
        );
      });
    });
  }

  for (const method of [
    'getParamFromRequest',
    'handleError',
    'handleSuccess',
    'registerAction',
    'registerMiddleware',
    'transformResult',
    'prepareMiddlewares',
  ]) {
    it(`are refused without the method ${method} of the driver`, () => {
      without(ExpressDriver.prototype, method, () => {
        expect(checkDriver).to.throw(
          new RegExp(`^routing-controllers \\d+\\.\\d+\\.\\d+ has no ExpressDriver\\.${method}, `),
        );
      });
    });
  }

  it('are taken as they are', () => {
    expect(routingStorage()).to.equal(getMetadataArgsStorage());
    expect(checkDriver).not.to.throw();
  });
});
