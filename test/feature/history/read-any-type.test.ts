/** Values of each type in a history: those of a read, byte for byte. */
// @runs fast
import { expect } from 'chai';
import type { DataType as ColumnDataType } from 'sequelize';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { except } from '../../support/combination.js';
import { emptyTables } from '../../support/empty-tables.js';
import { HARD_TYPES, HARD_VALUES } from '../../support/specimen.js';
import { serveTestApp } from '../../support/test-app.js';

const MORE = {
  small: ['-32768', '32767'],
  padded: ['a', 'ab  '],
  json: ['{"a": [1.50, "x"], "b": 1}', '[1e3, null]'],
  jsonb: ['{"b": {"a": 12345678901234567890}}', '"text"', '[]', 'false'],
  texts: ['{}', '{a,NULL,"b \\"c"}'],
  numbers: ['{1,NULL,3}'],
  address: ['192.168.0.1', '10.0.0.0/8', '::1'],
  block: ['10.0.0.0/8'],
  mac: ['08:00:2b:01:02:03'],
  range: ['[1,5)', 'empty', '(,3]'],
  moments: ['["2026-01-31 08:00:00.000001+00","2026-02-01 00:00:00+00")'],
};

const TYPES: Readonly<Record<keyof typeof HARD_VALUES | keyof typeof MORE, ColumnDataType>> = {
  ...HARD_TYPES,
  small: DataType.SMALLINT,
  padded: DataType.CHAR(4),
  json: DataType.JSON,
  jsonb: DataType.JSONB,
  texts: DataType.ARRAY(DataType.TEXT),
  numbers: DataType.ARRAY(DataType.INTEGER),
  address: DataType.INET,
  block: DataType.CIDR,
  mac: DataType.MACADDR,
  range: DataType.RANGE(DataType.INTEGER),
  moments: DataType.RANGE(DataType.DATE),
};

@Crud({ can: { history: true }, history: true, endpoints: ['read', 'history'] })
@Table({ tableName: 'samples', timestamps: false })
class Sample extends NumberedRow {}

for (const [name, type] of Object.entries(TYPES)) Column({ type })(Sample.prototype, name);

const REASON = 'it has a method read, with which no application has histories';

except({ session: REASON, records: REASON }).describe('a value in a history', () => {
  const site = serveTestApp(() => ({
    models: [Sample],
    bootstrap: { indexAdvice: false },
  }));
  beforeEach(() => emptyTables(site, 'samples', 'crud_changes'));

  for (const [name, texts] of Object.entries({ ...HARD_VALUES, ...MORE }))
    it(`is that of a read: ${name}`, async () => {
      const { sequelize } = site.engine;
      for (const [id, text] of texts.entries()) {
        // JSON has no zero with a sign.
        if (text === '-0') continue;
        // A writer may have any settings.
        await sequelize.transaction(async (transaction) => {
          const settings = `SET LOCAL "TimeZone" = 'Asia/Tokyo'; SET LOCAL "DateStyle" = 'German'; SET LOCAL extra_float_digits = -9`;
          await sequelize.query(settings, { transaction });
          const values = { bind: [id, text], transaction };
          await sequelize.query(`INSERT INTO samples (id, "${name}") VALUES ($1, $2)`, values);
        });
        const read = await site.agent.get(`/samples/${id}`);
        const { body } = await site.agent.get(`/samples/${id}/history`);
        expect(read.status, text).to.equal(200);
        const [{ changes }] = body.items;
        expect(JSON.stringify(changes[name]), text).to.equal(JSON.stringify({ to: read.body[name] }));
        await sequelize.query(`UPDATE samples SET "${name}" = NULL WHERE id = $1`, { bind: [id] });
        const { body: next } = await site.agent.get(`/samples/${id}/history`);
        expect(next.items[0].changes, text).to.deep.equal({ [name]: { from: read.body[name], to: null } });
      }
    });
});
