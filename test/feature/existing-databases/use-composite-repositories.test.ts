/** Rows with a key of several attributes, or with none, as code of the user's reads and writes them: by our SQL and by Sequelize. */
import { inspect } from 'node:util';
import { expect } from 'chai';
import { Get, Post } from 'routing-controllers';
import { Op } from 'sequelize';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { PreciseDate } from '../../../src/describe/exact-time.js';
import {
  Crud,
  type CrudContext,
  crudController,
  formatId,
  InjectId,
  InjectRecord,
  InjectRepository,
  MultipleResultsFound,
  NotFoundError,
  type ReadQuery,
  Repository,
  type UpdateValues,
  unitOfWork,
} from '../../../src/index.js';
import { addedHook } from '../../support/added-hook.js';
import { caughtError } from '../../support/caught-error.js';
import { expectJson, expectNothing, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';

@Crud()
@Table({ tableName: 'order_lines', timestamps: false, version: true })
class OrderLine extends Model {
  @PrimaryKey @Column({ type: DataType.INTEGER, field: 'order_id' }) declare orderId: number;
  @PrimaryKey @Column({ type: DataType.STRING(9), field: 'line_no' }) declare lineNo: string;
  @Column(DataType.INTEGER) declare quantity: number | null;
}

@Table({ tableName: 'drafts', timestamps: true, paranoid: true })
class Draft extends Model {
  @PrimaryKey @Column(DataType.STRING(9)) declare book: string;
  @PrimaryKey @Column(DataType.BIGINT) declare chapter: string;
  @Column(DataType.TEXT) declare text: string | null;
}

@Table({ tableName: 'visits', timestamps: true, paranoid: true })
class Visit extends Model {
  @PrimaryKey @Column(DataType.INTEGER) declare place: number;
  @PrimaryKey @Column(DataType.DATE) declare at: Date;
  @Column(DataType.TEXT) declare text: string | null;
}

@Table({ tableName: 'log_entries', timestamps: false })
class LogEntry extends Model {
  @Column({ type: DataType.TEXT, allowNull: false }) declare text: string;
}

type LineId = { readonly orderId: number; readonly lineNo: string };
/** The ids that overrides were called with. */
const seen: unknown[] = [];
function see(method: string, id: object): void {
  seen.push([method, id, Object.isFrozen(id)]);
}
class OrderLineController extends crudController(OrderLine) {
  override read(id: LineId, query: ReadQuery, context: CrudContext<OrderLine>) {
    see('read', id);
    return super.read(id, query, context);
  }
  override async update(id: LineId, values: UpdateValues<OrderLine>, context: CrudContext<OrderLine>) {
    see('update', id);
    const { quantity } = await context.repository.get(id);
    return super.update(id, { quantity: Number(quantity) + Number(values.quantity) }, context);
  }
  override remove({ orderId, lineNo }: LineId, context: CrudContext<OrderLine>) {
    see('remove', { orderId, lineNo });
    return super.remove({ lineNo, orderId }, context);
  }
  @Get('/:id/siblings')
  async siblings(@InjectId() id: LineId, @InjectRepository(OrderLine) lines: Repository<OrderLine>) {
    see('siblings', id);
    return { count: await lines.count({ where: { orderId: id.orderId } }) };
  }
  @Post('/:id/double')
  double(@InjectRecord() line: OrderLine) {
    return line.update({ quantity: Number(line.quantity) * 2 });
  }
}

const EXECUTORS = [
  ['our SQL', () => ({ [Symbol.dispose]() {} })],
  [
    'Sequelize',
    (model: object) => addedHook(model, ['beforeFind', 'beforeSave', 'beforeBulkDestroy', 'beforeDestroy']),
  ],
] as const;

describe('a repository of rows with a key of several attributes', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [OrderLine, Draft, Visit, LogEntry],
    bootstrap: { models: [], controllers: [OrderLineController], indexAdvice: false },
    engine: { logging: sql.record },
  }));
  const lines = new Repository(OrderLine);
  const drafts = new Repository(Draft);

  before(async () => {
    LogEntry.removeAttribute('id');
    await site.engine.sequelize.query('ALTER TABLE log_entries DROP COLUMN id');
  });

  beforeEach(async () => {
    await site.engine.sequelize.query(
      `DELETE FROM order_lines; DELETE FROM drafts; DELETE FROM visits; DELETE FROM log_entries;
       INSERT INTO order_lines (order_id, line_no, quantity, version) VALUES (1, 'a', 5, 0), (1, 'b', 6, 0), (2, 'a', 7, 0), (2, 'c', 8, 0);
       INSERT INTO drafts (book, chapter, text, "createdAt", "updatedAt") VALUES ('x', 1, 'one', now(), now()), ('x', 2, 'two', now(), now()), ('y', 1, 'three', now(), now());
       INSERT INTO visits (place, at, text, "createdAt", "updatedAt")
         SELECT place, moment::timestamptz, place || moment, now(), now() FROM (VALUES (1), (2)) AS places (place),
           (VALUES ('2026-01-31 08:00:00.123456+00'), ('2026-01-31 08:00:00.123457+00')) AS moments (moment)`,
    );
  });
  const rows = async () =>
    (
      await site.engine.sequelize.query('SELECT order_id, line_no, quantity FROM order_lines ORDER BY 1, 2')
    )[0].map((each) => Object.values(each as object).join());

  for (const [name, enter] of EXECUTORS)
    describe(`by ${name}`, () => {
      let entered: Disposable[];
      beforeEach(() => {
        entered = [OrderLine, Draft, Visit].map(enter);
      });
      afterEach(() => {
        for (const each of entered) each[Symbol.dispose]();
      });

      it('finds the row with all parts', async () => {
        expect((await lines.get({ orderId: 2, lineNo: 'a' })).get()).to.deep.equal({
          orderId: 2,
          lineNo: 'a',
          quantity: 7,
          version: 0,
        });
        expect(await lines.find({ orderId: 2, lineNo: 'b' })).to.equal(null);
        const error = await caughtError(() => lines.get(Object.freeze({ lineNo: 'b', orderId: 2 })));
        expect(error)
          .to.be.instanceOf(NotFoundError)
          .and.have.property('message', 'There is no OrderLine with this orderId,lineNo.');
        expect((await drafts.get({ book: 'x', chapter: '2' })).text).to.equal('two');
        expect((await drafts.get({ book: 'x', chapter: 2n })).text).to.equal('two');
      });

      it('reads some attributes and can write the row all the same', async () => {
        const line = await lines.get({ orderId: 2, lineNo: 'a' }, { fields: ['quantity'] });
        expect(line.get()).to.deep.equal({ orderId: 2, lineNo: 'a', quantity: 7 });
      });

      it('writes the row with all parts, and no other', async () => {
        expect((await lines.update({ orderId: 1, lineNo: 'b' }, { quantity: 60 })).get()).to.include({
          orderId: 1,
          lineNo: 'b',
          quantity: 60,
        });
        await lines.delete({ orderId: 2, lineNo: 'a' });
        const created = await lines.create({ orderId: 2, lineNo: 'b', quantity: 9 });
        expect(created.get()).to.include({ orderId: 2, lineNo: 'b', quantity: 9 });
        expect(await rows()).to.deep.equal(['1,a,5', '1,b,60', '2,b,9', '2,c,8']);
        for (const work of [
          () => lines.update({ orderId: 1, lineNo: 'z' }, { quantity: 1 }),
          () => lines.delete({ orderId: 1, lineNo: 'z' }),
        ])
          expect(await caughtError(work)).to.be.instanceOf(NotFoundError);
        await unitOfWork(async () => {
          const line = await lines.get({ orderId: 1, lineNo: 'a' });
          await line.update({ quantity: 50 });
          await (await lines.get({ orderId: 2, lineNo: 'c' })).destroy();
        });
        expect(await rows()).to.deep.equal(['1,a,50', '1,b,60', '2,b,9']);
      });

      it('deletes softly, restores and purges', async () => {
        await drafts.delete({ book: 'x', chapter: 1 });
        await drafts.delete({ book: 'y', chapter: 1 });
        expect((await drafts.list()).map(({ text }) => text)).to.deep.equal(['two']);
        expect((await drafts.restore({ book: 'y', chapter: 1 })).text).to.equal('three');
        await drafts.purge({ book: 'x', chapter: 1 });
        await drafts.delete({ book: 'x', chapter: 2 });
        await drafts.delete({ book: 'y', chapter: 1 });
        expect(await drafts.purge({ before: new Date(Date.now() + 60_000), limit: 1 })).to.equal(1);
        expect((await Draft.findAll({ paranoid: false })).map(({ text }) => text)).to.deep.equal(['three']);
      });

      it('tells moments apart by their microseconds', async () => {
        const at = { place: 1, at: new PreciseDate(Date.parse('2026-01-31T08:00:00.123Z'), 457) };
        const visits = new Repository(Visit);
        expect((await visits.list({ limit: 2 })).map((visit) => formatId(Visit, visit))).to.deep.equal([
          '1,2026-01-31T08:00:00.123456Z',
          '1,2026-01-31T08:00:00.123457Z',
        ]);
        expect((await visits.get(at)).text).to.equal('12026-01-31 08:00:00.123457+00');
        expect((await visits.update(at, { text: 'changed' })).text).to.equal('changed');
        await visits.delete(at);
        expect(await visits.find(at)).to.equal(null);
        expect((await visits.restore(at)).text).to.equal('changed');
        await visits.delete(at);
        await visits.purge(at);
        expect((await visits.list()).map(({ text }) => text)).to.deep.equal([
          '12026-01-31 08:00:00.123456+00',
          '22026-01-31 08:00:00.123456+00',
          '22026-01-31 08:00:00.123457+00',
        ]);
      });

      it('gives overrides and injected ids the id as a frozen object, and takes it from them', async () => {
        seen.length = 0;
        const { agent } = site;
        const id = { orderId: 1, lineNo: 'b' };
        const line = (quantity: number, version: number) => ({ ...id, quantity, version });
        expectJson(await agent.get('/order-lines/1,b'), 200, line(6, 0));
        expectJson(await agent.patch('/order-lines/1,b').send({ quantity: 10 }), 200, line(16, 1));
        expectJson(await agent.get('/order-lines/1,b/siblings'), 200, { count: 2 });
        expectJson(await agent.post('/order-lines/1,b/double'), 200, line(32, 2));
        expectNothing(await agent.delete('/order-lines/2,a'), 204);
        expectProblem(await agent.post('/order-lines/2,a/double'), 404, {
          detail: 'There is no OrderLine with this orderId,lineNo.',
        });
        expect(seen).to.deep.equal([
          ['read', id, true],
          ['update', id, true],
          ['siblings', id, true],
          ['remove', { orderId: 2, lineNo: 'a' }, false],
        ]);
        expect(await rows()).to.deep.equal(['1,a,5', '1,b,32', '2,c,8']);
      });

      it('lists in the order of the key', async () => {
        const keys = (records: readonly OrderLine[]) =>
          records.map(({ orderId, lineNo }) => `${orderId}${lineNo}`);
        expect(keys(await lines.list())).to.deep.equal(['1a', '1b', '2a', '2c']);
        expect(keys(await lines.list({ where: { quantity: { [Op.gt]: 5 } }, limit: 2 }))).to.deep.equal([
          '1b',
          '2a',
        ]);
        const page = await lines.page({ page: 2, size: 1 });
        expect([keys(page.items), page.total]).to.deep.equal([['1b'], 4]);
        expect(await lines.count({ where: { orderId: 1 } })).to.equal(2);
        const first = await lines.cursorPage({ size: 3, sort: [{ attribute: 'lineNo', descending: true }] });
        expect(keys(first.items)).to.deep.equal(['2c', '1b', '2a']);
        const second = await lines.cursorPage({
          size: 3,
          sort: [{ attribute: 'lineNo', descending: true }],
          after: first.next,
        });
        expect(keys(second.items)).to.deep.equal(['1a']);
        expect((await lines.one({ lineNo: 'c' })).orderId).to.equal(2);
        expect(await caughtError(() => lines.one({ orderId: 1 }))).to.be.instanceOf(MultipleResultsFound);
      });

      it('refuses what is no id', async () => {
        const { statements } = await sql.during(async () => {
          for (const [id, problem] of [
            [1, 'it is 1'],
            ['1,a', 'it is "1,a"'],
            [undefined, 'it is undefined'],
            [null, 'it is null'],
            [[1, 'a'], "it is [ 1, 'a' ]"],
            [{ orderId: 1 }, "'lineNo' is missing"],
            [{ orderId: 1, lineNo: undefined }, "'lineNo' is missing"],
            [{ orderId: null, lineNo: 'a' }, "'orderId' is null"],
            [{ orderId: [1, 2], lineNo: 'a' }, "'orderId' is [ 1, 2 ]"],
            [{ orderId: { [Op.gt]: 0 }, lineNo: 'a' }, `'orderId' is ${inspect({ [Op.gt]: 0 })}`],
            [{ orderId: 1, lineNo: 2 }, "'lineNo' is 2, and its column holds texts"],
            [{ orderId: Number.NaN, lineNo: 'a' }, "'orderId' is NaN"],
            [{ orderId: 1, lineNo: 'a', quantity: 5 }, "'quantity' is none of them"],
          ] as const)
            for (const work of [
              () => lines.get(id as never),
              () => lines.find(id as never),
              () => lines.update(id as never, { quantity: 0 }),
              () => lines.delete(id as never),
              () => lines.getLocked(id as never),
            ]) {
              const error = await caughtError(work);
              expect(error).to.be.instanceOf(TypeError);
              expect((error as Error).message).to.equal(
                `An id of OrderLine is an object with a value for each of orderId, lineNo; ${problem}.`,
              );
            }
        });
        expect(statements).to.deep.equal([]);
      });
    });

  describe('of rows without a key', () => {
    const entries = new Repository(LogEntry);
    const texts = async () => (await LogEntry.findAll({ order: ['text'] })).map(({ text }) => text);
    const REFUSAL =
      'A record of LogEntry cannot be saved, destroyed or read again: its model has no primary key, and Sequelize would take the rows of ' +
      'the last query in its place. Write with a condition, as LogEntry.update(values, { where: … }) does, or give the model a key.';

    beforeEach(() => LogEntry.bulkCreate([{ text: 'a' }, { text: 'b' }]));

    it('lists, counts and creates them', async () => {
      expect((await entries.list({ order: [['text', 'DESC']] })).map(({ text }) => text)).to.deep.equal([
        'b',
        'a',
      ]);
      const page = await entries.page({ page: 1, size: 1, sort: [{ attribute: 'text', descending: true }] });
      expect([page.items.map(({ text }) => text), page.total]).to.deep.equal([['b'], 2]);
      expect((await entries.create({ text: 'c' })).get()).to.deep.equal({ text: 'c' });
      {
        using _hook = addedHook(LogEntry, ['beforeFind', 'beforeSave']);
        expect((await entries.create({ text: 'd' })).get()).to.deep.equal({ text: 'd' });
        expect((await entries.one({ text: 'd' })).text).to.equal('d');
        expect(await entries.count()).to.equal(4);
      }
      expect(await texts()).to.deep.equal(['a', 'b', 'c', 'd']);
    });

    it('finds none by an id', async () => {
      for (const work of [
        () => entries.get(1),
        () => entries.delete({ text: 'a' }),
        () => entries.update(1, { text: 'x' }),
      ]) {
        const error = await caughtError(work);
        expect(error).to.be.instanceOf(TypeError);
        expect((error as Error).message).to.equal(
          'LogEntry has no primary key, so that no id finds a row; use one(…) or list(…).',
        );
      }
    });

    it('gives no record that could be saved or destroyed, in hooks and units of work neither', async () => {
      const refused: unknown[] = [];
      const attempt = async (record: LogEntry) => {
        for (const work of [
          () => record.destroy(),
          () => record.update({ text: 'x' }),
          () => record.increment('text'),
          () => record.reload(),
          () => {
            record.text = 'y';
            return record.save();
          },
        ]) {
          // Its condition is the one that Sequelize would take, or none.
          await LogEntry.findOne();
          const error = await caughtError(work);
          expect(error).to.be.instanceOf(TypeError).and.have.property('message', REFUSAL);
          refused.push(error);
        }
      };
      await attempt((await entries.list())[0] as LogEntry);
      await attempt(await entries.one({ text: 'b' }));
      await attempt(await entries.create({ text: 'c' }));
      await unitOfWork(async (uow) =>
        attempt((await uow.repository(LogEntry).list({ limit: 1 }))[0] as LogEntry),
      );
      using _hook = addedHook(LogEntry, ['afterFind', 'afterCreate']);
      await attempt((await entries.list())[0] as LogEntry);
      await withHook(LogEntry, 'afterCreate', attempt, () => entries.create({ text: 'd' }));
      expect(refused).to.have.length(30);
      expect(await texts()).to.deep.equal(['a', 'b', 'c', 'd']);
    });
  });
});
