import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { parseFilter } from '../../../../src/request/query/parse-filter.js';
import type { RequestIssue } from '../../../../src/schema/request-issue.js';
import { defineModel, planOf } from '../../../support/offline-models.js';

const plan = planOf(defineModel('Thing', { note: DataTypes.TEXT }), { filterAllow: ['note'] });

function compiled(operator: string, text: string) {
  const issues: RequestIssue[] = [];
  return { filter: parseFilter(plan, `note${operator}${text}`, issues), issues };
}

function comparison(operator: string, pattern: string) {
  return { kind: 'comparison', attribute: 'note', operator, values: [pattern] };
}

describe('a pattern', () => {
  const PATTERNS: Readonly<Record<string, string>> = {
    Ann: 'Ann',
    'J*': 'J%',
    '*em*': '%em%',
    '50\\**': '50*%',
    'a\\\\b': 'a\\\\b',
    '100%': '100\\%',
    a_b: 'a\\_b',
    '\\\\*': '\\\\%',
    '"a b\\\\*"': 'a b*',
    '""': '',
    'a*b*c*d*': 'a%b%c%d%',
    [`${'x'.repeat(256)}`]: 'x'.repeat(256),
  };
  for (const [text, pattern] of Object.entries(PATTERNS)) {
    it(`[D4] ${text.slice(0, 20)} is for LIKE ${pattern.slice(0, 20)}`, () => {
      for (const operator of ['=like=', '=notlike=', '=ilike=', '=inotlike=']) {
        expect(compiled(operator, text)).to.deep.equal({ filter: comparison(operator, pattern), issues: [] });
      }
    });
  }

  const WRONG: Readonly<Record<string, readonly [code: string, detail: string]>> = {
    'a\\q': ['q.bad-escape', "'\\q' is not a valid escape in a pattern; use \\* or \\\\."],
    'a\\': ['q.bad-escape', "'\\' is not a valid escape in a pattern; use \\* or \\\\."],
    'a\\%': ['q.bad-escape', "'\\%' is not a valid escape in a pattern; use \\* or \\\\."],
    'a\\\u{1f642}': ['q.bad-escape', "'\\\u{1f642}' is not a valid escape in a pattern; use \\* or \\\\."],
    '*': ['q.bad-escape', 'A pattern of wildcards alone matches every text; use =isnull=false.'],
    '***': ['q.bad-escape', 'A pattern of wildcards alone matches every text; use =isnull=false.'],
    'a*b*c*d*e*': ['q.too-complex', 'A pattern has at most 4 wildcards (found 5).'],
    [`${'x'.repeat(257)}`]: ['q.range', 'A pattern has at most 256 characters (found 257).'],
  };
  for (const [text, [code, detail]] of Object.entries(WRONG)) {
    it(`[D5] ${text.slice(0, 20)} is wrong: ${code}`, () =>
      expect(compiled('=like=', text)).to.deep.equal({
        filter: null,
        issues: [{ parameter: 'q', code, detail, position: 10 }],
      }));
  }
});
