/** DATE over a column without a zone: the text of a clock, on its way from a body into the database and back. */
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { BelongsTo, Column, DataType, ForeignKey, HasMany, Table } from 'sequelize-typescript';
import { Crud, filter, Repository } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except, OF_MANY, UNGUARDED } from '../../support/combination.js';
import { expectIssue } from '../../support/expect-answer.js';
import { execute as executeOn, freshDatabase } from '../../support/postgres.js';
import { serveTestApp, startTestApp } from '../../support/test-app.js';

const WRITES = ['list', 'read', 'create', 'update', 'delete', 'restore', 'createMany', 'updateMany'] as const;

@Crud({
  endpoints: [...WRITES],
  pagination: 'cursor',
  sortAllow: ['at', 'zoned'],
  filterAllow: ['at', 'zoned'],
  include: { stops: UNGUARDED },
})
@Table({ tableName: 'visits', paranoid: true })
class Visit extends NumberedRow {
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.DATE) declare zoned: Date | null;
  @Column(DataType.ARRAY(DataType.DATE)) declare list: Date[] | null;
  @Column(DataType.TEXT) declare note: string | null;
  @HasMany(() => Stop) declare stops?: Stop[];
}

@Crud({ endpoints: ['list', 'create'], visible: () => filter`at=lt=${new Date('2100-01-01T00:00:00Z')}` })
@Table({ tableName: 'stops', timestamps: false })
class Stop extends NumberedRow {
  @Column(DataType.DATE) declare at: Date;
  @ForeignKey(() => Visit) @Column(DataType.INTEGER) declare visitId: number;
  @BelongsTo(() => Visit) declare visit?: Visit;
}

const TABLES = `
  CREATE TABLE visits (id serial PRIMARY KEY, at timestamp, zoned timestamptz, list timestamp[], note text,
    "createdAt" timestamp NOT NULL, "updatedAt" timestamp NOT NULL, "deletedAt" timestamp);
  CREATE TABLE stops (id serial PRIMARY KEY, at timestamp NOT NULL, "visitId" integer REFERENCES visits)`;

/** Times in the night of a change of clocks of each, and others. */
const CLOCKS = (
  '2026-03-29T02:30:00.000 2026-03-08T02:30:00.123456 2026-10-25T02:30:00.100 ' +
  '0000-06-01T12:00:00.000 -000043-03-15T12:00:00.500 +012026-01-31T00:00:00.000 infinity'
).split(' ');

for (const timezone of ['+00:00', '+05:30', 'Europe/Berlin']) {
  except(OF_MANY).describe(`a column without a zone, where Sequelize writes in ${timezone}`, () => {
    after(async () => {
      if (zoneOfProcess === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zoneOfProcess;
    });

    const site = serveTestApp(async () => {
      process.env['TZ'] = 'America/New_York';
      const database = await freshDatabase('clocks');
      await executeOn(database.url, TABLES);
      return {
        models: [Visit, Stop],
        database,
        engine: { createAll: false, timezone },
        bootstrap: { indexAdvice: false },
      };
    });
    const zoneOfProcess = process.env['TZ'];

    const ask = async (text: string) => {
      const [row] = await site.engine.sequelize.query<{ text: string }>(text, { type: QueryTypes.SELECT });
      return row?.text;
    };
    const stored = (id: number, column = 'at') =>
      ask(`SELECT "${column}"::text AS text FROM visits WHERE id = ${id}`);

    beforeEach(() => site.engine.sequelize.query('TRUNCATE visits, stops RESTART IDENTITY'));

    for (const at of CLOCKS) {
      it(`[P8] stores ${at} as it is, however often it is read and written`, async () => {
        const made = await site.agent.post('/visits').send({ at, list: [at, null] });
        expect([made.status, made.body.at, made.body.list]).to.deep.equal([201, at, [at, null]]);
        const [first, list] = [await stored(1), await stored(1, 'list')];
        for (let round = 0; round < 2; round += 1) {
          const { body } = await site.agent.get('/visits/1');
          expect([body.at, body.list]).to.deep.equal([at, [at, null]]);
          const change = { at: body.at, list: body.list, note: `${round}` };
          const changed = await site.agent.patch('/visits/1').send(change);
          expect([changed.status, changed.body.at, changed.body.list]).to.deep.equal([200, at, [at, null]]);
          expect([await stored(1), await stored(1, 'list')]).to.deep.equal([first, list]);
        }
        const many = await site.agent.post('/visits').send([{ at }, { at, list: [at] }]);
        expect([many.status, many.body.items[1].at]).to.deep.equal([201, at]);
        const both = await site.agent.patch('/visits').send([
          { id: 2, at, note: 'x' },
          { id: 3, at: null },
        ]);
        expect([both.status, both.body.items[0].at, await stored(2)]).to.deep.equal([200, at, first]);
        const found = await site.agent.get('/visits').query({ q: `at=="${at}"` });
        expect(found.body.items.map(({ id }: Visit) => id)).to.deep.equal([1, 2]);
        // Records of code have the same clock, and save it as it is.
        const record = await Visit.findByPk(1);
        await record?.update({ note: 'by code' });
        const [visit] = await new Repository(Visit).list();
        visit?.changed('at', true);
        await visit?.save();
        expect(await stored(1)).to.equal(first);
      });
    }

    it('refuses an offset, which PostgreSQL would drop', async () => {
      const at = '2026-01-31T08:00:00.000';
      await site.agent.post('/visits').send({ at });
      const detail = `at must be a date and time without an offset and with at most microseconds, such as "${at}".`;
      for (const value of [`${at}Z`, `${at}+05:00`, '2026-02-30T08:00:00', '2026-01-31', 1]) {
        for (const request of [site.agent.post('/visits'), site.agent.patch('/visits/1')])
          expectIssue(await request.send({ at: value }), 422, { pointer: '/at', code: 'isDateTime', detail });
      }
      const { status, body } = await site.agent.get('/visits').query({ q: `at=="${at}Z"` });
      expect([status, body.errors[0].code, body.errors[0].detail]).to.deep.equal([
        400,
        'q.type',
        `'${at}Z' is not a date and time without an offset, such as 2026-01-31T08:00:00 (field 'at').`,
      ]);
      expect(await stored(1)).to.equal('2026-01-31 08:00:00');
    });

    it("has timestamps of the zone's clock, and soft-deletes by it", async () => {
      const { body } = await site.agent.post('/visits').send({});
      await site.agent.post('/visits').send([{}, {}]);
      await site.agent.patch('/visits/1').send({ note: 'x' });
      await site.agent.patch('/visits').send([{ id: 2, note: 'x' }]);
      expect((await site.agent.delete('/visits/1')).status).to.equal(204);
      expect(body.createdAt).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}$/);
      const zone = timezone.startsWith('+') ? `INTERVAL '${timezone}'` : `'${timezone}'`;
      const away = ['createdAt', 'updatedAt', 'deletedAt'].map(
        (column) => `abs(extract(epoch FROM "${column}" - now() AT TIME ZONE ${zone})) > 60`,
      );
      expect(await ask(`SELECT count(*)::text AS text FROM visits WHERE ${away.join(' OR ')}`)).to.equal('0');
      expect((await site.agent.get('/visits/1')).status).to.equal(404);
    });

    it('is shown by relations, and compared by rules', async () => {
      await site.agent.post('/visits').send({ at: '2026-01-31T08:00:00' });
      const stop = { at: '2026-01-31T09:00:00.123', visitId: 1 };
      await site.agent.post('/stops').send(stop);
      const { body } = await site.agent.get('/visits/1?include=stops');
      expect(body.stops.items ?? body.stops).to.deep.equal([{ id: 1, ...stop }]);
    });

    it('is walked by cursors, with all digits', async () => {
      const rows = ['.1', '.1', '.100001', '.1002', ''].map(
        (fraction) => `('2026-01-31 08:00:00${fraction}', now(), now())`,
      );
      await site.engine.sequelize.query(`INSERT INTO visits (at, "createdAt", "updatedAt") VALUES ${rows}`);
      const ids: number[] = [];
      for (let after = ''; ; ) {
        const { body } = await site.agent.get(`/visits?sort=-at&size=1${after}`);
        ids.push(body.items[0].id);
        if (!body.has_next) break;
        after = `&after=${body.next_cursor}`;
      }
      expect(ids).to.deep.equal([4, 3, 2, 1, 5]);
    });

    it('is described without a zone', () => {
      for (const [name, { properties = {} }] of Object.entries(site.crud.openapi().components.schemas)) {
        if (!/Visit|Stop/.test(name) || properties['at'] === undefined) continue;
        expect(properties['at'], name).to.have.property('pattern');
        expect(properties['at'], name).to.not.have.property('format');
      }
    });
  });
}

except(OF_MANY).describe('a moment of which an answer shows the milliseconds', () => {
  it('[P8] is found by them, and by all its digits', async () => {
    await using site = await startTestApp({ models: [Visit, Stop], bootstrap: { indexAdvice: false } });
    const text = (fraction: string) => `2026-01-31T08:00:00.${fraction}Z`;
    await site.engine.sequelize.query(
      `INSERT INTO visits (zoned, "createdAt", "updatedAt") SELECT v::timestamptz, now(), now()
       FROM unnest(ARRAY['${text('123')}', '${text('123456')}', '${text('123999')}', '${text('124')}', 'infinity', NULL]) AS v`,
    );
    const ids = async (q: string) => {
      const { body } = await site.agent.get('/visits').query({ q, size: 20 });
      return body.items?.map(({ id }: Visit) => id) ?? body;
    };
    expect(await ids(`zoned==${text('123')}`)).to.deep.equal([1, 2, 3]);
    expect(await ids(`zoned==${text('123456')}`)).to.deep.equal([2]);
    expect(await ids(`zoned!=${text('123')}`)).to.deep.equal([4, 5]);
    expect(await ids(`zoned=in=(${text('123')},infinity)`)).to.deep.equal([1, 2, 3, 5]);
    expect(await ids(`zoned=in=(${text('123456')},${text('124')})`)).to.deep.equal([2, 4]);
    expect(await ids(`zoned=out=(${text('123')},${text('124')})`)).to.deep.equal([5]);
  });
});
