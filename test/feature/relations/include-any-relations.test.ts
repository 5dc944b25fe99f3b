/** Random models, associations, rows and requests: each answer equals the one that is computed in memory, byte for byte. */
// @runs fast
import { expect } from 'chai';
import fc from 'fast-check';
import { quotedTable } from '../../../src/execute/sql/sql-fragment.js';
import type { ModelClass } from '../../../src/index.js';
import { type AnyModel, PAGE_SIZE, type Row, TENANT } from '../../support/any-model.js';
import { CapturedLog } from '../../support/captured-log.js';
import { declareWorld } from '../../support/declare-relations.js';
import { anyWorld } from '../../support/random-relations.js';
import { envelope, listed, shown } from '../../support/relation-oracle.js';
import { answered, listOf, type Question, readOf, rowsOf, urlOf } from '../../support/relation-questions.js';
import { serveTestApp } from '../../support/test-app.js';

/** Several times as many worlds and requests, for a longer run. */
const TIMES = Number(process.env['CRUD_TEST_TIMES'] ?? 1);
const SEED = Number(process.env['CRUD_TEST_SEED'] ?? Date.now() % 2 ** 31);
const WORLDS = Array.from({ length: 5 * TIMES }, (_, index) => anyWorld(SEED + index, `w${index}`));

interface Page {
  readonly items: readonly unknown[];
  readonly next_cursor?: string | null;
  readonly prev_cursor?: string | null;
}

describe('[R21] including any relations', function () {
  this.timeout(60_000 * TIMES);
  const log = new CapturedLog();
  const served = fc.constantFrom(...WORLDS.flat().filter(({ isServed }) => isServed));
  const declared = WORLDS.map(declareWorld);
  const models = declared.flatMap((each) => each.served);
  const all = declared.flatMap((each) => each.all);
  const site = serveTestApp(() => ({ models, engine: { models: all }, bootstrap: { models, logger: log } }));

  before(async () => {
    const statements = WORLDS.flatMap((world, index) => insertsOf(world, declared[index]?.all ?? []));
    await site.engine.sequelize.query(statements.join(';'));
  });

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

  /** Null is 404. */
  async function ask(asked: Question, page: Record<string, string>, isThere: boolean) {
    const path = urlOf(asked, page);
    log.clear();
    const { status, text, body } = await site.agent.get(path).set('tenant', TENANT);
    const where = `${decodeURIComponent(path.replaceAll('+', ' '))} of the world ${SEED}: ${log.text}`;
    expect(status, `${where}${text}`).to.equal(isThere ? 200 : 404);
    return isThere ? { text, body: body as Page, where } : null;
  }

  /** Requests the page of a list that begins at a place. */
  async function askPage(asked: Question, start: number, page: Record<string, string>) {
    const rows = rowsOf(asked);
    const answer = await ask(asked, page, rows !== null);
    if (!rows || !answer) return null;
    const { body, text, where } = answer;
    const model = answered(asked);
    const { own, include } = asked;
    const size = own.size ?? PAGE_SIZE;
    const items = JSON.stringify(
      rows.slice(start, start + size).map((row) => shown(model, row, own, include)),
    );
    expect(JSON.stringify(body.items), where).to.equal(items);
    expect(text).to.include(`"items":${items}`);
    const { items: _, next_cursor: next, prev_cursor: prev, ...rest } = body;
    expect(rest, where).to.deep.equal(envelope(model, rows, start, own));
    const isSome = rows.length > 0 && rows.length < (rowsOf({ ...asked, own: {} })?.length ?? 0);
    return { next, prev, rows, size, isSome, hasRelated: /"items":\[\{/.test(items) };
  }

  it('answers with the rows that belong together', async () => {
    let withRows = 0;
    let filtered = 0;
    const question = served.chain((model) =>
      fc.oneof({ arbitrary: readOf(model), weight: 1 }, { arbitrary: listOf(model), weight: 3 }),
    );
    const property = fc.asyncProperty(question, async (asked) => {
      const { model, id, under, own, include } = asked;
      if (id === null || under !== null) {
        const answer = await askPage(asked, 0, {});
        if (answer?.hasRelated) withRows += 1;
        if (answer?.isSome) filtered += 1;
        return;
      }
      const row = model.rows[id];
      if (!row) return;
      const isThere = listed(model, {}).includes(row);
      const answer = await ask(asked, {}, isThere);
      if (answer) expect(answer.text, answer.where).to.equal(JSON.stringify(shown(model, row, own, include)));
    });
    await fc.assert(property, { numRuns: 140 * TIMES, seed: SEED });
    expect(withRows, 'answers with included rows').to.be.above(0);
    expect(filtered, 'lists of some of the rows').to.be.above(0);
  });

  it('[R13] gives every row of a list once, page by page, with and without relations', async () => {
    let turned = 0;
    const property = fc.asyncProperty(served.chain(listOf), async (asked) => {
      const first = await askPage(asked, 0, {});
      if (!first) return;
      const { rows, size } = first;
      if (answered(asked).pagination === 'offset') {
        // The last one is behind the end.
        for (let page = 2; (page - 2) * size < rows.length; page += 1) {
          await askPage(asked, (page - 1) * size, { page: `${page}` });
          turned += 1;
        }
        return;
      }
      let start = 0;
      let { next, prev } = first;
      expect(prev).to.equal(null);
      while (next) {
        start += size;
        const page = await askPage(asked, start, { after: next });
        turned += 1;
        ({ next, prev } = page ?? {});
      }
      while (prev) {
        start -= size;
        const page = await askPage(asked, start, { before: prev });
        turned += 1;
        ({ prev } = page ?? {});
      }
      expect(start).to.equal(0);
    });
    await fc.assert(property, { numRuns: 30 * TIMES, seed: SEED });
    expect(turned, 'pages behind the first').to.be.above(0);
  });
});
