/** Wrong `scope`, `visible` and `deny`, each found at the start: a rule that is not understood lets nothing through. */
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

const OBJECT = 'use an object of attributes and functions of the request.';
const FUNCTION = 'use a function of the request.';
const CONDITION = 'use a function of the request that gives a filter`…` or EVERYTHING.';
const WRITTEN = 'which Sequelize writes; use another attribute.';
const incomparable = (type: string) => `of type ${type}, which cannot be compared; use another one.`;
const GIVE = 'give it a value, or leave it out.';

const WRONG: readonly (readonly [options: object, problem: string])[] = [
  [{ scope: undefined }, `scope is undefined; ${GIVE}`],
  [{ scope: null }, `scope is null; ${GIVE}`],
  [{ scope: rule }, `scope is [Function: rule]; ${OBJECT}`],
  [{ scope: ['tenantId'] }, `scope is [ 'tenantId' ]; ${OBJECT}`],
  [{ scope: new Map([['tenantId', rule]]) }, `scope is Map(1) { 'tenantId' => [Function: rule] }; ${OBJECT}`],
  [
    { scope: { tenantID: rule } },
    "scope names 'tenantID', which is not an attribute. Did you mean 'tenantId'? The attributes are id, tenantId, title, " +
      'details, picture, words, label, createdAt, updatedAt, deletedAt, version.',
  ],
  [{ scope: { tenantId: 1 } }, `scope.tenantId is 1; ${FUNCTION}`],
  [{ scope: { tenantId: undefined } }, `scope.tenantId is undefined; ${FUNCTION}`],
  [
    { scope: { title: filter`title==a` } },
    `scope.title is FilterTemplate { texts: [Array], values: [] }; ${FUNCTION}`,
  ],
  ...Object.entries({
    ...{ details: incomparable('json'), picture: incomparable('blob'), words: incomparable('array') },
    ...{ label: incomparable('virtual'), updatedAt: WRITTEN, deletedAt: WRITTEN, version: WRITTEN },
  }).map(([name, why]) => [{ scope: { [name]: rule } }, `scope names '${name}', ${why}`] as const),
  [{ visible: undefined }, `visible is undefined; ${GIVE}`],
  [{ visible: null }, `visible is null; ${GIVE}`],
  [{ visible: filter`title==a` }, `visible is FilterTemplate { texts: [Array], values: [] }; ${CONDITION}`],
  [{ visible: 'title==a' }, `visible is "title==a"; ${CONDITION}`],
];

/** A resource under the rules of `bootstrap` for all. */
const compiled = (shared: object, options: object = {}) =>
  compileResource({ model: Task, options }, decoratorReader, shared);

describe('rules of rows', () => {
  for (const [options, problem] of WRONG) {
    it(`are refused: ${problem}`, () =>
      expect(problemsOf(Task, options)).to.deep.equal([`Task: ${problem}`]));
  }

  it('are all told of at once', () =>
    expect(problemsOf(Task, { scope: { x: 1, tenantId: 1 }, visible: 1 })).to.have.length(4));

  it('of bootstrap are refused for each model', () => {
    expect(compiled({ scope: { tenantId: 5 } }).problems).to.deep.equal([
      'Task: scope.tenantId is 5; use a function of the request.',
    ]);
    expect(compiled({ scope: { details: rule } }).problems).to.deep.equal([
      "Task: scope names 'details', of type json, which cannot be compared; use another one.",
    ]);
  });

  it('of bootstrap stay where the model has others', () => {
    for (const [own, all] of [
      [{ title: rule }, ['tenantId', 'title']],
      [{}, ['tenantId']],
    ] as const) {
      const { plan } = compiled({ scope: { tenantId: rule, other: rule } }, { scope: own });
      expect([...(plan?.access?.scope.keys() ?? [])]).to.have.members(all);
    }
  });

  it('are none where nothing is said', () => {
    expect(planOf(Task).access).to.equal(null);
    expect(planOf(Task, { scope: {}, can: {}, fields: {} }).access).to.equal(null);
  });

  it('are not switched off by options of bootstrap that were never set, or hold nothing', () => {
    const problems = (options: object) => resolveSettings({ models: [], ...options }).problems;
    for (const name of ['scope', 'deny'])
      expect(problems({ [name]: undefined })).to.deep.equal([`${name} is undefined; ${GIVE}`]);
    for (const scope of [null, [], new Map(), rule, 'tenantId'])
      expect(problems({ scope })).to.have.length(1);
    for (const deny of [null, 'true', 1]) expect(problems({ deny })).to.have.length(1);
    expect(problems({ scope: { tenantId: rule }, deny: true })).to.deep.equal([]);
  });
});
