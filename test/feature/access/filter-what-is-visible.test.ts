/** Values in a `filter` are values, whatever characters they have. A missing value refuses the request, and a wrong one reveals nothing. */
// @runs fast
import { expect } from 'chai';
import { Column, DataType, Table } from 'sequelize-typescript';
import { Crud, EVERYTHING, type FilterTemplate, filter, type ModelClass } from '../../../src/index.js';
import { TitledRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { forSuite } from '../../support/for-suite.js';
import { TwoPaths } from '../../support/two-paths.js';

/** The rule of the model; a test replaces it. */
let rule: () => unknown = () => EVERYTHING;

@Crud({ visible: () => rule() as FilterTemplate, filterAllow: ['title'], pageSize: { max: 200 } as never })
@Table({ tableName: 'pages', timestamps: false })
class Page extends TitledRow {
  @Column(DataType.BOOLEAN) declare isPublic: boolean | null;
  @Column(DataType.DATE) declare at: Date | null;
  @Column(DataType.BIGINT) declare big: string | null;
}

const TITLES = [
  'plain',
  '',
  ' ',
  "it's",
  '"quoted"',
  "'); DROP TABLE pages; --",
  'a,b',
  'a;b',
  'a,isPublic==false',
  'x" ,id=gt=0',
  '(a)',
  '*',
  'p*',
  '%',
  '_lain',
  '\\',
  '\\*',
  'a\\"b',
  '$1',
  '$$1',
  '{x}',
  '{a,"b"}',
  '=in=(a,b)',
  'null',
  'NULL',
  'ä\u{1f642}',
  'line\nbreak\ttab',
  ':title',
  '?',
  '\uE0000\uE001',
  '\uE0001\uE001',
];

const AT = new Date('2026-01-31T08:00:00.123Z');

describe('a condition of what is visible', () => {
  const paths = forSuite(() =>
    TwoPaths.start({ models: [Page] as ModelClass[], bootstrap: { logger: log } }),
  );
  const log = new CapturedLog();

  before(() =>
    Page.bulkCreate(
      TITLES.map((title, index) => ({
        title,
        isPublic: index % 3 === 0 ? null : index % 3 === 1,
        at: index === 4 ? AT : null,
        big: index === 5 ? '9007199254740993' : null,
      })),
    ),
  );

  async function seen(condition: () => unknown): Promise<string[]> {
    rule = condition;
    const { status, body } = await paths.same({ path: '/pages?size=200' });
    expect(status, body).to.equal(200);
    const { items, total } = JSON.parse(body);
    expect(total).to.equal(items.length);
    return items.map(({ title }: Page) => title);
  }

  it('takes each value for itself', async () => {
    for (const title of TITLES) {
      expect(await seen(() => filter`title==${title}`), title).to.deep.equal([title]);
      expect(await seen(() => filter`title=="${title}"`), title).to.deep.equal([title]);
      const others = TITLES.filter((each) => each !== title);
      expect(await seen(() => filter`title!=${title}`), title).to.deep.equal(others);
    }
  });

  it('takes a value in a pattern for itself', async () => {
    for (const title of TITLES) {
      expect(await seen(() => filter`title=like=${title}`), title).to.deep.equal([title]);
      const around = TITLES.filter((each) => each.includes(title));
      if (title !== '') expect(await seen(() => filter`title=like=*${title}*`), title).to.deep.equal(around);
    }
  });

  it('takes arrays for lists, and an empty one for no row', async () => {
    expect(await seen(() => filter`title=in=${TITLES}`)).to.deep.equal(TITLES);
    expect(await seen(() => filter`title=in=(${TITLES.slice(0, 9)},${'$1'})`)).to.deep.equal([
      ...TITLES.slice(0, 9),
      '$1',
    ]);
    expect(await seen(() => filter`title=in=${[]}`)).to.deep.equal([]);
    expect(await seen(() => filter`title=in=${[]},title==plain`)).to.deep.equal(['plain']);
    expect(await seen(() => filter`title=out=${TITLES.slice(1)}`)).to.deep.equal(['plain']);
  });

  it('takes values of other types', async () => {
    expect(await seen(() => filter`id==${1},at==${AT},big==${9007199254740993n}`)).to.deep.equal(
      [0, 4, 5].map((index) => TITLES[index]),
    );
    expect(await seen(() => filter`isPublic==${true};id=lt=${3}`)).to.deep.equal([TITLES[1]]);
    expect(await seen(() => filter`isPublic=isnull=${true};id=between=(${1},${4})`)).to.deep.equal([
      TITLES[0],
      TITLES[3],
    ]);
  });

  it('takes nothing else for a value', async () => {
    const others = [
      Promise.resolve('x'),
      Number.NaN,
      2 ** 53,
      {},
      () => 'x',
      Symbol('x'),
      new Date(Number.NaN),
      [['x']],
    ];
    const rules = (others as never[]).flatMap((value) => [filter`title!=${value}`, filter`title!=x${value}`]);
    for (const each of [...rules, filter`title!=x${['a', 'b']}`]) {
      rule = () => each;
      expect((await paths.same({ path: '/pages' })).status, String(each)).to.equal(500);
    }
  });

  it('is asked of a row before it is changed, and not after', async () => {
    const hide = { method: 'PATCH', path: '/pages/2', body: { isPublic: false } };
    const undo = () => Page.update({ isPublic: true }, { where: { id: 2 } });
    rule = () => filter`isPublic==true`;
    const { status, body } = await paths.same(hide, undo);
    expect([status, JSON.parse(body)]).to.deep.equal([
      200,
      { id: 2, title: '', isPublic: false, at: null, big: null },
    ]);
    expect((await paths.same({ path: '/pages/2' })).status).to.equal(404);
    expect((await paths.same(hide)).status).to.equal(404);
    await undo();
  });

  const NOTHING: Readonly<Record<string, () => unknown>> = {
    'an undefined value': () => filter`title==${undefined}`,
    'a null value': () => filter`title==${null}`,
    'a missing value in an OR': () => filter`isPublic==true,title==${undefined}`,
    'a missing value in a list': () => filter`title=in=${['plain', null]}`,
    'a missing value for isnull': () => filter`title=isnull=${undefined}`,
    'undefined in its place': () => undefined,
    'null in its place': () => null,
    'a promise of undefined': async () => undefined,
  };

  const MISTAKES: Readonly<Record<string, () => unknown>> = {
    'no condition': () => filter``,
    blanks: () => filter` `,
    'an attribute that is not there': () => filter`~secret==1`,
    'an operator that is not there': () => filter`title=~secret=1`,
    'an operator of another type': () => filter`isPublic=like=${'~secret'}`,
    'a value of another type': () => filter`id==${'~secret'}`,
    'a list of another type': () => filter`id=in=${[1, '~secret']}`,
    'a list for one value': () => filter`title==${['~secret', 'plain']}`,
    'an empty list for one value': () => filter`title==${[]}`,
    'a moment that is none': () => filter`at==${new Date(Number.NaN)}`,
    'an open parenthesis': () => filter`(title==${'~secret'}`,
    'an open quote': () => filter`title=="${'~secret'}`,
    'an attribute as a value': () => filter`${'title'}==plain`,
    'an operator as a value': () => filter`title${'=='}plain`,
    'a text': () => 'title==plain',
    'an object': () => ({ title: '~secret' }),
    true: () => true,
    'an array of filters': () => [filter`title==plain`],
    'a copy of EVERYTHING': () => Symbol('EVERYTHING'),
  };

  async function refused(condition: () => unknown, expected: number): Promise<void> {
    rule = condition;
    for (const wanted of [
      { path: '/pages' },
      { path: '/pages?q=title==plain' },
      { path: '/pages/1' },
      { path: '/pages/1', method: 'HEAD' },
      { path: '/pages/1', method: 'PATCH', body: { title: 'x' } },
      { path: '/pages/1', method: 'DELETE' },
      { path: '/pages', method: 'POST', body: { title: 'x' } },
    ]) {
      const { status, headers, body } = await paths.same(wanted);
      expect(status, `${wanted.method} ${wanted.path} ${body}`).to.equal(expected);
      expect(`${headers} ${body}`).to.not.match(/secret|plain|title|isPublic|visible/);
    }
    rule = () => EVERYTHING;
    expect(await Page.count({ where: { title: ['x', 'plain'] } })).to.equal(1);
  }

  for (const [name, condition] of Object.entries(NOTHING)) {
    it(`refuses ${name}`, () => refused(condition, 403));
  }

  for (const [name, condition] of Object.entries(MISTAKES)) {
    it(`fails at ${name}, and does not tell of it`, () => refused(condition, 500));
  }
});
