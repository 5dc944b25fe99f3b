/** Options and results of `bootstrap`, the engine, the schemas and the errors. */
import bunyan from 'bunyan';
import type { Express } from 'express';
import pino from 'pino';
import type { HttpError } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import winston from 'winston';
import {
  type BootstrapOptions,
  type bootstrap,
  type CrudApplication,
  configureEngine,
  createSchema,
  crudController,
  type currentEngine,
  cursorPageSchema,
  type disposeEngine,
  type Engine,
  type EngineOptions,
  engineLifespan,
  type httpExceptionFor,
  type installExceptionHandlers,
  NotFoundError,
  type PersistenceError,
  pageSchema,
  type RouteInfo,
  readSchema,
  type SchemaClass,
  type statusFor,
  updateSchema,
} from '../../src/index.js';
import type { Equal, Expect } from './expect-type.js';
import { City, InferredCity, SelfCity, TypedCity } from './models.js';

class CityController extends crudController(City) {}
class HandWrittenController {
  constructor(readonly name: string) {}
}

export const accepted: BootstrapOptions[] = [
  {},
  { models: [City, SelfCity, InferredCity, TypedCity] },
  { controllers: [CityController, HandWrittenController] },
  { routePrefix: '/api', bodyLimit: '1mb', logger: console },
  { logger: pino() },
  { logger: pino().child({ part: 'atlas' }) },
  { logger: winston.createLogger() },
  { logger: bunyan.createLogger({ name: 'atlas' }) },
  { bodyLimit: 1024 },
  { routing: { currentUserChecker: () => null, cors: true, interceptors: [class Trace {}] } },
];

export const rejected: BootstrapOptions[] = [
  // @ts-expect-error: no such option
  { prefix: '/api' },
  // @ts-expect-error: a record is no model
  { models: [new City()] },
  // @ts-expect-error: not a model
  { models: [class Foreign {}] },
  // @ts-expect-error: the base is abstract; pass a subclass
  { controllers: [crudController(City)] },
  // @ts-expect-error: a logger has four levels
  { logger: { error: () => {} } },
  // @ts-expect-error: bootstrap passes the controllers itself
  { routing: { controllers: [CityController] } },
  // @ts-expect-error: the errors are answered by the library
  { routing: { defaultErrorHandler: true } },
];

export const engineOptions: EngineOptions[] = [
  {},
  { models: [City, SelfCity, InferredCity, TypedCity, 'models'], createAll: true },
  { pool: { max: 5 }, logging: false, dialectOptions: { statement_timeout: 1000 } },
  // @ts-expect-error: not a model
  { models: [class Foreign {}] },
  // @ts-expect-error: no such option
  { createall: true },
];

export async function connects(app: Express, sequelize: Sequelize): Promise<void> {
  await using engine = await engineLifespan('postgres://localhost/atlas', { createAll: true })(app);
  await engine.sequelize.authenticate();
  await using _other = configureEngine({ sequelize });
  await using _alone = await engineLifespan('postgres://localhost/atlas')();
  // @ts-expect-error: a DSN is needed
  engineLifespan();
  // @ts-expect-error: an application, not its name
  await engineLifespan('postgres://localhost/atlas')('app');
}

export type Checks = [
  Expect<Equal<ReturnType<typeof bootstrap>, Promise<CrudApplication>>>,
  Expect<Equal<CrudApplication['routes'], readonly RouteInfo[]>>,
  Expect<Equal<Parameters<typeof bootstrap>, [app: Express, options?: BootstrapOptions | undefined]>>,
  Expect<Engine extends AsyncDisposable ? true : false>,
  Expect<Equal<ReturnType<typeof engineLifespan>, (app?: Express) => Promise<Engine>>>,
  Expect<Equal<ReturnType<typeof currentEngine>, Engine>>,
  Expect<Equal<ReturnType<typeof configureEngine>, Engine>>,
  Expect<Equal<ReturnType<typeof disposeEngine>, Promise<void>>>,
  Expect<Equal<Engine['sequelize'], Sequelize>>,
  Expect<Equal<ReturnType<typeof statusFor>, number>>,
  Expect<Equal<ReturnType<typeof httpExceptionFor>, HttpError>>,
  Expect<Equal<Parameters<typeof installExceptionHandlers>, [app: Express]>>,
  Expect<NotFoundError extends PersistenceError ? true : false>,
];

/** A schema is a class: it can be constructed, extended, and passed as a schema. */
export class CityRead extends readSchema(City) {
  declare rank: number;
}

export const schemas: SchemaClass[] = [
  readSchema(City),
  createSchema(SelfCity),
  updateSchema(InferredCity),
  pageSchema(readSchema(TypedCity)),
  cursorPageSchema(CityRead),
  // @ts-expect-error: not a model
  readSchema(class Foreign {}),
  // @ts-expect-error: the class of the items, not the model's name
  pageSchema('City'),
];

export const error: PersistenceError = new NotFoundError('There is no such City.');
