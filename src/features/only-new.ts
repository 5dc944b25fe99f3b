/** `If-None-Match: *` of a write: a replacement that creates, and leaves a record that is there alone. Others are refused. */
import type { FeatureFactory } from '../operation/feature.js';
import { RefusedRequestError } from '../operation/refused-request-error.js';

/** Operations that change a record which exists. The condition rules them out (RFC 9110, 13.1.2). */
const CHANGES = ['update', 'delete'] as const;

/** For resources with tags and without: whether there is a record needs none. */
export const onlyNew: FeatureFactory = ({ plan: { name } }) => ({
  inputs: [
    {
      in: 'header',
      name: 'If-None-Match',
      endpoints: ['replace'],
      member: 'onlyNew',
      read(text, { textOf }) {
        checkAny(text);
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
    {
      in: 'header',
      name: 'If-None-Match',
      endpoints: CHANGES,
      read(text) {
        checkAny(text);
        throw new RefusedRequestError(
          412,
          `Only a ${name} that is there can be changed, and nothing was done; leave If-None-Match out.`,
        );
      },
    },
  ],
  rewrite: {
    replace: (operation, inputs) => (inputs.onlyNew ? { ...operation, only: 'create' } : operation),
  },
  problems: Object.fromEntries([...CHANGES, 'replace'].map((each) => [each, [412]])),
});

/** @throws RefusedRequestError 400 */
function checkAny(text: string): void {
  if (text.trim() !== '*') throw new RefusedRequestError(400, 'If-None-Match of a write is *.');
}
