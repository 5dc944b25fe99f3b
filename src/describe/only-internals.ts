/** Statements of Sequelize's that name a table with ONLY, for which it has no option. A part of it that is not there is an error. */
import type { Model, ModelStatic } from 'sequelize';
import { partOf } from './sequelize-internals.js';

/** Models whose statements name their table with ONLY. */
const leaving = new WeakSet<object>();

/**
 * Makes the statements of a model leave out the rows of tables that inherit from its own: they name the table with ONLY. Statements for
 * records of user code do so, too. Statements of another model that joins it do not.
 */
export function leaveOutHeirs(model: ModelStatic<Model>): void {
  if (leaving.has(model)) return;
  leaving.add(model);
  const parent = Object.getPrototypeOf(model) as object;
  const made = new WeakMap<object, object>();
  Object.defineProperty(model, 'queryInterface', {
    configurable: true,
    get(this: object) {
      const plain = Reflect.get(parent, 'queryInterface', this) as OnlyInterface;
      const found = made.get(plain) ?? namingOnly(plain, model);
      made.set(plain, found);
      return found;
    },
  });
}

/** The statements that name the rows of a table, beside SELECT: each has the table as its first argument. */
const WRITING = ['updateQuery', 'deleteQuery', 'arithmeticQuery'];

function namingOnly(queryInterface: OnlyInterface, model: ModelStatic<Model>): object {
  const { queryGenerator } = partOf<OnlyInterface>(queryInterface, 'QueryInterface', 'queryGenerator');
  const names = `selectQuery selectFromTableFragment quoteTable ${WRITING.join(' ')}`;
  partOf(queryGenerator, 'QueryGenerator', names);
  const { selectFromTableFragment, quoteTable } = queryGenerator;
  // The model with a scope is a subclass, and a model with other members a proxy.
  const isOwn = (other: unknown) =>
    typeof other === 'function' && (other.prototype === model.prototype || other.prototype instanceof model);
  const selecting = Object.create(queryGenerator, {
    selectFromTableFragment: {
      value: (...[options, of, attributes, tables, alias]: readonly unknown[]) => {
        const only = isOwn(of) && !String(tables).startsWith('(') ? `ONLY ${tables}` : tables;
        return Reflect.apply(selectFromTableFragment, selecting, [options, of, attributes, only, alias]);
      },
    },
  });
  const writing =
    (name: string) =>
    (table: unknown, ...args: unknown[]) => {
      const quote = (each: unknown, alias?: unknown) =>
        `${each === table ? 'ONLY ' : ''}${Reflect.apply(quoteTable, queryGenerator, [each, alias])}`;
      const naming = Object.create(queryGenerator, { quoteTable: { value: quote } });
      return Reflect.apply(Reflect.get(queryGenerator, name), naming, [table, ...args]);
    };
  const generator = Object.create(queryGenerator, {
    selectQuery: {
      value: (...args: unknown[]) => Reflect.apply(queryGenerator.selectQuery, selecting, args),
    },
    ...Object.fromEntries(WRITING.map((name) => [name, { value: writing(name) }])),
  });
  return Object.create(queryInterface, { queryGenerator: { value: generator } });
}

interface OnlyInterface {
  readonly queryGenerator: {
    selectQuery(...args: unknown[]): string;
    selectFromTableFragment(...args: unknown[]): string;
    quoteTable(...args: unknown[]): string;
  };
}
