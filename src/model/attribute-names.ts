/** Names that no attribute can have: Sequelize would take them for something else, or a query string could not tell them. */
import { Model } from 'sequelize';
import type { ModelClass } from '../metadata/crud-options.js';

/** What Sequelize's own constructor puts into a record. */
export const RECORD_FIELDS: ReadonlySet<string | symbol> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** What it adds to the class of a record. */
const CLASS_FIELDS = /^_(?:hasC|c)ustom[GS]etters$/;

/** Sequelize reads an attribute `$x` as a parameter or another table, a dot as a path, and drops quotes. A query string has lists with commas. */
const COLUMN = /[".]/;
const ATTRIBUTE = /^\$|[".,]/;

const SIGNS =
  "which begins with '$', or has one of . , \" in it, and means something else to Sequelize or in a query string";

/** What is wrong with the names of a model's attributes and columns. */
export function nameProblems(model: ModelClass): string[] {
  return Object.entries(model.getAttributes()).flatMap(([name, { field = name }]) => {
    const attribute = `${model.name}.${name}`;
    const isOfRecord = RECORD_FIELDS.has(name) || CLASS_FIELDS.test(name) || name in Model.prototype;
    if (!isOfRecord && !ATTRIBUTE.test(name) && !COLUMN.test(field)) return [];
    const keeps = COLUMN.test(field)
      ? ', and its column'
      : ` (its column keeps its name with @Column({ field: '${field}' }))`;
    if (isOfRecord) {
      return [
        `${attribute} has the name of a member that every record of Sequelize has; rename the attribute${keeps}.`,
      ];
    }
    return ATTRIBUTE.test(name)
      ? [`${attribute} has a name ${SIGNS}; rename the attribute${keeps}.`]
      : [
          `${attribute} has the column '${field}', which has one of . " in it, and means something else to Sequelize; rename the column.`,
        ];
  });
}
