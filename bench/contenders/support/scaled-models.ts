/** Models for the scaling curves: many of one table, or one with many columns. */
import { Crud } from 'crud-controllers';
import type { ModelCtor } from 'sequelize-typescript';
import { Column, DataType, Model, Table } from 'sequelize-typescript';
import { ArticleColumns } from './article-columns.js';

/** Types of the columns, used in turn, so that the average cost of a column is the same. */
const TYPES = [DataType.INTEGER, DataType.STRING(40), DataType.DOUBLE, DataType.BOOLEAN, DataType.DATE];

const PAGE_SIZE = { default: 20, max: 1_000 };

/** The first is at `/articles`, the others at `/articles-1` and so on. */
export function articleModels(count: number): ModelCtor[] {
  return Array.from({ length: count }, (_, index) => {
    const sortAllow = ['id', 'price', 'author'];
    const filterAllow = ['category'];
    const prefix = index === 0 ? '/articles' : `/articles-${index}`;
    const model = named(`Article${index}`, class extends ArticleColumns {});
    return declare(model, 'articles', {
      prefix,
      pagination: 'cursor',
      pageSize: PAGE_SIZE,
      sortAllow,
      filterAllow,
    });
  });
}

/** A model of the table `wide_…`, at `/articles`, with an id and this many columns beside it, to filter and to sort by. */
export function wideModel(columns: number): ModelCtor {
  const model = named('Wide', class extends Model {});
  const names = Array.from({ length: columns }, (_, index) => `column${index + 1}`);
  for (const [index, name] of names.entries()) {
    Column({ type: TYPES[(index + 1) % TYPES.length] as (typeof TYPES)[number] })(model.prototype, name);
  }
  const options = {
    prefix: '/articles',
    pagination: 'cursor',
    sortAllow: ['id', ...names],
    filterAllow: names,
  };
  return declare(model, `wide_${columns}`, options, false);
}

/** Does the work of a class expression with decorators. */
function declare(model: ModelCtor, tableName: string, options: object, timestamps = true): ModelCtor {
  Table({ tableName, timestamps })(model);
  Crud(options)(model);
  return model;
}

function named<Class extends object>(name: string, model: Class): Class {
  return Object.defineProperty(model, 'name', { value: name });
}
