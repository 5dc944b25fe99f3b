/** Row security with a driver that only Sequelize uses: statements of features have the settings of their request, too. */
import { expect } from 'chai';
import pg from 'pg';
import { BelongsToMany, Column, DataType, ForeignKey, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { TenantDatabase } from '../../support/tenant-database.js';
import { startTestApp } from '../../support/test-app.js';

@Crud({ endpoints: ['list', 'read'], links: { tags: { fields: ['title'] } } })
@Table({ tableName: 'boxes', timestamps: false })
class Box extends TitledRow {
  @BelongsToMany(
    () => Tag,
    () => Tagging,
  )
  declare tags?: Tag[];
}

@Crud({ endpoints: ['list'], aggregate: { group: ['title'] } })
@Table({ tableName: 'tags', timestamps: false })
class Tag extends TitledRow {}

@Table({ tableName: 'taggings', timestamps: false })
class Tagging extends Model {
  @ForeignKey(() => Box) @Column({ type: DataType.INTEGER, primaryKey: true }) declare boxId: number;
  @ForeignKey(() => Tag) @Column({ type: DataType.INTEGER, primaryKey: true }) declare tagId: number;
  @Column(DataType.TEXT) declare title: string;
}

const LINKS = `
  ALTER TABLE taggings ADD "boxId" int NOT NULL DEFAULT 1, ADD "tagId" int NOT NULL DEFAULT currval('taggings_id_seq'),
    DROP CONSTRAINT taggings_pkey, ADD PRIMARY KEY ("boxId", "tagId")`;

const REASON = 'it has methods list and read, with which no application has aggregates and links';

except({ session: REASON, records: REASON }).describe('row security with another driver', () => {
  let database: TenantDatabase;

  before(async () => {
    database = await TenantDatabase.create(['boxes', 'tags', 'taggings']);
    await database.control.query(`TRUNCATE taggings RESTART IDENTITY; ${LINKS}`);
    await database.reset();
  });

  const site = forSuite(() =>
    startTestApp({
      models: [Box, Tag, Tagging],
      database: { url: database.url() },
      engine: { createAll: false, dialectModule: { ...pg } },
      bootstrap: {
        models: [Box, Tag],
        indexAdvice: false,
        rls: { settings: (request) => ({ 'app.tenant': request.get('tenant') ?? '' }) },
      },
    }),
  );

  after(() => database[Symbol.asyncDispose]());

  const get = async (path: string) => {
    const { status, body } = await site.agent.get(path).set('tenant', 'tenant 0');
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.items;
  };

  it('shows the links of a tenant', async () => {
    const titles = [1, 17, 33, 49].map((id) => ({ id, title: `row ${id}`, link: { title: `row ${id}` } }));
    expect(await get('/boxes/1/tags?sort=id')).to.deep.equal(titles);
  });

  it('groups the rows of a tenant', async () => {
    const groups = await get('/tags/aggregate?group=title');
    expect(groups.map(({ group }: { group: { title: string } }) => group.title)).to.deep.equal(
      [1, 17, 33, 49].map((id) => `row ${id}`),
    );
  });
});
