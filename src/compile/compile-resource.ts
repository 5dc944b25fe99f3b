/** One declaration -> one frozen `ResourcePlan`, or everything that is wrong with it. */

import type { CountMode } from '../declare/count-options.js';
import type { Class, CrudOptions, Operation } from '../declare/crud-options.js';
import { SWITCHED_ROUTES, singleOf } from '../declare/endpoint.js';
import type { ColumnType } from '../describe/column-type.js';
import { tryAddress, tryDescribeModel } from '../describe/describe-model.js';
import type { ModelInfo } from '../describe/model-info.js';
import { isModel } from '../describe/record.js';
import { ofTables } from '../describe/table-facts.js';
import { showValue } from '../util/option-problems.js';
import { compileAccess, type SharedAccess } from './compile-access.js';
import { compileCount } from './compile-count.js';
import { compileEntityTag, compileIfMatch, versionProblem } from './compile-entity-tag.js';
import { compileFilters } from './compile-filters.js';
import { compileId, type TextReader } from './compile-id.js';
import {
  checkOptionShapes,
  checkTableOptions,
  compileChoice,
  compileDependencies,
  compileEndpoints,
  compilePageSize,
  compilePrefix,
  compileResourceOptions,
  hiddenBy,
  type OptionCheck,
  type ResourceOptionCompiler,
} from './compile-options.js';
import { compileSort } from './compile-sort.js';
import { everyAttribute, hiddenAttributes, isOrdered, type ShownReader } from './every-attribute.js';
import {
  type Exposure,
  type GrowingPlan,
  noRelations,
  type ResourceDeclaration,
  type ResourcePlan,
  type UncheckedPlan,
} from './resource-plan.js';

/** Problems of the options of a resource, for a feature. @param options as in `@Crud` */
export type ResourceCheck = (plan: UncheckedPlan, options: CrudOptions) => readonly string[];

/** Lists relations that have a list under each record, each with the option that names it. */
export type RelationLister = (
  options: CrudOptions,
) => readonly { readonly option: string; readonly name: string }[];

/** Reader of the user's decorators in the schema phase, and options of features; injected, because these come after this phase. */
export interface DecoratorReader extends ShownReader {
  /** By name. Default: none. */
  readonly featureOptions?: Readonly<Record<string, ResourceOptionCompiler>>;
  /** Problems of options together. Default: none. */
  readonly featureChecks?: readonly ResourceCheck[];
  /** Relations of which options of features make lists. Default: none. */
  readonly featureLists?: readonly RelationLister[];
  /** Attributes that the user hid from answers and from bodies. */
  describeExposure(info: ModelInfo, report: (problem: string) => void): Exposure;
  /** Parses a part of an id. */
  readonly readText: TextReader;
  /** Why every object in a nested property of a body would be refused. */
  nestedProblems(schema: Class): readonly string[];
  /** Why no value of an attribute would ever meet its decorators. */
  decoratorProblems(info: ModelInfo, attributes: ReadonlySet<string>): readonly string[];
}

/** The result of compiling one declaration. A resource with problems can be in the way of another all the same. */
interface ResourceCompilation {
  /** Null where there are problems. */
  readonly plan: GrowingPlan | null;
  readonly problems: readonly string[];
  /** The path that the resource would have. */
  readonly claim: Pick<ResourcePlan, 'name' | 'prefix'> | null;
}

/** The options that endpoints of their names switch on, as options. */
function withSwitches(
  options: CrudOptions & { readonly endpoints: readonly string[] },
  report: (problem: string) => void,
): CrudOptions {
  const isSwitch = (name: string): name is (typeof SWITCHED_ROUTES)[number] =>
    SWITCHED_ROUTES.some((each) => each === name);
  const named = options.endpoints.filter(isSwitch);
  for (const name of named)
    if ((options[name] as unknown) === false)
      report(`endpoints has '${name}', and ${name} is false; remove one of the two.`);
  const on = named.filter((name) => options[name] === undefined);
  const endpoints = options.endpoints.filter((name) => !isSwitch(name)) as Operation[];
  return { ...options, ...Object.fromEntries(on.map((name) => [name, true])), endpoints };
}

/** Compiles one resource. Pure: no I/O, and nothing of the model is changed. */
export function compileResource(
  { model, options: given, isServed = true }: ResourceDeclaration,
  decorators: DecoratorReader,
  shared: SharedAccess = {},
): ResourceCompilation {
  const described = tryDescribeModel(model);
  const isNamed = described.info && given.id !== undefined && given.id !== null;
  const { info, problems: modelProblems } = isNamed ? tryAddress(described.info, given.id) : described;
  if (!info) return { plan: null, problems: modelProblems, claim: null };

  const problems: string[] = [];
  const add = (problem: string): void => void problems.push(problem);
  const report = (problem: string): void => add(`${info.name}: ${problem}`);
  const exposure = decorators.describeExposure(info, add);
  const { featureOptions = {}, featureChecks = [] } = decorators;
  const known = checkOptionShapes(given, Object.keys(featureOptions), report);
  // Some things can be gone through once.
  const once = known.endpoints ? withSwitches({ ...known, endpoints: [...known.endpoints] }, report) : known;
  const hidden = hiddenAttributes(info.attributes.keys(), exposure, once.readSchema, decorators);
  const { options, everything } = everyAttribute(
    { info, exposure, hidden, options: once, report },
    decorators,
  );
  const check: OptionCheck = { info, exposure, hidden, options, report };
  const id = compileId(info, options.idType, decorators.readText);
  for (const address of info.address)
    if ((address.isAddress || info.address.length > 1) && exposure.unreadable.has(address.name))
      report(
        `id names '${address.name}', which ${hiddenBy(info, address.name)} hides from answers, so that no client could address what ` +
          'it was answered; show it, or name another attribute.',
      );
  const named = {
    name: info.name,
    model,
    info,
    exposure,
    hidden,
    prefix: compilePrefix(check),
    tags: Object.freeze([...(options.tags ?? [info.name])]),
    description: options.description ?? null,
    endpoints: compileEndpoints(check),
    pagination: compileChoice(check, 'pagination', options.pagination, ['offset', 'cursor']),
    pageSize: compilePageSize(check),
    count: compileCount(options.count, usualCount(options), 'count', report),
    filters: compileFilters(check),
    everything,
    ...compileSort(check, isServed),
    explicitSchemas: Object.freeze({
      read: compileSchema(check, 'readSchema', decorators),
      create: compileSchema(check, 'createSchema', decorators),
      update: compileSchema(check, 'updateSchema', decorators),
    }),
    dependencies: compileDependencies(check),
    unknownQuery: compileChoice(check, 'unknownQuery', options.unknownQuery, ['reject', 'ignore']),
    features: compileResourceOptions(check, featureOptions),
  };
  if (isServed && needsId(named.endpoints, options)) problems.push(...id.problems);
  if (isServed && info.primaryKey.length === 0) keylessProblems(check, named.endpoints).forEach(report);
  const entityTag = compileEntityTag(check);
  const compiled = { ...named, entityTag, ifMatch: compileIfMatch(check, entityTag) };
  // Endpoints for many records count as those for one.
  const endpoints = new Set([...compiled.endpoints].map(singleOf));
  const access = compileAccess(check, compiled, shared);
  bodyProblems({ ...compiled, endpoints, access }, decorators).forEach(add);
  checkTableOptions(check, { ...compiled, access });
  const isKeyGiven = givesKey({ ...compiled, access }, decorators);
  const whole = { ...compiled, access, isKeyGiven };
  // These are about its routes, which another application may have.
  if (isServed) for (const checkPlan of featureChecks) checkPlan(whole, options).forEach(report);
  const unversioned = versionProblem(info, endpoints);
  if (unversioned) report(unversioned);
  if (problems.length > 0) return { plan: null, problems, claim: compiled };
  const relations = noRelations();
  const { parser: parseId, kind: idKind, parts: idParts } = id;
  const sortable = ofTables(() => sortedBy(whole));
  const plan = Object.freeze({
    ...whole,
    parseId,
    idKind,
    idParts,
    relations,
    get sortable() {
      return sortable();
    },
  });
  return { plan, problems, claim: plan };
}

/** The rows that a search finds are counted up to the cap: a frequent word may find all of a table. */
function usualCount({ pagination, search }: CrudOptions): CountMode {
  if (pagination === 'cursor') return 'none';
  return search === undefined ? 'exact' : 'capped';
}

/** Names are checked against the catalogue, and `'*'` is limited by it. */
function sortedBy({
  info,
  sortable,
  everything,
}: Pick<ResourcePlan, 'info' | 'sortable' | 'everything'>): readonly string[] {
  if (!everything.has('sortAllow')) return sortable;
  return sortable.filter((name) => isOrdered(info.attributes.get(name) ?? {}));
}

const WITHOUT_ID: ReadonlySet<string> = new Set<Operation>(['list', 'create']);

/** True where a route finds a record by its id. */
function needsId(endpoints: ReadonlySet<string>, { subresources }: CrudOptions): boolean {
  return [...endpoints].some((endpoint) => !WITHOUT_ID.has(endpoint)) || subresources !== undefined;
}

/** Why the list of rows without a key has no order. Ends of sentences. */
function keylessProblems({ options }: OptionCheck, endpoints: ReadonlySet<string>): string[] {
  if (!endpoints.has('list')) return [];
  return [
    ...(options.pagination === 'cursor'
      ? [
          "pagination is 'cursor', and no attributes tell its rows apart, so that a cursor would leave some out; name them with id, or use 'offset'.",
        ]
      : []),
    ...(options.defaultSort === undefined
      ? [
          'no attributes tell its rows apart, so that its list has no order; give it a defaultSort, or name them with id.',
        ]
      : []),
  ];
}

/** True where clients send the key of a new record. */
function givesKey(
  { info, exposure, explicitSchemas: { create }, access }: Omit<WrittenPlan, 'endpoints'>,
  { classProperties }: DecoratorReader,
): boolean {
  const properties = create && classProperties(create, 'write');
  return info.address.every(({ name, hasDefault, isReadOnly }) => {
    if (isReadOnly) return false;
    if (properties) return properties.has(name);
    if (hasDefault || exposure.unwritable.has(name) || access?.set.has(name)) return false;
    return access?.fields.get(name)?.create !== false;
  });
}

type WrittenPlan = Pick<ResourcePlan, 'info' | 'exposure' | 'endpoints' | 'explicitSchemas' | 'access'>;

/** Problems of attributes that no body could write, or that none could write as it was sent. */
function bodyProblems(
  { info, exposure, endpoints, explicitSchemas: { create, update }, access }: WrittenPlan,
  { nestedProblems, decoratorProblems }: DecoratorReader,
): string[] {
  const creates = endpoints.has('create') || endpoints.has('replace');
  // The server writes the attributes that rows are scoped by, and those that it sets.
  const isWritten = (name: string) =>
    access?.scope.has(name) || (access?.set.get(name)?.on ?? 'update') !== 'update';
  const undecided = [...exposure.undecided].filter(([name]) => creates && !create && !isWritten(name));
  const problems = undecided.map(([, problem]) => problem);
  if (!creates && !endpoints.has('update')) return problems;
  problems.push(...nestedProblems(info.model as unknown as Class).map(nested));
  const written = [...info.attributes.values()].filter(({ name }) => !exposure.unwritable.has(name));
  if ((creates && !create) || (endpoints.has('update') && !update))
    problems.push(...decoratorProblems(info, new Set(written.map(({ name }) => name))));
  const ofBlobs = written.filter(({ type }) => isArrayOfBlobs(type));
  return [
    ...problems,
    ...ofBlobs.map(
      ({ name }) =>
        `${info.name}.${name} is an array of BLOBs, which Sequelize stores as other bytes; keep it out of bodies with ` +
        '@Exclude({ toClassOnly: true }), or give each BLOB a row of its own.',
    ),
  ];
}

function isArrayOfBlobs(type: ColumnType): boolean {
  return type.kind === 'array' && (type.element.kind === 'blob' || isArrayOfBlobs(type.element));
}

function compileSchema(
  { options, report }: OptionCheck,
  option: 'readSchema' | 'createSchema' | 'updateSchema',
  { classProperties, nestedProblems }: DecoratorReader,
): Class | null {
  const schema = options[option] ?? null;
  if (schema === null) return null;
  if (typeof schema !== 'function') report(`${option} is ${showValue(schema)}; give it a class.`);
  else if (isModel(schema))
    report(`${option} is the model ${schema.name}; give it a class of its own, or leave it out.`);
  else {
    const direction = option === 'readSchema' ? 'read' : 'write';
    if (classProperties(schema, direction).size === 0) {
      report(
        `no property of the ${option} ${schema.name} may pass; give each one @Expose() or a class-validator decorator.`,
      );
    }
    if (direction === 'write') for (const problem of nestedProblems(schema)) report(nested(problem));
    return schema;
  }
  return null;
}

function nested(problem: string): string {
  return `${problem}, so every object there would be refused; decorate the class.`;
}
