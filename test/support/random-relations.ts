/** Random models with random associations, and their rows: what `include` is compared with is computed from these. */
import { DataTypes } from 'sequelize';
import { KINDS } from './filter-arbitrary.js';

/** A row: the text of each attribute, or null. */
export type Row = Readonly<Record<string, string | null>>;

type KeyKind = keyof typeof KEYS;
type Association = 'belongsTo' | 'hasOne' | 'hasMany' | 'belongsToMany';

/** An attribute, and how its text is written as JSON. */
export interface AnyAttribute {
  readonly name: string;
  readonly type: unknown;
  readonly isNumber: boolean;
}

/** The rows between those of two models. */
export interface AnyJoin {
  readonly name: string;
  readonly isParanoid: boolean;
  readonly isScoped: boolean;
  /** Whether only rows of the kind `x` join. */
  readonly isNarrow: boolean;
  readonly rows: readonly Row[];
}

/** An association. */
export interface AnyRelation {
  readonly name: string;
  readonly association: Association;
  readonly target: AnyModel;
  /** The attribute with the key of the other model: of the model itself, of the target, or null where there is a join. */
  readonly foreignKey: string | null;
  /** Whether the key is the unique code. */
  readonly isByCode: boolean;
  /** Whether only rows of the kind `x` belong to it. */
  readonly isNarrow: boolean;
  readonly join: AnyJoin | null;
}

/** A model. */
export interface AnyModel {
  readonly name: string;
  readonly key: KeyKind;
  readonly isServed: boolean;
  /** Whether it has no `@Crud`. */
  readonly isPlain: boolean;
  readonly isScoped: boolean;
  readonly isParanoid: boolean;
  readonly defaultSort: string;
  readonly attributes: AnyAttribute[];
  readonly hidden: Set<string>;
  readonly relations: AnyRelation[];
  readonly rows: Row[];
  /** By path, in the order of the option; null is one record. */
  readonly include: Map<string, { readonly default: number; readonly max: number } | null>;
}

/** Kinds of keys. */
export const KEYS = {
  integer: { type: DataTypes.INTEGER, of: (index: number) => `${index - 2}` },
  bigint: { type: DataTypes.BIGINT, of: (index: number) => `${9007199254740990n + BigInt(index)}` },
  text: { type: DataTypes.TEXT, of: (index: number) => `k${10 + index}'"\\{,} NULL` },
  uuid: { type: DataTypes.UUID, of: (index: number) => `${10 + index}a85f64-5717-4562-b3fc-2c963f66afa6` },
} as const;
const CODE = (index: number) => `c"${10 + index}\\`;
/** Rows that a request sees have this owner. */
export const TENANT = 'A';
export const PAGE_MAX = 8;
const MAX_ROWS = 12;
const MAX_PATHS = 7;

/** Random numbers that a seed repeats (mulberry32). */
function dice(seed: number) {
  let state = seed;
  const roll = (sides: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % sides;
  };
  return {
    roll,
    /** Once in so many times. */
    once: (times: number) => roll(times) === 0,
    pick: <T>(list: readonly T[]): T => list[roll(list.length)] as T,
  };
}
type Dice = ReturnType<typeof dice>;

/** Models that refer to each other, with their rows. The same for the same seed. */
export function anyWorld(seed: number, label: string): readonly AnyModel[] {
  const random = dice(seed);
  const models = Array.from({ length: 2 + random.roll(3) }, (_, index) =>
    bareModel(random, `${label}m${index}`, index),
  );
  const count = models.length + 2 + random.roll(4);
  for (let index = 0; index < count; index += 1) relate(random, models, `r${index}`, label);
  for (const model of models) fillRows(random, models, model);
  for (const model of models)
    for (const { join, target } of model.relations) if (join) fillJoin(random, join, [model, target]);
  for (const model of models) if (model.isServed) chooseInclude(random, model);
  return models;
}

function bareModel(random: Dice, name: string, index: number): AnyModel {
  const key = random.pick(Object.keys(KEYS) as KeyKind[]);
  const isServed = index === 0 || !random.once(3);
  const isPlain = !isServed && random.once(2);
  const isScoped = !isPlain && random.once(3);
  const { text, whole } = KINDS;
  return {
    name,
    key,
    isServed,
    isPlain,
    isScoped,
    isParanoid: random.once(3),
    defaultSort: isPlain ? 'id' : random.pick(['id', '-id', 'whole', '-whole', 'text,-whole']),
    attributes: [
      { name: 'id', type: KEYS[key].type, isNumber: key === 'integer' },
      { name: 'code', type: DataTypes.TEXT, isNumber: false },
      { name: 'whole', type: whole.type, isNumber: true },
      { name: 'text', type: text.type, isNumber: false },
      { name: 'kind', type: DataTypes.TEXT, isNumber: false },
      { name: 'owner', type: DataTypes.TEXT, isNumber: false },
    ],
    hidden: new Set(),
    relations: [],
    rows: [],
    include: new Map(),
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
  const [type, isNumber] = isByCode
    ? [DataTypes.TEXT, false]
    : [KEYS[other.key].type, other.key === 'integer'];
  owner.attributes.push({ name: foreignKey, type, isNumber });
  if (random.once(3)) owner.hidden.add(foreignKey);
  model.relations.push({ ...shared, foreignKey, join: null });
}

/** The model whose key an attribute has. */
function referred(models: readonly AnyModel[], owner: AnyModel, attribute: string) {
  for (const model of models) {
    for (const { foreignKey, association, target, isByCode } of model.relations) {
      const isHere = association === 'belongsTo' ? model === owner : target === owner;
      if (foreignKey === attribute && isHere)
        return { other: association === 'belongsTo' ? target : model, isByCode };
    }
  }
  return null;
}

function fillRows(random: Dice, models: readonly AnyModel[], model: AnyModel): void {
  const count = random.once(6) ? 0 : 1 + random.roll(MAX_ROWS);
  for (let index = 0; index < count; index += 1) {
    const row: Record<string, string | null> = {
      id: KEYS[model.key].of(index),
      code: CODE(index),
      whole: random.once(4) ? null : random.pick(KINDS.whole.values),
      text: random.once(4) ? null : random.pick(KINDS.text.values),
      kind: random.pick(['x', 'x', 'y']),
      owner: random.pick([TENANT, TENANT, 'B']),
      deletedAt: model.isParanoid && random.once(4) ? '2026-01-31' : null,
    };
    for (const { name } of model.attributes) {
      const reference = referred(models, model, name);
      if (!reference) continue;
      // A few for many, null, and some that lead nowhere.
      const key = random.roll(random.once(2) ? 3 : MAX_ROWS + 2);
      const text = reference.isByCode ? CODE(key) : KEYS[reference.other.key].of(key);
      row[name] = random.once(5) ? null : text;
    }
    model.rows.push(row);
  }
}

function fillJoin(random: Dice, join: AnyJoin, [from, to]: readonly [AnyModel, AnyModel]): void {
  const rows = join.rows as Row[];
  const count = random.roll(30);
  for (let index = 0; index < count; index += 1) {
    rows.push({
      fromKey: KEYS[from.key].of(random.roll(random.once(2) ? 3 : MAX_ROWS)),
      toKey: KEYS[to.key].of(random.roll(MAX_ROWS)),
      kind: random.pick(['x', 'x', 'y']),
      owner: random.pick([TENANT, TENANT, 'B']),
      deletedAt: join.isParanoid && random.once(4) ? '2026-01-31' : null,
    });
  }
}

function chooseInclude(random: Dice, root: AnyModel): void {
  const places: [path: string, model: AnyModel][] = [['', root]];
  for (let turn = 0; turn < 3 * MAX_PATHS && root.include.size < MAX_PATHS; turn += 1) {
    const [before, model] = random.pick(places);
    if (model.relations.length === 0) continue;
    const { name, target, association } = random.pick(model.relations);
    const path = before === '' ? name : `${before}.${name}`;
    if (root.include.has(path)) continue;
    const isOne = association === 'belongsTo' || association === 'hasOne';
    root.include.set(path, isOne ? null : { default: 1 + random.roll(2), max: 3 });
    if (path.split('.').length < 3) places.push([path, target]);
  }
}
