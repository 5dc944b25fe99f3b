/** The option `links` of `@Crud`: its relations, their checks, and the needs of their tables. */
import { isPlain, type OptionCheck } from '../../compile/compile-options.js';
import type { RelationCompiler } from '../../compile/compile-plan.js';
import type { RelationLister, ResourceCheck } from '../../compile/compile-resource.js';
import { hiddenAttributes } from '../../compile/every-attribute.js';
import {
  type AccessPlan,
  NO_SCHEMAS,
  type ResourcePlan,
  type SubresourcePlan,
} from '../../compile/resource-plan.js';
import type { AccessRule } from '../../declare/access-options.js';
import type { Class, ModelClass } from '../../declare/crud-options.js';
import type { LinkOptions } from '../../declare/link-options.js';
import { describeAddressed, describeRecords } from '../../describe/describe-model.js';
import { choiceProblem } from '../../describe/hooks-and-scopes-internals.js';
import {
  type AttributeInfo,
  isFilled,
  isGenerated,
  type ModelInfo,
  type RecordInfo,
} from '../../describe/model-info.js';
import { declaredOptions, hasJsonForm, ownModel } from '../../describe/record.js';
import { describeRelation, type Relation } from '../../describe/relations.js';
import { tableFacts } from '../../describe/table-facts.js';
import { quotedTable } from '../../execute/sql/sql-fragment.js';
import { unseenAttributes } from '../../respond/record-serializer.js';
import { classProperties } from '../../schema/class-properties.js';
import { describeExposure } from '../../schema/model-decorators.js';
import { flagProblems, showValue, unknownOptions } from '../../util/option-problems.js';
import { missingKey } from '../upsert/upsert-options.js';

/** Compiled options of the links of a relation. */
export interface LinkPlan {
  /** Links in a `POST`. */
  readonly max: number;
  /** Null is the rule of the resource. */
  readonly can: Readonly<Record<'add' | 'remove', AccessRule | null>>;
  /** Null is every attribute whose stored value may be shown. */
  readonly fields: readonly string[] | null;
  readonly touch: boolean;
  readonly steal: boolean;
}

/** Links of a replacement: those that it sets, and those that were there. */
export const MAX_REPLACED = 1_000;

const DEFAULT_MAX = 100;

const OPTIONS = ['max', 'can', 'fields', 'touch', 'steal'];

/** The links of a resource, by relation. */
export function linksOf({ features }: Pick<ResourcePlan, 'features'>): ReadonlyMap<string, LinkPlan> {
  return (features['links'] as ReadonlyMap<string, LinkPlan> | undefined) ?? NONE;
}

const NONE: ReadonlyMap<string, LinkPlan> = new Map();

/** The relations of a resource with links, each with its list. */
export function linkedRelations(
  plan: Pick<ResourcePlan, 'features' | 'relations'>,
): readonly { readonly below: SubresourcePlan; readonly link: LinkPlan }[] {
  return [...linksOf(plan)].flatMap(([name, link]) => {
    const below = plan.relations.subresources.get(name);
    return below ? [{ below, link }] : [];
  });
}

/** Clients that change links need to see them. */
export const listLinked: RelationLister = ({ links }) =>
  isPlain(links) ? Object.keys(links as object).map((name) => ({ option: `links.${name}`, name })) : [];

/** Compiles the option. */
export function compileLinks(value: unknown, check: OptionCheck): ReadonlyMap<string, LinkPlan> {
  const { info, report } = check;
  if (!isPlain(value)) {
    report(`links is ${showValue(value)}; use an object of relations, such as { groups: true }.`);
    return NONE;
  }
  const links = new Map<string, LinkPlan>();
  for (const [name, given] of Object.entries(value as object)) {
    const option = `links.${name}`;
    const refuse = (problem: string): void => report(`${option}${problem}`);
    if (given !== true && !isPlain(given)) {
      refuse(` is ${showValue(given)}; use true, or an object such as { fields: ['role'] }.`);
      continue;
    }
    const { relation, problem } = describeRelation(info.model, name);
    if (!relation) {
      refuse(` ${problem}`);
      continue;
    }
    const options: LinkOptions = given === true ? {} : given;
    unknownOptions(option, options, OPTIONS).forEach(report);
    for (const each of relationProblems(relation)) refuse(` ${each}`);
    const { max = DEFAULT_MAX, fields = null, touch = false, steal = false } = options;
    if (!Number.isInteger(max) || max < 1 || max > MAX_REPLACED)
      refuse(`.max is ${showValue(max)}; use an integer from 1 to ${MAX_REPLACED}.`);
    flagProblems(`${option}.touch`, touch).forEach(report);
    flagProblems(`${option}.steal`, steal).forEach(report);
    if (steal && relation.through)
      refuse(
        '.steal is about children of a hasMany; a record of a belongsToMany may have many. Leave it out.',
      );
    for (const each of fieldProblems(relation, fields)) refuse(`.fields ${each}`);
    const can = compileRules(options.can, (each) => refuse(`.can${each}`));
    links.set(name, Object.freeze({ max, can, fields, touch, steal }));
  }
  return links;
}

function compileRules(can: unknown, refuse: (problem: string) => void): LinkPlan['can'] {
  if (can === undefined) return NO_RULES;
  if (!isPlain(can)) {
    refuse(` is ${showValue(can)}; use an object such as { add: isStaff, remove: isStaff }.`);
    return NO_RULES;
  }
  for (const [name, rule] of Object.entries(can as object)) {
    if (!(name in NO_RULES)) refuse(` has no '${name}'; use add and remove.`);
    else if (typeof rule !== 'function' && typeof rule !== 'boolean')
      refuse(`.${name} is ${showValue(rule)}; use a function of the request, true or false.`);
  }
  return Object.freeze({ ...NO_RULES, ...(can as Partial<LinkPlan['can']>) });
}

const NO_RULES: LinkPlan['can'] = Object.freeze({ add: null, remove: null });

/** Why no links of a relation can be changed. Ends of sentences. */
function relationProblems({ isOne, target, targetKey, more, through, scope, parent }: Relation): string[] {
  if (isOne)
    return ['leads to one record at most; write its foreign key in the body of the record that has it.'];
  if (more.length > 0)
    return [
      `is found by several attributes of ${target.name}, of which a link would set all; write them in the body of each.`,
    ];
  const scoped = [scope, through?.scope ?? {}].some((each) => Object.keys(each).length > 0);
  const models = [parent, target, ...(through ? [through.model] : [])];
  const problems = models.flatMap((model) => choiceProblem(model) ?? []);
  if (scoped) problems.push('has a scope of its own, which a link would have to meet; leave it out.');
  if (!through && describeRecords(target).attributes.get(targetKey)?.nullable === false)
    problems.push(ownedProblem(target, targetKey));
  return problems;
}

function ownedProblem(target: ModelClass, key: string): string {
  return `leads to ${target.name}, whose ${key} cannot be null, so that each row belongs to one record for good; use nested, or its own routes.`;
}

function fieldProblems({ through }: Relation, fields: unknown): string[] {
  if (fields !== null && !Array.isArray(fields))
    return [`is ${showValue(fields)}; use a list of attributes of the join model.`];
  if (!through)
    return fields === null
      ? []
      : ['are attributes of a join model, which a hasMany has not; leave them out.'];
  const known = linkAttributes(
    {
      relation: { through },
      through: describeRecords(through.model),
      throughSchema: null,
      throughAccess: null,
    },
    null,
  );
  const names = known.map(({ name }) => name);
  if (fields === null)
    return names.length > 0 && hasJsonForm(through.model)
      ? [
          `is absent, and toJSON or get of ${through.model.name} decides what answers show; name the attributes that links have, such as ${showValue(names)}.`,
        ]
      : [];
  return fields
    .filter((name) => !names.includes(name))
    .map(
      (name) =>
        `names ${showValue(name)}, which is no attribute of ${through.model.name} that links may have; ${names.length > 0 ? `the others are ${names.join(', ')}.` : 'it has none.'}`,
    );
}

/** A relation, as far as its join model is. */
interface Joined {
  readonly relation: Pick<Relation, 'through'>;
  readonly through: RecordInfo | null;
  readonly throughSchema: Class | null;
  readonly throughAccess: Pick<AccessPlan, 'scope'> | null;
}

/** The join model, whose rows are addressed by the keys of both sides. */
export function describePairs({ relation }: Pick<Joined, 'relation'>): ModelInfo {
  const { through } = relation;
  if (!through) throw new TypeError('A relation without a join model has no pairs of keys.');
  return describeAddressed(through.model, `${through.parentKey},${through.targetKey}`);
}

/** The attributes of the join model that links have, but for those that only bodies or only answers have not. */
export function linkAttributes(
  { relation, through, throughAccess }: Joined,
  fields: LinkPlan['fields'],
): readonly AttributeInfo[] {
  if (!through || !relation.through) return [];
  const { parentKey, targetKey } = relation.through;
  return [...through.attributes.values()].filter(
    ({ name, role, type, isIdText }) =>
      role === 'data' &&
      type.kind !== 'virtual' &&
      !isIdText &&
      !throughAccess?.scope.has(name) &&
      ![parentKey, targetKey, 'id'].includes(name) &&
      (fields?.includes(name) ?? true),
  );
}

/** The same that answers may show. Answers have stored values, so that an attribute of which code makes another one needs its name in `fields`. */
export function shownAttributes(joined: Joined, fields: LinkPlan['fields']): readonly AttributeInfo[] {
  if (!joined.through) return [];
  const unseen = fields === null ? unseenOfPairs(joined) : hiddenOfPairs(joined);
  return linkAttributes(joined, fields).filter(({ name }) => !unseen.has(name));
}

/** Attributes of the join model whose stored values its own answers do not show. */
export function unseenOfPairs(joined: Joined): ReadonlySet<string> {
  const info = describePairs(joined);
  const exposure = describeExposure(info, () => {});
  const explicitSchemas = { ...NO_SCHEMAS, read: joined.throughSchema };
  return new Set([
    ...hiddenOfPairs(joined),
    ...unseenAttributes({ info, model: info.model, exposure, explicitSchemas }),
  ]);
}

function hiddenOfPairs(joined: Joined): ReadonlySet<string> {
  const info = describePairs(joined);
  const exposure = describeExposure(info, () => {});
  return hiddenAttributes(info.attributes.keys(), exposure, joined.throughSchema, { classProperties });
}

/** Problems of the option with others. */
export const checkLinks: ResourceCheck = (plan) =>
  [...linksOf(plan)].flatMap(([name, { touch }]) =>
    touch && plan.entityTag?.kind !== 'version'
      ? [
          `links.${name}.touch raises a version, which the model does not have; give its @Table version: true, or leave it out.`,
        ]
      : [],
  );

/** Problems of join models, whose options a controller may have. */
export const relateLinks: RelationCompiler = ({ plan }, _models, resources) =>
  [...linksOf(plan).keys()].flatMap((name) => {
    const { through } = describeRelation(plan.model, name).relation ?? {};
    if (!through) return [];
    const served = resources.find((each) => ownModel(each.plan.model) === ownModel(through.model));
    const { set, fields = {} } = served?.declaration.options ?? declaredOptions(through.model) ?? {};
    const ruled = Object.entries(fields).flatMap(([field, rules]) =>
      Object.keys(Object(rules)).some((each) => each !== 'read') ? field : [],
    );
    if (set === undefined && ruled.length === 0) return [];
    const passed = set === undefined ? `fields with rules for writing ${ruled.join(', ')}` : 'set';
    return [
      `${plan.name}: links.${name} writes rows of ${through.model.name}, whose options have ${passed}, which links would pass by; ` +
        'write them through the routes of that model, or leave it out.',
    ];
  });

/** True for an attribute without which there is no new link. */
export function isRequired(attribute: AttributeInfo): boolean {
  return !attribute.nullable && !isFilled(attribute) && !isGenerated(attribute);
}

/** Problems of the tables: a link that is sent twice must find the first one. */
export function tableProblems(plan: ResourcePlan): readonly string[] {
  return linkedRelations(plan).flatMap(({ below, link }) => {
    const { relation, target, through } = below;
    const option = `${plan.name}: links.${relation.name}`;
    if (!relation.through || !through) {
      const column = target.info.attributes.get(relation.targetKey)?.found;
      return column?.notNull ? [`${option} ${ownedProblem(relation.target, relation.targetKey)}`] : [];
    }
    const { model } = relation.through;
    const { address } = describePairs({ relation });
    const columns = address.map(({ column }) => column);
    const facts = tableFacts(model);
    if (!facts || columns.some((each) => !facts.columns.has(each))) return [];
    const missing = missingKey({ ...through, address }, columns);
    const offered = linkAttributes(below, link.fields);
    const left = linkAttributes(below, null).filter((each) => isRequired(each) && !offered.includes(each));
    return [
      ...(missing === null
        ? []
        : [`${option} writes rows of ${quotedTable(model)}, where one pair is one link, and ${missing}`]),
      ...left.map(
        ({ name }) =>
          `${option}.fields leaves out '${name}', without which there is no new link; name it, or give it a default.`,
      ),
    ];
  });
}
