/** Attacks with `include`: a client gets no more than the configuration allows, and every refusal names its reason. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { BelongsTo, Column, DataType, HasMany, Table } from 'sequelize-typescript';
import { Crud, type ModelClass } from '../../../src/index.js';
import { NumberedRow } from '../../models/rows.js';
import { CapturedLog } from '../../support/captured-log.js';
import { onPath, UNGUARDED } from '../../support/combination.js';
import { freshDatabase } from '../../support/postgres.js';
import { StatementTap } from '../../support/statement-tap.js';
import { serveTestApp } from '../../support/test-app.js';

const PAGE = 5;
const SIZES = { parts: 4, 'parts.parts': 3, 'parts.parts.parts': 2 } as const;
/** One more row of each record shows that there are others; `whole` and `parts.whole` are one. */
const PER_RECORD = 1 + 4 + 1 + 4 * (1 + 3 + 1 + 3 * (2 + 1));

/** A tree in which every row has five others. */
@Crud({
  prefix: '/trees',
  pageSize: { default: 3, max: PAGE },
  sortAllow: ['id', 'wholeId'],
  filterAllow: ['id', 'wholeId'],
  include: {
    whole: UNGUARDED,
    parts: { ...UNGUARDED, size: { default: 2, max: SIZES.parts } },
    'parts.whole': UNGUARDED,
    'parts.parts': { ...UNGUARDED, size: { max: SIZES['parts.parts'] } },
    'parts.parts.parts': { ...UNGUARDED, size: { max: SIZES['parts.parts.parts'] } },
  },
} as object)
@Table({ tableName: 'trees', timestamps: false })
class Tree extends NumberedRow {
  @Column(DataType.INTEGER) declare wholeId: number | null;
  @BelongsTo(() => Tree, { foreignKey: 'wholeId', constraints: false }) declare whole?: unknown;
  @HasMany(() => Tree, { foreignKey: 'wholeId', constraints: false }) declare parts?: unknown;
}

/** The same rows, in a resource that ignores unknown parameters. */
@Crud({ prefix: '/lenient', unknownQuery: 'ignore', include: { whole: UNGUARDED } } as object)
@Table({ tableName: 'trees', timestamps: false })
class Lenient extends NumberedRow {
  @Column(DataType.INTEGER) declare wholeId: number | null;
  @BelongsTo(() => Tree, { foreignKey: 'wholeId', constraints: false }) declare whole?: unknown;
}

/** Sequelize's finders are given the keys of the rows, which were read before. */
const READ = onPath({ fast: 1, general: 2 });

const PATHS = ['whole', 'parts', 'parts.whole', 'parts.parts', 'parts.parts.parts'];

describe('[R19] a hostile include', () => {
  const log = new CapturedLog();
  const site = serveTestApp(async () => {
    const database = await freshDatabase();
    tap = await StatementTap.start(database.url);
    return {
      models: [Tree, Lenient] as unknown as ModelClass[],
      // With another connection, a read that waits behind a slow one is executed there once more, and its rows count twice.
      engine: { models: [Tree, Lenient], pool: { max: 1 } },
      bootstrap: { logger: log },
      database: { ...database, url: tap.url },
    };
  });
  let tap: StatementTap;

  before(() =>
    site.engine.sequelize.query(`
      INSERT INTO trees (id, "wholeId") SELECT n, CASE WHEN n > 1 THEN (n + 3) / 5 END FROM generate_series(1, 2000) AS n`),
  );

  after(() => tap[Symbol.asyncDispose]());

  const get = async (query: string, path = '/trees') => {
    log.clear();
    const { status, body } = await site.agent.get(`${path}?${query}`);
    expect(status, `${query.slice(0, 200)}: ${log.text}`).to.be.below(500);
    return { status, body, text: JSON.stringify(body) };
  };

  it('reads no more rows than the configuration allows, whatever the parameters are', async () => {
    const size = fc.constantFrom('0', '1', '2', '3', '4', '5', '99', '1e9', '-1', '');
    const parameters = PATHS.flatMap((path) => [
      [`${path}.size`, size] as const,
      [`${path}.sort`, fc.constantFrom('id', '-id', 'wholeId', '-wholeId,id', 'x')] as const,
      [`${path}.q`, fc.constantFrom('id>0', 'wholeId=isnull=false', 'id=in=(1,2,3)', '(')] as const,
      [`${path}.fields`, fc.constantFrom('id', 'wholeId,id')] as const,
    ]);
    const asked = fc.record({
      include: fc.shuffledSubarray(PATHS, { minLength: 1 }),
      id: fc.option(fc.integer({ min: 1, max: 40 }), { freq: 3 }),
      size: fc.integer({ min: 1, max: PAGE }),
      page: fc.integer({ min: 1, max: 3 }),
      others: fc
        .subarray(parameters, { maxLength: 4 })
        .chain((some) => fc.record(Object.fromEntries(some.map(([name, values]) => [name, values])))),
    });
    let answered = 0;
    let most = 0;
    const property = fc.asyncProperty(asked, async ({ include, id, size: wanted, page, others }) => {
      const own = id === null ? { size: `${wanted}`, page: `${page}` } : {};
      const query = new URLSearchParams({ include: include.join(), ...own, ...others });
      tap.takeRows();
      const { status } = await get(`${query}`, id === null ? '/trees' : `/trees/${id}`);
      const rows = tap.takeRows();
      if (status === 200) answered += 1;
      else expect(rows, `${query}`).to.equal(0);
      most = Math.max(most, rows);
      // The rows of the page, one that shows that there are others, and their number.
      expect(rows, `${query}`).to.be.at.most(wanted * (1 + PER_RECORD * READ) + 2);
    });
    await fc.assert(property, { numRuns: 60 });
    expect(answered).to.be.above(5);
    tap.takeRows();
    const all = `size=${PAGE}&include=${PATHS}&parts.size=4&parts.parts.size=3&parts.parts.parts.size=2`;
    expect((await get(all)).status).to.equal(200);
    const rows = tap.takeRows();
    expect(rows)
      .to.be.at.least(PAGE * 4 * 3 * 2)
      .and.at.most(PAGE * (1 + PER_RECORD * READ) + 2);
  });

  it('is the same whether names are joined or repeated', async () => {
    const joined = await get('include=whole,parts&parts.sort=-wholeId,id&parts.fields=id,wholeId&sort=-id');
    expect(joined.status).to.equal(200);
    for (const query of [
      'include=whole&parts.sort=-wholeId&parts.fields=id&sort=-id&parts.sort=id&include=parts&parts.fields=wholeId',
      'include[]=whole&include[]=parts&parts.sort[]=-wholeId&parts.sort[]=id&parts.fields[0]=id&parts.fields[1]=wholeId&sort[]=-id',
    ])
      expect(await get(query), query).to.deep.equal(joined);
  });

  it('answers each text with 400 that names the nearest relation, and reads nothing', async () => {
    const long = 'x'.repeat(3000);
    for (const [include, part] of [
      ['', 'The relations are whole, parts'],
      ['wohle', "Did you mean 'whole'?"],
      ['parts.part', "Did you mean 'parts.parts'?"],
      ['parts.whole.parts', "Cannot include 'parts.whole.parts'."],
      ['Whole', "Did you mean 'whole'?"],
      ['whole,', "Cannot include ''."],
      [',', "Cannot include ''."],
      ['whole,whole', "'whole' may be named once in include."],
      ['whole, parts', "Did you mean 'parts'?"],
      ['.', "Cannot include '.'."],
      ['parts.', "Cannot include 'parts.'."],
      ['.parts', "Cannot include '.parts'."],
      ['parts..whole', "Cannot include 'parts..whole'."],
      ['__proto__', "Cannot include '__proto__'."],
      ['constructor', "Cannot include 'constructor'."],
      ['parts.__proto__', "Cannot include 'parts.__proto__'."],
      ['toString,hasOwnProperty', "Cannot include 'toString'."],
      ['*', "Cannot include '*'."],
      ['all', "Cannot include 'all'."],
      ['wholeId', "Did you mean 'whole'?"],
      ['%00', 'Cannot include '],
      ['%C3%28', 'percent-encoded'],
      ['parts%252Ewhole', "Cannot include 'parts%2Ewhole'."],
      [long, `Cannot include '${'x'.repeat(40)}…'.`],
      [`${'whole,'.repeat(500)}whole`, "'whole' may be named once in include."],
      [`parts${'.parts'.repeat(500)}`, 'Cannot include '],
    ] as const) {
      tap.takeRows();
      for (const path of ['/trees', '/trees/1']) {
        const { status, text } = await get(`include=${include}`, path);
        expect([status, text], include.slice(0, 60)).to.deep.equal([400, text]);
        expect(text).to.include(JSON.stringify(part).slice(1, -1));
        expect(text.length).to.be.below(5000);
      }
      expect(tap.takeRows(), include.slice(0, 60)).to.equal(0);
    }
    for (const [query, part] of [
      ['include=whole&include=whole', "'whole' may be named once in include."],
      ['include[]=whole&include=parts&parts.size[]=1', "Did you mean 'parts.size'?"],
      ['include=whole&whole.q=id==1', "This route has no parameter 'whole.q'."],
      ['include=whole&whole.size=1', "This route has no parameter 'whole.size'."],
      ['include=whole&parts.size=1', 'add include=parts'],
      ['include=parts&parts.siez=1', "Did you mean 'parts.size'?"],
      ['include=parts&parts[size]=1', "Did you mean 'parts.size'?"],
      ['include=parts&parts.size=2&parts.size=2', "Parameter 'parts.size' may be given once."],
      ['include=parts&parts.__proto__=1', 'This route has no parameter'],
      ['include=parts&parts.size=+1', 'it accepts an integer from 0 to 4.'],
      ['include=parts&parts.size=0x1', 'it accepts an integer from 0 to 4.'],
      ['include=parts&parts.size=', 'it accepts an integer from 0 to 4.'],
      ['parts.parts.size=1&include=parts', 'add include=parts.parts'],
      ['Include=whole', "Did you mean 'include'?"],
      ['include=parts&parts.sort=x', 'Sortable'],
      ['include=parts&parts.q=wholId==4', "Did you mean 'wholeId'?"],
      ['include=parts&parts.fields=x', 'id, wholeId'],
    ] as const) {
      const { status, text } = await get(query);
      expect([status, text]).to.deep.equal([400, text]);
      expect(text).to.include(part);
    }
  });

  it('reads names and values that are percent-encoded', async () => {
    const plain = await get('include=parts.whole&parts.whole.fields=id&parts.size=1&size=1');
    expect(plain.status).to.equal(200);
    for (const query of [
      '%69nclude=parts.whole&parts.whole.fields=id&parts.size=1&size=1',
      'include=parts%2Ewhole&parts%2ewhole.fields=id&parts%2Esize=1&size=1',
      '%69%6e%63%6c%75%64%65=%70%61%72%74%73.whole&parts.whole.fields=id&parts.size=1&size=1',
    ]) {
      expect(await get(query), query).to.deep.equal(plain);
    }
  });

  it('takes no time that grows faster than the text', async () => {
    const started = process.cpuUsage();
    for (let round = 0; round < 20; round += 1) {
      await get(`include=${'.'.repeat(14_000)}&parts.size=1&parts.sort=id&parts.parts.size=1&parts.q=id>1`);
    }
    const { user, system } = process.cpuUsage(started);
    expect(user + system).to.be.below(2_000_000);
  });

  it('is no parameter of writes, and reads nothing more for a HEAD than for a GET', async () => {
    for (const answer of [
      await site.agent.post('/trees?include=whole').send({}),
      await site.agent.patch('/trees/1?include=whole').send({}),
      await site.agent.delete('/trees/1?include=whole'),
    ]) {
      expect([answer.status, answer.body.errors[0].code]).to.deep.equal([400, 'unknown']);
    }
    for (const path of ['/trees?include=parts.whole', '/trees/2?include=parts.whole']) {
      const got = await site.agent.get(path).expect(200);
      const { headers, text } = await site.agent.head(path).expect(200);
      expect(headers['content-length']).to.equal(got.headers['content-length']);
      expect(headers['etag']).to.equal(got.headers['etag']);
      expect(text).to.be.oneOf([undefined, '']);
      await site.agent.get(path).set('If-None-Match', String(headers['etag'])).expect(304);
    }
    const path = '/trees/2?include=parts&parts.fields=id,wholeId';
    const { headers } = await site.agent.get(path).expect(200);
    const [first] = (await site.agent.get(path)).body.parts.items;
    // The tag is of all bytes, those of included rows among them.
    await Tree.update({ wholeId: 3 }, { where: { id: first.id } });
    await site.agent.get(path).set('If-None-Match', String(headers['etag'])).expect(200);
    await Tree.update({ wholeId: 2 }, { where: { id: first.id } });
  });

  it('passes over parameters that relations to one do not have, where those are ignored', async () => {
    const plain = await get('include=whole&size=3', '/lenient');
    expect(plain.status).to.equal(200);
    const query = 'include=whole&size=3&whole.q=id==99&whole.sort=nothing&whole.size=0&nothing=1';
    expect(await get(query, '/lenient')).to.deep.equal(plain);
  });
});
