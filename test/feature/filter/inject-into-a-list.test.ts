/** SQL in every place of a request for a list: it matches nothing, or is refused, and never becomes part of a statement. */
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const LIST = { filterAllow: ['id', 'name'], sortAllow: ['id', 'name'] } as object;

abstract class Target extends NumberedRow {
  @Column({ type: DataType.TEXT, allowNull: false }) declare name: string;
}

@Crud(LIST)
@Table({ tableName: 'targets', timestamps: false })
class PagedTarget extends Target {}

@Crud({ ...LIST, pagination: 'cursor' })
@Table({ tableName: 'walked', timestamps: false })
class WalkedTarget extends Target {}

/** The same, with values quoted instead of bound. */
@Crud({ ...LIST, pagination: 'cursor' })
@Table({ tableName: 'hooked_targets', timestamps: false })
class HookedTarget extends Target {}

const CORPUS = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE targets; --",
  "' UNION SELECT 1, version() --",
  '1; SELECT pg_sleep(10)',
  '1) OR (1=1',
  "1' AND pg_sleep(10) IS NULL --",
  '" OR ""="',
  '"; DROP TABLE "targets"; --',
  "\\'; DROP TABLE targets; --",
  "\\' OR 1=1 --",
  '$1',
  '$2',
  '$$; DROP TABLE targets; $$',
  ':id',
  '?',
  "E'\\047 OR 1=1 --'",
  '{1} OR 1=1',
  '\u02bc OR 1=1 --',
  '/* */ OR /* */ 1=1',
  "name' || (SELECT current_user) || '",
  'id"::text, (SELECT 1)',
  'id) ASC, (SELECT 1',
  '(CASE WHEN 1=1 THEN id ELSE 0 END)',
  '%27%20OR%201%3D1--',
  '\0',
];

describe('injecting SQL into a list', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [PagedTarget, WalkedTarget, HookedTarget],
    engine: { logging: sql.record },
    bootstrap: { logger: new CapturedLog() },
  }));

  before(async () => {
    HookedTarget.addHook('beforeFind', () => {});
    for (const model of [PagedTarget, WalkedTarget, HookedTarget]) {
      await model.bulkCreate([{ name: 'one' }, { name: 'two' }, { name: 'three' }] as never[]);
    }
  });

  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

  /** Every place that takes text, with the text in it raw and as it would be quoted. */
  function requests(text: string, path: string): string[] {
    const raw = encodeURIComponent(text);
    const value = encodeURIComponent(quoted(text));
    const filters = ['==', '=like=', '=ilike='].map((operator) => `q=name${operator}${value}`);
    return [
      ...filters,
      `q=name=in=(${value},${value})`,
      `q=name=between=(${value},${value})`,
      `q=name==${raw}`,
      `q=id==${value}`,
      `q=${raw}==1`,
      `q=name${raw}1`,
      `q=${raw}`,
      `sort=${raw}`,
      `sort=-${raw}`,
      `sort=name,${raw}`,
      `fields=${raw}`,
      `fields=id,${raw}`,
      `size=${raw}`,
      `page=${raw}`,
      `after=${raw}`,
      `before=${raw}`,
      `${raw}=1`,
    ].map((query) => `${path}?${query}`);
  }

  /** What is left of a statement without its values: names of the model and words of ours. */
  function skeleton(statement: string): string {
    return statement
      .replace(/'(?:[^']|'')*'/g, 'value')
      .replace(/\$\d+/g, 'value')
      .replace(
        /"(?:PagedTarget|WalkedTarget|HookedTarget|targets|walked|hooked_targets|id|name|keyset \d|count)"/g,
        'name',
      );
  }

  const WORDS =
    /^(?:SELECT|FROM|AS|WHERE|AND|OR|NOT|LIKE|ILIKE|BETWEEN|ANY|ORDER|BY|ASC|DESC|LIMIT|OFFSET|IS|NULL|count|text|name|value|\d+|[\s.,;()*=<>:])*$/;

  for (const path of ['/paged-targets', '/walked-targets', '/hooked-targets']) {
    for (const text of CORPUS) {
      it(`${path} takes ${JSON.stringify(text)} for a value or refuses it`, async () => {
        for (const url of requests(text, path)) {
          const { result, statements } = await sql.duringRequest(() => site.agent.get(url));
          const { status, body } = result;
          expect([200, 400], url).to.include(status);
          if (status === 200)
            expect(
              body.items.every(({ name }: Target) => !['one', 'two'].includes(name)),
              url,
            ).to.equal(true);
          else expect(statements, url).to.deep.equal([]);
          for (const statement of statements) expect(skeleton(statement), url).to.match(WORDS);
        }
      });
    }
  }

  it('leaves the tables as they were', async () => {
    expect(await PagedTarget.count()).to.equal(3);
    expect(await WalkedTarget.count()).to.equal(3);
  });
});
