import { expect } from 'chai';
import { parseFields } from '../../../src/features/fields.js';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import type { RequestIssue } from '../../../src/schema/request-issue.js';
import { featuresOf } from '../../support/offline-features.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const READABLE = ['id', 'name', 'population'];

function parsed(text: string): {
  fields: readonly string[] | null;
  issues: readonly RequestIssue[];
} {
  const issues: RequestIssue[] = [];
  return { fields: parseFields(READABLE, text, issues), issues };
}

function unknown(name: string, hint = ''): RequestIssue {
  return {
    parameter: 'fields',
    code: 'fields.unknown',
    detail: `There is no field '${name}'.${hint} The fields are id, name, population.`,
    allowed: READABLE,
  };
}

describe('parseFields', () => {
  it('is all fields without the parameter', () => {
    expect(featuresOf(planOf(defineModel('City'))).read.readQuery('/cities/1', OPEN_ACCESS).fields).to.equal(
      null,
    );
  });

  it('has the fields in the order of the schema', () => {
    const { fields, issues } = parsed('population,id');
    expect(issues).to.deep.equal([]);
    expect(fields).to.deep.equal(['id', 'population']).and.to.be.frozen;
  });

  const WRONG: Readonly<Record<string, readonly RequestIssue[]>> = {
    '': [unknown('')],
    'name,': [unknown('')],
    ' name': [unknown(' name', " Did you mean 'name'?")],
    Name: [unknown('Name', " Did you mean 'name'?")],
    password: [unknown('password')],
    'x,y': [unknown('x'), unknown('y')],
    'name,name': [
      { parameter: 'fields', code: 'fields.repeated', detail: "'name' may be named once in fields." },
    ],
    __proto__: [unknown('__proto__')],
  };
  for (const [text, issues] of Object.entries(WRONG)) {
    it(`refuses '${text}'`, () => {
      expect(parsed(text).issues).to.deep.equal(issues);
    });
  }

  it('says little about thousands of names', () => {
    const different = Array.from({ length: 5000 }, (_, index) => `x${index}`);
    expect(parsed(different.join()).issues).to.have.lengthOf(4);
    expect(parsed('x,'.repeat(5000)).issues).to.have.lengthOf(1);
    expect(parsed('id,'.repeat(5000)).issues).to.have.lengthOf(1);
  });
});
