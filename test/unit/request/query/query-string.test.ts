import { expect } from 'chai';
import fc from 'fast-check';
import { parseQueryString, quote } from '../../../../src/request/query/query-string.js';
import { InvalidQueryError } from '../../../../src/schema/request-issue.js';

/** The parameters of a target and their issues, as plain data. */
function parsed(target: string) {
  const { parameters, issues } = parseQueryString(target);
  return { parameters: [...parameters], issues };
}

describe('parseQueryString', () => {
  it('takes names that every object has, and the same in another case, for names of their own', () => {
    for (const target of ['/cities', '/cities?']) expect(parsed(target).parameters).to.deep.equal([]);
    expect(parsed('/cities?__proto__=1&constructor=2&Page=1&page=2')).to.deep.equal({
      parameters: [
        ['__proto__', '1'],
        ['constructor', '2'],
        ['Page', '1'],
        ['page', '2'],
      ],
      issues: [],
    });
  });

  it('leaves out what other code reads, whatever it is, and not what has no name to go by', () => {
    const { parameters, issues } = parseQueryString('/cities?size=5&pa%67e=%ff&page=1&page=2&%ff=1', [
      'page',
    ]);
    expect([...parameters]).to.deep.equal([['size', '5']]);
    expect(issues).to.deep.equal([
      { parameter: '%ff', code: 'encoding', detail: "Parameter '%ff' is not valid percent-encoded UTF-8." },
    ]);
  });

  it('keeps the first of a repeated parameter and reports every other one', () =>
    expect(parsed('/cities?page=1&page=2&size=5&pa%67e=3')).to.deep.equal({
      parameters: [
        ['page', '1'],
        ['size', '5'],
      ],
      issues: [
        { parameter: 'page', code: 'repeated', detail: "Parameter 'page' may be given once." },
        { parameter: 'page', code: 'repeated', detail: "Parameter 'page' may be given once." },
      ],
    }));

  it('joins the names of a list, and of no other parameter', () => {
    const target =
      '/cities?sort=-a&q=1&a.b.fields[]=x&sort[]=b,c&a.b.fields%5B%5D=y&sort[0]=d&q[]=2&xsort=1&xsort=2&[]=3';
    expect(parsed(target)).to.deep.equal({
      parameters: [
        ['sort', '-a,b,c,d'],
        ['q', '1'],
        ['a.b.fields', 'x,y'],
        ['q[]', '2'],
        ['xsort', '1'],
        ['[]', '3'],
      ],
      issues: [{ parameter: 'xsort', code: 'repeated', detail: "Parameter 'xsort' may be given once." }],
    });
  });

  for (const raw of ['%', '%4', '%zz', '%C3', '%E9', '%C0%80', '%ED%A0%80', '%F5%80%80%80', 'ok%FF']) {
    it(`reports ${raw}, in a value and in a name`, () =>
      expect(parsed(`/cities?page=${raw}&${raw}=1&size=5`)).to.deep.equal({
        parameters: [['size', '5']],
        issues: [
          {
            parameter: 'page',
            code: 'encoding',
            detail: "Parameter 'page' is not valid percent-encoded UTF-8.",
          },
          {
            parameter: raw,
            code: 'encoding',
            detail: `Parameter '${raw}' is not valid percent-encoded UTF-8.`,
          },
        ],
      }));
  }

  it('agrees with URLSearchParams wherever every name is given once', () => {
    const pairs = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' })), {
      selector: ([name]) => name,
    });
    fc.assert(
      fc.property(pairs, (given) => {
        const search = new URLSearchParams(given);
        expect(parsed(`/cities?${search}`)).to.deep.equal({ parameters: [...search], issues: [] });
      }),
    );
  });

  it('agrees with URLSearchParams on what was written by hand, if it is well encoded', () => {
    const query = fc.stringMatching(/^[a-c=&+;?[\]/%20-9]{0,30}$/);
    fc.assert(
      fc.property(query, (text) => {
        const names = [...new URLSearchParams(text).keys()];
        const { parameters, issues } = parsed(`/cities?${text}`);
        fc.pre(!issues.some(({ code }) => code === 'encoding'));
        fc.pre(!text.startsWith('?'));
        expect(issues).to.have.length(names.length - new Set(names).size);
        const first = new Map([...new URLSearchParams(text)].reverse());
        expect(new Map(parameters)).to.deep.equal(first);
      }),
      { numRuns: 2000 },
    );
  });

  it('never throws', () =>
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (target) => {
        expect(parseQueryString(target).parameters).to.be.instanceOf(Map);
      }),
    ));
});

describe('quote', () => {
  it('repeats up to forty characters', () => {
    const forty = 'x'.repeat(40);
    expect([quote(''), quote(forty), quote(`${forty}y`)]).to.deep.equal(["''", `'${forty}'`, `'${forty}…'`]);
  });

  it('leaves no half of a character', () =>
    expect(quote(`${'x'.repeat(39)}🎈`)).to.equal(`'${'x'.repeat(39)}\ufffd…'`));
});

describe('InvalidQueryError', () => {
  const page = { parameter: 'page', code: 'range', detail: "Parameter 'page' is wrong." };

  it('says its only problem, and counts several', () => {
    expect(String(new InvalidQueryError([page]))).to.equal("InvalidQueryError: Parameter 'page' is wrong.");
    expect(new InvalidQueryError([page, page]).message).to.equal('The request has 2 problems.');
  });
});
