/** The access options of one declaration -> its `AccessPlan`; of a model that no route serves, as far as they are about rows. */
import type {
  AccessOptions,
  FieldRules,
  OperationRules,
  RowRule,
  Scope,
  ScopeRule,
  SetRule,
} from '../declare/access-options.js';
import type { ModelClass } from '../declare/crud-options.js';
import {
  OPTION_ROUTE_NAMES,
  OPTION_ROUTES,
  RULES,
  RULES_OF,
  type RuledWork,
  type RuleName,
  singleOf,
} from '../declare/endpoint.js';
import { describeRecords } from '../describe/describe-model.js';
import type { RecordInfo } from '../describe/model-info.js';
import { declaredOptions } from '../describe/record.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { hiddenBy, isPlain, knownAttribute, type OptionCheck } from './compile-options.js';
import { sortedAttribute } from './compile-sort.js';
import { isComparable } from './filter-operators.js';
import {
  type AccessPlan,
  type FieldPlan,
  NO_SCHEMAS,
  OPEN_EXPOSURE,
  type ResourcePlan,
  restrictedNames,
  type SetPlan,
} from './resource-plan.js';

/** Access options of `bootstrap`, for all models. */
export interface SharedAccess {
  /** For every model that has the attribute; that of `@Crud` comes first. */
  readonly scope?: Scope;
  /** Rules of operations, for every model that does not name them itself. */
  readonly can?: OperationRules;
  /** True where each operation has to have a rule. */
  readonly deny?: boolean;
}

/** Rules need no key of the rows. */
type RuleCheck = Omit<OptionCheck, 'info' | 'hidden'> & { readonly info: RecordInfo };

const FIELD_RULES = ['read', 'write', 'create', 'update'] as const;

/** The rules of a resource; null where there are none. */
export function compileAccess(
  check: RuleCheck,
  {
    endpoints,
    defaultSort,
    explicitSchemas,
  }: Pick<ResourcePlan, 'endpoints' | 'defaultSort' | 'explicitSchemas'>,
  shared: SharedAccess,
): AccessPlan | null {
  const { report } = check;
  for (const name of ['dependencies', 'scope', 'visible', 'can', 'fields', 'set'] as const) {
    // A variable that was never set must not switch a guard or a rule off.
    if (name in check.options && (check.options[name] ?? null) === null)
      report(`${name} is ${check.options[name]}; give it a value, or leave it out.`);
  }
  const can = compileCan(check, shared);
  const scope = compileScope(check, shared);
  const visible = compileVisible(check);
  const fields = compileFields(check);
  const set = compileSet(check, scope, fields);
  const optional = OPTION_ROUTE_NAMES.filter((name) => Object.hasOwn(check.options, name));
  const work = [
    ...[...endpoints].map((each) => (each in RULES_OF ? (each as RuledWork) : singleOf(each))),
    ...optional,
  ];
  const asked = new Set(work.flatMap((each) => RULES_OF[each]));
  const unruled = [...asked].filter((rule) => !can.has(rule));
  if (shared.deny && unruled.length > 0) {
    report(
      `bootstrap has deny: true, and can has no rule for ${unruled.join(', ')}; give each a function of the ` +
        'request, or true for everybody.',
    );
  }
  const restricted = [...restrictedNames({ fields })];
  for (const name of restricted.filter((each) =>
    defaultSort.some((term) => sortedAttribute(term) === each),
  )) {
    report(`defaultSort names '${name}', which not every request may read; the order would tell its values.`);
  }
  if (restricted.length > 0 && explicitSchemas.read) {
    report(
      `fields has a rule for reading ${restricted.join(', ')}, and readSchema decides what leaves; use one of the two.`,
    );
  }
  if (can.size + scope.size + fields.size + set.size === 0 && visible === null) return null;
  return Object.freeze({ can, scope, visible, fields, set });
}

function compileCan({ options, report }: RuleCheck, shared: SharedAccess): AccessPlan['can'] {
  canProblems(options.can ?? {}).forEach(report);
  const own = Object.entries(options.can ?? {});
  const named = [...Object.entries(Object(shared.can)), ...own] as [RuleName, unknown][];
  const rules = new Map(named.flatMap(([name, rule]) => (isRule(rule) ? [[name, rule] as const] : [])));
  for (const name of OPTION_ROUTE_NAMES) {
    const usual = rules.get(OPTION_ROUTES[name]);
    if (usual !== undefined && !rules.has(name)) rules.set(name, usual);
  }
  return rules;
}

/** Problems of rules of operations. */
export function canProblems(can: unknown = {}): string[] {
  if (!isPlain(can))
    return [`can is ${showValue(can)}; use an object of operations and functions of the request.`];
  return Object.entries(can as object).flatMap(([name, rule]) => {
    if (Object.hasOwn(RULES_OF, name) && !RULES.some((each) => each === name)) {
      const rules = RULES_OF[name as keyof typeof RULES_OF].join(' and ');
      return `can names '${name}', which has no rule of its own; use ${rules}.`;
    }
    if (!RULES.some((each) => each === name))
      return `can names '${name}', which is no operation; use ${RULES.join(', ')}.${didYouMean(name, RULES)}`;
    return isRule(rule) ? [] : `can.${name} is ${noRule(rule)}`;
  });
}

const MOMENTS = ['create', 'update', 'both'] as const;

function compileSet(
  check: RuleCheck,
  scope: AccessPlan['scope'],
  fields: AccessPlan['fields'],
): AccessPlan['set'] {
  const { options, report } = check;
  const plans = new Map<string, SetPlan>();
  for (const [name, rule] of Object.entries(options.set ?? {}) as [string, SetRule][]) {
    const attribute = knownAttribute(check, 'set', name);
    if (!attribute) continue;
    const { value, on = 'create', ...others } = typeof rule === 'function' ? { value: rule } : Object(rule);
    const { create = null, update = null } = fields.get(name) ?? {};
    if (typeof value !== 'function') {
      report(`set.${name} is ${showValue(rule)}; use a function of the request, or { value, on }.`);
      continue;
    }
    if (!MOMENTS.some((each) => each === on))
      report(`set.${name}.on is ${showValue(on)}; use ${MOMENTS.map((each) => `'${each}'`).join(', ')}.`);
    else if (attribute.role !== 'data' || attribute.type.kind === 'virtual' || attribute.isReadOnly)
      report(`set names '${name}', which no request writes; use an attribute with a value of its own.`);
    else if (scope.has(name))
      report(`set names '${name}', whose value scope decides; name it in one of the two.`);
    else if (create !== null || update !== null)
      report(
        `set names '${name}', which no request sends, and fields has a rule for writing it; remove one.`,
      );
    else plans.set(name, Object.freeze({ value, on }));
    for (const other of Object.keys(others)) report(`set.${name} has no '${other}'; use value and on.`);
  }
  return plans;
}

function compileScope(check: RuleCheck, shared: SharedAccess): AccessPlan['scope'] {
  const { info, options, report } = check;
  const own = options.scope ?? {};
  const inherited = Object.entries(shared.scope ?? {}).filter(([name]) => info.attributes.has(name));
  const rules = new Map<string, ScopeRule>();
  for (const [name, rule] of Object.entries({ ...Object.fromEntries(inherited), ...own })) {
    const attribute = knownAttribute(check, 'scope', name);
    if (typeof rule !== 'function') {
      report(`scope.${name} is ${showValue(rule)}; use a function of the request.`);
    } else if (attribute && !isComparable(attribute.type)) {
      report(
        `scope names '${name}', of type ${attribute.type.kind}, which cannot be compared; use another one.`,
      );
    } else if (attribute && attribute.role !== 'data' && attribute.role !== 'primaryKey') {
      const writer = attribute.role === 'mark' ? 'a delete' : 'Sequelize';
      report(`scope names '${name}', which ${writer} writes; use another attribute.`);
    } else rules.set(name, rule);
  }
  return rules;
}

function compileVisible({ options, report }: RuleCheck): AccessPlan['visible'] {
  const { visible } = options;
  if ((visible ?? null) === null || typeof visible === 'function') return visible ?? null;
  report(
    `visible is ${showValue(visible)}; use a function of the request that gives a filter\`…\` or EVERYTHING.`,
  );
  return null;
}

function compileFields(check: RuleCheck): AccessPlan['fields'] {
  const { info, exposure, options, report } = check;
  const plans = new Map<string, FieldPlan>();
  for (const [name, rules] of Object.entries(options.fields ?? {}) as [string, FieldRules][]) {
    const attribute = knownAttribute(check, 'fields', name);
    if (!attribute) continue;
    if (typeof rules !== 'object' || rules === null) {
      report(`fields.${name} is ${showValue(rules)}; use an object such as { read: isStaff }.`);
      continue;
    }
    for (const [kind, rule] of Object.entries(rules)) {
      if (!FIELD_RULES.some((each) => each === kind))
        report(`fields.${name} has no '${kind}'; use ${FIELD_RULES.join(', ')}.`);
      else if (!isRule(rule)) report(`fields.${name}.${kind} is ${noRule(rule)}`);
    }
    if (rules.read !== undefined && attribute.role === 'primaryKey')
      report(`fields.${name}.read is about the primary key, which addresses and cursors tell; remove it.`);
    if (rules.read !== undefined && attribute.isAddress)
      report(
        `fields.${name}.read is about the attribute that addresses records, which every path has; remove it.`,
      );
    if (rules.read !== undefined && exposure.unreadable.has(name))
      report(
        `fields.${name}.read is about an attribute that ${hiddenBy(info, name)} hides from everybody; remove one of the two.`,
      );
    const { read = null, write = null, create = write, update = write } = rules;
    plans.set(name, Object.freeze({ read, create, update }));
  }
  const restricted = restrictedNames({ fields: plans });
  // Sequelize selects the attributes that a virtual one depends on, also where the request may not read them.
  for (const { name, type } of info.attributes.values()) {
    if (type.kind !== 'virtual' || exposure.unreadable.has(name) || plans.get(name)?.read != null) continue;
    const source = dependenciesOf(info.model, name).find((each) => restricted.has(each));
    if (source !== undefined) {
      report(
        `fields has a rule for reading '${source}', and the virtual attribute '${name}' is made of it; give fields.${name}.read a rule, too.`,
      );
    }
  }
  return plans;
}

/** The second argument of `DataType.VIRTUAL`. */
function dependenciesOf(model: ModelClass, name: string): readonly string[] {
  const { fields } = Object(model.getAttributes()[name]?.type) as { readonly fields?: unknown };
  return Array.isArray(fields) ? fields : [];
}

function isRule(rule: unknown): rule is RowRule {
  return typeof rule === 'function' || typeof rule === 'boolean';
}

function noRule(rule: unknown): string {
  return `${showValue(rule)}; use a function of the request, true or false.`;
}

/** The rules of rows and attributes; `can` and `set` are about routes. */
export const ROW_RULES: readonly (keyof AccessOptions)[] = ['scope', 'visible', 'fields'];

/** The rules of a model that no route serves, of its own `@Crud` and of `bootstrap`; null where there are none. */
export function compileUnservedAccess(
  model: ModelClass,
  { scope = {} }: SharedAccess,
  report: (problem: string) => void,
): AccessPlan | null {
  const declared = declaredOptions(model) ?? {};
  const options = Object.fromEntries(
    ROW_RULES.flatMap((name) => (name in declared ? [[name, declared[name]]] : [])),
  );
  const isScoped = Object.keys(scope).some((name) => name in model.getAttributes());
  if (Object.keys(options).length === 0 && !isScoped) return null;
  const info = describeRecords(model);
  const tell = (problem: string) => report(`${info.name}: ${problem}`);
  const check = { info, exposure: OPEN_EXPOSURE, options, report: tell };
  const noRoutes = { endpoints: new Set<never>(), defaultSort: [], explicitSchemas: NO_SCHEMAS };
  return compileAccess(check, noRoutes, { scope });
}
