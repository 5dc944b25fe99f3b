/** Controllers in which all code of the user's throws the value of the test. */
import {
  Authorized,
  CurrentUser,
  type ExpressMiddlewareInterface,
  Get,
  JsonController,
  type RoutingControllersOptions,
  UseBefore,
  UseInterceptor,
} from 'routing-controllers';
import { Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  type ListQuery,
  type Page,
  type ReadQuery,
} from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

/** The next value that a method throws. */
export const thrown: { value: unknown } = { value: null };

@Crud()
@Table({ tableName: 'bombs', timestamps: false })
export class Bomb extends NumberedRow {}

class ThrowingMiddleware implements ExpressMiddlewareInterface {
  use(): void {
    throw thrown.value;
  }
}

class RejectingMiddleware implements ExpressMiddlewareInterface {
  async use(): Promise<void> {
    throw thrown.value;
  }
}

/** `GET /bombs/5` and the like write first. */
export const WRITES = { headers: 1, part: 2, all: 3, twice: 4 } as const;

export class BombController extends crudController(Bomb) {
  override async list(query: ListQuery, context: CrudContext<Bomb>): Promise<Page<Bomb>> {
    if (query.kind === 'offset' && query.page === 1) throw thrown.value;
    return super.list(query, context);
  }

  override read(id: number, _query: ReadQuery, { response }: CrudContext<Bomb>): Promise<Bomb> {
    if (id === WRITES.headers) response.flushHeaders();
    if (id === WRITES.part) response.write('{"id":');
    if (id === WRITES.all) response.json({ written: true });
    if (id === WRITES.twice) {
      response.json({ written: true });
      return Promise.resolve(new Bomb());
    }
    throw thrown.value;
  }

  @Get('/now')
  now(): object {
    throw thrown.value;
  }

  @Get('/later')
  async later(): Promise<object> {
    throw thrown.value;
  }

  @Authorized()
  @Get('/guarded')
  guarded(): object {
    return { guarded: true };
  }

  @Get('/who')
  who(@CurrentUser() _user: object): object {
    return { who: true };
  }

  @UseInterceptor(() => {
    throw thrown.value;
  })
  @Get('/intercepted')
  intercepted(): object {
    return { intercepted: true };
  }

  @UseBefore(ThrowingMiddleware)
  @Get('/before')
  before(): object {
    return { before: true };
  }

  @UseBefore(RejectingMiddleware)
  @Get('/before-later')
  beforeLater(): object {
    return { before: true };
  }
}

@JsonController('/bunkers')
export class BunkerController {
  @Get('/')
  now(): object {
    throw thrown.value;
  }
}

/** Every path on which something throws. */
export const THROWING_PATHS: readonly string[] = (
  '/bombs /bombs/9 /bombs/now /bombs/later /bombs/guarded /bombs/who /bombs/intercepted ' +
  '/bombs/before /bombs/before-later /bunkers'
).split(' ');

/** Options of routing-controllers that throw too. */
export const THROWING_OPTIONS: Pick<
  RoutingControllersOptions,
  'authorizationChecker' | 'currentUserChecker'
> = {
  authorizationChecker: () => {
    throw thrown.value;
  },
  currentUserChecker: () => {
    throw thrown.value;
  },
};
