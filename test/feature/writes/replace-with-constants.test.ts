/** A PUT that replaces a record sets the columns which its body leaves out to the constants of the table, of any type. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Model, PrimaryKey, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { except, OF_MANY } from '../../support/combination.js';
import { serveTables } from '../../support/serve-tables.js';

const { ARRAY, DATE, INTEGER, JSONB, RANGE, TEXT } = DataType;

@Crud({ endpoints: ['read', 'update', 'replace'] })
@Table({ tableName: 'pages', timestamps: false })
class Page extends Model {
  @PrimaryKey @Column(TEXT) declare slug: string;
  @Column(TEXT) declare title: string | null;
  @Column({ type: ARRAY(TEXT), allowNull: false }) declare tags: string[];
  @Column(ARRAY(TEXT)) declare words: unknown;
  @Column(ARRAY(TEXT)) declare none: unknown;
  @Column(ARRAY(INTEGER)) declare grid: unknown;
  @Column(ARRAY(INTEGER)) declare numbers: unknown;
  @Column(ARRAY(DATE)) declare moments: unknown;
  @Column(ARRAY(JSONB)) declare documents: unknown;
  @Column(DATE) declare due: unknown;
  @Column(DATE) declare local: unknown;
  @Column(DATE) declare ever: unknown;
  @Column('interval') declare span: unknown;
  @Column('inet') declare host: unknown;
  @Column('money') declare cost: unknown;
  @Column('bit(3)') declare bits: unknown;
  @Column(DataType.BLOB) declare bytes: unknown;
  @Column(RANGE(INTEGER)) declare seats: unknown;
  @Column(RANGE(DATE)) declare during: unknown;
  @Column('int4multirange') declare rows: unknown;
  @Column('point') declare place: unknown;
  @Column(ARRAY('box' as never)) declare boxes: unknown;
}

const DEFAULTS = {
  title: null,
  tags: [],
  words: ['a', 'it\'s, "b"', 'NULL', null, 'c\\d'],
  none: [],
  grid: [
    [1, 2],
    [3, 4],
  ],
  numbers: [1, -2],
  moments: ['2020-01-02T03:04:05.123456Z', null],
  documents: [{ a: ['"'] }],
  due: '1970-01-01T00:00:00.000Z',
  local: '2020-01-02T03:04:05.500',
  ever: 'infinity',
  span: 'P1Y2DT3H',
  host: '10.0.0.1',
  cost: '1.50',
  bits: '101',
  bytes: 'AQI=',
  seats: { lower: 1, upper: 5, bounds: '[)' },
  during: { lower: '2020-01-01T00:00:00.000Z', upper: null, bounds: '[)' },
  rows: [{ lower: 1, upper: 2, bounds: '[)' }],
  place: '(1,2)',
};

const PAGES = String.raw`
  CREATE TABLE pages (slug text PRIMARY KEY, title text, tags text[] NOT NULL DEFAULT '{}',
    words text[] DEFAULT ARRAY['a', 'it''s, "b"', 'NULL', NULL, 'c\d'], none text[] DEFAULT ARRAY[]::text[], grid int[] DEFAULT '{{1,2},{3,4}}',
    numbers int[] DEFAULT ARRAY[1, -2], moments timestamptz[] DEFAULT '{2020-01-02 03:04:05.123456Z,NULL}', documents jsonb[] DEFAULT '{"{\"a\":[\"\\\"\"]}"}',
    due timestamptz DEFAULT '1970-01-01 00:00:00+00', local timestamp DEFAULT '2020-01-02 03:04:05.5', ever timestamptz DEFAULT 'infinity',
    span interval DEFAULT '1 year 2 days 03:00', host inet DEFAULT '10.0.0.1', cost money DEFAULT '1.5', bits bit(3) DEFAULT B'101',
    bytes bytea DEFAULT '\x0102', seats int4range DEFAULT '[1,5)', during tstzrange DEFAULT '[2020-01-01 00:00:00Z,)',
    rows int4multirange DEFAULT '{[1,2)}', place point DEFAULT '(1,2)', boxes box[] DEFAULT '{(1,1),(0,0)}')`;

except(OF_MANY).describe('a constant of the table', () => {
  const { apps, query } = serveTables(PAGES, [Page]);

  beforeEach(() => query('TRUNCATE pages'));

  it('is in a record that was replaced', async () => {
    for (const [place, { agent }] of apps.entries()) {
      const slug = `a${place}`;
      await query(`INSERT INTO pages (slug) VALUES ('${slug}')`);
      const { boxes, ...first } = (await agent.get(`/pages/${slug}`)).body;
      expect(first).to.deep.equal({ slug, ...DEFAULTS });
      for (const other of [null, {}]) {
        const names = Object.keys(DEFAULTS).filter((name) => name !== 'tags' && name !== 'title');
        const emptied = Object.fromEntries(names.map((name) => [name, null]));
        const changed = await agent
          .patch(`/pages/${slug}`)
          .send({ tags: ['secret'], ...(other === null ? emptied : OTHERS) });
        expect(changed.status, changed.text).to.equal(200);
        const { status, body } = await agent.put(`/pages/${slug}`).send({ title: 'y' });
        expect([status, body]).to.deep.equal([200, { slug, ...DEFAULTS, title: 'y', boxes }]);
        expect((await agent.get(`/pages/${slug}`)).body).to.deep.equal(body);
      }
    }
  });
});

/** Values that are none of the defaults. */
const OTHERS = {
  words: [],
  none: ['a'],
  grid: [1],
  moments: [],
  due: '2021-01-01T00:00:00Z',
  local: '2021-01-01T00:00:00',
  ever: '2021-01-01T00:00:00Z',
  span: 'P1D',
  cost: '2',
  bytes: '',
  seats: { empty: true },
};
