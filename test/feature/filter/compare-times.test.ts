/** Times at the ends of the range of PostgreSQL: in filters of a list and of its relations, and in bodies. */
import { expect } from 'chai';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({
  filterAllow: ['made', 'day', 'time', 'parts'] as never,
  include: { parts: UNGUARDED },
})
@Table({ tableName: 'events', timestamps: false })
class Event extends NumberedRow {
  @ForeignKey(() => Event) @Column(DataType.INTEGER) declare wholeId: number | null;
  @BelongsTo(() => Event) declare whole?: Event;
  @HasMany(() => Event) declare parts?: Event[];
  @Column(DataType.DATE) declare made: Date | null;
  @Column(DataType.DATEONLY) declare day: string | null;
  @Column(DataType.TIME) declare time: string | null;
}

const DAY = '2026-01-31T08:00:00';

/** Some of the texts of a unit test; all of them are read in one way. */
const RIGHT: Readonly<Record<string, readonly string[]>> = {
  made: [`${DAY}Z`, `${DAY}+05:30`, `${DAY}-15:59`, '0001-01-01T00:00:00-15:59', '9999-12-31T23:59:59+15:59'],
  day: ['0001-01-01', '9999-12-31', '2024-02-29'],
  time: ['00:00', '23:59:59.999999', '00:00:00'],
};

const WRONG: Readonly<Record<string, readonly string[]>> = {
  made: [
    `${DAY}+16:00`,
    `${DAY}+15`,
    '+294277-01-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    `${DAY} Europe/Paris`,
    'now',
  ],
  day: ['-000000-01-01', '10000-01-01', '2023-02-29', 'today'],
  time: ['24:01', '23:59:60', '08:00:00.1234567', '08:00:00+16:00', 'now'],
};

const cases = (texts: typeof RIGHT) =>
  Object.entries(texts).flatMap(([name, values]) => values.map((value) => [name, value] as const));

describe('comparing times', () => {
  const site = serveTestApp(() => ({ models: [Event], bootstrap: { logger: new CapturedLog() } }));

  before(() => Event.create({}));

  /** Each way to a filter by the attribute, with the place of the value in its parameter. */
  function filters(name: string, value: string) {
    const parameters = [
      { q: `${name}=="${value}"` },
      { q: `${name}=between=("${value}","${value}")` },
      { q: `parts=any=(${name}<"${value}")` },
      { include: 'parts', 'parts.q': `${name}=in=("${value}")` },
    ];
    return parameters.map((query) => {
      const [parameter, text] = Object.entries(query).at(-1) as [string, string];
      return { query, parameter, position: text.indexOf('"') };
    });
  }

  it('finds by each that PostgreSQL reads, and stores it', () =>
    Promise.all(
      cases(RIGHT).map(async ([name, value]) => {
        for (const { query } of filters(name, value)) {
          const { status, body } = await site.agent.get('/events').query(query);
          expect(status, `${value} ${JSON.stringify(body)}`).to.equal(200);
        }
        const { status, body } = await site.agent.post('/events').send({ [name]: value });
        expect(status, `${value} ${JSON.stringify(body)}`).to.equal(201);
        const found = await site.agent.get('/events').query({ q: `${name}=="${value}"`, size: 100 });
        expect(found.body.items.map(({ id }: Event) => id)).to.include(body.id);
      }),
    ));

  it('[B8] refuses each that it does not read, and says where it stands', () =>
    Promise.all(
      cases(WRONG).map(async ([name, value]) => {
        for (const { query, parameter, position } of filters(name, value)) {
          const { status, body } = await site.agent.get('/events').query(query);
          expect(status, `${value} ${JSON.stringify(body)}`).to.equal(400);
          expect(body.errors[0]).to.include({ parameter, code: 'q.type', position });
        }
      }),
    ));
});
