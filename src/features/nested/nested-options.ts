/** The option `nested` of `@Crud` -> the children that are written with each record, or everything that is wrong with it. */
import { isPlain, type OptionCheck } from '../../compile/compile-options.js';
import type { RelationCompiler } from '../../compile/compile-plan.js';
import { keyProblem, type RelatedModels, scopeProblem } from '../../compile/related-models.js';
import type { IncludePlan, RelatedPlan, RelatedResource, ResourcePlan } from '../../compile/resource-plan.js';
import type { NestedOptions } from '../../declare/nested-options.js';
import { type ModelInfo, versionOf } from '../../describe/model-info.js';
import { keyText } from '../../describe/row-key.js';
import { isUniqueAttribute } from '../../handle/resource-arguments.js';
import type { FoundIndex } from '../../operation/feature.js';
import type { RowWork } from '../../operation/route-settings.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';

/** Writes of children, in the order that they are executed in. */
export const VERBS = ['delete', 'update', 'create'] as const;
/** A write of a child. */
export type Verb = (typeof VERBS)[number];

/** Form of the members of a body: those of a new parent, of a change, and of a replacement. */
export type Form = 'create' | 'update' | 'replace';

/** True where bodies of a form have the children of a relation. */
export function isTaken({ isWhole, verbs }: NestedLevel, form: Form): boolean {
  if (form === 'replace') return isWhole;
  return form === 'update' || verbs.has('create');
}

/** The bodies of routes that have children. */
const FORMS: Readonly<Partial<Record<string, Form>>> = {
  create: 'create',
  createMany: 'create',
  update: 'update',
  updateMany: 'update',
  replace: 'replace',
};

/** The operations on children, and on theirs, that a route may do. */
export function worksOf(
  levels: ReadonlyMap<string, NestedLevel>,
  { endpoint }: Pick<RouteSpec, 'endpoint'>,
): readonly RowWork[] {
  const form = FORMS[endpoint];
  return [...levels.values()].flatMap((level) => {
    if (!form || !isTaken(level, form)) return [];
    const verbs = form === 'create' ? ['create' as const] : [...level.verbs];
    const { model } = level.plan.target;
    return [...verbs.map((operation) => ({ model, operation })), ...worksOf(level.nested, { endpoint })];
  });
}

/** A relation whose rows are written with their parent. */
export interface NestedLevel {
  readonly name: string;
  /** Also how its rows are answered. */
  readonly plan: IncludePlan;
  /** The attribute of a child that names its parent. */
  readonly given: string;
  /** Children of each parent in a request. */
  readonly max: number;
  /** True where a change of children is one of their parent. */
  readonly isTouching: boolean;
  /** True where a replacement of the parent may give all of its children. */
  readonly isWhole: boolean;
  /** The endpoints that the child's resource has. */
  readonly verbs: ReadonlySet<Verb>;
  /** Attributes of the child's scope that its parent has, too, each with that of the parent. */
  readonly scoped: readonly (readonly [attribute: string, ofParent: string])[];
  readonly nested: ReadonlyMap<string, NestedLevel>;
}

const OPTION = 'nested';
/** The relation that leads to the rows of a child, by its plan. */
const within = new WeakMap<ResourcePlan, { readonly path: string; readonly given: string }>();

const MAX_DEPTH = 2;
const MAX_ROWS = 1000;
const DEFAULT_MAX = 100;

/** The children of a resource; null where it has none. */
export function nestedLevels({
  relations,
}: Pick<ResourcePlan, 'relations'>): ReadonlyMap<string, NestedLevel> | null {
  return (relations.led.get(OPTION) as ReadonlyMap<string, NestedLevel> | undefined) ?? null;
}

type Entries = ReadonlyMap<string, NestedOptions>;

/** Checks the shape of the option. */
export function compileNested(value: unknown, { report }: OptionCheck): Entries {
  const entries = new Map<string, NestedOptions>();
  if (!isPlain(value)) {
    report(`nested is ${showValue(value)}; use an object such as { lines: true }.`);
    return entries;
  }
  for (const [path, given] of Object.entries(value as object)) {
    const option = `nested.${path}`;
    if (given !== true && !isPlain(given)) {
      report(`${option} is ${showValue(given)}; use true, or an object such as { max: 50 }.`);
      continue;
    }
    const options = (given === true ? {} : given) as NestedOptions;
    unknownOptions(option, options, ['max', 'touch', 'replace']).forEach(report);
    const { max = 1 } = options;
    if (!Number.isInteger(max) || max < 1 || max > MAX_ROWS)
      report(`${option}.max is ${showValue(max)}; use an integer from 1 to ${MAX_ROWS}.`);
    for (const name of ['touch', 'replace'] as const)
      if (options[name] !== undefined && typeof options[name] !== 'boolean')
        report(`${option}.${name} is ${showValue(options[name])}; use true or false.`);
    entries.set(path, options);
  }
  return entries;
}

/** Compiles the relations that the option names. */
export const relateNested: RelationCompiler = (resource, models, resources) => {
  const entries = resource.plan.features[OPTION] as Entries | undefined;
  if (!entries) return [];
  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(`${resource.plan.name}: ${problem}`);
  for (const path of entries.keys()) {
    const names = path.split('.');
    const parent = names.slice(0, -1).join('.');
    if (names.includes(''))
      report(`nested has '${path}', which names no relation between its dots; write 'lines.discounts'.`);
    else if (names.length > MAX_DEPTH)
      report(`nested.${path} is ${names.length} relations deep; at most ${MAX_DEPTH} are allowed.`);
    else if (parent !== '' && !entries.has(parent))
      report(`nested has '${path}' without '${parent}'; add '${parent}': true.`);
  }
  const { endpoints } = resource.plan;
  if (!['create', 'update', 'replace'].some((each) => endpoints.has(each as 'create')))
    report(
      "nested is about requests that write a record, and endpoints has neither 'create' nor 'update' nor 'replace'; add one.",
    );
  const compiler = { root: resource.plan, entries, models, resources, report };
  const levels = levelsOf(compiler, resource.plan, '', 1);
  if (problems.length === 0) resource.plan.relations.led.set(OPTION, levels);
  return problems;
};

interface Compiler {
  readonly root: ResourcePlan;
  readonly entries: Entries;
  readonly models: RelatedModels;
  readonly resources: readonly RelatedResource[];
  report(problem: string): void;
}

/** @param prefix with its dot @param rows of the relations before */
function levelsOf(
  compiler: Compiler,
  parent: ResourcePlan,
  prefix: string,
  rows: number,
): ReadonlyMap<string, NestedLevel> {
  const levels = new Map<string, NestedLevel>();
  for (const [path, options] of compiler.entries) {
    const name = path.slice(prefix.length);
    if (!path.startsWith(prefix) || name === '' || name.includes('.')) continue;
    const level = compileLevel(compiler, parent, { name, path, options, rows });
    if (level) levels.set(name, level);
  }
  return levels;
}

interface Place {
  readonly name: string;
  readonly path: string;
  readonly options: NestedOptions;
  readonly rows: number;
}

function compileLevel(
  compiler: Compiler,
  parent: ResourcePlan,
  { name, path, options, rows }: Place,
): NestedLevel | null {
  const { root, models, resources } = compiler;
  const option = `nested.${path}`;
  let isWrong = false;
  const refuse = (problem: string): void => {
    isWrong = true;
    compiler.report(`${option} ${problem}`);
  };
  const report = (problem: string): void => {
    isWrong = true;
    compiler.report(problem);
  };
  const mend = 'write its rows by routes of their own';
  const related = models.lead(parent.model, name, {}, { option, report, mend });
  if (!related) return null;
  const { relation, target } = related;
  const problems = ownProblems(related, parent.info);
  problems.forEach(refuse);
  if (problems.length === 0 && [parent.model, root.model].includes(relation.target))
    refuse(`leads from a ${target.name} to others, where a row may belong to itself; ${mend}.`);
  const child = resources.find(({ plan }) => plan.model === relation.target);
  if (!child)
    refuse(
      `leads to ${target.name}, which is not served, so that no rules are known for its rows; give it @Crud, and bootstrap its model. A crudRouter serves one model.`,
    );
  const guards = child?.declaration.writeGuards ?? [];
  if (guards.length > 0)
    refuse(`would pass by code of ${target.name}, because ${[...new Set(guards)].join(', ')}; ${mend}.`);
  const verbs = new Set(VERBS.filter((each) => target.endpoints.has(each)));
  if (child && verbs.size === 0)
    refuse(
      `leads to ${target.name}, whose endpoints have neither 'create' nor 'update' nor 'delete'; add those that may be nested.`,
    );
  const isWhole = options.replace === true;
  if (isWhole && !root.endpoints.has('replace'))
    refuse("has replace: true, and endpoints has no 'replace'; add it, or leave replace out.");
  if (isWhole && verbs.size < VERBS.length)
    refuse(
      `has replace: true, and the endpoints of ${target.name} lack ${VERBS.filter((each) => !verbs.has(each)).join(', ')}; add them, or leave replace out.`,
    );
  if (isWhole && target.isKeyGiven)
    refuse(
      `has replace: true, and the server does not make the ${keyText(target.info.address)} of a ${target.name}, so that no item shows whether it is new; leave replace out, and send create, update and delete.`,
    );
  const hasVersion = versionOf(parent.model) !== undefined;
  if (options.touch === true && !hasVersion)
    refuse(
      `has touch: true, and ${parent.name} has no version to raise; give its @Table version: true, or leave touch out.`,
    );
  const { isOne } = relation;
  const max = isOne ? 1 : (options.max ?? Math.min(DEFAULT_MAX, Math.floor(MAX_ROWS / rows)));
  if (rows * max > MAX_ROWS)
    refuse(
      `lets a request write ${rows * max} rows for one ${root.name}; at most ${MAX_ROWS} are allowed. Lower max here, or of the relation before it.`,
    );
  const nested = levelsOf(compiler, target, `${path}.`, rows * max);
  if (isWrong || !child) return null;
  within.set(child.plan, { path: `${root.name}.${path}`, given: relation.targetKey });
  const inner = new Map([...nested].map(([key, each]) => [key, each.plan]));
  const size = isOne ? null : Object.freeze({ default: max, max });
  return Object.freeze({
    name,
    plan: Object.freeze({ ...related, path, size, count: null, include: inner }),
    given: relation.targetKey,
    max,
    isTouching: options.touch ?? hasVersion,
    isWhole,
    verbs,
    scoped: [...(target.access?.scope.keys() ?? [])].flatMap((each) => {
      const ofParent = each === relation.targetKey ? relation.parentKey : each;
      return parent.info.attributes.has(ofParent) ? [[each, ofParent] as const] : [];
    }),
    nested,
  });
}

/** Why the rows of a relation are not those of their parent alone. Ends of sentences. */
function ownProblems({ relation, target }: RelatedPlan, { attributes }: ModelInfo): string[] {
  const { parent, name, parentKey, targetKey, more, isOne, through, scope } = relation;
  const links = 'use links, or write them by routes of their own';
  if (through) return [`is many-to-many, whose records belong to no parent; ${links}.`];
  if (parent.associations[name]?.associationType === 'BelongsTo')
    return [
      `leads to the parent of ${parent.name}, and not to its children; write its key, or nest ${parent.name} in ${target.name}.`,
    ];
  if (more.length > 0) return ['is by a key of several attributes; write its rows by routes of their own.'];
  const problems: string[] = [];
  if (isOne && !isUniqueAttribute(target.info, targetKey))
    problems.push(
      `has one record, and a ${parent.name} may have several, because ${target.name}.${targetKey} is not unique; write unique: true at its @Column, or give @Table a unique index of it.`,
    );
  if (target.info.attributes.get(targetKey)?.nullable)
    problems.push(
      `leads to ${target.name}, which may be without a parent, because ${targetKey} may be null; set allowNull: false, or ${links}.`,
    );
  if (attributes.get(parentKey)?.nullable)
    problems.push(
      `leads from ${parent.name} by ${parentKey}, which may be null, so that a ${parent.name} could have no ${name}; set allowNull: false, or ${links}.`,
    );
  if (Object.keys(scope).length > 0)
    problems.push(
      `has the scope ${showValue(scope)}, which rows that are written would not have; nest a relation without one.`,
    );
  return [...problems, ...[keyProblem(relation), scopeProblem(relation)].filter((each) => each !== null)];
}

/** Advice about a unique index of children whose places may be swapped: one UPDATE of several compares them too early. */
export function adviseOnPlaces(plan: ResourcePlan, indexes: readonly FoundIndex[]): readonly string[] {
  const found = within.get(plan);
  if (!found) return [];
  const { path, given } = found;
  const places = new Map(
    [...plan.info.attributes.values()].flatMap(({ name, column, type, role }) =>
      type.kind === 'integer' && role === 'data' && name !== given && plan.sortable.includes(name)
        ? [[column, name]]
        : [],
    ),
  );
  return indexes.flatMap(({ name, unique }) => {
    const keys = unique?.keys.map((each) => each.replace(/^"(.*)"$/, '$1')) ?? [];
    const place = keys.find((each) => places.has(each));
    if (!unique || place === undefined || keys.length < 2 || /DEFERRABLE/i.test(unique.definition)) return [];
    return (
      `${plan.name}: requests of ${path} that swap ${places.get(place)} of two rows are refused by the unique index ${name}, which compares ` +
      'each row by itself; make it a DEFERRABLE INITIALLY DEFERRED constraint, or number rows with gaps.'
    );
  });
}
