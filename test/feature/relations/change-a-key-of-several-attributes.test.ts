/** A change of a foreign key of several columns, some of which no change may set: those are the ones of the row itself. */
// @runs fast
import { expect } from 'chai';
import type { Request } from 'express';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import {
  BelongsToKey,
  Crud,
  type CrudController,
  crudController,
  EVERYTHING,
  filter,
  type ModelClass,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY, SERVES_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { wholeOr } from '../../support/short.js';
import { ask, TwoPaths } from '../../support/two-paths.js';

const tenantId = (request: Request) => {
  const text = request.get('tenants') ?? 'all';
  return text === 'all' ? EVERYTHING : text.split(',').map(Number);
};
const MANY = SERVES_MANY ? (['updateMany'] as const) : [];

@Crud({ scope: { tenantId }, visible: () => filter`name!=hidden`, id: ['id'] } as object)
@Table({ tableName: 'customers', timestamps: false })
class Customer extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare tenantId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

/** The server makes its key. */
@Crud({
  scope: { tenantId },
  endpoints: ['read', 'create', 'update', 'replace', ...MANY],
  filterAllow: ['text'],
} as object)
@Table({ tableName: 'invoices', timestamps: false })
class Invoice extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column(DataType.INTEGER) declare customerId: number | null;
  @Column(DataType.INTEGER) declare payerId: number | null;
  @Column(DataType.TEXT) declare text: string | null;
  @BelongsToKey(() => Customer, { tenantId: 'tenantId', customerId: 'id' }) declare customer?: Customer;
  @BelongsToKey(() => Customer, { payerId: 'id', tenantId: 'tenantId' }) declare payer?: Customer;
}

/** Clients send its key. */
@Crud({
  scope: { tenantId },
  endpoints: ['read', 'create', 'update', 'replace', ...MANY, ...(SERVES_MANY ? ['upsert'] : [])],
  ...(SERVES_MANY ? { upsert: [['code']] } : {}),
} as object)
@Table({ tableName: 'tickets', timestamps: false })
class Ticket extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare code: string;
  @Column({ type: DataType.INTEGER, allowNull: false }) declare tenantId: number;
  @Column(DataType.INTEGER) declare customerId: number | null;
  @BelongsToKey(() => Customer, { tenantId: 'tenantId', customerId: 'id' }) declare customer?: Customer;
}

@Crud({ visible: () => filter`name!=hidden` } as object)
@Table({ tableName: 'phases', timestamps: false })
class Phase extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare projectId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare no: number;
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

/** A part of the foreign key is in its own key. */
@Crud({ endpoints: ['read', 'create', 'update', 'replace', ...MANY], filterAllow: ['at'] } as object)
@Table({ tableName: 'steps', timestamps: false })
class Step extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare projectId: number;
  @PrimaryKey @Column(DataType.INTEGER) declare at: number;
  @Column(DataType.INTEGER) declare phaseNo: number | null;
  @BelongsToKey(() => Phase, { projectId: 'projectId', phaseNo: 'no' }) declare phase?: Phase;
}

/** A rule keeps a part of the foreign key, which may be NULL, and no body has the other part of the second one. */
@Crud({ fields: { projectId: { update: false } }, readOnly: ['otherId'] } as object)
@Table({
  tableName: 'kept',
  timestamps: false,
  defaultScope: { attributes: { exclude: ['otherId'] } },
})
class Kept extends NumberedRow {
  @Column(DataType.INTEGER) declare projectId: number | null;
  @Column(DataType.INTEGER) declare otherId: number | null;
  @Column(DataType.INTEGER) declare phaseNo: number | null;
  @Column(DataType.INTEGER) declare otherNo: number | null;
  @BelongsToKey(() => Phase, { projectId: 'projectId', phaseNo: 'no' }) declare phase?: Phase;
  @BelongsToKey(() => Phase, { otherId: 'projectId', otherNo: 'no' }) declare other?: Phase;
}

/** Each part of its foreign key may be NULL. */
@Crud({
  endpoints: ['read', 'create', 'update', ...(SERVES_MANY ? ['upsert', 'createMany'] : [])],
  ...(SERVES_MANY ? { upsert: [['code']] } : {}),
} as object)
@Table({ tableName: 'marks', timestamps: false })
class Mark extends Model {
  @PrimaryKey @Column(DataType.TEXT) declare code: string;
  @Column(DataType.INTEGER) declare projectId: number | null;
  @Column(DataType.INTEGER) declare phaseNo: number | null;
  @BelongsToKey(() => Phase, { projectId: 'projectId', phaseNo: 'no' }) declare phase?: Phase;
}

const models = [Customer, Invoice, Ticket, Phase, Step, Kept, Mark] as unknown as ModelClass[];
const passing = [Invoice, Ticket, Step, Kept].map(
  (each) => passingController(crudController(each as never)) as unknown as new () => CrudController,
);

// In short without overrides, whose writes are those of the general path.
for (const isOverridden of wholeOr([false], [false, true]))
  describe(`a change of a key of several attributes${isOverridden ? ', behind overrides' : ''}`, () => {
    const paths = forSuite(() =>
      TwoPaths.start({
        models,
        bootstrap: { controllers: isOverridden ? passing : [], logger: new CapturedLog() },
      }),
    );
    const reset = () =>
      paths.site.engine.sequelize.query(`
        TRUNCATE customers, invoices, tickets, phases, steps, kept, marks RESTART IDENTITY;
        INSERT INTO customers ("tenantId", id, name) VALUES (1, 7, 'ours'), (1, 8, 'also'), (1, 9, 'hidden'), (2, 7, 'hidden'), (2, 8, 'theirs');
        INSERT INTO invoices ("tenantId", "customerId", text) VALUES (1, 8, 'a'), (1, NULL, 'a'), (2, 8, 'b');
        INSERT INTO tickets (code, "tenantId", "customerId") VALUES ('A', 1, 8), ('B', 2, 8);
        INSERT INTO phases ("projectId", no, name) VALUES (1, 1, 'one'), (1, 2, 'hidden'), (2, 2, 'two');
        INSERT INTO marks (code, "projectId", "phaseNo") VALUES ('M', 1, 1);
        INSERT INTO steps ("projectId", at, "phaseNo") VALUES (1, 5, 1), (1, 6, NULL), (2, 5, 2);
        INSERT INTO kept ("projectId", "otherId") VALUES (1, 1), (NULL, NULL)`);

    /** The answer of each path. */
    const send = async (method: string, path: string, body: unknown, tenants = 'all') => {
      const request = { method, path, body, headers: { tenants } };
      const answers = [];
      for (const way of [
        () => ask(paths.fast, request),
        () => ask(paths.general, request),
        () => paths.withHooks(() => ask(paths.general, request)),
      ]) {
        await reset();
        const { status, body: text } = await way();
        answers.push({ status, body: JSON.parse(text) });
      }
      const [first] = answers as [(typeof answers)[0]];
      for (const each of answers)
        expect(each, `${method} ${path} ${JSON.stringify(body)}`).to.deep.equal(first);
      return first;
    };
    const status = async (...request: Parameters<typeof send>) => (await send(...request)).status;

    for (const tenants of wholeOr(['1,2'], ['all', '1,2']))
      describe(`by a request of ${tenants}`, () => {
        it('names a record of the tenant of the row', async () => {
          expect((await send('PATCH', '/invoices/2', { customerId: 7 }, tenants)).body).to.include({
            tenantId: 1,
            customerId: 7,
          });
          for (const customerId of [9, 99])
            expect(await status('PATCH', '/invoices/2', { customerId }, tenants)).to.equal(409);
          // The other tenant's is hidden.
          expect(await status('PATCH', '/invoices/3', { customerId: 7 }, tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices/3', { payerId: 8, customerId: 8 }, tenants)).to.equal(200);
          expect(await status('PATCH', '/invoices/3', { payerId: 7, customerId: 8 }, tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices/3', { payerId: 7 }, tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices/2', { tenantId: 1, customerId: 7 }, tenants)).to.equal(422);
        });

        it('takes NULL, and a PUT that leaves it out', async () => {
          const patched = await send('PATCH', '/invoices/1', { customerId: null }, tenants);
          expect([patched.status, patched.body.customerId]).to.deep.equal([200, null]);
          const put = await send('PUT', '/invoices/1', { text: 'x' }, tenants);
          expect([put.status, put.body.customerId]).to.deep.equal([200, null]);
          expect(await status('PUT', '/invoices/1', { customerId: 7 }, tenants)).to.equal(200);
          expect(await status('PUT', '/invoices/3', { customerId: 7 }, tenants)).to.equal(409);
        });

        except(OF_MANY).it('holds for many records', async () => {
          const items = (...customers: number[]) =>
            customers.map((customerId, index) => ({ id: index + 2, customerId }));
          expect(await status('PATCH', '/invoices', items(7, 8), tenants)).to.equal(200);
          expect(await status('PATCH', '/invoices', items(7, 7), tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices', items(9, 8), tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices?q=text==a', { customerId: 7 }, tenants)).to.equal(200);
          expect(await status('PATCH', '/invoices?q=text==b', { customerId: 7 }, tenants)).to.equal(409);
          expect(await status('PATCH', '/invoices?q=text=in=(a,b)', { customerId: 7 }, tenants)).to.equal(
            409,
          );
          expect(await status('PATCH', '/invoices?q=text=in=(a,b)', { customerId: 8 }, tenants)).to.equal(
            200,
          );
          expect(await status('PATCH', '/invoices?q=text==a', { customerId: null }, tenants)).to.equal(200);
        });

        except(OF_MANY).it('holds for replacements and upserts of a row that is there', async () => {
          for (const [method, path] of [
            ['PUT', (code: string) => `/tickets/${code}`],
            ['POST', () => '/tickets?on_conflict=code'],
          ] as const) {
            const write = (code: string, tenant: number, customerId: number | null) => {
              const body = { tenantId: tenant, customerId, ...(method === 'POST' ? { code } : {}) };
              return status(method, path(code), body, tenants);
            };
            expect(await write('A', 1, 7), method).to.equal(200);
            expect(await write('A', 1, 9), method).to.equal(409);
            expect(await write('B', 2, 7), method).to.equal(409);
            expect(await write('B', 2, null), method).to.equal(200);
            expect(await write('C', 1, 7), method).to.equal(201);
            expect(await write('C', 2, 7), method).to.equal(409);
          }
          const many = (customerId: number) => [
            { code: 'A', tenantId: 1, customerId: 7 },
            { code: 'B', tenantId: 2, customerId },
          ];
          expect(await status('POST', '/tickets?on_conflict=code', many(8), tenants)).to.equal(200);
          expect(await status('POST', '/tickets?on_conflict=code', many(7), tenants)).to.equal(409);
        });
      });

    it('takes the part of its own key from the row', async () => {
      expect(await status('PATCH', '/steps/1,6', { phaseNo: 1 })).to.equal(200);
      expect(await status('PATCH', '/steps/1,6', { phaseNo: 2 })).to.equal(409);
      expect(await status('PATCH', '/steps/2,5', { phaseNo: 1 })).to.equal(409);
      expect(await status('PATCH', '/steps/1,5', { phaseNo: null })).to.equal(200);
      expect(await status('PUT', '/steps/1,6', { phaseNo: 1 })).to.equal(200);
      expect(await status('PUT', '/steps/1,6', { phaseNo: 2 })).to.equal(409);
      expect(await status('PUT', '/steps/1,7', { phaseNo: 2 })).to.equal(409);
      if (!SERVES_MANY) return;
      const items = (phaseNo: number) => [
        { projectId: 1, at: 6, phaseNo },
        { projectId: 2, at: 5, phaseNo: 2 },
      ];
      expect(await status('PATCH', '/steps', items(1))).to.equal(200);
      expect(await status('PATCH', '/steps', items(2))).to.equal(409);
      expect(await status('PATCH', '/steps?q=at==6', { phaseNo: 1 })).to.equal(200);
      expect(await status('PATCH', '/steps?q=at==5', { phaseNo: 2 })).to.equal(409);
    });

    it('takes a part that no body may have from the row, also where that is NULL', async () => {
      for (const name of ['phaseNo', 'otherNo']) {
        expect(await status('PATCH', '/kepts/1', { [name]: 1 }), name).to.equal(200);
        expect(await status('PATCH', '/kepts/1', { [name]: 2 }), name).to.equal(409);
        expect(await status('PATCH', '/kepts/2', { [name]: 2 }), name).to.equal(200);
      }
    });

    except(OF_MANY).it(
      'is refused in part by an upsert, whose row may be there with another part',
      async () => {
        const one = { code: 'M', phaseNo: 2 };
        const issue = {
          pointer: '/projectId',
          code: 'isDefined',
          detail: 'projectId and phaseNo name one Phase together; send all of them.',
        };
        const refused = await send('POST', '/marks?on_conflict=code', one);
        expect([refused.status, refused.body.errors]).to.deep.equal([422, [issue]]);
        expect(await status('POST', '/marks?on_conflict=code', [one])).to.equal(422);
        expect(await status('POST', '/marks?on_conflict=code', { code: 'N', phaseNo: 2 })).to.equal(422);
        expect(await status('POST', '/marks?on_conflict=code', { ...one, projectId: 1 })).to.equal(409);
        const changed = await send('POST', '/marks?on_conflict=code', { ...one, projectId: 2 });
        expect([changed.status, changed.body.projectId]).to.deep.equal([200, 2]);
        const freed = await send('POST', '/marks?on_conflict=code', { code: 'M', phaseNo: null });
        expect([freed.status, freed.body.phaseNo]).to.deep.equal([200, null]);
      },
    );
  });
