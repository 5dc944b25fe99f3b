/** Rows of random models, and of the tables between them. */
import { type AnyJoin, type AnyModel, CODES, KEYS, MAX_ROWS, type Row, TENANT } from './any-model.js';
import type { Dice } from './dice.js';

/** Fills the tables of all models. */
export function fillWorld(random: Dice, models: readonly AnyModel[]): void {
  for (const model of models) fillRows(random, models, model);
  for (const model of models)
    for (const { join, target } of model.relations) if (join) fillJoin(random, join, [model, target]);
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
  const count = random.once(8) ? random.roll(2) : 3 + random.roll(MAX_ROWS - 2);
  const anyOf = (name: string): string | null => {
    const kind = model.attributes.find((each) => each.name === name)?.kind;
    return random.once(4) ? null : random.pick(kind?.values ?? []);
  };
  for (let index = 0; index < count; index += 1) {
    const row: Record<string, string | null> = {
      id: KEYS[model.key].of(index),
      code: CODES.of(index),
      whole: anyOf('whole'),
      text: anyOf('text'),
      more: anyOf('more'),
      kind: random.pick(['x', 'x', 'y']),
      owner: random.pick([TENANT, TENANT, 'B']),
      deletedAt: model.isParanoid && random.once(4) ? '2026-01-31' : null,
    };
    for (const { name } of model.attributes) {
      const reference = referred(models, model, name);
      if (!reference) continue;
      // A few for many, null, and some that lead nowhere.
      const key = random.roll(random.once(2) ? 3 : MAX_ROWS + 2);
      const text = reference.isByCode ? CODES.of(key) : KEYS[reference.other.key].of(key);
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
