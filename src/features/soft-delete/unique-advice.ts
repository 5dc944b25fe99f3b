/** Unique indexes that hold soft-deleted rows, too: their values stay taken, and a restore may be a conflict. */

import type { ResourcePlan } from '../../compile/resource-plan.js';
import { deletedAtOf, type ModelInfo } from '../../describe/model-info.js';
import { identifier, quotedTable } from '../../execute/sql/sql-fragment.js';
import { columnOf } from '../../execute/sql/table-indexes.js';
import type { FoundIndex } from '../../operation/feature.js';

/** The column that says when a row was soft-deleted; undefined where nothing, or something else than NULL, says that it was not. */
function deletionColumn(info: ModelInfo): string | undefined {
  const mark = deletedAtOf(info);
  if (mark === undefined || info.model.getAttributes()[mark]?.defaultValue !== undefined) return undefined;
  return columnOf(info, mark);
}

/** One line for each such index, with the statements that put one over the other rows in its place. */
export function adviseUnique({ name, model, info }: ResourcePlan, indexes: readonly FoundIndex[]): string[] {
  const column = deletionColumn(info);
  if (column === undefined) return [];
  const isOfOthers = (predicate: string | null) =>
    [column, identifier(column)].some((each) => predicate?.includes(`(${each} IS NULL)`));
  return indexes.flatMap(({ name: index, predicate, unique }) => {
    if (!unique?.canBePartial || unique.keys.some((key) => key.includes(column)) || isOfOthers(predicate))
      return [];
    const drop =
      unique.constraint === null
        ? `DROP INDEX ${index}`
        : `ALTER TABLE ${quotedTable(model)} DROP CONSTRAINT ${unique.constraint}`;
    const create = unique.definition.replace(' ON ONLY ', ' ON ');
    const others = `${predicate === null ? 'WHERE' : 'AND'} ${identifier(column)} IS NULL`;
    return [
      `${name}: soft-deleted records keep their values in the unique index ${index}; BEGIN; ${drop}; ${create} ${others}; COMMIT;`,
    ];
  });
}
