/** Conditions of HTTP: `If-Match`. */
import type { FeatureFactory } from '../operation/feature.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';

/**
 * A write with `If-Match` asks to happen only if the record is still the one that the client has seen. Without strong tags
 * nothing can tell (RFC 9110, 13.1.1), and a write that passes the condition by may overwrite another change.
 */
export const condition: FeatureFactory = ({ plan }) => ({
  inputs: [
    {
      in: 'header',
      name: 'If-Match',
      endpoints: ['create', 'update', 'delete'],
      read() {
        throw new RefusedRequestError(
          412,
          `${plan.name} has no entity tags, so If-Match cannot be checked, and nothing was done; leave it out.`,
        );
      },
    },
  ],
  problems: { create: [412], update: [412], delete: [412] },
});
