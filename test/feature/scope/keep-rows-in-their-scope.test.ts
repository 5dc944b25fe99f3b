/** A row is written with the scope of its request, whatever hooks, setters, defaults and code of the application's set. */
import { expect } from 'chai';
import type { Request } from 'express';
import type { Transaction } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  EVERYTHING,
  type ModelClass,
  type UpdateValues,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { serveTestApp } from '../../support/test-app.js';
import { TwoPaths, type WholeRequest } from '../../support/two-paths.js';
import { withHook } from '../../support/with-hook.js';

const tenantOf = (request: Request) => {
  const text = request.get('tenant');
  if (text === 'all') return EVERYTHING;
  return text?.includes(',') ? text.split(',').map(Number) : Number(text);
};

@Crud({ scope: { tenantId: tenantOf } })
@Table({ tableName: 'papers', timestamps: false })
class Paper extends NumberedRow {
  @Column({ type: DataType.INTEGER, field: 'tenant_id' }) declare tenantId: number | null;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

@Crud({ scope: { tenantId: tenantOf } })
@Table({ tableName: 'defaults', timestamps: false })
class Default extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 2 }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare title: string;
}

@Crud({ scope: { tenantId: tenantOf } })
@Table({ tableName: 'setters', timestamps: false })
class Setter extends NumberedRow {
  @Column({
    type: DataType.INTEGER,
    set(this: Setter) {
      this.setDataValue('tenantId', 2);
    },
  })
  declare tenantId: number;

  @Column({
    type: DataType.TEXT,
    set(this: Setter, title: string) {
      this.setDataValue('title', title);
      this.setDataValue('tenantId', 2);
    },
  })
  declare title: string;
}

const models = [Paper, Default, Setter] as unknown as ModelClass[];

/** Ways in which a hook may try to move a record. */
const MOVES: Readonly<Record<string, (record: Paper, options: { fields?: string[] }) => void>> = {
  'sets the attribute': (record) => {
    record.tenantId = 2;
  },
  'sets the stored value': (record) => {
    record.setDataValue('tenantId', 2);
    record.dataValues['tenantId'] = 2;
  },
  'has other values written': (record, { fields }) => {
    record.set({ tenantId: 2 }, { raw: true });
    fields?.push('tenantId');
  },
};

describe('a row within a scope', () => {
  const paths = forSuite(() => TwoPaths.start({ models, bootstrap: { logger: new CapturedLog() } }));

  beforeEach(seed);

  async function seed(): Promise<void> {
    await Paper.sequelize?.query(`
      DELETE FROM papers; DELETE FROM defaults; DELETE FROM setters;
      SELECT setval('papers_id_seq', 1, true), setval('defaults_id_seq', 1, true), setval('setters_id_seq', 1, true);
      INSERT INTO papers (id, tenant_id, title) VALUES (1, 1, 'a');
      INSERT INTO setters (id, "tenantId", title) VALUES (1, 1, 'a')`);
  }

  async function ask(method: string, path: string, body: object, tenant = '1') {
    const request: WholeRequest = { method, path, body, headers: { tenant } };
    await seed();
    const { status, body: text } = await paths.same(request, seed);
    return { status, body: JSON.parse(text) };
  }

  for (const name of 'beforeValidate afterValidate beforeCreate beforeUpdate beforeSave'.split(' ')) {
    for (const [title, move] of Object.entries(MOVES)) {
      it(`stays where it is when ${name} ${title}`, async () =>
        await withHook(Paper, name, move, async () => {
          const { body: created } = await ask('POST', '/papers', { title: 'x' });
          expect(created).to.deep.equal({ id: 2, tenantId: 1, title: 'x' });
          expect(await Paper.count({ where: { tenantId: 1 } })).to.equal(2);
          const { body: changed } = await ask('PATCH', '/papers/1', { title: 'x' });
          expect(changed).to.deep.equal({ id: 1, tenantId: 1, title: 'x' });
          expect(await Paper.count({ where: { tenantId: 2 } })).to.equal(0);
        }));
    }
  }

  it('is not written where a hook moves it all the same', async () => {
    const replace = (record: Paper): void => {
      record.dataValues = { ...record.dataValues, tenantId: 2 };
      record.changed('tenantId', true);
    };
    const rewrite = async ({ id }: Paper, { transaction }: { transaction?: null }) => {
      await Paper.update({ tenantId: 2 }, { where: { id }, hooks: false, transaction: transaction ?? null });
    };
    for (const [name, move] of [
      ['beforeSave', replace],
      ['afterSave', rewrite],
    ] as const) {
      await withHook(Paper, name, move, async () => {
        expect((await ask('POST', '/papers', { title: 'x' })).status).to.equal(500);
        expect((await ask('PATCH', '/papers/1', { title: 'x' })).status).to.equal(500);
        expect(await Paper.findAll({ raw: true })).to.deep.equal([{ id: 1, tenantId: 1, title: 'a' }]);
      });
    }
  });

  it('has what its request is for, and not the default of its model', async () => {
    const create = (tenant: string, body: object) =>
      ask('POST', '/defaults', { title: 'x', ...body }, tenant);
    expect((await create('1', {})).body).to.include({ tenantId: 1 });
    expect((await create('all', {})).body).to.include({ tenantId: 2 });
    expect((await create('1,3', { tenantId: 3 })).body).to.include({ tenantId: 3 });
    const refused = await create('1,3', {});
    expect(refused.status).to.equal(422);
    const detail = 'tenantId is required.';
    expect(refused.body.errors).to.deep.equal([{ pointer: '/tenantId', code: 'isDefined', detail }]);
  });

  it('is not moved by setters', async () => {
    expect((await ask('POST', '/setters', { title: 'x' })).body).to.include({ tenantId: 1, title: 'x' });
    expect((await ask('PATCH', '/setters/1', { title: 'x' })).body).to.include({ tenantId: 1, title: 'x' });
  });

  it('belongs to nobody without a tenant', async () => {
    const orphan = async () => {
      await seed();
      await Paper.create({ id: 9, tenantId: null, title: 'x' });
    };
    for (const [tenant, status] of [
      ['1', 404],
      ['1,2', 404],
      ['all', 200],
    ] as const) {
      await orphan();
      const headers = { tenant };
      expect((await paths.same({ path: '/papers/9', headers })).status).to.equal(status);
      const change = { method: 'PATCH', path: '/papers/9', body: { title: 'y' }, headers };
      const changed = await paths.same(change, orphan);
      expect(changed.status).to.equal(status);
    }
  });
});

describe('code of the application within a scope', () => {
  const site = serveTestApp(() => ({
    models,
    bootstrap: { controllers: [PaperController], logger: new CapturedLog() },
  }));
  /** Values that an override adds. */
  let added: Record<string, unknown> = {};
  let isCaught = false;

  class PaperController extends crudController(Paper) {
    override async create(values: CreateValues<Paper>, context: CrudContext<Paper>) {
      return super.create({ ...values, ...added }, context);
    }

    override async update(id: number, values: UpdateValues<Paper>, { repository }: CrudContext<Paper>) {
      return unitOfWork(async (unit) => {
        const inside = repository.with(unit);
        const change = inside.update(id, { ...values, ...added });
        return isCaught ? change.catch(() => inside.get(id)) : change;
      });
    }
  }

  beforeEach(async () => {
    added = {};
    isCaught = false;
    await site.engine.sequelize.query(`
      DELETE FROM papers; SELECT setval('papers_id_seq', 1, true);
      INSERT INTO papers (id, tenant_id, title) VALUES (1, 1, 'a')`);
  });

  const create = (tenant: string, more = {}) => {
    const body = { title: 'x', ...more };
    return site.agent.post('/papers').set('tenant', tenant).send(body);
  };
  const update = (tenant: string) => site.agent.patch('/papers/1').set('tenant', tenant).send({ title: 'x' });

  it('may write the same value', async () => {
    added = { tenantId: 1 };
    expect((await create('1')).body).to.include({ tenantId: 1 });
    expect((await update('1')).body).to.include({ tenantId: 1, title: 'x' });
    expect((await create('1,2', { tenantId: 2 })).body).to.include({ tenantId: 1 });
  });

  it('is refused another one', async () => {
    for (const tenantId of [2, null]) {
      added = { tenantId };
      for (const send of [create('1'), create('1,3', { tenantId: 3 }), update('1'), update('1,3')])
        await send.expect(403, { detail: 'This request may not write Paper with this tenantId.' });
    }
    expect(await Paper.findAll({ raw: true })).to.deep.equal([{ id: 1, tenantId: 1, title: 'a' }]);
  });

  it('commits no row that a hook has moved, even if the error is caught', async () => {
    isCaught = true;
    const move = ({ id }: Paper, { transaction = null }: { transaction?: Transaction | null } = {}) =>
      Paper.update({ tenantId: 2 }, { where: { id }, hooks: false, transaction });
    const { status } = await withHook(Paper, 'afterSave', move, () => update('1'));
    expect(status).to.equal(500);
    expect(await Paper.findAll({ raw: true })).to.deep.equal([{ id: 1, tenantId: 1, title: 'a' }]);
  });
});
