/** Writes of a row with others that belong to it, such as an order with its lines: the row is locked, or counts as changed. */
import type { FeatureFactory, Inputs } from '../operation/feature.js';

const touched = <O extends object>(operation: O, { touch }: Inputs): O =>
  touch === undefined ? operation : { ...operation, touch };

/** For requests whose inputs say so. */
export const touch: FeatureFactory = () => ({
  rewrite: { update: touched, replace: touched },
});
