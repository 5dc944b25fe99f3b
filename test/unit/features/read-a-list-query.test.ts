import { expect } from 'chai';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import type { Inputs } from '../../../src/operation/feature.js';
import { InvalidQueryError, type RequestIssue } from '../../../src/schema/request-issue.js';
import { caughtError } from '../../support/caught-error.js';
import { featuresOf } from '../../support/offline-features.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const City = defineModel('City');
const plan = planOf(City, { pageSize: { default: 10, max: 50 } });
const ignoring = planOf(City, { unknownQuery: 'ignore' });

function parse(query: string, of = plan): Inputs {
  return featuresOf(of).list.readQuery(`/cities?${query}`, OPEN_ACCESS);
}

async function issuesOf(query: string, of = plan): Promise<readonly RequestIssue[]> {
  const error = await caughtError(() => parse(query, of));
  if (!(error instanceof InvalidQueryError)) throw error;
  return error.errors;
}

function unknown(name: string, suggestion = ''): RequestIssue {
  return {
    parameter: name,
    code: 'unknown',
    detail: `This route has no parameter '${name}'.${suggestion} It accepts page, size, sort, q, fields.`,
  };
}

describe('the query string of a list', () => {
  for (const [query, expected] of [
    ['', { page: 1, size: 10 }],
    ['page=7', { page: 7, size: 10 }],
    ['size=1', { page: 1, size: 1 }],
    ['size=50&page=2147483647', { page: 2147483647, size: 50 }],
  ] as const) {
    it(`reads '${query}'`, () => {
      expect(parse(query)).to.include(expected);
    });
  }

  it('uses the defaults of a resource that sets none', () => {
    expect(parse('', planOf(City))).to.include({ page: 1, size: 20 });
  });

  it('freezes what it gives', () => {
    expect(parse('page=2')).to.satisfy(Object.isFrozen);
  });

  it('keeps the first row of the last page an exact number', () => {
    const { page, size } = parse('page=2147483647&size=50');
    expect(Number.isSafeInteger(Number(page) * Number(size))).to.equal(true);
  });

  for (const value of [
    '',
    '0',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    '+1',
    '01',
    'abc',
    'NaN',
    'Infinity',
    '٣',
    '2147483648',
    '9'.repeat(400),
  ]) {
    const shown = value.length > 40 ? `${value.slice(0, 40)}…` : value;

    it(`refuses page=${shown}`, async () => {
      expect(await issuesOf(`page=${encodeURIComponent(value)}`)).to.deep.equal([
        {
          parameter: 'page',
          code: 'range',
          detail: `Parameter 'page' is '${shown}'; it accepts an integer from 1 to 2147483647.`,
        },
      ]);
    });

    it(`refuses size=${shown}`, async () => {
      expect(await issuesOf(`size=${encodeURIComponent(value)}`)).to.deep.equal([
        {
          parameter: 'size',
          code: 'range',
          detail: `Parameter 'size' is '${shown}'; it accepts an integer from 1 to 50.`,
        },
      ]);
    });
  }

  it('refuses a size above the maximum, naming it', async () => {
    expect(await issuesOf('size=51')).to.deep.equal([
      {
        parameter: 'size',
        code: 'range',
        detail: "Parameter 'size' is '51'; it accepts an integer from 1 to 50.",
      },
    ]);
  });

  it('refuses blanks around a number', async () => {
    expect((await issuesOf('page=+1&size=5%20')).map(({ detail }) => detail)).to.deep.equal([
      "Parameter 'page' is ' 1'; it accepts an integer from 1 to 2147483647.",
      "Parameter 'size' is '5 '; it accepts an integer from 1 to 50.",
    ]);
  });

  it('tells everything that is wrong at once', async () => {
    expect(await issuesOf('page=0&size=x&size=2&siez=1&q=%FF&__proto__=1')).to.deep.equal([
      { parameter: 'size', code: 'repeated', detail: "Parameter 'size' may be given once." },
      { parameter: 'q', code: 'encoding', detail: "Parameter 'q' is not valid percent-encoded UTF-8." },
      unknown('siez', " Did you mean 'size'?"),
      unknown('__proto__'),
      {
        parameter: 'page',
        code: 'range',
        detail: "Parameter 'page' is '0'; it accepts an integer from 1 to 2147483647.",
      },
      {
        parameter: 'size',
        code: 'range',
        detail: "Parameter 'size' is 'x'; it accepts an integer from 1 to 50.",
      },
    ]);
  });

  it('tells names that differ in case apart', async () => {
    expect(await issuesOf('Page=1')).to.deep.equal([unknown('Page', " Did you mean 'page'?")]);
  });

  describe('of a resource that ignores unknown parameters', () => {
    it('takes them for nothing, repeated or badly encoded ones too', () => {
      expect(parse('utm=1&utm=2&x=%FF&%FF=1&page=2', ignoring)).to.include({ page: 2, size: 20 });
    });

    it('still refuses its own where they are repeated, badly encoded or out of range', async () => {
      expect(await issuesOf('page=1&page=2&size=%FF', ignoring)).to.deep.equal([
        { parameter: 'page', code: 'repeated', detail: "Parameter 'page' may be given once." },
        {
          parameter: 'size',
          code: 'encoding',
          detail: "Parameter 'size' is not valid percent-encoded UTF-8.",
        },
      ]);
      expect(await issuesOf('size=101', ignoring)).to.deep.equal([
        {
          parameter: 'size',
          code: 'range',
          detail: "Parameter 'size' is '101'; it accepts an integer from 1 to 100.",
        },
      ]);
    });
  });
});
