/** Options of random models: relations to include, to filter by, and to list under a record. */
import { COUNT_MODES } from '../../src/declare/count-options.js';
import {
  type AnyCount,
  type AnyFilters,
  type AnyModel,
  type AnyRelation,
  attributesOf,
  isOne,
} from './any-model.js';
import type { Dice } from './dice.js';

const MAX_PATHS = 6;
/** Relations of filters count, too: where code guards their rows, they are in `include`. */
const MAX_ALL_PATHS = 10;

/** Some way to count. */
export function anyCount(random: Dice): AnyCount | null {
  if (random.once(2)) return null;
  const allow = random.some(COUNT_MODES, 1, 3);
  return { allow, cap: 1 + random.roll(4), ...(random.once(2) ? { default: random.pick(allow) } : {}) };
}

/** Chooses the options of all models. */
export function chooseOptions(random: Dice, models: readonly AnyModel[]): void {
  for (const model of models) if (!model.isPlain) model.filters.names.push(...ownNames(random, model));
  for (const model of models) {
    if (!model.isServed) continue;
    chooseInclude(random, model);
    const paths = new Set(model.include.keys());
    for (const relation of model.relations) {
      chooseFilters(random, model, relation, paths);
      if (!isOne(relation) && relation.target.isServed) model.subresources.set(relation.name, random.once(3));
    }
  }
}

function ownNames(random: Dice, model: AnyModel): readonly string[] {
  const others = filterable(model).filter((name) => !['whole', 'text'].includes(name));
  return ['whole', 'text', ...random.some(others, 0, 4)];
}

function chooseInclude(random: Dice, root: AnyModel): void {
  const places: [path: string, model: AnyModel][] = [['', root]];
  for (let turn = 0; turn < 3 * MAX_PATHS && root.include.size < MAX_PATHS; turn += 1) {
    const [before, model] = random.pick(places);
    if (model.relations.length === 0) continue;
    const relation = random.pick(model.relations);
    const path = before === '' ? relation.name : `${before}.${relation.name}`;
    if (root.include.has(path)) continue;
    const isRuled = random.once(5);
    if (isOne(relation)) root.include.set(path, { size: null, count: null, isRuled });
    else {
      const size = { default: 1 + random.roll(2), max: 3 };
      root.include.set(path, { size, count: anyCount(random), isRuled });
    }
    if (path.split('.').length < 3) places.push([path, relation.target]);
  }
}

/**
 * A condition follows two relations at most, and only the first may lead to many records.
 *
 * @param paths grows
 */
function chooseFilters(random: Dice, model: AnyModel, relation: AnyRelation, paths: Set<string>): void {
  const claim = (path: string): boolean => {
    if (!paths.has(path) && paths.size >= MAX_ALL_PATHS) return false;
    paths.add(path);
    return true;
  };
  const { name, target } = relation;
  if (random.once(6) || !claim(name)) return;
  if (!target.isPlain && random.once(5)) {
    const names = [...target.filters.names];
    model.filters.relations.set(name, { names, relations: new Map(), form: 'all' });
    return;
  }
  const further = random.some(target.relations.filter(isOne), 0, 2);
  const relations = new Map(
    further
      .filter((each) => claim(`${name}.${each.name}`))
      .map((each): [string, AnyFilters] => {
        const names = random.some(filterable(each.target), 1, 4);
        return [each.name, { names, relations: new Map(), form: 'dotted' }];
      }),
  );
  const names = random.some(filterable(target), 0, 6);
  const form = random.pick(['list', 'object', 'dotted'] as const);
  const isDotted = isOne(relation) && (names.length > 0 || relations.size > 0);
  const usual = form === 'dotted' ? 'object' : form;
  model.filters.relations.set(name, { names, relations, form: isDotted ? form : usual });
}

function filterable(model: AnyModel): string[] {
  return attributesOf(model).filter((name) => name !== 'deletedAt');
}
