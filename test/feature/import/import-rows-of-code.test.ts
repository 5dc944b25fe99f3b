/** `Repository.importRows`: rows of the application's own code, by our statements and by Sequelize, in units of work and within a scope. */
// @runs fast
import { expect } from 'chai';
import { UniqueConstraintError } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import {
  type Class,
  type CreateValues,
  Crud,
  type CrudContext,
  crudController,
  NotFoundError,
  Repository,
  unitOfWork,
} from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { buildApp } from '../../support/build-app.js';
import { CapturedLog } from '../../support/captured-log.js';
import { caughtError } from '../../support/caught-error.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ scope: { tenant: () => 7 } })
@Table({ tableName: 'parts', version: true })
class Part extends NumberedRow {
  @Column({ type: DataType.STRING(8), unique: true, allowNull: false }) declare code: string;
  @Column(DataType.TEXT) declare name: string | null;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare amount: number;
  @Column({ type: DataType.INTEGER, allowNull: false, defaultValue: 1 }) declare tenant: number;
}

class Parts extends Repository<Part> {
  static override model = Part;
  seen = 0;
  override create(values: CreateValues<Part>) {
    this.seen += 1;
    return super.create(values);
  }
}

const IDLE = ['afterFind', 'beforeBulkCreate'] as const;
const parts = new Repository(Part);

async function* rowsOf(count: number, change: (index: number) => object = () => ({})) {
  for (let index = 0; index < count; index += 1)
    yield { code: `c${index}`, name: `part ${index}`, ...change(index) } as CreateValues<Part>;
}

for (const isPlain of [true, false])
  describe(`rows of code, ${isPlain ? 'as they are' : 'where hooks have to see them'}`, function () {
    this.timeout(60_000);
    const site = serveTestApp(() => ({
      models: [Part],
      bootstrap: { logger: new CapturedLog(), models: [] },
    }));
    const query = (text: string) => site.engine.sequelize.query(text);
    const stored = () => Part.count();
    // Row by row, more would take seconds.
    const many = isPlain ? 2_500 : 50;
    before(() => query('ALTER TABLE parts ADD CHECK (amount > 0)'));
    beforeEach(async () => {
      await query('TRUNCATE parts RESTART IDENTITY');
      if (!isPlain) for (const name of IDLE) Part.addHook(name, 'idle', () => {});
    });
    afterEach(() => {
      if (!isPlain) for (const name of IDLE) Part.removeHook(name, 'idle');
    });

    it('are created in any number', async () => {
      const report = await parts.importRows(rowsOf(many));
      expect(report).to.deep.equal({ rows: many, created: many, updated: 0, failed: 0, errors: [] });
      expect(await parts.one({ code: `c${many - 1}` })).to.deep.include({
        name: `part ${many - 1}`,
        amount: 1,
      });
      expect(await parts.importRows([])).to.deep.equal({
        rows: 0,
        created: 0,
        updated: 0,
        failed: 0,
        errors: [],
      });
    });

    it('are stored all or none', async () => {
      const again = (index: number) => (index === many - 2 ? { code: 'c3' } : {});
      const error = await caughtError(() => parts.importRows(rowsOf(many, again)));
      expect(error).to.be.instanceOf(UniqueConstraintError);
      expect(error).to.have.nested.property('errors[0].path', 'code');
      expect(await stored()).to.equal(0);
      const source = async function* () {
        yield* rowsOf(10);
        throw new Error('The file is broken.');
      };
      expect(await caughtError(() => parts.importRows(source()))).to.have.property(
        'message',
        'The file is broken.',
      );
      expect(await stored()).to.equal(0);
    });

    it('are stored without those that are refused', async () => {
      const wrong = (index: number) =>
        ({ 3: { amount: 0 }, 9: { code: 'c1' }, 40: { code: 'far too long' }, [many - 1]: { code: null } })[
          index
        ] ?? {};
      const { errors, ...counts } = await parts.importRows(rowsOf(many, wrong), { atomic: false });
      expect(counts).to.deep.equal({ rows: many, created: many - 4, updated: 0, failed: 4 });
      expect(errors.map(({ row }) => row)).to.deep.equal([4, 10, 41, many]);
      expect(await stored()).to.equal(many - 4);
    });

    it('change the records that have their keys', async () => {
      await parts.importRows(rowsOf(30, () => ({ amount: 5 })));
      const options = { mode: 'upsert', on: ['code'] } as const;
      const report = await parts.importRows(
        rowsOf(50, (index) => ({ name: `new ${index}` })),
        options,
      );
      expect(report).to.deep.equal({ rows: 50, created: 20, updated: 30, failed: 0, errors: [] });
      const found = await parts.list({ order: ['id'] });
      expect(found.map(({ name }) => name)).to.have.members(
        Array.from({ length: 50 }, (_, at) => `new ${at}`),
      );
      expect(found[0]).to.deep.include({ amount: 5, version: 1 });
      const twice = [
        { code: 'c1', name: 'one' },
        { code: 'c1', name: 'two' },
      ];
      expect(await parts.importRows(twice as CreateValues<Part>[], options)).to.include({ updated: 2 });
      expect((await parts.one({ code: 'c1' })).name).to.equal('two');
      const other = [{ id: 99, code: 'c1' }] as unknown as CreateValues<Part>[];
      expect(await caughtError(() => parts.importRows(other, options))).to.be.instanceOf(
        UniqueConstraintError,
      );
    });

    it('change the records of their ids', async () => {
      await parts.importRows(rowsOf(5));
      const rows = [{ id: 2, name: 'two' }, { id: 9, name: 'nine' }, { name: 'none' }, { id: 4, amount: 3 }];
      const { errors, ...counts } = await parts.importRows(rows, { mode: 'update', atomic: false });
      expect(counts).to.deep.equal({ rows: 4, created: 0, updated: 2, failed: 2 });
      expect(errors.map(({ row }) => row)).to.deep.equal([2, 3]);
      expect(errors[0]?.error).to.be.instanceOf(NotFoundError);
      expect((await parts.list({ order: ['id'] })).map(({ name, amount }) => [name, amount])).to.deep.equal([
        ['part 0', 1],
        ['two', 1],
        ['part 2', 1],
        ['part 3', 3],
        ['part 4', 1],
      ]);
      expect(await caughtError(() => parts.importRows([...rows], { mode: 'update' }))).to.be.instanceOf(
        NotFoundError,
      );
    });

    for (const atomic of [true, false])
      it(`are a part of the unit of work that runs, with atomic: ${atomic}`, async () => {
        await caughtError(() =>
          unitOfWork(async (uow) => {
            const bound = atomic ? uow.repository(Part) : parts;
            const wrong = (index: number) => (!atomic && index === 5 ? { amount: 0 } : {});
            const { created } = await bound.importRows(rowsOf(20, wrong), { atomic });
            expect([created, await bound.count()]).to.deep.equal([atomic ? 20 : 19, created]);
            throw new Error('The unit has failed.');
          }),
        );
        expect(await stored()).to.equal(0);
        await unitOfWork(async (uow) => uow.repository(Part).importRows(rowsOf(20), { atomic }));
        expect(await stored()).to.equal(20);
      });

    it('pass the methods of a subclass', async () => {
      const own = new Parts();
      await own.importRows(rowsOf(7));
      expect([own.seen, await stored()]).to.deep.equal([7, 7]);
    });

    it('stay within the scope of a request', async () => {
      class Seeded extends crudController(Part) {
        override async create(values: CreateValues<Part>, context: CrudContext<Part>) {
          const rows = rowsOf(4, (index) => ({
            ...values,
            code: `s${index}`,
            ...(index === 2 ? { tenant: 8 } : {}),
          }));
          const { errors } = await context.repository.importRows(rows, { atomic: false });
          const name = errors.map(({ row, error }) => `${row}: ${(error as Error).message}`).join();
          return super.create({ ...values, name } as CreateValues<Part>, context);
        }
      }
      const { agent } = await buildApp({
        models: [],
        controllers: [Seeded as Class],
        logger: new CapturedLog(),
      });
      const { status, body } = await agent.post('/parts').send({ code: 'own' });
      expect({ status, name: body.name }).to.deep.equal({
        status: 201,
        name: '3: This request may not write Part with this tenant.',
      });
      const found = await parts.list({ order: ['id'] });
      expect(found.map(({ code, tenant }) => [code, tenant])).to.deep.equal(
        ['s0', 's1', 's3', 'own'].map((code) => [code, 7]),
      );
    });
  });

describe('the options of importRows', () => {
  serveTestApp(() => ({ models: [Part], bootstrap: { logger: new CapturedLog(), models: [] } }));
  for (const [options, problem] of [
    [
      { atomik: true },
      "importRows has no option 'atomik'. Did you mean 'atomic'? The options are mode, on, atomic.",
    ],
    [{ mode: 'merge' }, 'mode of importRows is "merge"; use create, update, upsert.'],
    [
      { mode: 'update', on: ['code'] },
      "importRows has on, which is for mode: 'upsert', and its mode is 'update'; leave it out.",
    ],
    [
      { mode: 'upsert', on: ['kode'] },
      "on of importRows is [ 'kode' ]; use attributes of Part, such as ['code'].",
    ],
    [
      { mode: 'upsert', on: 'code' },
      'on of importRows is "code"; use attributes of Part, such as [\'code\'].',
    ],
    [
      { mode: 'upsert', on: ['name'] },
      "on of importRows is [ 'name' ], and no unique index of Part is over exactly these; create one.",
    ],
  ] as const)
    it(`refuse ${JSON.stringify(options)}`, async () => {
      const error = await caughtError(() => parts.importRows([], options as never));
      expect(error).to.be.instanceOf(TypeError).with.property('message', problem);
    });
  for (const row of [null, 5, ['a']])
    it(`come with rows, and ${JSON.stringify(row)} is none`, async () => {
      const rows = [{ code: 'first', amount: 1 }, row] as never;
      const error = await caughtError(() => parts.importRows(rows));
      expect(error).to.be.instanceOf(TypeError);
      expect(String(error)).to.match(/^TypeError: Row 2 of importRows is .*; use an object of attributes\.$/);
      expect(await Part.count({ where: { code: 'first' } })).to.equal(0);
    });
});
