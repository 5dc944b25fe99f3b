/** The features of rows, in the order of the document: repositories have them, too. They are pure. */
import type { FeatureFactory } from '../operation/feature.js';
import { condition } from './condition.js';
import { count } from './count.js';
import { entityTag } from './entity-tag.js';
import { fields } from './fields.js';
import { filter } from './filter.js';
import { include } from './include/include.js';
import { location } from './location.js';
import { paging } from './paging.js';
import { scope } from './scope.js';
import { search } from './search/search.js';
import { softDelete } from './soft-delete/soft-delete.js';
import { sort } from './sort.js';
import { touch } from './touch.js';

/** Each is a file or a folder beside this one. */
export const ROW_FEATURES: readonly FeatureFactory[] = [
  paging,
  count,
  sort,
  filter,
  search,
  fields,
  include,
  softDelete,
  scope,
  entityTag,
  condition,
  location,
  touch,
];
