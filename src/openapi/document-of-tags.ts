/** A part of a document: the operations of some tags, and the components that they refer to. Pure. */
import { quote } from '../request/query/query-string.js';
import { InvalidQueryError } from '../schema/request-issue.js';
import { didYouMean } from '../util/option-problems.js';
import type { OpenAPIObject, OperationObject } from './openapi-object.js';

const COMPONENT = /^#\/components\/(?<kind>schemas|responses)\/(?<name>.+)$/;

/**
 * The document of the operations that have one of the tags. It still names all tags, so that a client can choose.
 *
 * @param tags an empty text is none: the document then has no operation
 * @throws InvalidQueryError for a tag that the document does not have
 */
export function documentOfTags(document: OpenAPIObject, tags: readonly string[]): OpenAPIObject {
  const known = document.tags.map(({ name }) => name);
  const wanted = tags.filter((tag) => tag !== '');
  const unknown = wanted.find((tag) => !known.includes(tag));
  if (unknown !== undefined) throw unknownTag(unknown, known);
  const hasTag = ([, operation]: [string, OperationObject]) =>
    operation.tags.some((tag) => wanted.includes(tag));
  const paths = Object.entries(document.paths).flatMap(([path, item]) => {
    const operations = Object.entries(item).filter(hasTag);
    return operations.length > 0 ? [[path, Object.fromEntries(operations)] as const] : [];
  });
  const { schemas, responses, ...others } = document.components;
  const used = new Set<string>();
  findComponents(paths, document.components, used);
  const pick = <T>(kind: string, all: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(all).filter(([name]) => used.has(`#/components/${kind}/${name}`)));
  return {
    ...document,
    paths: Object.fromEntries(paths),
    components: { schemas: pick('schemas', schemas), responses: pick('responses', responses), ...others },
  };
}

/** Adds the references in a value, and those in the components that it refers to. */
function findComponents(value: unknown, components: OpenAPIObject['components'], used: Set<string>): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    if (name !== '$ref' || typeof member !== 'string') {
      findComponents(member, components, used);
      continue;
    }
    const { kind, name: component = '' } = COMPONENT.exec(member)?.groups ?? {};
    if (used.has(member) || (kind !== 'schemas' && kind !== 'responses')) continue;
    used.add(member);
    findComponents(components[kind][component], components, used);
  }
}

function unknownTag(tag: string, known: readonly string[]): InvalidQueryError {
  const detail = `The document has no tag ${quote(tag)}.${didYouMean(tag, known)} Its member 'tags' names all of them.`;
  return new InvalidQueryError([{ parameter: 'tag', code: 'tag.unknown', detail }]);
}
