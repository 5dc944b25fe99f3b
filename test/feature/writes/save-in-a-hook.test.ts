/** A record that hooks or methods of its model save once more within a write of a request. */
// @runs fast

import { expect } from 'chai';
import type { DestroyOptions, Model } from 'sequelize';
import { DataType } from 'sequelize-typescript';
import { filter, type ModelClass } from '../../../src/index.js';
import { KeyedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

const COLUMNS = { status: DataType.TEXT, note: DataType.TEXT };
const SOFT = { timestamps: true, createdAt: false, updatedAt: false, paranoid: true };
const VERSIONED = { timestamps: true, createdAt: false, updatedAt: false, version: true };

/** Saves a record once more, as it is by then. */
const sign = async (record: Model, { transaction }: DestroyOptions) => {
  await record.update({ note: 'signed' }, { transaction: transaction ?? null, hooks: false });
};
const visible = () => filter`status==open`;

abstract class Archived extends KeyedRow {
  override async destroy(options: DestroyOptions = {}): Promise<void> {
    await super.destroy(options);
    await sign(this, options);
  }
}

const Ticket = served('tickets', COLUMNS, {
  base: KeyedRow,
  crud: { visible },
  table: { hooks: { afterUpdate: sign } },
});
const Matter = served('matters', COLUMNS, {
  base: KeyedRow,
  crud: { visible },
  table: { ...VERSIONED, hooks: { afterUpdate: sign } },
});
const Doc = served('docs', COLUMNS, { base: Archived, crud: { prefix: '/archive' }, table: SOFT });
const Part = served('parts', COLUMNS, {
  base: KeyedRow,
  crud: { softDelete: { attribute: 'status', deleted: 'gone', alive: 'open' } },
  table: { ...VERSIONED, hooks: { afterDestroy: sign, afterRestore: sign } },
});
/** Its hook changes what no request does. */
const Chore = served('chores', COLUMNS, {
  base: KeyedRow,
  crud: { endpoints: ['read', 'update', 'updateMany'], filterAllow: ['id'] },
  table: {
    ...VERSIONED,
    hooks: {
      beforeUpdate(record: Model) {
        record.set('note' as never, `${record.get('note')}+` as never);
      },
    },
  },
});
const MODELS: readonly ModelClass[] = [Ticket, Matter, Doc, Part, Chore];

except(OF_MANY).describe('a record that is saved once more within a write', () => {
  const site = serveTestApp(() => ({ models: MODELS }));
  const rows = async (table: string) =>
    (await site.engine.sequelize.query(`SELECT note FROM ${table} ORDER BY id`))[0].map(
      (row) => (row as { note: string }).note,
    );

  beforeEach(async () => {
    for (const { tableName } of MODELS) {
      const version = [Matter, Part, Chore].some((each) => each.tableName === tableName)
        ? [', version', ', 0']
        : ['', ''];
      await site.engine.sequelize.query(
        `TRUNCATE ${tableName}; INSERT INTO ${tableName} (id, status, note${version[0]}) VALUES (1, 'open', 'x'${version[1]}), (2, 'open', 'x'${version[1]})`,
      );
    }
  });

  for (const path of ['tickets', 'matters'])
    it(`keeps both changes of /${path} where the first one hides it from the request`, async () => {
      const { status, body } = await site.agent.patch(`/${path}/1`).send({ status: 'closed' });
      expect([status, body.note]).to.deep.equal([200, 'signed']);
      expect(await rows(path)).to.deep.equal(['signed', 'x']);
    });

  for (const [path, table] of [
    ['archive', 'docs'],
    ['parts', 'parts'],
  ] as const)
    it(`keeps both changes of /${path} where the first one deletes it`, async () => {
      expect((await site.agent.delete(`/${path}/1`)).status).to.equal(204);
      expect(await rows(table)).to.deep.equal(['signed', 'x']);
    });

  it('is one record still where nothing but a hook changes it', async () => {
    const { agent } = site;
    const patch = async (body: object, path = '/chores/1') => (await agent.patch(path).send(body)).status;
    expect(await patch({})).to.equal(200);
    expect(await patch({ status: 'open' })).to.equal(200);
    expect(
      await patch(
        [
          { id: 1, status: 'open' },
          { id: 2, status: 'done' },
        ],
        '/chores',
      ),
    ).to.equal(200);
    expect(await patch({ status: 'done' }, '/chores?q=id=gt=0')).to.equal(200);
    const { body } = await agent.get('/chores/2');
    expect(body).to.include({ note: 'x++', version: 2 });
    expect((await agent.get('/chores/1')).body).to.include({ note: 'x++++', version: 4 });
  });
});
