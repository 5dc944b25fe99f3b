/** `increment`: a change that adds to a number of the record, in one statement, so that two clients never lose one. */
import type { ActingFeature } from '../../handle/around.js';
import type { FeatureContext, FeatureFactory } from '../../operation/feature.js';
import { compileAmounts } from './amounts.js';
import { checkIncrement, compileNames, incrementsOf } from './increment-options.js';
import { withSums } from './sums.js';

/** For resources with the option. */
export const increment: FeatureFactory = Object.assign(
  ({ plan }: FeatureContext): ActingFeature | null =>
    incrementsOf(plan).length === 0
      ? null
      : { forms: { update: compileAmounts(plan) }, aroundMethod: withSums },
  { resourceOptions: { increment: compileNames }, check: checkIncrement },
);
