/** Histories and feeds of models with a default scope: images have what it reads, and nobody is shown more of them. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { literal, QueryTypes } from 'sequelize';
import { Column, DataType, DefaultScope, Table } from 'sequelize-typescript';
import { Crud, type CrudOptions } from '../../../src/index.js';
import { NumberedRow, TitledRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { except } from '../../support/combination.js';
import { configProblems } from '../../support/config-error.js';
import { attach } from '../../support/offline-models.js';
import { eventsOf, pastOf, TICK } from '../../support/read-the-past.js';
import { serveTestApp } from '../../support/test-app.js';

const OPTIONS = {
  can: { history: true, deleted: true },
  history: true,
  changes: true,
  endpoints: ['list', 'read', 'create', 'update', 'history', 'revert'],
} satisfies CrudOptions;

/** Texts of the scope are the names of the model and of a hidden column. */
@DefaultScope(() => ({ where: { role: ['user', 'secret'] } }))
@Crud({ ...OPTIONS, prefix: '/users' })
@Table({ tableName: 'users', timestamps: false })
class user extends NumberedRow {
  @Column(DataType.TEXT) declare role: string;
  @Column(DataType.TEXT) declare name: string | null;
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
}

/** A part of the name that the scope reads is that of a BLOB. */
@DefaultScope(() => ({ where: { photoApproved: true } }))
@Crud({ ...OPTIONS, prefix: '/badges' })
@Table({ tableName: 'badges', timestamps: false })
class Badge extends TitledRow {
  @Column(DataType.BLOB) declare photo: Buffer | null;
  @Column(DataType.BOOLEAN) declare photoApproved: boolean;
}

@DefaultScope(() => ({ where: { level: 1 } }))
@Crud({ ...OPTIONS, prefix: '/reports' })
@Table({ tableName: 'reports', timestamps: false })
class Report extends TitledRow {
  @Exclude() @Column({ type: DataType.INTEGER, field: 'security_level' }) declare level: number;
}

/** An update stores what has changed, and what the scope reads. */
@DefaultScope(() => ({ where: { isOpen: true } }))
@Crud({
  ...OPTIONS,
  endpoints: ['read', 'history'],
  changes: false,
  history: { images: 'changed' },
  prefix: '/doors',
})
@Table({ tableName: 'doors', timestamps: false })
class Door extends TitledRow {
  @Column(DataType.BOOLEAN) declare isOpen: boolean;
}

@DefaultScope(() => ({ where: { photo: null } }))
@Crud({ changes: true })
@Table({ tableName: 'a', timestamps: false })
class Pictured extends NumberedRow {
  @Column(DataType.BLOB) declare photo: Buffer | null;
}

@DefaultScope(() => ({ where: { level: 1 } }))
@Crud({ history: { exclude: ['level'] } })
@Table({ tableName: 'b', timestamps: false })
class Excluded extends NumberedRow {
  @Column(DataType.INTEGER) declare level: number;
}

@DefaultScope(() => ({ where: literal('"Whole" IS NOT NULL') }))
@Crud({ changes: true })
@Table({ tableName: 'c', timestamps: false })
class Whole extends TitledRow {
  @Exclude() @Column(DataType.TEXT) declare secret: string | null;
}

@DefaultScope(() => ({ where: literal('"Part" IS NOT NULL') }))
@Crud({ history: { images: 'changed' } })
@Table({ tableName: 'd', timestamps: false })
class Part extends TitledRow {}

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('the past under a default scope', () => {
  const site = serveTestApp(() => ({
    models: [user, Badge, Report, Door],
    bootstrap: { changes: { tick: TICK }, indexAdvice: false },
  }));
  const run = (text: string) => site.engine.sequelize.query(text);

  it('is whole where a text of the scope is the name of something', async () => {
    await run(`INSERT INTO users VALUES (1, 'user', 'Ann', 'x'); UPDATE users SET name = 'Bea'`);
    await run(`INSERT INTO badges VALUES (1, 'a', NULL, true); UPDATE badges SET title = 'b'`);
    for (const path of ['/users', '/badges']) {
      expect((await pastOf(site.agent, `${path}/1/history`)).map(({ op }) => op)).to.deep.equal([
        'update',
        'create',
      ]);
      expect(await eventsOf(site.agent, `${path}/changes`)).to.deep.equal(['create 1', 'update 1']);
    }
    const images = await site.engine.sequelize.query<{ images: object }>(
      `SELECT concat(old, new) AS images FROM crud_changes WHERE source IN ('users', 'badges')`,
      { type: QueryTypes.SELECT },
    );
    expect(JSON.stringify(images)).to.not.match(/secret|photo"/);
  });

  it('is judged by an attribute that no answer shows, and shows none of it', async () => {
    await run(`INSERT INTO reports VALUES (1, 'a', 1), (2, 'b', 2); UPDATE reports SET title = 'c'`);
    await run(`UPDATE reports SET security_level = 3 - security_level`);
    expect(await eventsOf(site.agent, '/reports/changes')).to.deep.equal([
      'create 1',
      'update 1',
      'delete 1',
      'create 2',
    ]);
    const second = await pastOf(site.agent, '/reports/2/history');
    expect(second.map(({ op, changed }) => [op, changed])).to.deep.equal([['create', ['id', 'title']]]);
    const { body } = await site.agent.get('/reports/1/history').expect(200);
    expect(body.items.map(({ op }: { op: string }) => op)).to.deep.equal(['delete', 'update', 'create']);
    expect(JSON.stringify(body)).to.not.include('evel');
    const { body: asked } = await site.agent.get('/reports/2/history?fields=level').expect(400);
    expect(JSON.stringify(asked.errors)).to.include('fields');
  });

  it('reverts no attribute that no answer shows', async () => {
    await run(`INSERT INTO reports VALUES (3, 'a', 1); UPDATE reports SET title = 'b' WHERE id = 3`);
    const [, created] = await pastOf(site.agent, '/reports/3/history');
    await run(`UPDATE crud_changes SET new = new || '{"security_level": 1}' WHERE id = ${created?.id}`);
    const { body } = await site.agent.post('/reports/3/revert').send({ to: created?.id }).expect(200);
    expect(body).to.deep.equal({ id: 3, title: 'a', skipped: [] });
  });

  it('has updates of which only the changed values are stored', async () => {
    await run(`INSERT INTO doors VALUES (1, 'a', true); UPDATE doors SET title = 'b'`);
    const [update, ...others] = await pastOf(site.agent, '/doors/1/history');
    expect(update?.changes).to.deep.equal({ title: { from: 'a', to: 'b' } });
    expect(others).to.have.length(1);
  });
});

describe('a default scope of a model whose changes are stored', () => {
  it('is refused where it reads values that are not stored', async () => {
    attach(Pictured, Excluded, Whole, Part);
    const models = [Pictured, Excluded, Whole, Part];
    const problems = (await configProblems(() => buildApp({ models }))).join('\n');
    expect(problems).to.include("Pictured: changes: the default scope reads 'photo', a BLOB");
    expect(problems).to.match(/Excluded: history\.exclude names 'level', which the .*default scope/);
    expect(problems).to.include('Whole: changes: a literal of the default scope may read the row as a whole');
    expect(problems).to.include("without 'secret'");
    expect(problems).to.include('Part: history: a literal of the default scope may read the row as a whole');
  });
});
