/** Tasks of tenants, for tests of known leaks: their rules may fail in any way, and controllers query in any way. */
import type { Request } from 'express';
import { Get, HttpError, Post } from 'routing-controllers';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  type Id,
  InjectRepository,
  InjectSession,
  InjectUnitOfWork,
  type ListQuery,
  type ModelClass,
  type ReadSession,
  Repository,
  type UnitOfWork,
  type UpdateValues,
} from '../../src/index.js';
import { NumberedRow } from '../models/rows.js';

/** Results of a rule that name no tenant, and the status of the answer then. */
export const FAILURES: Readonly<Record<string, readonly [rule: () => unknown, status: number]>> = {
  'gives undefined': [() => undefined, 403],
  'gives null': [() => null, 403],
  'gives a promise of undefined': [async () => undefined, 403],
  'gives an array with null in it': [() => ['A', null], 403],
  'gives an object': [() => ({ ne: 'A' }), 500],
  'gives a function': [() => () => 'A', 500],
  'gives EVERYTHING as one of several': [() => ['A', EVERYTHING], 500],
  'gives a number that is none': [() => Number('A'), 500],
  'gives a number that may be another one': [() => 2 ** 53, 500],
  'gives an array in an array': [() => [['A']], 500],
  'reads a principal that is not there': [() => (undefined as unknown as Request).url, 500],
  'throws an HttpError': [() => fail(new HttpError(401, 'Sign in.')), 401],
  'rejects with an HttpError': [async () => fail(new HttpError(401, 'Sign in.')), 401],
  'rejects with an error': [async () => fail(new Error('~secret')), 500],
  'throws undefined': [() => fail(undefined), 500],
  'rejects with nothing': [() => Promise.reject(), 500],
};

function fail(error: unknown): never {
  throw error;
}

export const tenantOf = (request: Request): never => {
  const [rule] = FAILURES[request.get('rule') ?? ''] ?? [() => request.get('tenant')];
  const answer = rule();
  if (answer === 'everything') return EVERYTHING as never;
  return (typeof answer === 'string' && answer.includes(',') ? answer.split(',') : answer) as never;
};

abstract class Owned extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false, field: 'tenant_id' }) declare tenant: string;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

const LISTS = { filterAllow: ['title', 'tenant', 'id'], sortAllow: ['title', 'tenant', 'id'] } as never;
const TABLE = {
  tableName: 'tasks',
  timestamps: true,
  paranoid: true,
  createdAt: false,
  updatedAt: false,
} as const;

@Crud({ ...(LISTS as object), scope: { tenant: tenantOf } })
@Table(TABLE)
export class Task extends Owned {}

@Crud({ ...(LISTS as object), prefix: '/walks', pagination: 'cursor', scope: { tenant: tenantOf } })
@Table(TABLE)
export class Walk extends Owned {}

/** Has a scope of its own, and no routes. */
@Crud({ scope: { title: (request) => request.get('title') } })
@Table({ tableName: 'unserved', timestamps: false })
export class Unserved extends Owned {}

/** Has the scope of `bootstrap`, and no options of its own. */
@Table({ tableName: 'undeclared', timestamps: false })
export class Undeclared extends Owned {}

export class TaskController extends crudController(Task) {
  override async list(query: ListQuery, context: CrudContext<Task>) {
    const page = await super.list(query, context);
    return { ...page, items: page.items };
  }
  override update(id: Id, values: UpdateValues<Task>, context: CrudContext<Task>) {
    return super.update(id, { ...values, title: `${values.title}!` }, context);
  }

  @Get('/of/others')
  async others(
    @InjectRepository(Unserved) unserved: Repository,
    @InjectRepository(Undeclared) rest: Repository,
  ) {
    const titles = async (rows: Repository) => (await rows.list()).map((row) => (row as Owned).title);
    return { unserved: await titles(unserved), undeclared: await titles(rest) };
  }

  @Get('/of/all')
  async all(@InjectRepository(Task) tasks: Repository<Task>) {
    return [(await tasks.list()).length, (await tasks.unscoped().list()).length];
  }

  @Get('/of/session')
  async session(@InjectSession() session: ReadSession, @InjectRepository(Task) tasks: Repository<Task>) {
    const joined = tasks.with(session);
    const { total } = await session.repository(Task).page({ page: 1, size: 1 });
    const [one, other] = [await joined.one({ title: 'a1' }), await joined.find(2)];
    return [total, (await joined.list()).length, one.id, other];
  }

  @Post('/of/unit')
  async unit(@InjectUnitOfWork() unit: UnitOfWork) {
    const tasks = unit.repository(Task);
    await tasks.create({ title: 'new' } as never);
    const seen = await tasks.list({ where: { title: ['new', 'b1'] } });
    const { total } = await unit.savepoint(() => tasks.page({ page: 1, size: 1 }));
    return { seen: seen.map(({ tenant }) => tenant), total, other: await tasks.find(2) };
  }
}

export const MODELS = [Task, Walk, Unserved, Undeclared] as ModelClass[];
export const SERVED = [Task, Walk] as ModelClass[];

class TaskRepository extends Repository<Task> {
  static override model = Task;

  async twice() {
    return [...(await this.list()), ...(await this.unscoped().list())].length;
  }
}

export class OwnTasks extends crudController(TaskRepository) {
  @Get('/of/both')
  async both(@InjectRepository(TaskRepository) tasks: TaskRepository) {
    return { tasks: await tasks.twice() };
  }
}
