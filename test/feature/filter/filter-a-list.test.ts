/** Filters of a list with `q`: matches, refusals, and statements. */
import { expect } from 'chai';
import { Exclude } from 'class-transformer';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

const FILTERABLE = ['id', 'name', 'age', 'grade', 'born', 'note', 'tags'] as const;

@Crud({
  filterAllow: FILTERABLE as never,
  sortAllow: ['id', 'name'],
  pageSize: { default: 50, max: 100 },
})
@Table({ tableName: 'people', timestamps: false })
class Person extends NumberedRow {
  @Column({ type: DataType.STRING(40), allowNull: false, field: 'full_name' }) declare name: string;
  @Column(DataType.INTEGER) declare age: number | null;
  @Column(DataType.ENUM('new', 'in progress')) declare grade: string | null;
  @Column(DataType.DATE) declare born: Date | null;
  @Column(DataType.TEXT) declare note: string | null;
  @Column(DataType.ARRAY(DataType.TEXT)) declare tags: string[] | null;
  @Column(DataType.TEXT) declare city: string | null;
  @Exclude() @Column(DataType.TEXT) declare password: string | null;
}

/** Texts that mean something to SQL, to Sequelize or to LIKE. */
const LITERALS = [
  ...`?'"\\;,%_*()\t `,
  ...":x $1 $$ $x '' \\\\ -- /* */ {} {a,b} NULL null \u{1f642} שלום 100% E'\\x41' ::text #{1}".split(' '),
  ...['x\ny', '\r\n', 'a b'],
];

const ROWS = [
  { name: 'Ann', age: 17, grade: 'new', born: new Date('2026-01-01T00:00:00Z'), tags: ['a'] },
  { name: 'Ann Lee', age: 18, grade: 'in progress', born: new Date('2026-02-01T00:00:00Z') },
  { name: "O'Neil", age: 64, note: 'null' },
  { name: 'Monthly report', age: 65, note: 'The REPORT' },
  { name: '50*x', age: null, note: '50%_\\x', password: 'secret', city: 'Lyon' },
];

describe('filtering a list', () => {
  const sql = new SqlLog();
  const site = serveTestApp(() => ({
    models: [Person],
    engine: { logging: sql.record },
    bootstrap: { logger: new CapturedLog() },
  }));

  before(() => Person.bulkCreate([...ROWS, ...LITERALS.map((name) => ({ name, age: 1000, note: name }))]));

  const get = (parameters: Record<string, string>) => site.agent.get('/people').query(parameters);

  async function names(q: string): Promise<string[]> {
    const { status, body } = await get({ q, sort: 'id', size: '100' });
    expect(status, JSON.stringify(body)).to.equal(200);
    expect(body.total).to.equal(body.items.length);
    return body.items.map(({ name }: Person) => name);
  }

  /** In RSQL a backslash is special inside quotes only. */
  const quoted = (text: string): string => `"${text.replace(/["\\]/g, '\\$&')}"`;

  describe('finds', () => {
    const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
      'name==Ann': ['Ann'],
      'name=="Ann Lee"': ['Ann Lee'],
      "name=='O\\'Neil'": ["O'Neil"],
      'grade=in=(new,"in progress")': ['Ann', 'Ann Lee'],
      'note=ilike=*report*': ['Monthly report'],
      'note=like=*report*': [],
      'name=like=50\\**': ['50*x'],
      'note=like=50%_\\\\*': ['50*x'],
      'note=like=50*%': [],
      'born=between=(2026-01-01T00:00:00Z,2026-01-31T23:59:59Z)': ['Ann'],
      'born==2026-02-01T02:00:00+02:00': ['Ann Lee'],
      'note==null;age<1000': ["O'Neil"],
      'name==Ann and age==17 or age==64': ['Ann', "O'Neil"],
    };
    for (const [q, expected] of Object.entries(EXAMPLES)) {
      it(q, async () => expect(await names(q)).to.deep.equal(expected));
    }

    it('everything with a blank q', async () => {
      const all = [...ROWS, ...LITERALS].length;
      expect(await names('')).to.have.lengthOf(all);
      expect(await names('  ')).to.have.lengthOf(all);
    });

    for (const text of LITERALS) {
      it(`[D3 D4] the text ${JSON.stringify(text)} as it is`, async () => {
        const q = (operator: string, value: string): string => `age==1000;name${operator}${value}`;
        expect(await names(q('==', quoted(text)))).to.deep.equal([text]);
        expect(await names(q('=in=', `(${quoted(text)},"nobody")`))).to.deep.equal([text]);
        expect(await names(q('!=', quoted(text)))).to.have.lengthOf(LITERALS.length - 1);
        expect(await names(q('=out=', `(${quoted(text)})`))).to.have.lengthOf(LITERALS.length - 1);
        expect(await names(q('=like=', quoted(text.replace(/[\\*]/g, '\\$&'))))).to.deep.equal([text]);
      });
    }
  });

  describe('refuses', () => {
    it('a wrong q, with the position and what is allowed', async () => {
      const allowed = [...FILTERABLE];
      const detail = `Cannot filter by 'nam'. Did you mean 'name'? Filterable: ${allowed.join(', ')}.`;
      const issue = { parameter: 'q', code: 'q.unknown-field', detail, position: 7, allowed };
      expectProblem(await get({ q: 'age>17;nam==Ann' }), 400, { detail, errors: [issue] });
    });

    it('everything that is wrong at once', async () => {
      const wrong = { q: 'age==x;name~y', sort: 'age', fields: 'nme', page: '0', sise: '3' };
      const { status, body } = await get(wrong);
      expect(status).to.equal(400);
      const told = body.errors.map((each: Record<string, string>) => `${each['parameter']} ${each['code']}`);
      expect(told.join()).to.equal(
        'sise unknown,page range,q q.type,q q.unknown-operator,sort sort.unknown-field,fields fields.unknown',
      );
    });

    it('without a query', async () => {
      const wrong = ['nothing==1', 'age==x', '(', 'age~1', 'name=like=***', "age==1'--"];
      for (const q of wrong) {
        const { result, statements } = await sql.duringRequest(() => get({ q }));
        expect(result.status).to.equal(400);
        expect(statements).to.deep.equal([]);
      }
    });
  });

  describe('[C3 D2] tells nothing about columns that may not be filtered', () => {
    const hidden = 'password city full_name nothing xmin ctid Person.id people constructor'.split(' ');

    for (const place of ['q', 'sort', 'fields'] as const) {
      it(`in ${place}`, async () => {
        const names = hidden.filter((name) => place !== 'fields' || name !== 'city');
        const bodies = await Promise.all(
          names.map(async (name) => {
            const { status, text } = await get({ [place]: place === 'q' ? `${name}==x` : name });
            expect(status).to.equal(400);
            return text.replaceAll(name, '…').replace(/ Did you mean '\w+'\?/g, '');
          }),
        );
        expect(new Set(bodies)).to.have.lengthOf(1);
        expect(bodies[0]).not.to.match(/password|full_name|xmin/);
      });
    }
  });
});
