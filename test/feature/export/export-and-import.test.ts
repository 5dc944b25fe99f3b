/** A file that an export has written is read by an import, and the rows are the same. */
import { expect } from 'chai';
import { Column, DataType, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, crudController } from '../../../src/index.js';
import { ManyTypes } from '../../models/many-types.js';
import { KeyedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { serveTables } from '../../support/serve-tables.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ prefix: '/trips', export: ['csv', 'ndjson'], import: { modes: ['create'] } })
@Table({ tableName: 'trips', timestamps: false })
class Trip extends ManyTypes {
  @PrimaryKey @Column(DataType.INTEGER) declare id: number;
  @Column(DataType.TEXT) declare text: string | null;
}
class TripController extends crudController(Trip) {}

const TYPES = { csv: 'text/csv', ndjson: 'application/x-ndjson' } as const;
const TEXTS = [
  '',
  ' ',
  'a,b',
  '"',
  'a\r\nb',
  '\n',
  '=1+1',
  '-1.5',
  '12',
  'true',
  'null',
  'é🎉',
  "'",
  '\\N',
  '\u{feff}x',
  'a;b\tc',
];
const JSONS = [null, 5, '5', '', 'a,"b"', true, 'true', 'null', [], {}, [1, 'x', null], { a: { b: '"' } }];

except({ values: 'no export goes through the interceptor of the combination' }).describe(
  'an exported file',
  () => {
    const site = serveTestApp(() => ({ models: [Trip], bootstrap: { controllers: [TripController] } }));

    before(async () => {
      const values = {
        small: -1,
        whole: 0,
        big: '-9223372036854775808',
        exact: '12345678901234.5678',
        unlimited: '0.1',
        real: 0.5,
        double: -1e-300,
        flag: false,
        moment: new Date('2026-01-31T08:00:00.120Z'),
        day: '2024-02-29',
        time: '23:59:59',
        uuid: '0f8fad5b-d9cb-469f-a165-70867728950e',
        colour: "o'clock",
        bytes: Buffer.from([0, 255, 10]),
        short: 'é"',
        words: ['', 'a,"b"', 'null'],
        numbers: [1, -2],
        decimals: ['1.50'],
        moments: [new Date(0)],
        sizes: [],
        uuids: ['0f8fad5b-d9cb-469f-a165-70867728950e'],
      };
      await Trip.bulkCreate([
        { id: 1 },
        { id: 2, ...values },
        ...TEXTS.map((text, index) => ({ id: 100 + index, text })),
        ...JSONS.map((jsonb, index) => ({ id: 200 + index, jsonb })),
      ]);
    });

    for (const format of ['csv', 'ndjson'] as const)
      it(`has equal rows when it is imported as ${format}`, async () => {
        const read = async () => (await fetch(`${site.server.url}/trips?format=${format}`)).arrayBuffer();
        const file = Buffer.from(await read());
        await Trip.destroy({ truncate: true });
        const { body } = await site.agent
          .post('/trips/import')
          .set('Content-Type', TYPES[format])
          .send(format === 'csv' ? file : file.toString());
        expect([body.created, body.errors]).to.deep.equal([2 + TEXTS.length + JSONS.length, []]);
        expect(Buffer.from(await read()).toString()).to.equal(file.toString());
      });
  },
);

/** Types of the database's own, by their names. */
@Crud({ prefix: '/rates', export: ['csv', 'ndjson'], import: { modes: ['create'] } })
@Table({ tableName: 'rates', timestamps: false })
class Rate extends KeyedRow {
  @Column('amount' as never) declare amount: unknown;
  @Column('word' as never) declare word: unknown;
  @Column('timerange' as never) declare hours: unknown;
  @Column('doc' as never) declare doc: unknown;
  @Column('flag' as never) declare flag: unknown;
  @Column('numbers' as never) declare numbers: unknown;
}

const RATES = `
  CREATE DOMAIN amount AS numeric; CREATE DOMAIN word AS text; CREATE TYPE timerange AS RANGE (subtype = time); CREATE DOMAIN doc AS jsonb;
  CREATE DOMAIN flag AS boolean; CREATE DOMAIN numbers AS int[];
  CREATE TABLE rates (id int PRIMARY KEY, amount amount, word word, hours timerange, doc doc, flag flag, numbers numbers);
  INSERT INTO rates VALUES
    (1, 12345678901234567890.12, 'null', '[08:00,12:00)', '{"a":[1,"x"]}', true, '{1,2}'),
    (2, NULL, '', '[08:00,)', NULL, NULL, NULL), (3, 1e3, '[1]', '(,08:00]', '5', false, NULL), (4, 'NaN', '{"a":1}', NULL, '{}', NULL, NULL),
    (5, 0, '12.50', NULL, NULL, NULL, NULL), (6, -1.50, '"', NULL, NULL, NULL, NULL), (7, 7, NULL, NULL, NULL, NULL, NULL)`;

except({
  values: 'no export goes through the interceptor of the combination',
  session: 'no export goes through the override of list of the combination',
  records: 'no export goes through the override of list of the combination',
}).describe('an exported file of types of the database', () => {
  const { apps, query } = serveTables(RATES, [Rate]);

  for (const format of ['csv', 'ndjson'] as const)
    it(`has equal rows when it is imported as ${format}`, async () => {
      const stored = () => query('SELECT rates::text FROM rates ORDER BY id');
      for (const { agent } of apps) {
        const before = await stored();
        const { body: file } = await agent.get(`/rates?format=${format}`).responseType('arraybuffer');
        await query('TRUNCATE rates');
        const { body } = await agent
          .post('/rates/import')
          .set('Content-Type', TYPES[format])
          .send(String(file));
        expect(body.errors).to.deep.equal([]);
        expect(await stored()).to.deep.equal(before);
      }
    });
});
