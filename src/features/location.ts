/** `Location`: the address of a created record (RFC 9110, 15.3.2). */
import { idSegment } from '../describe/id-text.js';
import type { FeatureFactory, HeaderDescription, Presenter } from '../operation/feature.js';
import { publicBase } from '../operation/public-base.js';

/** A header of operations that create. */
export const location: FeatureFactory = ({ plan }) => {
  const { address } = plan.info;
  const isPlain = address.length === 1 && plan.idKind !== 'value';
  const present: Presenter = (draft, result, request) => {
    const key = result.key();
    if (key === undefined || key === null) return draft;
    const segment = isPlain ? encodeURIComponent(String(key)) : idSegment(address, key);
    if (segment === null) return draft;
    const path = `${publicBase(request)}${plan.prefix}/${segment}`;
    return { ...draft, headers: { ...draft.headers, Location: path } };
  };
  return {
    present: {
      create: present,
      replace: (draft, result, request) => (draft.status === 201 ? present(draft, result, request) : draft),
    },
    headers: {
      create: header('The path of the new record.', true),
      replace: header('Its path, where it is new.'),
    },
  };
};

function header(description: string, required = false): Readonly<Record<string, HeaderDescription>> {
  return { Location: { description, required, schema: { type: 'string', format: 'uri-reference' } } };
}
