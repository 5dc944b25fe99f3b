/** Names that no attribute can have: Sequelize would take them for something else, or a query string could not tell them. */
import { Model } from 'sequelize';
import type { ModelClass } from '../declare/crud-options.js';
import { cutName } from './cut-name.js';

/** Fields that Sequelize's own constructor puts into a record. */
export const RECORD_FIELDS: ReadonlySet<string | symbol> = new Set([
  'dataValues',
  '_previousDataValues',
  'uniqno',
  '_changed',
  '_options',
  'isNewRecord',
]);

/** Fields that Sequelize adds to the class of a record. */
const CLASS_FIELDS = /^_(?:hasC|c)ustom[GS]etters$/;

/** Sequelize reads `$x` as a parameter or another table, a dot as a path, and drops quotes. A query string has lists with commas. */
const READ_OTHERWISE = /^\$|[".,]/;

/** Problems of the names of a model's attributes. */
export function nameProblems(model: ModelClass): string[] {
  return Object.entries(model.getAttributes()).flatMap(([name, { field = name }]) => {
    if (cutName(name) !== name) {
      return [
        `${model.name}.${name} has a name of more than 63 bytes, which PostgreSQL cuts where Sequelize reads it back; rename the attribute ` +
          `(its column keeps its name with @Column({ field: '${cutName(field)}' })).`,
      ];
    }
    const isOfRecord = RECORD_FIELDS.has(name) || CLASS_FIELDS.test(name) || name in Model.prototype;
    if (!isOfRecord && !READ_OTHERWISE.test(name)) return [];
    const problem = isOfRecord
      ? 'the name of a member that every record of Sequelize has'
      : "a name which begins with '$', or has one of . , \" in it, and means something else to Sequelize or in a query string";
    const column = READ_OTHERWISE.test(field)
      ? 'best with its column'
      : `its column keeps its name with @Column({ field: '${field}' })`;
    return [`${model.name}.${name} has ${problem}; rename the attribute (${column}).`];
  });
}
