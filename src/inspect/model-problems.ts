/** All problems of the model classes of an engine. Sequelize would report the first, without its fix. */
import { getAssociations, getModelName, getOptions } from 'sequelize-typescript';
import type { ModelClass } from '../declare/crud-options.js';
import { EXTENDS_MODEL, foundInstead, isModelClass } from '../describe/record.js';

/** One line for each class that is no model, and for each association that leads to none of the others. */
export function modelProblems(classes: readonly unknown[]): string[] {
  const problems = classes.flatMap(classProblems);
  if (problems.length > 0) return problems;
  const models = classes as readonly ModelClass[];
  return [...nameProblems(models), ...associationProblems(models)];
}

function classProblems(given: unknown): string[] {
  if (typeof given !== 'function')
    return [`The engine option models has ${foundInstead(given)}; use model classes.`];
  const { name } = given;
  if (!isModelClass(given)) return [`${name} is no model; write class ${name} ${EXTENDS_MODEL}.`];
  if (!('initialize' in given))
    return [`${name} extends the Model of 'sequelize'; write class ${name} ${EXTENDS_MODEL}.`];
  return getOptions(given.prototype) ? [] : [`${name} has no @Table; put it on the class.`];
}

/** Sequelize finds a model by its name, and forgets the first of two. */
function nameProblems(models: readonly ModelClass[]): string[] {
  const names = models.map(modelName);
  const twice = new Set(names.filter((name, index) => names.indexOf(name) < index));
  return [...twice].map(
    (name) =>
      `Two models of the engine are called ${name}; give one of them another modelName in @Table, or another class name.`,
  );
}

function associationProblems(models: readonly ModelClass[]): string[] {
  const known = new Set(models.map(modelName));
  return models.flatMap(({ name, prototype }) =>
    (getAssociations(prototype) ?? []).flatMap((association) =>
      targetsOf(association).flatMap((target) => {
        const path = `${name}.${association.getAs()}`;
        if (!isModelClass(target))
          return [`${path} leads to ${foundInstead(target)}; write a function that gives a model class.`];
        if (known.has(modelName(target))) return [];
        return [
          `${path} leads to ${target.name}, which is not in the engine; add ${target.name} to the models of engineLifespan, or ` +
            'remove the association.',
        ];
      }),
    ),
  );
}

function modelName({ prototype }: ModelClass): string {
  return getModelName(prototype);
}

type Association = NonNullable<ReturnType<typeof getAssociations>>[number];

function targetsOf(association: Association): readonly unknown[] {
  // The join model of many to many. An association without one is between two models alone.
  const through: unknown = member(member(association, 'options'), 'through');
  const between = typeof through === 'function' ? through : member(through, 'model');
  const getters: unknown[] = [() => association.getAssociatedClass(), between];
  return getters.flatMap((getter) => {
    if (typeof getter !== 'function') return [];
    try {
      return [getter() as unknown];
    } catch {
      // A circular import has not loaded it yet.
      return [undefined];
    }
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}
