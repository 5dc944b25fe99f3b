/** SQL in every place of an address: the same rows or a 400, and none of it in the text of a statement. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, ForeignKey, HasMany, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { UNGUARDED } from '../../support/combination.js';
import { exchange, requestHead } from '../../support/listen.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ filterAllow: ['name', 'size'], sortAllow: ['name', 'size'] })
@Table({ tableName: 'parts', timestamps: false })
class Part extends NumberedRow {
  @ForeignKey(() => Whole) @Column(DataType.STRING(200)) declare wholeId: string | null;
  @Column(DataType.TEXT) declare name: string | null;
  @Column(DataType.INTEGER) declare size: number | null;
}

@Crud({
  pagination: 'cursor',
  pageSize: { default: 2, max: 3 },
  filterAllow: ['name'],
  sortAllow: ['name'],
  count: true,
  include: { parts: { ...UNGUARDED, size: { default: 2, max: 2 } } },
})
@Table({ tableName: 'wholes', timestamps: false })
class Whole extends Model {
  @PrimaryKey @Column(DataType.STRING(200)) declare id: string;
  @HasMany(() => Part) declare parts?: Part[];
  @Column(DataType.TEXT) declare name: string | null;
}

/** The same, with values quoted instead of bound. */
@Crud({ pagination: 'cursor', filterAllow: ['name'], sortAllow: ['name'] })
@Table({ tableName: 'hooked', timestamps: false, hooks: { beforeFind() {} } })
class Hooked extends Model {
  @PrimaryKey @Column(DataType.STRING(200)) declare id: string;
  @Column(DataType.TEXT) declare name: string | null;
}

const LISTS = ['/parts', '/wholes', '/hookeds'];

/** Each has this word, which no statement may have. */
const MARK = 'attack';
const ATTACKS = [
  `' OR '1'='1' -- ${MARK}`,
  `'; DROP TABLE parts; -- ${MARK}`,
  `"; DROP TABLE "${MARK}"; --`,
  `1; SELECT pg_sleep(10) /* ${MARK} */`,
  `1) OR (1=1 /* ${MARK}`,
  `name) FROM parts; -- ${MARK}`,
  `(SELECT ${MARK} FROM pg_user)`,
  `1 UNION SELECT ${MARK} FROM pg_shadow`,
  `\\'; SELECT ${MARK}; --`,
  `$$${MARK}$$`,
  `$1${MARK}`,
  `'||(SELECT ${MARK})||'`,
  `:${MARK}`,
  `?${MARK}`,
  `{1} OR ${MARK}`,
  `%27%20OR%20${MARK}`,
  `\u02bc OR 1=1 -- ${MARK}`,
  `\uff07 OR 1=1 -- ${MARK}`,
  `"name" ${MARK}`,
  `\u0000${MARK}`,
  `\r\nX-${MARK}: 1`,
];

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`;

/** Query strings with an attack in each place of `q`, and in other parameters. */
const PLACES: Readonly<Record<string, (attack: string) => Readonly<Record<string, string>>>> = {
  selector: (attack) => ({ q: `${attack}==1` }),
  operator: (attack) => ({ q: `name${attack}1` }),
  'operator in its signs': (attack) => ({ q: `name=${attack}=1` }),
  value: (attack) => ({ q: `name==${attack}` }),
  'quoted value': (attack) => ({ q: `name==${quoted(attack)}` }),
  'value of a list': (attack) => ({ q: `name=in=(${quoted(attack)},x)` }),
  pattern: (attack) => ({ q: `name=ilike=${quoted(`${attack.replace(/[\\*]/g, '\\$&')}*`)}` }),
  'end of a range': (attack) => ({ q: `name=between=(${quoted(attack)},${quoted(attack)})` }),
  q: (attack) => ({ q: attack }),
  sort: (attack) => ({ sort: attack }),
  'descending sort': (attack) => ({ sort: `-${attack}` }),
  'second sort': (attack) => ({ sort: `name,${attack}` }),
  fields: (attack) => ({ fields: attack }),
  size: (attack) => ({ size: attack }),
  page: (attack) => ({ page: attack }),
  after: (attack) => ({ after: attack }),
  before: (attack) => ({ before: attack }),
  count: (attack) => ({ count: attack }),
  include: (attack) => ({ include: attack }),
  'q of a relation': (attack) => ({ include: 'parts', 'parts.q': `name==${quoted(attack)}` }),
  'sort of a relation': (attack) => ({ include: 'parts', 'parts.sort': attack }),
  'size of a relation': (attack) => ({ include: 'parts', 'parts.size': attack }),
  'name of a parameter': (attack) => ({ [attack]: '1' }),
};

describe('attacking a query', () => {
  const sql = new SqlLog();
  const logger = new CapturedLog();

  const site = serveTestApp(() => ({
    models: [Part, Whole, Hooked],
    engine: { logging: sql.record },
    bootstrap: { logger },
  }));

  before(async () => {
    for (const model of [Whole, Hooked] as ModelClass[])
      await model.bulkCreate(['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, name: id })));
    await Part.bulkCreate(['a', 'b', 'c', 'd'].map((name) => ({ name, wholeId: 'a' })));
  });

  /** Without the agent: an answer that quotes the request has words of SQL, which the agent takes for a leak. */
  async function get(path: string) {
    const response = await fetch(`${site.server.url}${path}`);
    return { status: response.status, body: (await response.json()) as { items: Whole[] } };
  }

  const expectUnharmed = async (statements: readonly string[]) => {
    for (const statement of statements) {
      // Sequelize quotes values; ours are bound.
      expect(statement.replace(/'(?:[^']|'')*'/g, "''")).to.not.include(MARK);
    }
    expect([await Part.count(), await Whole.count(), await Hooked.count()]).to.deep.equal([4, 5, 5]);
    expect(logger.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  };

  for (const [place, queryOf] of Object.entries(PLACES)) {
    it(`[D1] finds no more rows than there are, and nothing where no row has the text: ${place}`, async () => {
      const { statements } = await sql.during(async () => {
        const paths = place.endsWith('of a relation') ? ['/wholes'] : LISTS;
        const sent = paths.flatMap((path) => ATTACKS.map((attack) => ({ path, attack })));
        await Promise.all(
          sent.map(async ({ path, attack }) => {
            const { status, body } = await get(`${path}?${new URLSearchParams(queryOf(attack))}`);
            expect([200, 400], `${attack} ${JSON.stringify(body)}`).to.include(status);
            if (status === 400) expect(body).to.have.keys('detail', 'errors');
            else if (place.endsWith('of a relation')) {
              expect(body.items, attack).to.have.lengthOf(2);
              expect(body.items[0]?.parts, attack).to.deep.equal({ items: [], has_next: false });
            } else expect(body.items, attack).to.deep.equal([]);
          }),
        );
      });
      await expectUnharmed(statements);
    });
  }

  it('[D1] finds, changes and deletes nothing by an id', async () => {
    const { statements } = await sql.during(async () => {
      for (const attack of ATTACKS) {
        for (const [path, missing] of [
          ['/parts', 400],
          ['/wholes', attack.includes('\0') ? 400 : 404],
        ] as const) {
          const address = `${path}/${encodeURIComponent(attack)}`;
          for (const method of ['GET', 'DELETE']) {
            const { status } = await fetch(`${site.server.url}${address}`, { method });
            expect(status, address).to.equal(missing);
          }
        }
      }
    });
    await expectUnharmed(statements);
  });

  it('[B5] answers odd spellings of an address with the same row, or with what is wrong', async () => {
    const row = { id: 1, wholeId: 'a', name: 'a', size: null };
    for (const [path, status] of [
      ['/parts/1', 200],
      ['/parts/1?', 200],
      ['/parts/1/', 200],
      ['/parts/1/?', 200],
      ['/parts/1??', 400],
      ['/parts/1?injected_query_string=123', 400],
      ['/parts/1/?injected_query_string=123', 400],
      ['/parts/1/1', 404],
      ['/parts/{}', 400],
      ['/parts/%7B%7D', 400],
      ['/parts/[1]', 400],
      ['/parts/1.', 400],
      ['/parts/1;x=1', 400],
      ['/parts/1%2F', 400],
      ['/parts/1%3F', 400],
      ['/parts/1%23', 400],
      ['/parts/*', 400],
      ['/parts/$1', 400],
      ['/parts/:id', 400],
    ] as const) {
      const answer = await exchange(site.server, requestHead(`GET ${path}`, { Connection: 'close' }));
      expect(answer.status, `${path} ${answer.body}`).to.equal(status);
      if (status === 200) expect(JSON.parse(answer.body)).to.deep.equal(row);
    }
  });
});
