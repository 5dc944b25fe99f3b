/** The option `search` of `@Crud` -> the texts that are searched, and how. */
import { isPlain, type OptionCheck, visibleAttribute } from '../../compile/compile-options.js';
import type { ResourceCheck } from '../../compile/compile-resource.js';
import { featureOption, type ResourcePlan } from '../../compile/resource-plan.js';
import { typeWord } from '../../describe/column-type.js';
import type { IndexAdvice } from '../../operation/feature.js';
import type { BareColumn, OuterValue } from '../../request/query/predicate.js';
import { repeatedNames, showValue, unknownOptions } from '../../util/option-problems.js';

/** A search of a resource. */
export interface SearchPlan {
  /** Attributes in one of which each word occurs, or those that the vector is made of. */
  readonly attributes: readonly string[];
  /** Null where words are searched in the attributes themselves. */
  readonly text: TextSearch | null;
}

/** A vector of words, and the configuration that they are of. */
export interface TextSearch {
  readonly vector: OuterValue | BareColumn;
  readonly config: string;
  readonly prefix: boolean;
}

/** Compiles the option; null where it is wrong, which is reported. */
export function compileSearch(value: unknown, check: OptionCheck): SearchPlan | null {
  if (isPlain(value)) return compileText(value as object, check);
  if (!Array.isArray(value) || value.length === 0) {
    check.report(
      `search is ${showValue(value)}; use a list of attributes, such as ['name'], or an object such as ` +
        "{ vector: 'tsv', of: ['title'], config: 'english' }.",
    );
    return null;
  }
  const attributes = namesIn('search', value, check).filter((name) => isText(check, name));
  return Object.freeze({ attributes: Object.freeze(attributes), text: null });
}

function namesIn(option: string, list: readonly unknown[], { report }: OptionCheck): readonly string[] {
  repeatedNames(option, list).forEach(report);
  return [...new Set(list.map(String))];
}

function isText(check: OptionCheck, name: string): boolean {
  const attribute = visibleAttribute(check, 'search', name);
  if (!attribute) return false;
  if (attribute.type.kind === 'string') return true;
  check.report(
    `search names '${name}', of type ${typeWord(attribute.type)}; words are searched in texts (STRING, TEXT, CITEXT, CHAR) alone, so ` +
      'remove it, or allow it in filterAllow.',
  );
  return false;
}

/** A name as PostgreSQL reads it without quotes, with a schema or without. */
const CONFIG = /^[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?$/;

function compileText(value: object, check: OptionCheck): SearchPlan | null {
  const { report } = check;
  const problems = unknownOptions('search', value, ['vector', 'of', 'config', 'prefix']);
  const { vector, of, config, prefix = false } = value as Readonly<Record<string, unknown>>;
  if (typeof vector !== 'string' || vector === '')
    problems.push(
      `search.vector is ${showValue(vector)}; use an attribute or a column of the type tsvector.`,
    );
  if (!Array.isArray(of) || of.length === 0)
    problems.push(
      `search.of is ${showValue(of)}; use the list of the attributes that the vector is made of.`,
    );
  if (typeof config !== 'string' || !CONFIG.test(config))
    problems.push(
      `search.config is ${showValue(config)}; use the configuration that the vector is made with, such as 'english' or 'simple'.`,
    );
  if (typeof prefix !== 'boolean') problems.push(`search.prefix is ${showValue(prefix)}; use true or false.`);
  problems.forEach(report);
  if (problems.length > 0) return null;
  const attributes = namesIn('search.of', of as readonly unknown[], check).filter((name) =>
    visibleAttribute(check, 'search.of', name),
  );
  const column = vectorOf(check, vector as string);
  if (!column) return null;
  return Object.freeze({
    attributes: Object.freeze(attributes),
    text: Object.freeze({ vector: column, config: config as string, prefix: prefix as boolean }),
  });
}

/** The vector, by its attribute where there is one. Its words would reveal the texts that they are made of. */
function vectorOf(
  { info, exposure, report }: OptionCheck,
  vector: string,
): OuterValue | BareColumn | undefined {
  const all = [...info.attributes.values()];
  const attribute = info.attributes.get(vector) ?? all.find(({ column }) => column === vector);
  if (!attribute) return Object.freeze({ column: vector });
  const { name, type } = attribute;
  if (type.kind !== 'named' || type.name !== 'tsvector')
    report(
      `search.vector names '${vector}', of type ${typeWord(type)}; it is a tsvector, such as @Column('tsvector').`,
    );
  else if (!exposure.unreadable.has(name))
    report(
      `search.vector names '${vector}', which answers show; remove @Expose() from ${name}, as its words are those of other attributes.`,
    );
  return Object.freeze({ attribute: name });
}

/** Name of the order by rank. */
export const RELEVANCE = 'relevance';

/** Attributes that no request may read would be searched by none, and one of the name of an order could not be sorted by. */
export const checkSearch: ResourceCheck = ({ features, access, sortable }) => {
  const { attributes, text } = searchOf({ features }) ?? { attributes: [], text: null };
  return [
    ...attributes
      .filter((name) => access?.fields.get(name)?.read === false)
      .map(
        (name) => `search names '${name}', which fields lets no request read; remove it from one of the two.`,
      ),
    ...(text && sortable.includes(RELEVANCE)
      ? [`sortAllow names '${RELEVANCE}', which is the order of a search; rename it, or leave it out.`]
      : []),
  ];
};

/** The search of a resource; null where it has none. */
export const searchOf = featureOption<SearchPlan | null>('search', null);

/** The name of the column, or of its attribute. */
export function vectorName({ vector }: TextSearch): string {
  return 'column' in vector ? vector.column : vector.attribute;
}

/** One index of the vector, or one for each attribute: where one is missing, the others serve nothing. */
export function searchIndexes(plan: ResourcePlan): readonly IndexAdvice[] {
  const { attributes, text } = searchOf(plan) ?? { attributes: [], text: null };
  if (text) return [{ serves: 'a search (search)', attribute: vectorName(text), method: 'gin' }];
  return attributes.map((attribute) => ({
    serves: `a search by '${attribute}' (search)`,
    attribute,
    method: 'gin',
    operators: 'gin_trgm_ops',
    extension: 'pg_trgm',
  }));
}
