/** Columns that had other names when changes were stored, as the option `history.renamed` has them. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { raw, type SqlFragment } from '../../execute/sql/sql-fragment.js';
import { quoteText } from '../../util/quote-text.js';
import { historyOf } from './capture-options.js';

/** An image with the columns of today. @param image a column of `crud_changes` */
export function imageSql(plan: Past, image: string): SqlFragment {
  const names = renamedColumns(plan);
  if (names === null) return raw(image);
  return raw(
    `${image} || (SELECT coalesce(jsonb_object_agg(now, ${image} -> before), '{}') FROM ${names} WHERE ${image} ? before AND NOT ${image} ? now)`,
  );
}

/** Columns that were not stored, by the names of then and of today. @param names a column of `crud_changes` */
export function leftOutSql(plan: Past, names: string): SqlFragment {
  const renamed = renamedColumns(plan);
  return raw(
    renamed === null
      ? names
      : `(${names} || ARRAY(SELECT now FROM ${renamed} WHERE before = ANY (${names})))`,
  );
}

type Past = Pick<ResourcePlan, 'info' | 'features'>;

/** Columns that have another name today, for FROM; null where there are none. */
function renamedColumns(plan: Past): string | null {
  const renamed = Object.entries(historyOf(plan)?.renamed ?? {});
  if (renamed.length === 0) return null;
  const names = renamed.map(([old, name]) => {
    const column = plan.info.attributes.get(name)?.column ?? name;
    return `(${quoteText(old)}, ${quoteText(column)})`;
  });
  return `(VALUES ${names.join()}) AS names (before, now)`;
}
