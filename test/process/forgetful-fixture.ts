/** An application with overrides that await nothing, which sends itself requests and prints how it goes on. */
import 'reflect-metadata';
import express from 'express';
import { Post } from 'routing-controllers';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import {
  bootstrap,
  Crud,
  type CrudContext,
  crudController,
  engineLifespan,
  InjectUnitOfWork,
  type UnitOfWork,
} from '../../src/index.js';
import { listen } from '../support/listen.js';

@Crud()
@Table({ tableName: 'apples', timestamps: false })
class Apple extends Model {
  @Column(DataType.TEXT) declare name: string | null;
}

const later = () => new Promise((resolve) => setTimeout(resolve, 50));

class Apples extends crudController(Apple) {
  override async create(values: object, context: CrudContext<Apple>): Promise<Apple> {
    const made = await super.create(values, context);
    void context.repository.update(7_777, { name: 'none' });
    return made;
  }

  @Post('/late')
  async late(@InjectUnitOfWork() unit: UnitOfWork): Promise<object> {
    const write = async () => {
      await later();
      await unit.repository(Apple).create({ name: 'late' });
    };
    void write();
    return {};
  }
}

async function main(): Promise<void> {
  const app = express();
  await using _engine = await engineLifespan(process.env['DATABASE_URL'] as string, {
    models: [Apple],
    createAll: true,
  })(app);
  const lines: string[] = [];
  const log = (message: string, details: object = {}) => {
    const { error, stack } = details as { error?: string; stack?: string };
    lines.push(
      [message, error, /unit of work is over/.test(stack ?? '') ? 'over' : undefined]
        .filter(Boolean)
        .join(': '),
    );
  };
  const logger = { debug() {}, info() {}, warn: log, error: log };
  await bootstrap(app, {
    models: [Apple],
    controllers: [Apples],
    logger,
    fastPath: process.argv[2] !== 'general',
  });
  await using server = await listen(app);
  for (const [path, count] of [
    ['/apples', 2],
    ['/apples/late', 1],
  ] as const) {
    const headers = { 'Content-Type': 'application/json' };
    const { status } = await fetch(`${server.url}${path}`, { method: 'POST', headers, body: '{"name":"A"}' });
    const deadline = Date.now() + 5_000;
    while (lines.length < count && Date.now() < deadline) await later();
    process.stdout.write(`${JSON.stringify({ path, status, lines: lines.splice(0) })}\n`);
  }
  process.stdout.write(`${JSON.stringify((await Apple.findAll()).map(({ name }) => name))}\n`);
}

void main();
