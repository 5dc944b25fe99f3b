/** `If-None-Match: *`: a replacement that creates, and leaves a record that is there alone. */
import type { FeatureFactory } from '../operation/feature.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';

/** For resources with tags and without: whether there is a record needs none. */
export const onlyNew: FeatureFactory = ({ plan: { name } }) => ({
  inputs: [
    {
      in: 'header',
      name: 'If-None-Match',
      endpoints: ['replace'],
      member: 'onlyNew',
      read(text, { textOf }) {
        if (text.trim() !== '*') throw new RefusedRequestError(400, 'If-None-Match of a write is *.');
        if (textOf('If-Match') === undefined) return true;
        // Both cannot hold (RFC 9110, 13.2.2).
        throw new RefusedRequestError(
          412,
          `A ${name} cannot be there and not be there, and nothing was done; send If-Match or If-None-Match.`,
        );
      },
      describe: () => ({
        description: 'With `*` the record is created, and one that is there stays as it is.',
        schema: { type: 'string', enum: ['*'] },
      }),
    },
  ],
  rewrite: {
    replace: (operation, inputs) => (inputs.onlyNew ? { ...operation, only: 'create' } : operation),
  },
  problems: { replace: [412] },
});
