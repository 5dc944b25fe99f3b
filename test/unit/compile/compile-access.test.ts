/** What is wrong with `scope`, `visible` and `deny`, each found at the start: a rule that is not understood lets nothing through. */
import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { compileResource } from '../../../src/compile/compile-resource.js';
import { filter } from '../../../src/declare/filter-template.js';
import { resolveSettings } from '../../../src/express/resources/settings.js';
import { decoratorReader, defineModel, planOf, problemsOf } from '../../support/offline-models.js';

const Task = defineModel(
  'Task',
  {
    tenantId: DataTypes.INTEGER,
    title: DataTypes.TEXT,
    details: DataTypes.JSONB,
    picture: DataTypes.BLOB,
    words: DataTypes.ARRAY(DataTypes.TEXT),
    label: DataTypes.VIRTUAL,
  },
  { timestamps: true, paranoid: true, version: true },
);
const rule = () => 1;

const WRONG: Readonly<Record<string, readonly [options: object, problem: string]>> = {
  'a scope that is undefined': [
    { scope: undefined },
    'Task: scope is undefined; give it a value, or leave it out.',
  ],
  'a scope that is null': [{ scope: null }, 'Task: scope is null; give it a value, or leave it out.'],
  'a scope that is a function': [
    { scope: rule },
    'Task: scope is [Function: rule]; use an object of attributes and functions of the request.',
  ],
  'a scope that is a list': [
    { scope: ['tenantId'] },
    "Task: scope is [ 'tenantId' ]; use an object of attributes and functions of the request.",
  ],
  'a scope that is a map': [
    { scope: new Map([['tenantId', rule]]) },
    "Task: scope is Map(1) { 'tenantId' => [Function: rule] }; use an object of attributes and functions of the request.",
  ],
  'a scope of an attribute that there is none': [
    { scope: { tenantID: rule } },
    "Task: scope names 'tenantID', which is not an attribute. Did you mean 'tenantId'? The attributes are id, tenantId, title, " +
      'details, picture, words, label, createdAt, updatedAt, deletedAt, version.',
  ],
  'a scope with a value': [
    { scope: { tenantId: 1 } },
    'Task: scope.tenantId is 1; use a function of the request.',
  ],
  'a scope with undefined': [
    { scope: { tenantId: undefined } },
    'Task: scope.tenantId is undefined; use a function of the request.',
  ],
  'a scope with a filter': [
    { scope: { title: filter`title==a` } },
    'Task: scope.title is FilterTemplate { texts: [Array], values: [] }; use a function of the request.',
  ],
  'a scope of JSON': [
    { scope: { details: rule } },
    "Task: scope names 'details', of type json, which cannot be compared; use another one.",
  ],
  'a scope of bytes': [
    { scope: { picture: rule } },
    "Task: scope names 'picture', of type blob, which cannot be compared; use another one.",
  ],
  'a scope of arrays': [
    { scope: { words: rule } },
    "Task: scope names 'words', of type array, which cannot be compared; use another one.",
  ],
  'a scope of a virtual attribute': [
    { scope: { label: rule } },
    "Task: scope names 'label', of type virtual, which cannot be compared; use another one.",
  ],
  'a scope of a timestamp': [
    { scope: { updatedAt: rule } },
    "Task: scope names 'updatedAt', which Sequelize writes; use another attribute.",
  ],
  'a scope of the mark of deletion': [
    { scope: { deletedAt: rule } },
    "Task: scope names 'deletedAt', which Sequelize writes; use another attribute.",
  ],
  'a scope of the version': [
    { scope: { version: rule } },
    "Task: scope names 'version', which Sequelize writes; use another attribute.",
  ],
  'a condition that is undefined': [
    { visible: undefined },
    'Task: visible is undefined; give it a value, or leave it out.',
  ],
  'a condition that is null': [{ visible: null }, 'Task: visible is null; give it a value, or leave it out.'],
  'a condition that asks nobody': [
    { visible: filter`title==a` },
    'Task: visible is FilterTemplate { texts: [Array], values: [] }; use a function of the request that gives a filter`…` or EVERYTHING.',
  ],
  'a condition that is a text': [
    { visible: 'title==a' },
    'Task: visible is "title==a"; use a function of the request that gives a filter`…` or EVERYTHING.',
  ],
};

/** The problems of a resource under what `bootstrap` says of all. */
const sharedProblems = (shared: object, options: object = {}) =>
  compileResource({ model: Task, options }, decoratorReader, shared).problems;

describe('rules of rows', () => {
  for (const [name, [options, problem]] of Object.entries(WRONG)) {
    it(`are refused with ${name}`, () => expect(problemsOf(Task, options)).to.deep.equal([problem]));
  }

  it('are all told of at once', () => {
    expect(problemsOf(Task, { scope: { x: 1, tenantId: 1 }, visible: 1 })).to.have.length(4);
  });

  it('of bootstrap are refused for each model', () => {
    expect(sharedProblems({ scope: { tenantId: 5 } })).to.deep.equal([
      'Task: scope.tenantId is 5; use a function of the request.',
    ]);
    expect(sharedProblems({ scope: { details: rule } })).to.deep.equal([WRONG['a scope of JSON']?.[1]]);
  });

  it('of bootstrap stay where the model has others', () => {
    const { plan } = compileResource(
      { model: Task, options: { scope: { title: rule } } as object },
      decoratorReader,
      {
        scope: { tenantId: rule, other: rule },
      },
    );
    expect([...(plan?.access?.scope.keys() ?? [])]).to.have.members(['tenantId', 'title']);
    const none = compileResource({ model: Task, options: { scope: {} } }, decoratorReader, {
      scope: { tenantId: rule },
    });
    expect([...(none.plan?.access?.scope.keys() ?? [])]).to.deep.equal(['tenantId']);
  });

  it('are none where nothing is said', () => {
    expect(planOf(Task).access).to.equal(null);
    expect(planOf(Task, { scope: {}, can: {}, fields: {} }).access).to.equal(null);
  });

  it('are not switched off by options of bootstrap that were never set, or hold nothing', () => {
    const problems = (options: object) => resolveSettings({ models: [], ...options }).problems;
    expect(problems({ scope: undefined })).to.deep.equal([
      'scope is undefined; give it a value, or leave it out.',
    ]);
    expect(problems({ deny: undefined })).to.deep.equal([
      'deny is undefined; give it a value, or leave it out.',
    ]);
    for (const scope of [null, [], new Map(), rule, 'tenantId'])
      expect(problems({ scope })).to.have.length(1);
    for (const deny of [null, 'true', 1]) expect(problems({ deny })).to.have.length(1);
    expect(problems({ scope: { tenantId: rule }, deny: true })).to.deep.equal([]);
  });
});
