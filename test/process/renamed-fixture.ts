/** Serves models with all plug-ins of a user, sends requests, and prints the answers and the log, as JSON. */
import 'reflect-metadata';
import express from 'express';
import {
  AllowNull,
  BeforeCount,
  BeforeCreate,
  Column,
  CreatedAt,
  DataType,
  DefaultScope,
  DeletedAt,
  Model,
  Table,
  UpdatedAt,
} from 'sequelize-typescript';
import { bootstrap, Crud, engineLifespan } from '../../src/index.js';
import { listen } from '../support/listen.js';

const seen: string[] = [];

@Crud()
@Table({ tableName: 'plains', timestamps: false })
class Plain extends Model {
  @AllowNull(false) @Column(DataType.STRING(9)) declare name: string;
}

@Crud()
@Table({ tableName: 'owns', version: true, paranoid: true })
@DefaultScope(() => ({ where: { isOpen: true } }))
class Own extends Model {
  @Column({ type: DataType.STRING(9), defaultValue: 'new' })
  get name(): string {
    return `${this.getDataValue('name')}!`;
  }
  set name(value: string) {
    this.setDataValue('name', value.trim());
  }

  @Column({ type: DataType.BOOLEAN, defaultValue: true }) declare isOpen: boolean;
  @CreatedAt declare made: Date;
  @UpdatedAt declare touched: Date;
  @DeletedAt declare gone: Date;

  @BeforeCreate
  static hear(own: Own): void {
    seen.push(`create ${own.getDataValue('name')}`);
  }

  @BeforeCount
  static hearCount(): void {
    seen.push('count');
  }
}

async function main(): Promise<void> {
  const warnings: string[] = [];
  const logger = {
    debug() {},
    info() {},
    warn: (line: string) => warnings.push(line),
    error: (line: unknown) => warnings.push(String(line)),
  };
  await using _engine = await engineLifespan(process.env['DATABASE_URL'] ?? '', {
    models: [Plain, Own],
    createAll: true,
  })();
  await Own.bulkCreate([{ name: 'shut', isOpen: false }, { name: 'open' }]);
  const app = express();
  const { routes } = await bootstrap(app, { logger, cursorSecret: 'x'.repeat(32) });
  await bootstrap(express(), { logger });
  await using site = await listen(app);
  const answers: unknown[] = [];
  const ask = async (method: string, path: string, body?: object): Promise<void> => {
    const answer = await fetch(`${site.url}${path}`, {
      method,
      ...(body ? { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } } : {}),
    });
    const text = (await answer.text()).replace(/"\d{4}-\d\d-\d\dT[\d:.]+Z"/g, '"a moment"');
    answers.push(`${method} ${path} ${answer.status} ${answer.headers.get('location') ?? ''} ${text}`);
  };
  for (const path of ['/plains', '/owns']) {
    await ask('POST', path, { name: path === '/owns' ? ' wide ' : 'wide' });
    await ask('POST', path, { name: 'much too long' });
    await ask('GET', `${path}/1`);
    await ask('GET', `${path}/2`);
    await ask('GET', `${path}/3`);
    await ask('PATCH', `${path}/3`, { name: 'narrow' });
    await ask('PATCH', `${path}/1`, { name: 'narrow' });
    await ask('GET', path);
    await ask('GET', `${path}?size=1`);
    await ask('DELETE', `${path}/1`);
    await ask('DELETE', `${path}/3`);
    await ask('GET', path);
  }
  await Own.findAll({ paranoid: false, order: ['id'] }).then((owns) =>
    answers.push(owns.map(({ id, isOpen }) => [id, isOpen])),
  );
  const fast = routes.filter(({ generalPathReasons }) => generalPathReasons.length === 0).length;
  process.stdout.write(JSON.stringify({ answers, seen, warnings, fast }));
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.stack : error}\n`);
  process.exitCode = 1;
});
