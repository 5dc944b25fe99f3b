/** The options of routing-controllers that `bootstrap` hands on: checks, interceptors and middlewares of the user. */
import { expect } from 'chai';
import { IsString } from 'class-validator';
import type { NextFunction, Request, Response } from 'express';
import {
  type Action,
  Authorized,
  Body,
  CurrentUser,
  type ExpressErrorMiddlewareInterface,
  type ExpressMiddlewareInterface,
  Get,
  Interceptor,
  type InterceptorInterface,
  JsonController,
  Middleware,
  Post,
  QueryParam,
  type RoutingControllersOptions,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import { type Class, type CreateValues, Crud, type CrudContext, crudController } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectIssue, expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { passingController } from '../../support/passing-controllers.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'pets', timestamps: false })
class Pet extends NamedRow {}

class User {
  constructor(readonly name: string) {}
}

class PetController extends crudController(Pet) {
  @Authorized('keeper')
  @Get('/mine')
  mine(@CurrentUser({ required: true }) user: User): object {
    return { of: user.name };
  }

  @Get('/maybe')
  maybe(@CurrentUser() user?: User): object {
    return { of: user?.name ?? null };
  }
}

@JsonController('/vets')
class VetController {
  @Get('/')
  vets(@QueryParam('min') min: number): object {
    return { min };
  }
}

class Greeting {
  @IsString() declare text: string;
}

/** A class without rules. */
class Unchecked {
  declare text: string;
}

@JsonController('/greetings')
class GreetingController {
  @Post('/')
  greet(@Body() greeting: Greeting): object {
    return { ...greeting };
  }
}

@JsonController('/unchecked')
class UncheckedController {
  @Post('/')
  take(@Body() greeting: Unchecked): object {
    return { ...greeting };
  }
}

const seen: string[] = [];

@Interceptor()
class Wrap implements InterceptorInterface {
  intercept({ request }: Action, content: unknown): unknown {
    seen.push(`intercepted ${request.method}`);
    return content === undefined ? undefined : { wrapped: content };
  }
}

/** Decorated like the other one, and in no list of an application. */
@Interceptor()
class Uninvited implements InterceptorInterface {
  intercept(): unknown {
    return { uninvited: true };
  }
}
void Uninvited;

@Middleware({ type: 'before' })
class Before implements ExpressMiddlewareInterface {
  use(request: Request, response: Response, next: NextFunction): void {
    seen.push(`before ${request.method} ${request.path}`);
    response.setHeader('X-Before', 'yes');
    next();
  }
}

@Middleware({ type: 'after' })
class After implements ExpressMiddlewareInterface {
  use(request: Request, _response: Response, next: NextFunction): void {
    seen.push(`after ${request.method}`);
    next();
  }
}

@Middleware({ type: 'after' })
class OwnErrors implements ExpressErrorMiddlewareInterface {
  error(error: { message?: string }, _request: Request, response: Response, next: NextFunction): void {
    if (error.message === 'There is no Pet with this id.') response.status(410).json({ gone: true });
    else next(error);
  }
}

const FIRST = { id: 1, name: 'Rex' };

const MORE = { text: 'Hello', more: true };

describe('configuring routing-controllers', () => {
  const site = serveTestApp(() => ({ models: [Pet] }));

  beforeEach(async () => {
    seen.length = 0;
    await emptyTables(site, 'pets');
    await Pet.create({ name: 'Rex' });
  });

  const serve = (routing: RoutingControllersOptions, ...controllers: Class[]) =>
    buildApp({ models: [Pet], controllers, routing, logger: new CapturedLog() });

  it('with validation is strict of its own, and else what the user says', async () => {
    expectIssue(await (await serve({}, GreetingController)).agent.post('/greetings').send(MORE), 422, {
      pointer: '/more',
      code: 'unknownProperty',
      detail: 'There is no such property. The properties are text.',
    });
    const validation = { whitelist: true, forbidUnknownValues: false };
    const { agent } = await serve({ validation }, GreetingController, UncheckedController);
    expectJson(await agent.post('/greetings').send(MORE), 200, { text: 'Hello' });
    expectJson(await agent.post('/unchecked').send({}), 200, {});
  });

  it('[H4] with checks answers 403 to a wrong role, 401 to nobody, and 500 where there is no check', async () => {
    const routing: RoutingControllersOptions = {
      authorizationChecker: async ({ request }, roles) => roles.includes(request.headers['role']),
      currentUserChecker: async ({ request }) =>
        request.headers['user'] && new User(String(request.headers['user'])),
    };
    const { agent } = await serve(routing, PetController);
    const mine = (headers: Record<string, string>) => agent.get('/pets/mine').set(headers);
    expectJson(await mine({ Role: 'keeper', User: 'Ann' }), 200, { of: 'Ann' });
    expectProblem(await mine({ Role: 'guest', User: 'Ann' }), 403, {
      detail: 'Access is denied for request on GET /pets/mine',
    });
    expectProblem(await mine({ Role: 'keeper' }), 401, {
      detail: 'Authorization is required for request on GET /pets/mine',
    });
    expectJson(await agent.get('/pets/maybe').set({ User: 'Ann' }), 200, { of: 'Ann' });
    expectJson(await agent.get('/pets/maybe'), 200, { of: null });
    expect((await (await serve({}, PetController)).agent.get('/pets/mine')).status).to.equal(500);
  });

  it('with an interceptor lets it change what every route of the application answers', async () => {
    const { agent } = await serve({ interceptors: [Wrap] }, VetController);
    expectJson(await agent.get('/pets/1'), 200, { wrapped: FIRST });
    const created = await agent.post('/pets').send({ name: 'Mia' });
    expectJson(created, 201, { wrapped: { id: 2, name: 'Mia' } });
    expect(created.headers['location']).to.equal('/pets/2');
    expect((await agent.get('/pets?size=1')).body.wrapped).to.include({ total: 2, size: 1 });
    expectNothing(await agent.delete('/pets/2'), 204);
    expectJson(await agent.get('/vets?min=2'), 200, { wrapped: { min: 2 } });
    expect(seen).to.deep.equal(['GET', 'POST', 'GET', 'DELETE', 'GET'].map((each) => `intercepted ${each}`));
  });

  except({ unit: 'its middleware undoes what is answered with 404' }).it(
    'with an interceptor that returns nothing answers 404, and the log says that the write stays',
    async () => {
      @Interceptor()
      class Nothing implements InterceptorInterface {
        intercept(): undefined {
          return undefined;
        }
      }
      class Pets extends crudController(Pet) {
        override async create(values: CreateValues<Pet>, context: CrudContext<Pet>) {
          return super.create(values, context);
        }
      }
      const logger = new CapturedLog();
      const { agent } = await buildApp({
        ...{ models: [Pet], controllers: [Pets], logger },
        routing: { interceptors: [Nothing] },
      });
      expect((await agent.post('/pets').send({ name: 'Mia' })).status).to.equal(404);
      expect(await Pet.count()).to.equal(2);
      const [warning] = logger.lines.filter(({ level }) => level === 'warn');
      expect(warning?.message).to.match(
        /^POST \/pets is answered with 404, as Pets\.create or an interceptor returned nothing, and what the request has written stays; /,
      );
    },
  );

  it('with middlewares runs them before and after the routes, those for errors first', async () => {
    const { agent } = await serve({ middlewares: [Before, After, OwnErrors] });
    const response = await agent.get('/pets/1');
    expectJson(response, 200, FIRST);
    expect(response.headers['x-before']).to.equal('yes');
    expect(seen).to.deep.equal(['before GET /pets/1', 'after GET']);
    expectJson(await agent.get('/pets/2'), 410, { gone: true });
    expect((await agent.get('/pets/x')).status).to.equal(400);
    expect((await agent.put('/pets/1')).status).to.equal(405);
  });

  it('with defaults uses them for the routes of the user', async () => {
    class Silent extends passingController(crudController(Pet)) {
      @Get('/silent')
      silent(): void {}
    }
    const { agent } = await serve({ defaults: { undefinedResultCode: 204 } }, Silent);
    expectNothing(await agent.get('/pets/silent'), 204);
    expect((await agent.get('/pets')).status).to.equal(200);
  });

  it('uses no decorated class that was not given', async () => {
    expectJson(await site.agent.get('/pets/1'), 200, FIRST);
    expect(seen).to.deep.equal([]);
    expect((await site.agent.get('/vets?min=2')).status).to.equal(404);
  });
});
