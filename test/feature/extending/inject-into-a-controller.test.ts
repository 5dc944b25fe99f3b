/** Controllers and middlewares from a container of the user's. */
import { expect } from 'chai';
import type { NextFunction, Request, Response } from 'express';
import {
  type Action,
  type ExpressMiddlewareInterface,
  Get,
  UseBefore,
  useContainer,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { Crud, type CrudContext, crudController, type ListQuery, type Page } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { except } from '../../support/combination.js';
import { expectJson, expectProblem } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'clocks', timestamps: false })
class Clock extends NumberedRow {}

/** A service that the container has to provide. */
class Time {
  constructor(readonly now: string) {}
}

class TimeStamp implements ExpressMiddlewareInterface {
  constructor(readonly time: Time) {}

  use(_request: Request, response: Response, next: NextFunction): void {
    response.setHeader('X-Time', this.time.now);
    next();
  }
}

class ClockController extends crudController(Clock) {
  constructor(readonly time: Time) {
    super();
  }

  override async list(query: ListQuery, context: CrudContext<Clock>): Promise<Page<Clock>> {
    context.response.setHeader('X-Now', this.time.now);
    return super.list(query, context);
  }

  @UseBefore(TimeStamp)
  @Get('/now')
  now(): object {
    return { now: this.time.now };
  }
}

class CountingController extends crudController(Clock) {
  calls = 0;

  @Get('/calls')
  count(): object {
    this.calls += 1;
    return { calls: this.calls };
  }
}

const OWN_CONTROLLER = 'every model has a controller of the combination, and the container is asked for it';

/** The container of the test has its own classes only. */
const exceptIntercepted = except({ values: 'the container is asked for the interceptor of the combination' });

describe('injecting into a controller', () => {
  const asked: unknown[] = [];
  serveTestApp(() => ({ models: [Clock] }));

  /** Has the classes of this file only: like TypeDI, it refuses a class that was not registered. */
  const container = {
    get(wanted: unknown): never {
      asked.push(wanted);
      const time = new Time('noon');
      if (wanted === ClockController) return new ClockController(time) as never;
      if (wanted === TimeStamp) return new TimeStamp(time) as never;
      throw new Error('nobody registered this class');
    },
  };

  const serve = () => buildApp({ models: [Clock], controllers: [ClockController as new () => object] });

  beforeEach(() => {
    asked.length = 0;
    useContainer(container);
  });

  // routing-controllers has one container for the process, and no function that takes it away.
  afterEach(() => useContainer(undefined as unknown as typeof container));

  exceptIntercepted.it(
    'asks the container for the class of the user, and tells it of the request',
    async () => {
      const paths: unknown[] = [];
      useContainer({
        get(wanted: unknown, action?: Action) {
          if (wanted === ClockController) paths.push(action?.request.url);
          return container.get(wanted);
        },
      });
      const { agent } = await serve();
      const response = await agent.get('/clocks/now');
      expectJson(response, 200, { now: 'noon' });
      expect(response.headers['x-time']).to.equal('noon');
      expect(asked).to.have.members([ClockController, TimeStamp]);
      const list = await agent.get('/clocks');
      expect([list.status, list.headers['x-now']]).to.deep.equal([200, 'noon']);
      expect(paths).to.deep.equal(['/clocks/now', '/clocks']);
    },
  );

  except({
    session: OWN_CONTROLLER,
    records: OWN_CONTROLLER,
  }).it('asks nothing of the container for generated controllers', async () => {
    const { agent } = await buildApp({ models: [Clock] });
    expectProblem(await agent.get('/clocks/1'), 404, { detail: 'There is no Clock with this id.' });
    expect(asked).to.deep.equal([]);
  });

  it('asks the container for middleware classes among the dependencies', async () => {
    class Clocks extends crudController(Clock, { dependencies: [TimeStamp] }) {}
    useContainer({
      get: (wanted: unknown) => (wanted === Clocks ? new Clocks() : container.get(wanted)) as never,
    });
    const { agent } = await buildApp({ models: [Clock], controllers: [Clocks] });
    expect((await agent.get('/clocks')).headers['x-time']).to.equal('noon');
  });

  it('makes one instance where there is no container', async () => {
    useContainer(undefined as unknown as typeof container);
    const { agent } = await buildApp({ models: [Clock], controllers: [CountingController] });
    await agent.get('/clocks/calls');
    expectJson(await agent.get('/clocks/calls'), 200, { calls: 2 });
  });
});
