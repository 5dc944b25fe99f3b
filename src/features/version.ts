/** Models with a version, which Sequelize compares and counts (optimistic lock). */
import type { FeatureFactory } from '../operation/feature.js';

/** Another change at the same time is 409. */
export const version: FeatureFactory = ({ plan }) => {
  const isVersioned = [...plan.info.attributes.values()].some(({ role }) => role === 'version');
  return isVersioned ? { problems: { update: [409] } } : null;
};
