/** A list as lines of JSON: `Accept: application/x-ndjson`. The last line has the cursor of the next page, if there is one. */
import type { FeatureFactory } from '../../../../src/operation/feature.js';

export const exportLines: FeatureFactory = () => ({
  media: [
    {
      type: 'application/x-ndjson',
      schema: { type: 'string', description: 'A record on each line.' },
      *write(records, { next_cursor: next }) {
        for (const record of records) yield `${record}\n`;
        if (next) yield `${JSON.stringify({ next_cursor: next })}\n`;
      },
    },
  ],
});
