/** Listing records page by page, with exact totals. */
import { expect } from 'chai';
import { Table } from 'sequelize-typescript';
import { Crud } from '../../../src/index.js';
import { NamedRow } from '../../models/rows.js';
import { expectIssue, expectJson, expectProblem } from '../../support/expect-answer.js';
import { SqlLog } from '../../support/sql-log.js';
import { serveTestApp } from '../../support/test-app.js';

@Crud({ pageSize: { default: 3, max: 5 } })
@Table({ tableName: 'planets', timestamps: false })
class Planet extends NamedRow {}

const NAMES = ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus'];
const PLANETS = NAMES.map((name, index) => ({ id: index + 1, name }));

const MOST = { page: 2147483647, size: 5 };

/** The answer with these items; its page, size and pages, and which neighbours it has, in words. */
function envelope(items: readonly object[], total: number, place: string) {
  const [page, size, pages] = place.split(' ').map(Number);
  return { items, total, page, size, pages, has_next: /next/.test(place), has_prev: /prev/.test(place) };
}

describe('listing a page', () => {
  const sql = new SqlLog();
  // One connection is all that a list may need, or a busy pool would stop for ever.
  const site = serveTestApp(() => ({ models: [Planet], engine: { logging: sql.record, pool: { max: 1 } } }));

  before(async () => {
    // The rows are inserted against the order of their keys, so that the order of the table is another one.
    await Planet.bulkCreate([...PLANETS].reverse());
  });

  describe('of a table with rows', () => {
    for (const [title, query, items, place] of [
      ['gives the first page of the default size, by primary key', '', PLANETS.slice(0, 3), '1 3 3 next'],
      [
        'gives the page and the size that are asked for',
        '?page=2&size=2',
        PLANETS.slice(2, 4),
        '2 2 4 next prev',
      ],
      ['gives what is left on the last page', '?page=3', PLANETS.slice(6), '3 3 3 prev'],
      ['knows that a full page is the last one', '?page=7&size=1', PLANETS.slice(6), '7 1 7 prev'],
      ['gives no items past the end', '?page=4', [], '4 3 3 prev'],
      [
        '[D10] gives no items on the last page that can be named',
        '?page=2147483647&size=5',
        [],
        '2147483647 5 2 prev',
      ],
    ] as const) {
      it(title, async () =>
        expectJson(await site.agent.get(`/planets${query}`), 200, envelope(items, 7, place)),
      );
    }

    for (const [title, most, ...queries] of [
      ['takes the maximum size', 5, '?size=5'],
      ['takes the name of a parameter in percent-encoding', 1, '?%73ize=1'],
      ['ignores an empty query string and empty parameters', 3, '?', '?&&', '/?'],
    ] as const) {
      it(title, async () => {
        for (const query of queries) {
          const { body } = await site.agent.get(`/planets${query}`);
          expect(body.items, query).to.deep.equal(PLANETS.slice(0, most));
        }
      });
    }
  });

  describe('of an empty table', () => {
    before(() => Planet.destroy({ where: {} }));
    after(() => Planet.bulkCreate(PLANETS));

    it('has no pages, and nothing before a later page', async () => {
      expectJson(await site.agent.get('/planets'), 200, envelope([], 0, '1 3 0'));
      expectJson(await site.agent.get('/planets?page=2'), 200, envelope([], 0, '2 3 0'));
    });
  });

  describe('with a number that is none', () => {
    /** Expects a number to be refused in its own words. */
    const expectRefused = async (parameter: 'page' | 'size', raw: string, shown: string) => {
      expectIssue(await site.agent.get(`/planets?${parameter}=${raw}`), 400, {
        parameter,
        code: 'range',
        detail: `Parameter '${parameter}' is '${shown}'; it accepts an integer from 1 to ${MOST[parameter]}.`,
      });
    };
    const NONE = '0 -1 1.5 abc 1e3 0x1 01 %201 5%20 %2B1 +1 %D9%A3 NaN Infinity';
    for (const raw of ['', ...NONE.split(' ')]) {
      const shown = decodeURIComponent(raw.replace('+', ' '));

      it(`[D8] refuses page=${raw} and size=${raw}`, async () => {
        await expectRefused('page', raw, shown);
        await expectRefused('size', raw, shown);
      });
    }

    it('[D8] refuses more than the maximum, and repeats only the beginning of a long value', async () => {
      await expectRefused('size', '6', '6');
      await expectRefused('page', '2147483648', '2147483648');
      await expectRefused('page', '9'.repeat(5000), `${'9'.repeat(40)}…`);
    });

    it('asks nothing of the database', async () => {
      const { statements } = await sql.duringRequest(() => site.agent.get('/planets?page=0'));
      expect(statements).to.deep.equal([]);
    });
  });

  describe('[D11] with a parameter that is given twice', () => {
    for (const query of ['page=1&page=2', 'page=1&page=1', 'page=1&%70age=1']) {
      it(`refuses ${query}`, async () =>
        expectIssue(await site.agent.get(`/planets?${query}`), 400, {
          parameter: 'page',
          code: 'repeated',
          detail: "Parameter 'page' may be given once.",
        }));
    }
  });

  it('with several mistakes names all of them', async () =>
    expectProblem(await site.agent.get('/planets?siez=2&page=x&size=9'), 400, {
      detail: 'The request has 3 problems.',
      errors: [
        {
          parameter: 'siez',
          code: 'unknown',
          detail:
            "This route has no parameter 'siez'. Did you mean 'size'? It accepts page, size, sort, q, fields.",
        },
        {
          parameter: 'page',
          code: 'range',
          detail: "Parameter 'page' is 'x'; it accepts an integer from 1 to 2147483647.",
        },
        {
          parameter: 'size',
          code: 'range',
          detail: "Parameter 'size' is '9'; it accepts an integer from 1 to 5.",
        },
      ],
    }));
});
