/** Random models with random associations, options and rows: answers are compared with values that are computed from these. */
import { type AnyModel, CODES, KEYS, type KeyKind, WORD } from './any-model.js';
import { type Dice, dice } from './dice.js';
import { KINDS } from './filter-arbitrary.js';
import { anyCount, chooseOptions } from './random-options.js';
import { fillWorld } from './random-rows.js';

const MORE = ['exact', 'ratio', 'flag', 'moment', 'day', 'time', 'key', 'grade', 'words'] as const;

/** Models that refer to each other, with their rows. The same for the same seed. */
export function anyWorld(seed: number, label: string): readonly AnyModel[] {
  const random = dice(seed);
  const models = Array.from({ length: 2 + random.roll(3) }, (_, index) =>
    bareModel(random, `${label}m${index}`, index),
  );
  const count = models.length + 2 + random.roll(4);
  for (let index = 0; index < count; index += 1) relate(random, models, `r${index}`, label);
  fillWorld(random, models);
  chooseOptions(random, models);
  return models;
}

function bareModel(random: Dice, name: string, index: number): AnyModel {
  const key = random.pick(Object.keys(KEYS) as KeyKind[]);
  const isServed = index === 0 || !random.once(3);
  const isPlain = !isServed && random.once(2);
  return {
    name,
    key,
    isServed,
    isPlain,
    isScoped: !isPlain && random.once(3),
    isJudged: !isPlain && random.once(5),
    isUsual: random.once(8),
    isParanoid: random.once(3),
    pagination: random.once(3) ? 'cursor' : 'offset',
    count: anyCount(random),
    defaultSort: isPlain ? 'id' : random.pick(['id', '-id', 'whole', '-whole', 'text,-whole']),
    attributes: [
      { name: 'id', kind: KEYS[key] },
      { name: 'code', kind: CODES },
      { name: 'whole', kind: KINDS.whole },
      { name: 'text', kind: KINDS.text },
      { name: 'more', kind: KINDS[random.pick(MORE)] },
      { name: 'kind', kind: WORD },
      { name: 'owner', kind: WORD },
    ],
    hidden: new Set(),
    relations: [],
    rows: [],
    filters: { names: [], relations: new Map(), form: 'object' },
    include: new Map(),
    subresources: new Map(),
  };
}

function relate(random: Dice, models: readonly AnyModel[], name: string, label: string): void {
  const [model, target] = [random.pick(models), random.pick(models)];
  const association = random.pick([
    'belongsTo',
    'belongsTo',
    'hasOne',
    'hasMany',
    'hasMany',
    'belongsToMany',
    'belongsToMany',
  ] as const);
  const isByCode = association !== 'belongsToMany' && random.once(3);
  const isNarrow = association !== 'belongsTo' && random.once(3);
  const shared = { name, association, target, isByCode, isNarrow };
  if (association === 'belongsToMany') {
    const [isParanoid, isScoped] = [random.once(2), random.once(2)];
    const join = { name: `${label}j${name}`, isParanoid, isScoped, isNarrow: random.once(3), rows: [] };
    model.relations.push({ ...shared, foreignKey: null, join });
    return;
  }
  const [owner, other] = association === 'belongsTo' ? [model, target] : [target, model];
  const foreignKey = `f${name}`;
  owner.attributes.push({ name: foreignKey, kind: isByCode ? CODES : KEYS[other.key] });
  if (random.once(3)) owner.hidden.add(foreignKey);
  model.relations.push({ ...shared, foreignKey, join: null });
}
