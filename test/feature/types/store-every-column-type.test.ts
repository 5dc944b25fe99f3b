/** Every column type on its way from a body into the database and back: nothing is rounded, shifted or guessed. */
// @runs fast
import { expect } from 'chai';
import { QueryTypes } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedManyTypes } from '../../models/many-types.js';
import { emptyTables } from '../../support/empty-tables.js';
import { expectJson } from '../../support/expect-answer.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud()
@Table({ tableName: 'samples', timestamps: false })
class Sample extends NumberedManyTypes {
  @Column(DataType.FLOAT) declare float: number | null;
  @Column(DataType.JSON) declare json: unknown;
  @Column(DataType.TEXT) declare text: string | null;
  @Column(DataType.CHAR(3)) declare code: string | null;
  @Column(DataType.ARRAY(DataType.BIGINT)) declare bigs: string[] | null;
  @Column(DataType.ARRAY(DataType.JSONB)) declare documents: unknown[] | null;
  @Column(DataType.INET) declare address: string | null;
}

/** A sent value, its text in PostgreSQL, and the answered value where that differs. */
type Case = readonly [attribute: string, sent: unknown, stored: string, answered?: unknown];

const UUID = 'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11';

const ROUND_TRIPS: readonly Case[] = [
  ['small', -32768, '-32768'],
  ['small', 32767, '32767'],
  ['whole', -2147483648, '-2147483648'],
  ['whole', 2147483647, '2147483647'],
  ['whole', -0, '0', 0],
  ['big', '9007199254740993', '9007199254740993'],
  ['big', '-9223372036854775808', '-9223372036854775808'],
  ['big', '9223372036854775807', '9223372036854775807'],
  ['exact', '1234567890123456.7891', '1234567890123456.7891'],
  ['exact', '-0.1', '-0.1000', '-0.1000'],
  ['exact', '-0', '0.0000', '0.0000'],
  [
    'unlimited',
    '12345678901234567890123456789.000000000000000000001',
    '12345678901234567890123456789.000000000000000000001',
  ],
  ['real', 0.5, '0.5'],
  ['float', 0.1, '0.1'],
  ['double', 0.1, '0.1'],
  ['double', 1.7976931348623157e308, '1.7976931348623157e+308'],
  ['double', 5e-324, '5e-324'],
  ['double', 'NaN', 'NaN'],
  ['double', '-Infinity', '-Infinity'],
  ['real', 'Infinity', 'Infinity'],
  ['exact', 'NaN', 'NaN'],
  ['unlimited', '-Infinity', '-Infinity'],
  ['flag', true, 'true'],
  ['flag', false, 'false'],
  ['moment', '2026-01-31T08:00:00.123Z', '2026-01-31 08:00:00.123+00'],
  ['moment', '2026-01-31T08:00:00Z', '2026-01-31 08:00:00+00', '2026-01-31T08:00:00.000Z'],
  ['moment', '2026-01-31T08:00:00.5+05:30', '2026-01-31 02:30:00.5+00', '2026-01-31T02:30:00.500Z'],
  ['moment', '1900-01-01T00:00:00.000Z', '1900-01-01 00:00:00+00'],
  ['moment', '9999-12-31T23:59:59.999Z', '9999-12-31 23:59:59.999+00'],
  ['moment', '0000-03-15T12:00:00.000Z', '0001-03-15 12:00:00+00 BC'],
  ['moment', '-000043-03-15T12:00:00.500Z', '0044-03-15 12:00:00.5+00 BC'],
  ['moment', '+012026-01-31T00:00:00.000Z', '12026-01-31 00:00:00+00'],
  ['moment', 'infinity', 'infinity'],
  ['moment', '-infinity', '-infinity'],
  ['day', '0000-02-29', '0001-02-29 BC'],
  ['day', '-000043-03-15', '0044-03-15 BC'],
  ['day', '+012026-01-31', '12026-01-31'],
  ['day', 'infinity', 'infinity'],
  ['day', '2024-02-29', '2024-02-29'],
  ['day', '0001-01-01', '0001-01-01'],
  ['day', '9999-12-31', '9999-12-31'],
  ['time', '08:00:00', '08:00:00'],
  ['time', '23:59', '23:59:00', '23:59:00'],
  ['time', '24:00:00', '24:00:00'],
  ['time', '23:59:59.123456', '23:59:59.123456'],
  ['uuid', UUID, UUID.toLowerCase(), UUID.toLowerCase()],
  ['json', { b: 1, a: [true, null, 'x', 1.5] }, '{"b":1,"a":[true,null,"x",1.5]}'],
  ['json', [1, 2], '[1,2]'],
  ['json', 'text', '"text"'],
  ['json', 0, '0'],
  ['json', false, 'false'],
  ['jsonb', { b: 1, a: [true, null, 'x', 1.5] }, '{"a": [true, null, "x", 1.5], "b": 1}'],
  ['jsonb', [], '[]'],
  ['jsonb', [{ a: 1 }], '[{"a": 1}]'],
  ['jsonb', "it's ; -- $1 ? :a", `"it's ; -- $1 ? :a"`],
  ['jsonb', '', '""'],
  ['jsonb', 1e21, '1000000000000000000000', 1e21],
  ['colour', 'dark green', 'dark green'],
  ['colour', "o'clock", "o'clock"],
  ['bytes', 'AP+AYQ==', '\\x00ff8061'],
  ['bytes', '', '\\x'],
  ['text', 'Grüße, 世界 🙂\n\t"\\', 'Grüße, 世界 🙂\n\t"\\'],
  ['text', '', ''],
  ['text', '$1 ? :name \\ ;--', '$1 ? :name \\ ;--'],
  ['short', '🙂🙂🙂🙂🙂', '🙂🙂🙂🙂🙂'],
  ['code', 'abc', 'abc'],
  ['words', [], '{}'],
  ['words', ['a', 'b,c', '"', "'", '\\', '', 'NULL', '{}'], '{a,"b,c","\\"",\',"\\\\","","NULL","{}"}'],
  ['words', ['a', null, 'NULL'], '{a,NULL,"NULL"}'],
  [
    'words',
    [
      ['a', null],
      ['b', '{'],
    ],
    '{{a,NULL},{b,"{"}}',
  ],
  ['numbers', [1, -2, 2147483647], '{1,-2,2147483647}'],
  ['numbers', [[[1, 2]], [[3, null]]], '{{{1,2}},{{3,NULL}}}'],
  ['decimals', ['NaN', null], '{NaN,NULL}'],
  [
    'moments',
    ['2026-01-31T08:00:00.123456Z', null, 'infinity'],
    '{"2026-01-31 08:00:00.123456+00",NULL,infinity}',
  ],
  ['moments', ['-000043-03-15T12:00:00.000001Z'], '{"0044-03-15 12:00:00.000001+00 BC"}'],
  ['bigs', ['9007199254740993', '-1'], '{9007199254740993,-1}'],
  ['decimals', ['12345678901234567890.123456789', '0.10'], '{12345678901234567890.123456789,0.10}'],
  [
    'moments',
    ['2026-01-31T08:00:00.123Z', '2026-01-31T08:00:00.5+05:30'],
    '{"2026-01-31 08:00:00.123+00","2026-01-31 02:30:00.5+00"}',
    ['2026-01-31T08:00:00.123Z', '2026-01-31T02:30:00.500Z'],
  ],
  ['uuids', [UUID], `{${UUID.toLowerCase()}}`, [UUID.toLowerCase()]],
  ['documents', [{ a: 1 }, [2], 'x'], '{"{\\"a\\": 1}",[2],"\\"x\\""}'],
  ['sizes', ['l', 's'], '{l,s}'],
  ['address', '192.168.0.1', '192.168.0.1/32', '192.168.0.1'],
];

/** Values that SQL can store, and no body. */
const STORED_BY_SQL: readonly (readonly [attribute: string, sql: string, answered: unknown])[] = [
  ['float', "'-Infinity'", '-Infinity'],
  ['moment', "'2026-01-31 08:00:00.123456+00'", '2026-01-31T08:00:00.123Z'],
  ['jsonb', "'null'", null],
  ['json', `'{"a": 12345678901234567890}'`, { a: 12345678901234567000 }],
  ['moments', "'{infinity,NULL}'", ['infinity', null]],
];

describe('storing every column type', () => {
  const site = serveTestApp(() => ({ models: [Sample] }));

  /** A row with these values alone. */
  const rowOf = (values: object) => {
    const names = Object.keys(Sample.getAttributes());
    return { ...Object.fromEntries(names.map((name) => [name, null])), id: 1, ...values };
  };
  const stored = async (attribute: string): Promise<unknown> => {
    const [row] = await site.engine.sequelize.query<{ text: string }>(
      `SELECT "${attribute}"::text AS text FROM samples WHERE id = 1`,
      { type: QueryTypes.SELECT },
    );
    return row?.text;
  };

  beforeEach(() => emptyTables(site, 'samples'));

  it('[B11] gives null for every type that has no value', async () => {
    expectJson(await site.agent.post('/samples').send({}), 201, rowOf({}));
    expectJson(await site.agent.get('/samples/1'), 200, rowOf({}));
  });

  describe('from the body of a create', () => {
    for (const [attribute, sent, text, answered = sent] of ROUND_TRIPS) {
      it(`[B7] stores ${attribute} ${show(sent)} and gives it back`, async () => {
        const record = rowOf({ [attribute]: answered });
        expectJson(await site.agent.post('/samples').send({ [attribute]: sent }), 201, record);
        expect(await stored(attribute)).to.equal(text);
        expectJson(await site.agent.get('/samples/1'), 200, record);
      });
    }
  });

  describe('from the body of an update', () => {
    beforeEach(() => Sample.create());

    for (const [attribute, sent, text, answered = sent] of ROUND_TRIPS) {
      it(`stores ${attribute} ${show(sent)} and gives it back`, async () => {
        const record = rowOf({ [attribute]: answered });
        expectJson(await site.agent.patch('/samples/1').send({ [attribute]: sent }), 200, record);
        expect(await stored(attribute)).to.equal(text);
      });
    }
  });

  describe('from SQL', () => {
    for (const [attribute, sql, answered] of STORED_BY_SQL) {
      it(`[B11] gives ${JSON.stringify(answered)} for ${attribute} ${sql}`, async () => {
        await site.engine.sequelize.query(`INSERT INTO samples ("${attribute}") VALUES (${sql})`);
        const record = rowOf({ [attribute]: answered });
        expectJson(await site.agent.get('/samples/1'), 200, record);
        expect((await site.agent.get('/samples')).body.items).to.deep.equal([record]);
      });
    }
  });
});

function show(value: unknown): string {
  const text = Object.is(value, -0) ? '-0' : JSON.stringify(value);
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}
