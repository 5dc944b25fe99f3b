/** An upsert by a request of several tenants: a record stays in its tenant, whatever tenant the body names. */
// @runs fast
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import type { Request } from 'express';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, crudController, EVERYTHING, filter, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { except, OF_MANY } from '../../support/combination.js';
import { forSuite } from '../../support/for-suite.js';
import { passingController } from '../../support/passing-controllers.js';
import { ask, TwoPaths } from '../../support/two-paths.js';

@Crud({
  endpoints: ['create', 'update', 'upsert'],
  upsert: [['code']],
  import: { modes: ['create', 'upsert'] },
  can: { update: (request) => (request.get('member') ? filter`name==a` : EVERYTHING) },
  scope: { tenantId: (request: Request) => (request.get('tenants') === 'all' ? EVERYTHING : [1, 2]) },
})
@Table({ tableName: 'places', timestamps: false })
class Place extends NumberedRow {
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 2 }) declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
}

/** No answer shows the tenant. */
@Crud({ endpoints: ['create', 'update', 'upsert'], upsert: [['code']], scope: { tenantId: () => [1, 2] } })
@Table({ tableName: 'hidden', timestamps: false })
class Hidden extends NumberedRow {
  @Exclude({ toPlainOnly: true })
  @Column({ type: DataType.INTEGER, allowNull: false })
  declare tenantId: number;
  @Column({ type: DataType.TEXT, allowNull: false, unique: true }) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
}

const PATH = '/places?on_conflict=code';
const A = { id: 1, tenantId: 2, code: 'A', name: 'a' };
const B = { id: 2, tenantId: 1, code: 'B', name: 'b' };
const item = (code: string, tenantId: number, name: string) => ({ code, tenantId, name });

for (const isOverridden of [false, true])
  except(OF_MANY).describe(`an upsert among tenants${isOverridden ? ', behind overrides' : ''}`, () => {
    const paths = forSuite(() =>
      TwoPaths.start({
        models: [Place, Hidden] as ModelClass[],
        bootstrap: {
          controllers: isOverridden ? [passingController(crudController(Place)) as never] : [],
          logger: new CapturedLog(),
        },
      }),
    );
    const reset = async () => {
      await Place.sequelize?.query('TRUNCATE places, hidden RESTART IDENTITY');
      await Place.bulkCreate([A, B] as never[]);
      await Hidden.create({ tenantId: 1, code: 'B' });
      await Place.sequelize?.query("SELECT setval('places_id_seq', 2)");
    };
    const stored = () => Place.findAll({ order: ['id'], raw: true });

    /** The answer of each path, and the rows that it leaves; all alike. */
    const send = async (body: unknown, path = PATH, headers: Readonly<Record<string, string>> = {}) => {
      const isFile = typeof body === 'string';
      const request = {
        method: 'POST',
        path,
        headers: { ...headers, ...(isFile ? { 'Content-Type': 'text/csv' } : {}) },
        ...(isFile ? { file: body } : { body }),
      };
      const ways = [
        () => ask(paths.fast, request),
        () => ask(paths.general, request),
        () => paths.withHooks(() => ask(paths.general, request)),
      ];
      const answers = [];
      for (const way of ways) {
        await reset();
        const { status, body: text } = await way();
        // An insert that is undone takes a number all the same.
        const plain = JSON.parse(text, (key, value) => (key === 'id' && value > 2 ? 'new' : value));
        answers.push({ status, body: plain, rows: await stored() });
      }
      const [first] = answers as [(typeof answers)[0]];
      for (const each of answers) expect(each).to.deep.equal(first);
      return first;
    };

    for (const tenants of ['all', '1,2']) {
      const headers = { tenants };
      it(`changes the record of the tenant that the body names, for ${tenants}`, async () => {
        const one = await send(item('B', 1, 'x'), PATH, headers);
        expect([one.status, one.body]).to.deep.equal([200, { ...B, name: 'x' }]);
        const many = await send([item('A', 2, 'y'), item('B', 1, 'x'), item('C', 1, 'c')], PATH, headers);
        expect([many.status, many.body.items, many.body.created]).to.deep.equal([
          200,
          [
            { ...A, name: 'y' },
            { ...B, name: 'x' },
            { id: 'new', ...item('C', 1, 'c') },
          ],
          [false, false, true],
        ]);
        const imported = await send(
          'code,tenantId,name\nA,2,y\nB,1,x\n',
          '/places/import?mode=upsert',
          headers,
        );
        expect([imported.status, imported.rows]).to.deep.equal([
          200,
          [
            { ...A, name: 'y' },
            { ...B, name: 'x' },
          ],
        ]);
      });

      it(`refuses another tenant than that of the record, for ${tenants}`, async () => {
        const refused = {
          'one record': item('B', 2, 'x'),
          'a record behind one of the same tenant': [item('C', 2, 'c'), item('B', 2, 'x')],
          'a record behind one of its own tenant': [item('C', 1, 'c'), item('B', 2, 'x')],
          'a record in front': [item('B', 2, 'x'), item('A', 2, 'y')],
        };
        for (const [name, body] of Object.entries(refused))
          for (const path of [PATH, `${PATH}&on_conflict_do=nothing`]) {
            const answer = await send(body, path, headers);
            expect([answer.status, answer.rows], name).to.deep.equal([409, [A, B]]);
          }
        const each = await send([item('A', 2, 'y'), item('B', 2, 'x')], `${PATH}&atomic=false`, headers);
        expect(each.body.items.map(({ status }: { status: number }) => status)).to.deep.equal([200, 409]);
        const imported = await send(
          'code,tenantId,name\nA,2,y\nB,2,x\n',
          '/places/import?mode=upsert',
          headers,
        );
        expect([imported.status, imported.rows]).to.deep.equal([422, [A, B]]);
      });

      it(`refuses another tenant before a rule of the record, for ${tenants}`, async () => {
        const member = { ...headers, member: 'yes' };
        expect((await send(item('B', 2, 'x'), PATH, member)).status).to.equal(409);
        expect((await send(item('B', 1, 'x'), PATH, member)).status).to.equal(403);
        expect((await send([item('A', 2, 'y'), item('B', 2, 'x')], PATH, member)).status).to.equal(409);
      });
    }

    it('finds a record whose tenant no answer shows', async () => {
      for (const [tenantId, status] of [
        [1, 200],
        [2, 409],
      ] as const) {
        const path = '/hiddens?on_conflict=code';
        expect((await send(item('B', tenantId, 'x'), path)).status).to.equal(status);
        expect((await send([item('B', tenantId, 'x')], path)).status).to.equal(status);
      }
    });

    it('leaves a record in its tenant where the body names none', async () => {
      const headers = { tenants: 'all' };
      const one = await send({ code: 'B', name: 'x' }, PATH, headers);
      expect([one.status, one.body]).to.deep.equal([200, { ...B, name: 'x' }]);
      const many = await send([item('A', 2, 'y'), { code: 'B', name: 'x' }], PATH, headers);
      expect([many.status, many.body.items]).to.deep.equal([
        200,
        [
          { ...A, name: 'y' },
          { ...B, name: 'x' },
        ],
      ]);
    });
  });
