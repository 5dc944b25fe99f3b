/** Random models, associations, rows and requests: `include` answers with what is computed in memory, byte for byte. */
import { expect } from 'chai';
import fc from 'fast-check';
import type { ModelClass } from '../../src/index.js';
import { quotedTable } from '../../src/persistence/sql/quoted-table.js';
import { CapturedLog } from '../support/captured-log.js';
import { declareWorld } from '../support/declare-relations.js';
import { expressionOver, print } from '../support/filter-arbitrary.js';
import type { Expression } from '../support/filter-oracle.js';
import { type AnyModel, anyWorld, PAGE_MAX, type Row, TENANT } from '../support/random-relations.js';
import { type AnyInclude, type AnyQuery, attributesOf, listed, shown } from '../support/relation-oracle.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** Several times as many worlds and requests, for a longer run. */
const TIMES = Number(process.env['CRUD_TEST_TIMES'] ?? 1);
const SEED = Number(process.env['CRUD_TEST_SEED'] ?? Date.now() % 2 ** 31);
const WORLDS = Array.from({ length: 6 * TIMES }, (_, index) => anyWorld(SEED + index, `w${index}`));
const RUNS = 200 * TIMES;

/** What is asked of a route. */
interface Question {
  readonly model: AnyModel;
  /** The place of a row that is read; null is a list. */
  readonly id: number | null;
  readonly page: number;
  readonly own: AnyQuery;
  readonly include: AnyInclude;
}

/** The limits of filters have tests of their own. */
const comparisons = (node: Expression): number =>
  node.kind === 'comparison' ? 1 : node.operands.reduce((sum, each) => sum + comparisons(each), 0);

/** Some of what a list can be asked for. */
function queryOver(model: AnyModel, max: number | null): fc.Arbitrary<AnyQuery> {
  const sortable = model.isPlain ? ['id'] : ['id', 'whole', 'text'];
  const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });
  const fields = maybe(fc.subarray([...attributesOf(model)], { minLength: 1 }));
  if (max === null) return fc.record({ fields });
  const sort = fc
    .subarray(sortable, { minLength: 1 })
    .chain((names) => fc.tuple(...names.map((name) => fc.constantFrom(name, `-${name}`))));
  const q = expressionOver(['whole', 'text']).filter(
    (each) => comparisons(each) <= 8 && print(each).length <= 300,
  );
  const smallest = max === PAGE_MAX ? 1 : 0;
  return fc.record({
    fields,
    sort: maybe(sort),
    size: maybe(fc.integer({ min: smallest, max })),
    // Most filters leave nothing.
    q: model.isPlain ? fc.constant(undefined) : fc.oneof({ arbitrary: fc.constant(undefined), weight: 3 }, q),
  });
}

function targetAt(model: AnyModel, path: string): AnyModel {
  return path.split('.').reduce((each, name) => {
    const relation = each.relations.find((one) => one.name === name);
    if (!relation) throw new Error(`${each.name} has no ${name}.`);
    return relation.target;
  }, model);
}

/** Some of the relations; those before them come along. */
function includeOf(model: AnyModel): fc.Arbitrary<AnyInclude> {
  return fc.subarray([...model.include.keys()], { minLength: 1 }).chain((chosen) => {
    const paths = [...model.include.keys()].filter((path) =>
      chosen.some((each) => `${each}.`.startsWith(`${path}.`)),
    );
    const queries = paths.map((path) =>
      queryOver(targetAt(model, path), model.include.get(path)?.max ?? null),
    );
    return fc.tuple(...queries).map((each) => new Map(paths.map((path, at) => [path, each[at] as AnyQuery])));
  });
}

const question: fc.Arbitrary<Question> = fc
  .constantFrom(...WORLDS.flat().filter(({ isServed, include }) => isServed && include.size > 0))
  .chain((model) =>
    fc.record({
      model: fc.constant(model),
      id: fc.option(fc.nat({ max: 11 }), { freq: 2 }),
      page: fc.integer({ min: 1, max: 2 }),
      own: queryOver(model, PAGE_MAX),
      include: includeOf(model),
    }),
  );

/** The parameters of a request. */
function parametersOf({ id, page, own, include }: Question): URLSearchParams {
  const given = new URLSearchParams();
  const add = (prefix: string, { q, sort, fields, size }: AnyQuery, isList: boolean) => {
    if (fields) given.set(`${prefix}fields`, fields.join());
    if (isList && sort) given.set(`${prefix}sort`, sort.join());
    if (isList && size !== undefined) given.set(`${prefix}size`, `${size}`);
    if (isList && q) given.set(`${prefix}q`, print(q));
  };
  add('', own, id === null);
  if (id === null) given.set('page', `${page}`);
  if (include.size > 0) given.set('include', [...include.keys()].join());
  for (const [path, query] of include) add(`${path}.`, query, true);
  return given;
}

/** What is answered: the body of a read, or the items of a list. */
function expected({
  model,
  id,
  page,
  own,
  include,
}: Question): { total: number | null; text: string } | null {
  if (id !== null) {
    const { fields } = own;
    const row = model.rows[id] as Row;
    const isThere = listed(model, {}).includes(row);
    return isThere ? { total: null, text: JSON.stringify(shown(model, row, { fields }, include)) } : null;
  }
  const rows = listed(model, own);
  const size = own.size ?? 5;
  const items = rows.slice((page - 1) * size, page * size).map((row) => shown(model, row, own, include));
  return { total: rows.length, text: JSON.stringify(items) };
}

describe('including any relations', () => {
  const log = new CapturedLog();
  let site: TestApp;

  before(async () => {
    const declared = WORLDS.map(declareWorld);
    const models = declared.flatMap(({ served }) => served);
    const all = declared.flatMap((each) => each.all);
    site = await startTestApp({ models, engine: { models: all }, bootstrap: { models, logger: log } });
    const statements = WORLDS.flatMap((world, index) => insertsOf(world, declared[index]?.all ?? []));
    await site.engine.sequelize.query(statements.join(';'));
  });

  after(() => site[Symbol.asyncDispose]());

  /** The rows of a world. Texts are compared byte by byte. */
  function insertsOf(world: readonly AnyModel[], classes: readonly ModelClass[]): string[] {
    const { sequelize } = site.engine;
    const insert = (name: string, rows: readonly Row[]): string[] => {
      const model = classes.find((each) => each.name === name) as ModelClass;
      const [first] = rows;
      const names = Object.keys(first ?? {}).filter((each) => each in model.getAttributes());
      const columns = names.map((each) => `"${model.getAttributes()[each]?.field}"`);
      const literal = (text: string | null | undefined) => (text == null ? 'NULL' : sequelize.escape(text));
      const values = rows.map((row) => `(${names.map((each) => literal(row[each]))})`);
      return rows.length > 0 ? [`INSERT INTO ${quotedTable(model)} (${columns}) VALUES ${values}`] : [];
    };
    return world.flatMap(({ name, rows, relations }) => {
      const model = classes.find((each) => each.name === name) as ModelClass;
      return [
        `ALTER TABLE ${quotedTable(model)} ALTER "the text" TYPE text COLLATE "C"`,
        ...insert(name, rows),
        ...relations.flatMap(({ join }) => (join ? insert(join.name, join.rows) : [])),
      ];
    });
  }

  it('answers with the rows that belong together', async () => {
    let withRows = 0;
    const property = fc.asyncProperty(question, async (asked) => {
      const { model, id } = asked;
      const key = id === null ? '' : `/${encodeURIComponent(model.rows[id]?.['id'] ?? '')}`;
      fc.pre(id === null || model.rows[id] !== undefined);
      const path = `/${model.name}${key}?${parametersOf(asked)}`;
      log.clear();
      const { status, text, body } = await site.agent.get(path).set('tenant', TENANT);
      const wanted = expected(asked);
      const where = `${path} of the world ${SEED}: ${log.text}`;
      expect(status, `${where}${text}`).to.equal(wanted ? 200 : 404);
      if (!wanted) return;
      if (id !== null) expect(text, where).to.equal(wanted.text);
      else {
        expect(JSON.stringify(body.items), where).to.equal(wanted.text);
        expect(text).to.include(`"items":${wanted.text}`);
        expect(body.total, where).to.equal(wanted.total);
      }
      if (/"items":\[\{/.test(wanted.text)) withRows += 1;
    });
    await fc.assert(property, { numRuns: RUNS, seed: SEED });
    expect(withRows, 'answers with included rows').to.be.above(0);
  });
});
