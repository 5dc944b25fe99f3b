/** Guards that would never run: options of routing-controllers, and dependencies of a resource. */
import { expect } from 'chai';
import type { Request, Response } from 'express';
import { Interceptor, JsonController, Middleware } from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import {
  type BootstrapOptions,
  Crud,
  type CrudOptions,
  crudController,
  crudRouter,
} from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { configProblems } from '../../support/config-error.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'gates', timestamps: false })
class Gate extends NamedRow {}

@Middleware({ type: 'before' })
class Guard {
  use(_request: Request, response: Response) {
    response.status(401).end();
  }
}

/** A subclass has no decorator of its own. */
class Undecorated extends Guard {}

@Middleware({ type: 'before' })
class Misspelt {
  handle(_request: Request, response: Response) {
    response.status(401).end();
  }
}

@Interceptor()
class Passing {
  intercept(_action: unknown, content: unknown) {
    return content;
  }
}

@JsonController('/here')
class Here {}

@JsonController('/elsewhere')
class Elsewhere {}

const NAMES =
  'authorizationChecker, currentUserChecker, interceptors, middlewares, classTransformer, classToPlainTransformOptions, ' +
  'plainToClassTransformOptions, validation, development, errorOverridingMap, cors, defaults';

describe('guards that would never run', () => {
  serveTestApp(() => ({ models: [Gate], bootstrap: { models: [] } }));

  const problemsOf = (options: object) =>
    configProblems(() => buildApp({ models: [Gate], ...options } as BootstrapOptions));

  const ROUTING: readonly (readonly [routing: unknown, problem: string])[] = [
    [undefined, 'routing is undefined; use an object of options of routing-controllers.'],
    [null, 'routing is null; use an object of options of routing-controllers.'],
    [
      { middleware: [Guard] },
      `routing has no option 'middleware'. Did you mean 'middlewares'? The options are ${NAMES}.`,
    ],
    [
      { authorisationChecker: () => true },
      `routing has no option 'authorisationChecker'. Did you mean 'authorizationChecker'? The options are ${NAMES}.`,
    ],
    [
      { authorizationChecker: undefined },
      'routing.authorizationChecker is undefined; give it a value, or leave it out.',
    ],
    [{ middlewares: undefined }, 'routing.middlewares is undefined; give it a value, or leave it out.'],
    [
      { middlewares: Guard },
      'routing.middlewares is [class Guard]; use an array of classes with @Middleware.',
    ],
    [{ middlewares: [Guard, undefined] }, 'routing.middlewares has undefined; use classes with @Middleware.'],
    [
      { middlewares: [Undecorated] },
      'routing.middlewares has Undecorated, which has no @Middleware and would not run; decorate it.',
    ],
    [
      { interceptors: [Guard] },
      'routing.interceptors has Guard, which has no @Interceptor and would not run; decorate it.',
    ],
    [
      { defaultErrorHandler: true },
      'routing.defaultErrorHandler is true; leave it out, as errors are answered as problems.',
    ],
  ];
  for (const [routing, problem] of ROUTING) {
    it(`are refused at the start: ${problem.slice(0, 80)}`, async () => {
      expect(await problemsOf({ routing })).to.deep.equal([problem]);
      const options = { routing } as object;
      expect(await configProblems(async () => crudRouter(Gate, options))).to.deep.equal([problem]);
    });
  }

  it('are refused where a class with @Middleware has no method that is called', async () => {
    expect(await problemsOf({ routing: { middlewares: [Misspelt] } })).to.deep.equal([
      'Misspelt has @Middleware and neither use nor error, and would not run; give it a method use(request, response, next).',
    ]);
  });

  const DEPENDENCIES: readonly (readonly [dependencies: unknown, problem: string])[] = [
    [undefined, 'Gate: dependencies is undefined; give it a value, or leave it out.'],
    [null, 'Gate: dependencies is null; give it a value, or leave it out.'],
    [
      [Guard, Passing],
      'Gate: dependencies[1] is [class Passing]; use an Express handler or a routing-controllers middleware class, which has a method use(request, response, next).',
    ],
  ];
  for (const [dependencies, problem] of DEPENDENCIES) {
    it(`are refused as dependencies: ${problem.slice(0, 60)}`, async () => {
      const options = { dependencies } as CrudOptions<Gate>;
      class Gates extends crudController(Gate, options) {}
      expect(await problemsOf({ controllers: [Gates] })).to.deep.equal([problem]);
      expect(await configProblems(async () => crudRouter(Gate, options))).to.deep.equal([problem]);
    });
  }

  it('run where they are right', async () => {
    const byMiddleware = await buildApp({ models: [Gate], routing: { middlewares: [Guard] } });
    expect((await byMiddleware.agent.get('/gates')).status).to.equal(401);
    class Gates extends crudController(Gate, { dependencies: [Undecorated] }) {}
    const byDependency = await buildApp({ models: [Gate], controllers: [Gates] });
    expect((await byDependency.agent.get('/gates')).status).to.equal(401);
  });

  describe('an object of options that a server of routing-controllers has, too', () => {
    it('is refused where bootstrap has other values', async () => {
      const routing = { routePrefix: '/v1', controllers: [Elsewhere], defaultErrorHandler: false };
      expect(await problemsOf({ routing })).to.deep.equal([
        'routing.routePrefix is "/v1"; use routePrefix of bootstrap.',
        'routing.controllers is [ [class Elsewhere] ]; use controllers of bootstrap, or leave it out where another server has them.',
      ]);
      const options = { routing: { routePrefix: '/v1' } } as object;
      expect(await configProblems(async () => crudRouter(Gate, options))).to.deep.equal([
        'routing.routePrefix is "/v1"; mount the router below that path.',
      ]);
    });

    it('is taken where bootstrap has the same', async () => {
      const placed = { routePrefix: '/v1', controllers: [Here], defaultErrorHandler: false };
      const routing = { ...placed, authorizationChecker: () => true };
      const options = { models: [Gate], controllers: [Here], routePrefix: '/v1', routing };
      const { agent, crud } = await buildApp(options);
      const made = await agent.post('/v1/gates').send({ name: 'north' });
      expect(made.status).to.equal(201);
      expect((await agent.get(String(made.headers['location']))).body).to.include({ name: 'north' });
      expect(Object.keys(crud.openapi().paths ?? {})).to.include('/v1/gates');
    });
  });
});
