/** The parameters of a feed. */
import type { Input } from '../../operation/feature.js';
import { CURSOR_LENGTH } from '../../request/query/cursor-codec.js';
import { readInteger } from '../paging.js';
import type { FeedSettings } from './feed-options.js';

/** Events of a page at most. */
const MAX_SIZE = 1_000;
const USUAL_SIZE = 100;

/** Parameters beside those that lists have, too. Their members have names that no parameter of a list has. */
export function changesInputs({ maxWait }: FeedSettings): readonly Input[] {
  const longest = maxWait / 1_000;
  return [
    {
      in: 'query',
      name: 'after',
      member: 'changes.after',
      endpoints: ['list'],
      read: (text) => text,
      describe: () => ({
        description:
          'The `next_cursor` of another page or the id of an event, unchanged, with the same `q`; `now`, which is the default; or `start`, before all events that are kept.',
        schema: { type: 'string', minLength: 1, maxLength: CURSOR_LENGTH, examples: ['now'] },
      }),
    },
    integer('size', USUAL_SIZE, [1, MAX_SIZE], 'How many events a page has. A stream has no pages.'),
    integer('wait', 0, [0, longest], 'Seconds in which the first event may come, where there is none yet.'),
  ];
}

function integer(
  name: string,
  absent: number,
  [minimum, maximum]: readonly [number, number],
  description: string,
): Input {
  return {
    in: 'query',
    name,
    member: `changes.${name}`,
    endpoints: ['list'],
    absent,
    read: (text, { issues }) => readInteger(name, text, [minimum, maximum], absent, issues),
    describe: () => ({ description, schema: { type: 'integer', minimum, maximum, default: absent } }),
  };
}
