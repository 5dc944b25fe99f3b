/** The answer of a create is the row as it is afterwards, whatever hooks and triggers have made of it: its tag is of that row. */
import { expect } from 'chai';
import type { Transaction } from 'sequelize';
import { DataType, type Model } from 'sequelize-typescript';
import { forgetTriggers } from '../../../src/postgres/session/table-triggers.js';
import { KeyedRow, NumberedRow } from '../../models/rows.js';
import { served } from '../../models/served.js';
import { addedHook } from '../../support/added-hook.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SERVES_MANY } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

const { TEXT } = DataType;
const COLUMNS = { customer: { type: DataType.STRING(20), unique: true }, code: DataType.STRING(20) };
const ENDPOINTS = ['list', 'read', 'create', 'update', 'delete', 'replace'];
const MANY = SERVES_MANY ? ['createMany', 'upsert'] : [];
const Deed = served('deeds', COLUMNS, {
  crud: {
    etag: 'xmin',
    endpoints: [...ENDPOINTS, ...MANY],
    ...(SERVES_MANY ? { upsert: [['customer']] } : {}),
  },
});
const Open = served('open_deeds', COLUMNS, { table: { defaultScope: { where: { code: 'none' } } } });
const Private = served(
  'private_deeds',
  { customer: TEXT, code: TEXT },
  { table: { defaultScope: { attributes: { exclude: ['customer'] } } } },
);
const Marked = served(
  'marked_deeds',
  { ...COLUMNS, gone: DataType.DATE },
  { table: { paranoid: true, deletedAt: 'gone' } },
);
const Counted = served('counted_deeds', COLUMNS, { table: { version: true } });
const Keyed = served('keyed_deeds', COLUMNS, { base: KeyedRow, crud: { endpoints: ENDPOINTS } });

class Finding extends NumberedRow {
  static override findAll = async function findAll(this: typeof Finding, options: object) {
    const found: readonly Model[] = await Reflect.apply(NumberedRow.findAll, this, [options]);
    for (const each of [found ?? []].flat()) each.setDataValue('code' as never, '****' as never);
    return found as never;
  } as typeof NumberedRow.findAll;
}
const Found = served('found_deeds', COLUMNS, { base: Finding });

const MODELS = [Deed, Open, Private, Marked, Counted, Keyed, Found];
const TABLES = [
  'deeds',
  'open_deeds',
  'private_deeds',
  'marked_deeds',
  'counted_deeds',
  'keyed_deeds',
  'found_deeds',
];

/** Ways in which a table changes a new row once it is there. */
const CHANGES: Readonly<Record<string, (table: string) => string>> = {
  'a trigger for each row': (table) => `
    CREATE FUNCTION coded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE ${table} SET code = 'C' || NEW.id WHERE id = NEW.id; RETURN NULL; END $$;
    CREATE TRIGGER coded AFTER INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION coded()`,
  'a trigger for each statement': (table) => `
    CREATE FUNCTION coded() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      UPDATE ${table} SET code = 'C' || id WHERE code IS NULL; RETURN NULL; END $$;
    CREATE TRIGGER coded AFTER INSERT ON ${table} EXECUTE FUNCTION coded()`,
  'a rule': (table) => `
    CREATE RULE coded AS ON INSERT TO ${table} DO ALSO UPDATE ${table} SET code = 'C' || id WHERE code IS NULL`,
};
const BY_ROW = CHANGES['a trigger for each row'] as (table: string) => string;

describe('the answer of a create', () => {
  const site = serveTestApp(() => ({
    models: MODELS,
    bootstrap: { logger: new CapturedLog(), indexAdvice: false, idempotency: { principal: () => 'ann' } },
    minPool: 2,
  }));
  const query = async (text: string) => {
    await site.engine.sequelize.query(text);
    forgetTriggers(site.engine.sequelize);
  };

  beforeEach(() => emptyTables(site, ...TABLES));
  afterEach(async () => {
    await query('DROP FUNCTION IF EXISTS coded() CASCADE');
    for (const table of TABLES) await query(`DROP RULE IF EXISTS coded ON ${table}`);
  });

  /** Expects an answer to be what a read finds. */
  async function expectAsRead(
    answer: { readonly status: number; readonly body: object },
    path: string,
  ): Promise<void> {
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    expect(answer.body).to.deep.include({ customer: 'Ann', code: 'C1' });
    const read = await site.agent.get(path);
    expect(read.body).to.deep.equal(answer.body);
  }

  for (const [name, change] of Object.entries(CHANGES))
    it(`shows what ${name} has made of it`, async () => {
      await query(change('deeds'));
      await expectAsRead(await site.agent.post('/deeds').send({ customer: 'Ann' }), '/deeds/1');
    });

  it('shows it also where it is kept for a repeated request', async () => {
    await query(BY_ROW('deeds'));
    const send = () => site.agent.post('/deeds').set('Idempotency-Key', 'abc').send({ customer: 'Ann' });
    await expectAsRead(await send(), '/deeds/1');
    await expectAsRead(await send(), '/deeds/1');
  });

  it('shows it for a PUT that creates', async () => {
    await query(BY_ROW('keyed_deeds'));
    await expectAsRead(await site.agent.put('/keyed_deeds/1').send({ customer: 'Ann' }), '/keyed_deeds/1');
  });

  it('shows it for a row that a scope or its deletion hides', async () => {
    await query(BY_ROW('open_deeds'));
    const open = await site.agent.post('/open_deeds').send({ customer: 'Ann' });
    expect([open.status, open.body]).to.deep.equal([201, { id: 1, customer: 'Ann', code: 'C1' }]);
    await query('DROP FUNCTION coded() CASCADE');
    await query(BY_ROW('marked_deeds').replace('SET', 'SET gone = now(),'));
    const marked = await site.agent.post('/marked_deeds').send({ customer: 'Ann' });
    expect(marked.status).to.equal(201);
    expect(marked.body).to.deep.include({ id: 1, code: 'C1' });
  });

  it('shows it beside a version', async () => {
    await query(BY_ROW('counted_deeds').replace('SET', 'SET version = 7,'));
    const { body, headers } = await site.agent.post('/counted_deeds').send({ customer: 'Ann' });
    expect(body).to.deep.include({ code: 'C1', version: 7 });
    const changed = await site.agent
      .patch('/counted_deeds/1')
      .set('If-Match', String(headers['etag']))
      .send({ code: 'x' });
    expect(changed.status).to.equal(200);
  });

  it('is the row as it was inserted where a trigger has taken it away', async () => {
    await query(BY_ROW('deeds').replace(/UPDATE .* WHERE/, 'DELETE FROM deeds WHERE'));
    const { status, body } = await site.agent.post('/deeds').send({ customer: 'Ann' });
    expect([status, body]).to.deep.equal([201, { id: 1, customer: 'Ann', code: null }]);
  });

  if (SERVES_MANY)
    it('shows it for many', async () => {
      await query(BY_ROW('deeds'));
      const both = await site.agent.post('/deeds').send([{ customer: 'Ann' }, { customer: 'Ben' }]);
      const codes = ({ items }: { readonly items: readonly { readonly code: string }[] }) =>
        items.map(({ code }) => code);
      expect(codes(both.body)).to.deep.equal(['C1', 'C2']);
      const upserted = await site.agent.post('/deeds?on_conflict=customer').send({ customer: 'Cid' });
      expect([upserted.status, upserted.body]).to.deep.equal([201, { id: 3, customer: 'Cid', code: 'C3' }]);
      const others = await site.agent
        .post('/deeds?on_conflict=customer')
        .send([{ customer: 'Dan' }, { customer: 'Cid', code: 'x' }]);
      expect(codes(others.body)).to.deep.equal(['C4', 'x']);
      const each = await site.agent.post('/deeds?atomic=false').send([{ customer: 'Eve' }]);
      expect(each.body.items[0].item).to.deep.include({ customer: 'Eve', code: 'C5' });
    });

  for (const hook of ['afterCreate', 'afterSave'] as const)
    it(`shows what a hook ${hook} has made of it`, () =>
      withHook(
        Deed,
        hook,
        ({ id }: { readonly id: number }, { transaction }: { readonly transaction: Transaction }) =>
          Deed.update({ code: `C${id}` }, { where: { id }, transaction }),
        async () => {
          await expectAsRead(await site.agent.post('/deeds').send({ customer: 'Ann' }), '/deeds/1');
        },
      ));

  it('shows nothing that a scope leaves out and a hook has hidden, or that a hook has removed', async () => {
    for (const hide of [
      (deed: Model) => deed.setDataValue('customer' as never, null as never),
      (deed: Model) => Reflect.deleteProperty(deed.dataValues, 'customer'),
    ])
      await withHook(Private, 'afterCreate', hide, async () => {
        const { status, text } = await site.agent.post('/private_deeds').send({ customer: 'Ann', code: 'a' });
        expect(status).to.equal(201);
        expect(text).not.to.contain('Ann');
      });
  });

  it('shows a hook of reads the row once it is read again', () =>
    withHook(
      Deed,
      'afterCreate',
      () => {},
      () =>
        withHook(
          Deed,
          'afterFind',
          (found: Model | readonly Model[] | null) => {
            for (const each of [found ?? []].flat())
              (each as Model).setDataValue('code' as never, 'C1' as never);
          },
          async () => {
            await expectAsRead(await site.agent.post('/deeds').send({ customer: 'Ann' }), '/deeds/1');
          },
        ),
    ));

  for (const change of ['masked', 'removed'] as const)
    it(`shows no value that a hook of reads has ${change}`, async () => {
      const { agent } = site;
      const hide = (found: object) => {
        for (const each of [found ?? []].flat() as Model[])
          if (change === 'masked') each.setDataValue('code' as never, '****' as never);
          else Reflect.deleteProperty(each.dataValues, 'code');
      };
      const row = { customer: 'Ann', code: 'secret' };
      using _deeds = addedHook(Deed, 'afterFind', hide);
      using _keyed = addedHook(Keyed, 'afterFind', hide);
      const answers = [await agent.post('/deeds').send(row), await agent.put('/keyed_deeds/1').send(row)];
      const rows = [{ ...row, customer: 'Ben' }];
      if (SERVES_MANY) answers.push(await agent.post('/deeds').send(rows));
      if (SERVES_MANY)
        answers.push(await agent.post('/deeds?on_conflict=customer').send({ ...row, customer: 'Cid' }));
      for (const { status, text } of answers) {
        expect(status, text).to.equal(201);
        expect(text).not.to.contain('secret');
      }
      expect((await agent.get('/deeds/1')).body).to.deep.equal(answers[0]?.body);
    });

  it('shows no value that a finder of the model masks', async () => {
    const { status, body } = await site.agent.post('/found_deeds').send({ customer: 'Ann', code: 'secret' });
    expect([status, body]).to.deep.equal([201, { id: 1, customer: 'Ann', code: '****' }]);
    expect((await site.agent.get('/found_deeds/1')).body).to.deep.equal(body);
  });
});
