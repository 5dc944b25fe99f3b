import { expect } from 'chai';
import { DataTypes } from 'sequelize';
import { ENDPOINTS } from '../../../src/declare/endpoint.js';
import { FEATURES } from '../../../src/features/features.js';
import { OPEN_ACCESS } from '../../../src/operation/access.js';
import { compileFeatures } from '../../../src/operation/compile-features.js';
import { partFor } from '../../../src/operation/compile-operation.js';
import type { Inputs } from '../../../src/operation/feature.js';
import type { Operation } from '../../../src/operation/operation.js';
import { createCursorCodec } from '../../../src/request/query/cursor-codec.js';
import { defineModel, planOf } from '../../support/offline-models.js';

const Thing = defineModel('Thing', { name: DataTypes.STRING, size: DataTypes.INTEGER });
const PLANS = {
  'pages by number': planOf(Thing, { filterAllow: ['size'], sortAllow: ['name'], defaultSort: '-name' }),
  'pages by cursor': planOf(Thing, { pagination: 'cursor', pageSize: { default: 7 } }),
  'a count that requests choose': planOf(Thing, { count: { default: 'capped', cap: 9 } }),
  'rules of access': planOf(Thing, { scope: { size: () => 1 }, fields: { name: { read: () => false } } }),
};

/** The same as a feature's step of any endpoint: `ByEndpoint` has one type for each. */
type Step = (operation: Operation, inputs: Inputs, access: typeof OPEN_ACCESS) => Operation;

describe('dependsOn of a feature', () => {
  for (const [name, plan] of Object.entries(PLANS)) {
    it(`is all that rewrites open operations, with ${name}`, () => {
      const readable = ['id', 'name', 'size'];
      const view = { readable, columnsOf: (fields: readonly string[] | null) => fields ?? readable };
      const context = { plan, ...view, cursors: createCursorCodec([]), views: () => view };
      const features = compileFeatures(context, FEATURES);
      let tried = 0;
      for (const endpoint of ENDPOINTS) {
        const { absentFor, operation } = features[endpoint];
        const inputs = absentFor(OPEN_ACCESS.form);
        const usual = operation(inputs, OPEN_ACCESS, {});
        for (const { dependsOn, rewrite } of features.all) {
          const step = partFor(rewrite, endpoint) as Step | undefined;
          if (!dependsOn || !step) continue;
          expect(step(usual, inputs, OPEN_ACCESS)).to.deep.equal(usual);
          tried += 1;
        }
      }
      expect(tried).to.be.greaterThan(10);
    });
  }
});
