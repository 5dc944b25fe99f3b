/** A foreign key names a live row: one that is soft-deleted is as missing as one that was never there. */
import { expect } from 'chai';
import { Body, Post } from 'routing-controllers';
import { BelongsTo, Column, DataType, ForeignKey, Table } from 'sequelize-typescript';
import type { Response } from 'supertest';
import {
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  InjectUnitOfWork,
  type UnitOfWork,
} from '../../../src/index.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp, startTestApp, type TestApp } from '../../support/test-app.js';

class Kept extends NumberedRow {}

const SOFT = { createdAt: false, updatedAt: false, paranoid: true } as const;

@Crud({ can: { deleted: true } })
@Table({ ...SOFT, tableName: 'orgs' })
class Org extends Kept {}

/** A model whose rows are deleted at any moment but NULL. */
@Crud()
@Table({ ...SOFT, tableName: 'sites', deletedAt: 'ended' })
class Site extends Kept {
  @Column({ type: DataType.DATE, allowNull: false, defaultValue: new Date('9999-12-31T00:00:00Z') })
  declare ended: Date;
}

@Crud({ prefix: '/emps', endpoints: ['list', 'read', 'create', 'update', 'delete', 'restore'] })
@Table({ ...SOFT, tableName: 'emps' })
class Emp extends Kept {
  @ForeignKey(() => Org) @Column(DataType.INTEGER) declare orgId: number | null;
  @BelongsTo(() => Org, 'orgId') declare org?: Org;
  @ForeignKey(() => Site) @Column(DataType.INTEGER) declare siteId: number | null;
  @BelongsTo(() => Site, 'siteId') declare site?: Site;
  @ForeignKey(() => Emp) @Column(DataType.INTEGER) declare chiefId: number | null;
  @Column(DataType.STRING(20)) declare name: string | null;
}

/** A model whose key may name rows of two models, and rows that do not exist. */
@Crud({ prefix: '/remarks' })
@Table({ tableName: 'remarks', timestamps: false })
class Remark extends Kept {
  @Column(DataType.INTEGER) declare aboutId: number | null;
  @BelongsTo(() => Org, { foreignKey: 'aboutId', constraints: false }) declare org?: Org;
  @BelongsTo(() => Site, { foreignKey: 'aboutId', constraints: false }) declare site?: Site;
}

@Crud({ prefix: '/chosen', endpoints: ['read', 'replace'] })
@Table({ tableName: 'chosen', timestamps: false })
class Chosen extends KeyedRow {
  @ForeignKey(() => Org) @Column(DataType.INTEGER) declare orgId: number | null;
}

class ChosenController extends crudController(Chosen) {
  @Post('/added')
  added(@Body() { orgId }: { orgId: number }, @InjectUnitOfWork() unit: UnitOfWork) {
    return unit.repository(Emp).create({ orgId });
  }
}

class EmpController extends crudController(Emp) {
  override create(values: CreateValues<Emp>, { repository }: CrudContext<Emp>) {
    return repository.create(values);
  }
}

@Crud({ prefix: '/many', endpoints: ['list', 'createMany', 'updateMany'], filterAllow: ['id'] })
@Table({ tableName: 'many', timestamps: false })
class Many extends Kept {
  @ForeignKey(() => Org) @Column(DataType.INTEGER) declare orgId: number | null;
}

@Crud({ scope: { id: () => [1, 2] } })
@Table({ ...SOFT, tableName: 'owned' })
class Owned extends Kept {}

@Crud({ prefix: '/owners' })
@Table({ tableName: 'owners', timestamps: false })
class Owner extends Kept {
  @ForeignKey(() => Owned) @Column(DataType.INTEGER) declare ownedId: number | null;
}

async function fill({ engine }: TestApp): Promise<void> {
  await engine.sequelize.query(`
    TRUNCATE emps, remarks, chosen, orgs, sites RESTART IDENTITY CASCADE;
    INSERT INTO orgs ("deletedAt") VALUES (NULL), (now());
    INSERT INTO sites (ended) VALUES ('9999-12-31T00:00:00Z'), (now());
    INSERT INTO emps ("orgId", "deletedAt") VALUES (1, NULL), (2, NULL), (2, now())`);
}

for (const overridden of [false, true]) {
  describe(`a foreign key to soft-deleted rows${overridden ? ', behind overrides' : ''}`, () => {
    const site = serveTestApp(() => {
      const controllers = [ChosenController, ...(overridden ? [EmpController] : [])];
      return { models: [Org, Site, Emp, Remark, Chosen], bootstrap: { controllers } };
    });

    beforeEach(() => fill(site));

    /** Expects an answer to a row that is deleted to be that to one of no row. */
    async function expectMissing(send: (id: number) => PromiseLike<Response>): Promise<void> {
      const deleted = await send(2);
      const missing = await send(9);
      expect(deleted.status, deleted.text).to.equal(409);
      expect(deleted.body).to.deep.equal(missing.body);
      expect((await send(1)).status).to.be.below(300);
    }

    for (const attribute of ['orgId', 'siteId']) {
      it(`[P11] is 409 for ${attribute}, as one that names no row`, async () => {
        const { agent } = site;
        await expectMissing((id) => agent.post('/emps').send({ [attribute]: id }));
        await expectMissing((id) => agent.patch('/emps/1').send({ [attribute]: id, name: 'x' }));
      });
    }

    it('is 409 for a row of its own table', async () => {
      const { agent } = site;
      await site.engine.sequelize.query('UPDATE emps SET "deletedAt" = now() WHERE id = 2');
      await expectMissing((id) => agent.post('/emps').send({ chiefId: id }));
    });

    it('is 409 in a replacement, and in repositories', async () => {
      const { agent } = site;
      await expectMissing((id) => agent.put('/chosen/1').send({ orgId: id }));
      await expectMissing((id) => agent.post('/chosen/added').send({ orgId: id }));
    });

    it('[P11] stays where it was: records that refer to a deleted one are changed and restored', async () => {
      const { agent } = site;
      expect((await agent.patch('/emps/2').send({ name: 'y' })).body).to.include({ orgId: 2, name: 'y' });
      expect((await agent.post('/emps/3/restore')).body).to.include({ orgId: 2 });
      expect((await agent.patch('/emps/2').send({ orgId: null })).body).to.include({ orgId: null });
    });

    it('is not asked about where it has no constraint', async () => {
      const { agent } = site;
      for (const aboutId of [1, 2, 9])
        expect((await agent.post('/remarks').send({ aboutId })).status).to.equal(201);
    });
  });
}

describe('a foreign key to soft-deleted rows with a scope', () => {
  it('names one that is alive and in the scope', async () => {
    await using site = await startTestApp({ models: [Owned, Owner] });
    await site.engine.sequelize.query(
      'INSERT INTO owned ("deletedAt") VALUES (NULL), (now()), (NULL), (now())',
    );
    const send = async (ownedId: number) => (await site.agent.post('/owners').send({ ownedId })).status;
    expect(await Promise.all([1, 2, 3, 4, 9].map(send))).to.deep.equal([201, 409, 409, 409, 409]);
  });
});

except(OF_MANY).describe('foreign keys of many records to soft-deleted rows', () => {
  it('are 409, and nothing is written', async () => {
    await using site = await startTestApp({ models: [Org, Many], bootstrap: { indexAdvice: false } });
    const { agent, engine } = site;
    await engine.sequelize.query(
      'INSERT INTO orgs ("deletedAt") VALUES (NULL), (now()); INSERT INTO many DEFAULT VALUES',
    );
    for (const send of [
      (id: number) => agent.post('/many').send([{ orgId: 1 }, { orgId: id }]),
      (id: number) => agent.patch('/many').send([{ id: 1, orgId: id }]),
      (id: number) => agent.patch('/many?q=id==1').send({ orgId: id }),
    ]) {
      const deleted = await send(2);
      expect(deleted.status, deleted.text).to.equal(409);
      expect(deleted.body).to.deep.equal((await send(9)).body);
    }
    expect((await agent.get('/many')).body.items).to.deep.equal([{ id: 1, orgId: null }]);
    expect((await agent.patch('/many?q=id==1').send({ orgId: 1 })).body).to.deep.equal({ affected: 1 });
  });
});
