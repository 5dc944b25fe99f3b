/** `Location`: the address of what was created (RFC 9110, 15.3.2). */
import type { FeatureFactory } from '../operation/feature.js';

/** A header of creates. */
export const location: FeatureFactory = ({ plan }) => ({
  present: {
    create(draft, result, { baseUrl }) {
      const id = result.key();
      if (id === undefined || id === null) return draft;
      const path = `${baseUrl}${plan.prefix}/${encodeURIComponent(String(id))}`;
      return { ...draft, headers: { ...draft.headers, Location: path } };
    },
  },
  headers: {
    create: {
      Location: {
        description: 'The path of the new record.',
        required: true,
        schema: { type: 'string', format: 'uri-reference' },
      },
    },
  },
});
