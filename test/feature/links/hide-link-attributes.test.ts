/** Attributes of links that a request may write and not read: neither the answer nor the version reveals a right guess. */
// @runs fast
import { expect } from 'chai';
import { Exclude, Expose, Transform } from 'class-transformer';
import { BelongsToMany, Column, DataType, ForeignKey, HasMany, Model, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';
import { withHook } from '../../support/with-hook.js';
import { OVERRIDDEN } from './people.js';

@Crud({
  links: { readers: true, lenders: true, visitors: true, guests: true },
  include: { readings: true, loans: true, visits: true, stays: true },
})
@Table({ tableName: 'books', timestamps: false })
class Book extends NumberedRow {
  @BelongsToMany(
    () => Person,
    () => Reading,
  )
  declare readers?: Person[];
  @HasMany(() => Reading) declare readings?: Reading[];
  @BelongsToMany(
    () => Person,
    () => Loan,
  )
  declare lenders?: Person[];
  @HasMany(() => Loan) declare loans?: Loan[];
  @BelongsToMany(
    () => Person,
    () => Visit,
  )
  declare visitors?: Person[];
  @HasMany(() => Visit) declare visits?: Visit[];
  @BelongsToMany(
    () => Person,
    () => Stay,
  )
  declare guests?: Person[];
  @HasMany(() => Stay) declare stays?: Stay[];
}

@Crud()
@Table({ tableName: 'people', timestamps: false })
class Person extends NumberedRow {}

@Crud({ fields: { secret: { read: (request) => request.get('user') === 'staff' } } })
@Table({ tableName: 'readings', timestamps: false, version: true })
class Reading extends Model {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare bookId: number;
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, primaryKey: true }) declare personId: number;
  @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare note: string | null;
}

/** Without routes of its own. */
@Table({ tableName: 'loans', timestamps: false, version: true })
class Loan extends Model {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare bookId: number;
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, primaryKey: true }) declare personId: number;
  @Exclude({ toPlainOnly: true }) @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare note: string | null;
}

class PublicVisit {
  @Expose() declare personId: number;
  @Expose() declare note: string | null;
  @Expose() declare version: number;
}

@Crud({ readSchema: PublicVisit } as object)
@Table({ tableName: 'visits', timestamps: false, version: true })
class Visit extends Model {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare bookId: number;
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, primaryKey: true }) declare personId: number;
  @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare note: string | null;
}

/** Its own answers mask the secret. */
@Table({ tableName: 'stays', timestamps: false, version: true })
class Stay extends Model {
  @ForeignKey(() => Book) @Column({ type: DataType.INTEGER, primaryKey: true }) declare bookId: number;
  @ForeignKey(() => Person) @Column({ type: DataType.INTEGER, primaryKey: true }) declare personId: number;
  @Transform(() => '*', { toPlainOnly: true }) @Column(DataType.TEXT) declare secret: string | null;
  @Column(DataType.TEXT) declare note: string | null;
}

for (const way of ['statements', 'records'] as const)
  except(OVERRIDDEN).describe(`attributes of links that a request may not read, by ${way}`, () => {
    const site = serveTestApp(() => ({
      models: [Book, Person, Reading, Loan, Visit, Stay],
      bootstrap: { models: [Book, Person, Reading] },
    }));
    const its = (title: string, work: () => Promise<void>) =>
      it(title, () =>
        way === 'statements'
          ? work()
          : withHook(
              Reading,
              'beforeBulkCreate',
              () => {},
              () =>
                withHook(
                  Loan,
                  'beforeBulkCreate',
                  () => {},
                  () =>
                    withHook(
                      Visit,
                      'beforeBulkCreate',
                      () => {},
                      () => withHook(Stay, 'beforeBulkCreate', () => {}, work),
                    ),
                ),
            ),
      );

    beforeEach(() =>
      site.engine.sequelize.query(`
        TRUNCATE books, people, readings, loans, visits, stays;
        INSERT INTO books (id) VALUES (1);
        INSERT INTO people (id) VALUES (1), (2);
        INSERT INTO readings ("bookId", "personId", secret, note, version) VALUES (1, 1, 's', 'n', 0), (1, 2, 's', 'n', 0);
        INSERT INTO loans ("bookId", "personId", secret, note, version) VALUES (1, 1, 's', 'n', 0), (1, 2, 's', 'n', 0);
        INSERT INTO visits ("bookId", "personId", secret, note, version) VALUES (1, 1, 's', 'n', 0), (1, 2, 's', 'n', 0);
        INSERT INTO stays ("bookId", "personId", secret, note, version) VALUES (1, 1, 's', 'n', 0), (1, 2, 's', 'n', 0)`),
    );

    for (const [links, rows] of [
      ['readers', 'readings'],
      ['lenders', 'loans'],
      ['visitors', 'visits'],
      ['guests', 'stays'],
    ] as const) {
      const path = `/books/1/${links}`;
      const versions = async () => {
        const { body } = await site.agent.get(`/books/1?include=${rows}`);
        return body[rows].items
          .toSorted((one: Reading, other: Reading) => one.personId - other.personId)
          .map(({ version }: { version: number }) => version);
      };

      its(`are not in the list under the record: ${links}`, async () => {
        const { body } = await site.agent.get(path);
        expect(body.items[0].link).to.deep.equal({ note: 'n' });
      });

      its(`count as changed whatever was there: ${links}`, async () => {
        for (const [turn, secret] of ['s', 'x', 'x', 's', null, null].entries()) {
          expectJson(await site.agent.put(`${path}/1`).send({ secret }), 200, { id: '1', note: 'n' });
          expect(await versions()).to.deep.equal([turn + 1, 0]);
        }
      });

      its(`count as changed in a replacement: ${links}`, async () => {
        const body = [
          { id: 1, secret: 's' },
          { id: 2, secret: 'x' },
        ];
        const items = [
          { id: '1', note: 'n' },
          { id: '2', note: 'n' },
        ];
        expectJson(await site.agent.put(path).send(body), 200, { items, added: 0, removed: 0 });
        expect(await versions()).to.deep.equal([1, 1]);
      });

      its(`leave a link as it is that has all that may be read: ${links}`, async () => {
        expectJson(await site.agent.put(`${path}/1`).send({ note: 'n' }), 200, { id: '1', note: 'n' });
        expectJson(await site.agent.put(`${path}/1`), 200, { id: '1', note: 'n' });
        expectJson(await site.agent.post(path).send([{ id: 1, secret: 'x' }]), 200, {
          items: [{ id: '1', note: 'n' }],
          added: 0,
        });
        expect(await versions()).to.deep.equal([0, 0]);
      });
    }

    its('are compared for those who may read them', async () => {
      const put = (secret: string) =>
        site.agent.put('/books/1/readers/1').set('user', 'staff').send({ secret });
      expectJson(await put('s'), 200, { id: '1', secret: 's', note: 'n' });
      expectJson(await put('x'), 200, { id: '1', secret: 'x', note: 'n' });
      const { body } = await site.agent.get('/books/1?include=readings');
      expect(body.readings.items.map(({ version }: { version: number }) => version).sort()).to.deep.equal([
        0, 1,
      ]);
    });
  });
