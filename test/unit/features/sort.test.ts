import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { parseSort } from '../../../src/features/sort.js';
import type { RequestIssue } from '../../../src/schema/request-issue.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f'];
const Thing = defineModel('Thing', {
  ...Object.fromEntries(NAMES.map((name) => [name, DataTypes.INTEGER])),
  hidden: DataTypes.INTEGER,
});
const plan = planOf(Thing, { sortAllow: [...NAMES, 'id'], defaultSort: '-b,a' });

const WRONG: Readonly<Record<string, readonly RequestIssue[]>> = {
  '': [unknown('')],
  ',': [unknown(''), unknown('')],
  'a,': [unknown('')],
  hidden: [unknown('hidden')],
  nothing: [unknown('nothing')],
  A: [unknown('A', " Did you mean 'a'?")],
  '--a': [unknown('-a', " Did you mean 'a'?")],
  'a desc': [unknown('a desc', " Did you mean '-a'?")],
  'a:DESC': [unknown('a:DESC', " Did you mean '-a'?")],
  'a:asc': [unknown('a:asc', " Did you mean 'a'?")],
  'nothing:desc': [unknown('nothing:desc')],
  __proto__: [unknown('__proto__')],
  'a;DROP TABLE things': [unknown('a;DROP TABLE things')],
  'a,-a': [{ parameter: 'sort', code: 'sort.repeated', detail: "'a' may be named once in sort." }],
  'a,b,c,d,e,f': [
    { parameter: 'sort', code: 'sort.too-many', detail: 'At most 5 fields are allowed in sort (found 6).' },
  ],
};

function unknown(name: string, hint = ''): RequestIssue {
  const allowed = [...NAMES, 'id'];
  return {
    parameter: 'sort',
    code: 'sort.unknown-field',
    detail: `Cannot sort by '${name}'.${hint} Sortable: ${allowed.join(', ')}.`,
    allowed,
  };
}

function issuesOf(text: string): readonly RequestIssue[] {
  const issues: RequestIssue[] = [];
  parseSort(plan, text, issues);
  return issues;
}

describe('parseSort', () => {
  for (const [text, issues] of Object.entries(WRONG)) {
    it(`refuses '${text}'`, () => expect(issuesOf(text)).to.deep.equal(issues));
  }

  it('[D5] says little about a text of thousands of names', () => {
    const issues = issuesOf(Array.from({ length: 5000 }, (_, index) => `x${index}`).join(','));
    expect(issues).to.have.lengthOf(7);
    expect(issues.at(-1)).to.deep.equal({
      parameter: 'sort',
      code: 'sort.too-many',
      detail: 'At most 5 fields are allowed in sort (found 5000).',
    });
  });
});
