/** One declaration -> one frozen `ResourcePlan`, or everything that is wrong with it. */

import type { Class } from '../declare/crud-options.js';
import type { ColumnType } from '../describe/column-type.js';
import { tryDescribeModel } from '../describe/describe-model.js';
import type { ModelInfo } from '../describe/model-info.js';
import { isModel } from '../describe/record.js';
import { didYouMean, showValue } from '../util/option-problems.js';
import { checkOptionShapes } from './check-option-shapes.js';
import { replaceProblems } from './check-replace.js';
import { compileAccess, type SharedAccess } from './compile-access.js';
import { bulkProblems, compileBulk, singleEndpoints } from './compile-bulk.js';
import { compileCount } from './compile-count.js';
import { compileEntityTag, compileIfMatch, versionProblem } from './compile-entity-tag.js';
import { compileFilters } from './compile-filters.js';
import { compileId } from './compile-id.js';
import {
  compileDefaultSort,
  compileEndpoints,
  compilePageSize,
  compilePrefix,
  compileSortable,
  type OptionCheck,
  type ResourceOptionCompiler,
} from './compile-options.js';
import type {
  Exposure,
  IncludePlan,
  RelationFilter,
  ResourceDeclaration,
  ResourcePlan,
  SubresourcePlan,
} from './resource-plan.js';

/** Reader of the user's decorators in the schema phase, and options of features; injected, because these come after this phase. */
export interface DecoratorReader {
  /** By name. Default: none. */
  readonly featureOptions?: Readonly<Record<string, ResourceOptionCompiler>>;
  /** Attributes that the user hid from answers and from bodies. */
  describeExposure(info: ModelInfo, report: (problem: string) => void): Exposure;
  /** The properties of a schema class that may pass. */
  classProperties(schema: Class, direction: 'read' | 'write'): ReadonlySet<string>;
  /** Why every object in a nested property of a body would be refused. */
  nestedProblems(schema: Class): readonly string[];
  /** Why no value of an attribute would ever meet its decorators. */
  decoratorProblems(info: ModelInfo, attributes: ReadonlySet<string>): readonly string[];
}

/** The path that a resource would have. */
export interface PathClaim {
  readonly name: string;
  readonly prefix: string;
}

/** The result of compiling one declaration. A resource with problems can be in the way of another all the same. */
export type ResourceCompilation =
  | {
      readonly plan: ResourcePlan;
      readonly problems: readonly [];
      readonly claim: PathClaim;
      /** Where the plan keeps its relations, which are compiled later. */
      readonly include: Map<string, IncludePlan>;
      readonly filters: Map<string, RelationFilter>;
      readonly subresources: Map<string, SubresourcePlan>;
    }
  | { readonly plan: null; readonly problems: readonly string[]; readonly claim: PathClaim | null };

/** Compiles one resource. Pure: no I/O, and nothing of the model is changed. */
export function compileResource(
  { model, options: given }: ResourceDeclaration,
  decorators: DecoratorReader,
  shared: SharedAccess = {},
): ResourceCompilation {
  const { info, problems: modelProblems } = tryDescribeModel(model);
  if (!info) return { plan: null, problems: modelProblems, claim: null };

  const problems: string[] = [];
  const report = (problem: string): void => void problems.push(problem);
  const exposure = decorators.describeExposure(info, report);
  const { featureOptions = {} } = decorators;
  const known = checkOptionShapes(info.name, given, Object.keys(featureOptions), report);
  // Some things can be gone through once.
  const options = known.endpoints ? { ...known, endpoints: [...known.endpoints] } : known;
  const check: OptionCheck = { info, exposure, options, report };
  const id = compileId(info.name, info.primaryKey, options.idType);
  problems.push(...id.problems);
  const compiled = {
    name: info.name,
    model,
    info,
    exposure,
    prefix: compilePrefix(check),
    tags: Object.freeze([...(options.tags ?? [info.name])]),
    description: options.description ?? null,
    endpoints: compileEndpoints(check),
    bulk: compileBulk(check),
    pagination: compileChoice(check, 'pagination', ['offset', 'cursor'] as const),
    pageSize: compilePageSize(check),
    count: compileCount(
      options.count,
      options.pagination === 'cursor' ? 'none' : 'exact',
      `${info.name}: count`,
      report,
    ),
    filters: compileFilters(check),
    sortable: compileSortable(check),
    defaultSort: compileDefaultSort(check),
    explicitSchemas: Object.freeze({
      read: compileSchema(check, 'readSchema', decorators),
      create: compileSchema(check, 'createSchema', decorators),
      update: compileSchema(check, 'updateSchema', decorators),
    }),
    dependencies: compileDependencies(check),
    unknownQuery: compileChoice(check, 'unknownQuery', ['reject', 'ignore'] as const),
    features: compileFeatureOptions(check, featureOptions),
  };
  const entityTag = compileEntityTag(check);
  const ifMatch = compileIfMatch(check, entityTag);
  const endpoints = singleEndpoints(compiled);
  const access = compileAccess(check, { ...compiled, endpoints }, shared);
  problems.push(...bodyProblems({ ...compiled, endpoints, access }, decorators));
  problems.push(
    ...replaceProblems({ ...compiled, endpoints, access }, (schema) =>
      decorators.classProperties(schema, 'write'),
    ),
  );
  problems.push(...bulkProblems({ ...compiled, entityTag, ifMatch }));
  const unversioned = versionProblem(info, endpoints);
  if (unversioned) report(unversioned);
  const claim = { name: compiled.name, prefix: compiled.prefix };
  if (problems.length > 0 || !id.parser || !id.kind) return { plan: null, problems, claim };
  const include = new Map<string, IncludePlan>();
  const filters = new Map<string, RelationFilter>();
  const subresources = new Map<string, SubresourcePlan>();
  const relations = Object.freeze({ include, filters, subresources });
  return {
    plan: Object.freeze({
      ...compiled,
      entityTag,
      ifMatch,
      access,
      parseId: id.parser,
      idKind: id.kind,
      relations,
    }),
    problems: [],
    claim,
    include,
    filters,
    subresources,
  };
}

function compileFeatureOptions(
  check: OptionCheck,
  compilers: Readonly<Record<string, ResourceOptionCompiler>>,
): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { ...check.options };
  const given = Object.entries(compilers).filter(([name]) => values[name] !== undefined);
  return Object.freeze(
    Object.fromEntries(given.map(([name, compile]) => [name, compile(values[name], check)])),
  );
}

/** Problems of attributes that no body could write, or that none could write as it was sent. */
function bodyProblems(
  {
    info,
    exposure,
    endpoints,
    explicitSchemas,
    access,
  }: Pick<ResourcePlan, 'info' | 'exposure' | 'endpoints' | 'explicitSchemas' | 'access'>,
  { nestedProblems, decoratorProblems }: DecoratorReader,
): string[] {
  const problems: string[] = [];
  const creates = endpoints.has('create') || endpoints.has('replace');
  if (creates && !explicitSchemas.create) {
    // The server writes the attributes that rows are scoped by.
    const undecided = [...exposure.undecided].filter(([name]) => !access?.scope.has(name));
    problems.push(...undecided.map(([, problem]) => problem));
  }
  if (!creates && !endpoints.has('update')) return problems;
  problems.push(...nestedProblems(info.model as unknown as Class).map(nested));
  const isDerived =
    (creates && !explicitSchemas.create) || (endpoints.has('update') && !explicitSchemas.update);
  const written = [...info.attributes.keys()].filter((name) => !exposure.unwritable.has(name));
  if (isDerived) problems.push(...decoratorProblems(info, new Set(written)));
  for (const { name, type } of info.attributes.values()) {
    if (exposure.unwritable.has(name)) continue;
    if (isArrayOfBlobs(type)) {
      problems.push(
        `${info.name}.${name} is an array of BLOBs, which Sequelize stores as other bytes; keep it out of bodies with ` +
          '@Exclude({ toClassOnly: true }), or give each BLOB a row of its own.',
      );
    }
  }
  return problems;
}

function isArrayOfBlobs(type: ColumnType): boolean {
  return type.kind === 'array' && (type.element.kind === 'blob' || isArrayOfBlobs(type.element));
}

/** The first choice is the default. */
function compileChoice<const C extends readonly [string, ...string[]]>(
  { info, options, report }: OptionCheck,
  option: 'pagination' | 'unknownQuery',
  choices: C,
): C[number] {
  const value: unknown = options[option] ?? choices[0];
  const chosen = choices.find((choice) => choice === value);
  if (chosen === undefined) {
    report(
      `${info.name}: ${option} is ${showValue(value)}; use ${choices.map((choice) => `'${choice}'`).join(' or ')}.` +
        didYouMean(typeof value === 'string' ? value : '', choices),
    );
  }
  return chosen ?? choices[0];
}

function compileSchema(
  { info, options, report }: OptionCheck,
  option: 'readSchema' | 'createSchema' | 'updateSchema',
  decorators: DecoratorReader,
): Class | null {
  const schema = options[option] ?? null;
  if (schema === null) return null;
  if (typeof schema !== 'function') {
    report(`${info.name}: ${option} is ${showValue(schema)}; give it a class.`);
    return null;
  }
  if (isModel(schema)) {
    report(
      `${info.name}: ${option} is the model ${schema.name}; give it a class of its own, or leave it out.`,
    );
    return null;
  }
  if (decorators.classProperties(schema, option === 'readSchema' ? 'read' : 'write').size === 0) {
    report(
      `${info.name}: no property of the ${option} ${schema.name} may pass; ` +
        'give each one @Expose() or a class-validator decorator.',
    );
  }
  if (option !== 'readSchema') {
    for (const problem of decorators.nestedProblems(schema)) report(`${info.name}: ${nested(problem)}`);
  }
  return schema;
}

function nested(problem: string): string {
  return `${problem}, so every object there would be refused; decorate the class.`;
}

function compileDependencies({ info, options, report }: OptionCheck) {
  const dependencies = Object.freeze([...(options.dependencies ?? [])]);
  dependencies.forEach((dependency: unknown, index) => {
    if (typeof dependency === 'function') return;
    report(
      `${info.name}: dependencies[${index}] is ${showValue(dependency)}; ` +
        'use an Express handler or a routing-controllers middleware class.',
    );
  });
  return dependencies;
}
