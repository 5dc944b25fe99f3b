import { expect } from 'chai';
import type { Request } from 'express';
import { DataTypes } from 'sequelize';
import type { ResourcePlan } from '../../../src/compile/resource-plan.js';
import { type BulkItem, compileItemParser } from '../../../src/features/bulk/parse-item.js';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import type { ValuesParser } from '../../../src/request/parse-request.js';
import { MemberBudget } from '../../../src/schema/json-value.js';
import { InvalidBodyError } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const REQUEST = {} as Request;
const ABSENT = Object.freeze({});
const NAME = { name: DataTypes.TEXT };
const cities = planOf(defineModel('City', NAME, { version: true }));
const strict = planOf(defineModel('City', NAME, { version: true }), { ifMatch: 'required' });
const roads = planOf(defineModel('Road', { id: { type: DataTypes.UUID, primaryKey: true }, ...NAME }));
const tags = planOf(defineModel('Tag', { id: { type: DataTypes.STRING, primaryKey: true }, ...NAME }));
const codes = planOf(tags.model, { idType: (raw: string) => raw });
const bigs = planOf(defineModel('Big', NAME), { idType: (raw: string) => BigInt(raw) });
const lists = planOf(defineModel('List', NAME), { idType: (raw: string) => Number(raw) });

/** What is written, as it was sent; a name that is no text is refused. */
const values: ValuesParser = (_request, access, body) => {
  const sent = body as { readonly name?: unknown };
  if (sent.name !== undefined && typeof sent.name !== 'string')
    throw new InvalidBodyError([{ pointer: '/name', code: 'isString', detail: 'name must be a string' }]);
  return { access, values: sent };
};

type Outcome = BulkItem | Promise<BulkItem>;

function parser(plan: ResourcePlan, kind: 'create' | 'update' = 'update', parse = values) {
  const [keys, budget] = [new Map<string, number>(), new MemberBudget()];
  const parseItem = compileItemParser(plan, kind, parse);
  let index = -1;
  return (body: unknown): Outcome => {
    index += 1;
    return parseItem(REQUEST, { access: OPEN_ACCESS, absent: ABSENT, index, keys, budget }, body);
  };
}

/** What is wrong with an item, as pointers and codes, or the status of its refusal. */
function told({ problem }: BulkItem): unknown {
  if (problem instanceof InvalidBodyError) {
    return problem.errors.map(({ code, ...issue }) => `${'pointer' in issue && issue.pointer} ${code}`);
  }
  return (
    (problem as { readonly status?: number; readonly name?: string } | null)?.status ?? problem?.name ?? null
  );
}

const toldOf = (plan: ResourcePlan, body: unknown): unknown => told(parser(plan)(body) as BulkItem);

describe('one of many records in a body', () => {
  it('has a key, a version or none, and what is written', () => {
    const item = parser(cities)({ id: 7, version: 3, name: 'a' }) as BulkItem;
    expect(item.problem).to.equal(null);
    expect(item.input).to.deep.include({ id: 7, values: { name: 'a' }, query: { ifMatch: ['3'] } });
    expect((parser(cities)({ id: 7 }) as BulkItem).input?.query).to.equal(ABSENT);
    const created = parser(cities, 'create')({ version: 3, name: 'a' }) as BulkItem;
    expect(created.input).to.deep.include({
      id: undefined,
      values: { version: 3, name: 'a' },
      query: ABSENT,
    });
  });

  for (const body of [null, [], 'a', 1, undefined]) {
    it(`is an object, and not ${JSON.stringify(body)}`, () => {
      expect(toldOf(cities, body)).to.deep.equal([' isObject']);
    });
  }

  for (const [label, plan, body, outcome] of [
    ['no key', cities, {}, ['/id isDefined']],
    ['a key that it only inherits', cities, Object.create({ id: 7 }), ['/id isDefined']],
    ['a number as a text', cities, { id: '7' }, ['/id id']],
    ['a key that is no number', cities, { id: null }, ['/id id']],
    ['half a number', cities, { id: 1.5 }, ['/id id']],
    ['a number beyond the column', cities, { id: 3_000_000_000 }, 'NotFoundError'],
    ['a number for a text', roads, { id: 7 }, ['/id id']],
    ['a text that is no UUID', roads, { id: '7' }, ['/id id']],
    ['a number for any text', tags, { id: 7 }, ['/id id']],
    ['a text for any text', tags, { id: '7' }, null],
    ['a number for any text of a type of its own', codes, { id: 7 }, null],
    ['what is no text for any text of a type of its own', codes, { id: true }, ['/id id']],
    ['a right text', roads, { id: '6f1c4f0e-7d5a-4a39-9d6b-1f0a3f0b7e11' }, null],
    ['a number for a type of its own', lists, { id: 7 }, null],
    ['a text for a type of its own', lists, { id: '7' }, null],
    ['no number and no text for a type of its own', lists, { id: true }, ['/id id']],
    ['the first version', cities, { id: 7, version: 0 }, null],
    ['the last version', cities, { id: 7, version: 2_147_483_647 }, null],
    ['a version beyond the last', cities, { id: 7, version: 2_147_483_648 }, ['/version isInt']],
    ['a version below the first', cities, { id: 7, version: -1 }, ['/version isInt']],
    ['a version that is no number', cities, { id: 7, version: '1' }, ['/version isInt']],
    ['half a version', cities, { id: 7, version: 1.5 }, ['/version isInt']],
    ['the version of a record that has none yet', strict, { id: 7, version: null }, null],
    ['no version where one is needed', strict, { id: 7 }, 428],
    ['a version where one is needed', strict, { id: 7, version: 1 }, null],
    [
      'several mistakes',
      cities,
      { version: 'x', name: 1 },
      ['/version isInt', '/id isDefined', '/name isString'],
    ],
  ] as const) {
    it(`has ${label}: ${outcome ?? 'right'}`, () => {
      expect(toldOf(plan, body)).to.deep.equal(outcome);
    });
  }

  it('stands in a body once, by the key that it is compared by', () => {
    const parse = parser(lists);
    const seen = [1, '1', 2, 1, 3].map((id) => told(parse({ id }) as BulkItem));
    expect(seen).to.deep.equal([null, ['/id repeated'], null, ['/id repeated'], null]);
    const [, again] = [0, 1].map(() => parse({ id: 9 }) as BulkItem);
    expect(again?.problem?.message).to.equal(
      'id is that of the item 5, too; a record may stand in a body once.',
    );
    const big = parser(bigs);
    expect([1, '01', 2].map((id) => told(big({ id }) as BulkItem))).to.deep.equal([
      null,
      ['/id repeated'],
      null,
    ]);
    const creating = parser(roads, 'create');
    expect(['a', 'a', undefined, undefined].map((id) => told(creating({ id }) as BulkItem))).to.deep.equal([
      null,
      ['/id repeated'],
      null,
      null,
    ]);
  });

  it('may be read in time, and what is no mistake of the body is thrown', async () => {
    const later = parser(cities, 'update', async (...args) => values(...args));
    expect(told(await later({ id: 7, name: 'a' }))).to.equal(null);
    expect(told(await later({ id: 8, name: 1 }))).to.deep.equal(['/name isString']);
    const error = new Error('own');
    for (const fail of [
      () => {
        throw error;
      },
      () => Promise.reject(error),
    ]) {
      expect(await caughtError(() => parser(cities, 'update', fail)({ id: 7 }))).to.equal(error);
    }
  });
});
