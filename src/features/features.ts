/** All features, in the order of the document. */
import type { FeatureFactory } from '../operation/feature.js';
import { condition } from './condition.js';
import { count } from './count.js';
import { entityTag } from './entity-tag.js';
import { fields } from './fields.js';
import { filter } from './filter.js';
import { include } from './include.js';
import { location } from './location.js';
import { onlyNew } from './only-new.js';
import { paging } from './paging.js';
import { scope } from './scope.js';
import { softDelete } from './soft-delete.js';
import { sort } from './sort.js';

/** The pure ones. A new feature is a file beside these, and a line here. */
export const FEATURES: readonly FeatureFactory[] = [
  paging,
  count,
  sort,
  filter,
  fields,
  include,
  softDelete,
  scope,
  entityTag,
  condition,
  onlyNew,
  location,
];
