/** The option `upsert` of `@Crud`, the checks of its keys, and the parameters of requests that name one of them. */

import { knownAttribute, type OptionCheck } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { isComparable } from '../../compile/filter-operators.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { describeAddressed } from '../../describe/describe-model.js';
import type { ModelInfo } from '../../describe/model-info.js';
import { keyNames } from '../../describe/row-key.js';
import { isKeyTrusted, isUniqueKey, tableFacts } from '../../describe/table-facts.js';
import { identifier, quotedTable } from '../../execute/sql/sql-fragment.js';
import type { Input, Inputs } from '../../operation/feature.js';
import { showValue } from '../../util/option-problems.js';
import { choice } from '../flag.js';

type KeyNames = readonly string[];

/** Compiles the option to the names of each key. */
export function compileKeys(value: unknown, check: OptionCheck): readonly KeyNames[] {
  const { report } = check;
  const lists: readonly unknown[] = Array.isArray(value) ? value : [];
  if (lists.length === 0 || !lists.every(isNames)) {
    report(`upsert is ${showValue(value)}; use a list of keys, each a list of attributes: [['code']].`);
    return [];
  }
  const known = new Set<string>();
  return Object.freeze(
    lists.filter(isNames).flatMap((names) => {
      const id = spelled(names);
      if (known.has(id) || new Set(names).size < names.length)
        report(`upsert names '${names.join(',')}' twice; name it once.`);
      known.add(id);
      const problems = names.filter((name) => !isOfKeys(check, name));
      return problems.length > 0 ? [] : [Object.freeze([...names])];
    }),
  );
}

function isNames(value: unknown): value is KeyNames {
  return Array.isArray(value) && value.length > 0 && value.every((each) => typeof each === 'string');
}

/** The same for all orders of the names. */
function spelled(names: KeyNames): string {
  return [...names].sort().join(',');
}

function isOfKeys(check: OptionCheck, name: string): boolean {
  const attribute = knownAttribute(check, 'upsert', name);
  if (!attribute) return false;
  const { type, role } = attribute;
  if (type.kind !== 'virtual' && isComparable(type) && (role === 'data' || role === 'primaryKey'))
    return true;
  check.report(
    `upsert names '${name}', by which no row can be found; name attributes that a new record is given.`,
  );
  return false;
}

/** The keys that a resource declares: the model, with the attributes of each as its address. */
export function upsertKeys({
  features,
  model,
}: Pick<ResourcePlan, 'features' | 'model'>): readonly ModelInfo[] {
  const keys = (features['upsert'] as readonly KeyNames[] | undefined) ?? [];
  return keys.map((names) => describeAddressed(model, names.join(',')));
}

/** Problems of options that upserts cannot have beside them. */
export const checkUpsert: ResourceCheck = ({
  info,
  endpoints,
  exposure,
  access,
  ifMatch,
  features,
  explicitSchemas: { create, update },
}) => {
  const keys = features['upsert'] as readonly KeyNames[] | undefined;
  const isAsked = endpoints.has('upsert');
  if (keys === undefined) {
    return isAsked
      ? [
          "endpoints has 'upsert', and no option upsert names its keys; write upsert: [['code']], or leave it out.",
        ]
      : [];
  }
  const isGiven = (name: string) =>
    (!exposure.unwritable.has(name) && access?.fields.get(name)?.create !== false) ||
    access?.scope.has(name) === true ||
    (access?.set.get(name)?.on ?? 'update') !== 'update';
  const closed = [...new Set(keys.flat())].filter(
    (name) => info.attributes.get(name)?.isReadOnly || !isGiven(name),
  );
  return [
    ...closed.map(
      (name) =>
        `upsert names '${name}', which no request gives a new record; let bodies have it, or name another attribute.`,
    ),
    ...(isAsked && !endpoints.has('create')
      ? ["endpoints has 'upsert', which is a POST with on_conflict, and not 'create'; add 'create'."]
      : []),
    ...(isAsked && ifMatch === 'required'
      ? [
          "endpoints has 'upsert', which changes a record whose state no request can name, and ifMatch is 'required'; leave one of both out.",
        ]
      : []),
    ...(isAsked && update && update !== create
      ? [
          `endpoints has 'upsert', whose body has to be right for both writes, and updateSchema ${update.name} is not the createSchema; use ` +
            'one class for the two, or leave it out.',
        ]
      : []),
  ];
};

/** Keys that the table does not have. */
export function tableProblems(plan: ResourcePlan): readonly string[] {
  const { name, model } = plan;
  const facts = tableFacts(model);
  return upsertKeys(plan).flatMap((info) => {
    const columns = info.address.map(({ column }) => column);
    if (!facts || columns.some((each) => !facts.columns.has(each))) return [];
    const missing = missingKey(info, columns);
    const names = info.address.map((each) => `'${each.name}'`).join(', ');
    return missing === null ? [] : [`${name}: upsert names [${names}], and ${missing}`];
  });
}

/** The reason that two rows may be equal in these columns, as the end of a sentence; null where all differ, and before the catalogue was read. */
export function missingKey(
  info: Parameters<typeof isKeyTrusted>[0],
  columns: readonly string[],
): string | null {
  const { model } = info;
  const facts = tableFacts(model);
  if (!facts) return null;
  const isExact = facts.isTable && isUniqueKey({ uniqueKeys: facts.exactKeys }, columns);
  if (isExact && !(facts.isInherited && isKeyTrusted(info))) return null;
  const table = quotedTable(model);
  const list = columns.map(identifier).join(', ');
  if (!facts.isTable || facts.isInherited)
    return `no index proves a key of the ${facts.isTable ? 'table' : facts.kind} ${table}${facts.isTable ? ' and of those that inherit from it' : ''} unique; leave it out.`;
  return (
    `no unique index of the table ${table} is over exactly ${list}; CREATE UNIQUE INDEX ON ${table} (${list}); ` +
    'Indexes over some rows, over an expression or over more columns do not count, nor DEFERRABLE ones and those of another collation.'
  );
}

/** Inputs of an upsert. */
export interface UpsertInputs extends Inputs {
  /** The model, with the key as its address. Left out in requests for other work. */
  readonly onConflict?: ModelInfo;
  /** The attributes of the body. Missing ones are null in a new row, and stay in an existing one. */
  readonly sent?: ReadonlySet<string>;
  /** True where a row with the key stays as it is. */
  readonly isKept?: boolean;
  /** True where the request may learn that a soft-deleted row has the key. */
  readonly tellsGone?: boolean;
}

/** Parameter that names the key. */
export const ON_CONFLICT = 'on_conflict';

/** Makes the parameter that names one of the keys, its attributes in any order. */
export function keyInput(
  name: string,
  keys: readonly ModelInfo[],
  words: Pick<Parameters<typeof choice>[1], 'description' | 'code' | 'absent'>,
): Input {
  const allowed = keys.map(({ address }) => keyNames(address).join(','));
  return choice(name, { ...words, allowed, member: 'onConflict' }, (text) => {
    const wanted = spelled(text.split(','));
    return keys.find(({ address }) => spelled(keyNames(address)) === wanted);
  });
}

/** The parameters of an upsert. */
export function upsertInputs(keys: readonly ModelInfo[]): readonly Input[] {
  return [
    keyInput(ON_CONFLICT, keys, {
      description:
        'The attributes of a unique key. A record that has their values is changed by the others of the body; else one is created.',
      code: 'on_conflict.unknown',
    }),
    choice(
      'on_conflict_do',
      {
        description:
          'With `nothing` a record that has the key stays as it is, and is the answer. With `on_conflict` only. Default: `update`.',
        allowed: ['update', 'nothing'],
        code: 'on_conflict_do.unknown',
        member: 'isKept',
        absent: false,
      },
      (text) => (text === 'update' || text === 'nothing' ? text === 'nothing' : undefined),
    ),
  ];
}
