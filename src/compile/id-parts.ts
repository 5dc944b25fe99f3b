/** The parts of the ids of a resource, each with its own parser: bodies have them as members. */

import type { AttributeInfo } from '../describe/model-info.js';
import { only } from '../describe/row-key.js';
import { compileId, type IdKind, type IdParser } from './compile-id.js';
import type { ResourcePlan } from './resource-plan.js';

/** A part of an id. */
export interface IdPart {
  readonly attribute: AttributeInfo;
  readonly kind: IdKind;
  readonly parseId: IdParser;
}

/** @throws TypeError for a part that no text can be parsed into; the plan has refused it before */
export function idParts({
  info: { name, address },
  idKind,
  parseId,
}: Pick<ResourcePlan, 'info' | 'idKind' | 'parseId'>): readonly IdPart[] {
  if (address.length === 1) return [{ attribute: only(address), kind: idKind, parseId }];
  return address.map((attribute) => {
    const { parser, kind, problems } = compileId({ name: name, address: [attribute] }, undefined);
    if (problems.length === 0) return { attribute, kind, parseId: parser };
    throw new TypeError(`${name}.${attribute.name} has no parser of ids.`);
  });
}
