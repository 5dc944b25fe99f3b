/** Pages: `page` and `size`, or `after`, `before` and `size`. */
import type { PageSize } from '../compile/resource-plan.js';
import { type FeatureFactory, type Input, type Inputs, PLACES, type Reading } from '../operation/feature.js';
import type { ListOperation } from '../operation/operation.js';
import type { Keyset } from '../request/query/cursor-codec.js';
import { CURSOR_LENGTH } from '../request/query/cursor-codec.js';
import { quote } from '../request/query/query-string.js';
import type { RequestIssue } from '../schema/request-issue.js';

const WHOLE_NUMBER = /^(?:0|[1-9][0-9]*)$/;
/** The largest page number. Far beyond any table, and its product with a size is still an exact integer. */
const MAX_PAGE = 2_147_483_647;

/** Pages by number or by cursor. */
export const paging: FeatureFactory = (context) => {
  const { pagination, pageSize } = context.plan;
  const isOffset = pagination === 'offset';
  const page = integerInput('page', 'The number of the page. One past the end has no items.', 1, [
    1,
    MAX_PAGE,
  ]);
  const size = sizeInput(pageSize);
  const decode: DecodePlace<Keyset> = (text, { inputs: { sort = [] }, digest }, name) =>
    context.cursors.decode(text, { plan: context.plan, sort, digest: digest() }, name);
  const places = isOffset ? [page] : placeInputs(decode, 'with the same `q` and `sort`');
  return {
    constants: { list: () => ({ kind: pagination }) },
    inputs: [...places, size],
    prepare: isOffset ? {} : { list: (operation) => byCursor(operation, { size: pageSize.default }) },
    rewrite: {
      list: (operation, inputs) =>
        inputs.kind === 'cursor' ? byCursor(operation, inputs) : byNumber(operation, inputs),
    },
  };
};

/** A list has all of these always. */
type Window<K extends string> = Inputs & Readonly<Required<Pick<Inputs, K>>>;

function byNumber(operation: ListOperation, inputs: Inputs): ListOperation {
  const { page, size } = inputs as Window<'page' | 'size'>;
  return { ...operation, window: { kind: 'offset', page, size } };
}

function byCursor(operation: ListOperation, inputs: Inputs): ListOperation {
  const { after = null, before = null, size } = inputs as Window<'after' | 'before' | 'size'>;
  return { ...operation, window: { kind: 'keyset', after, before, size } };
}

/** Reads an integer of a range. Problems are added to `issues`, and the absent value is read. */
export function readInteger<A>(
  parameter: string,
  text: string,
  [minimum, maximum]: readonly [number, number],
  absent: A,
  issues: RequestIssue[],
): number | A {
  const value = WHOLE_NUMBER.test(text) ? Number(text) : Number.NaN;
  if (value >= minimum && value <= maximum) return value;
  const detail = `Parameter '${parameter}' is ${quote(text)}; it accepts an integer from ${minimum} to ${maximum}.`;
  issues.push({ parameter, code: 'range', detail });
  return absent;
}

/** An integer of a range. */
export function integerInput(
  name: string,
  description: string,
  absent: number,
  [minimum, maximum]: readonly [number, number],
): Input {
  return {
    in: 'query',
    name,
    endpoints: ['list'],
    absent,
    read: (text, { issues }) => readInteger(name, text, [minimum, maximum], absent, issues),
    describe: () => ({ description, schema: { type: 'integer', minimum, maximum, default: absent } }),
  };
}

/** The number of items of a page. */
export function sizeInput({ default: usual, max }: PageSize): Input {
  return integerInput('size', 'How many items a page has.', usual, [1, max]);
}

type DecodePlace<P> = (text: string, reading: Reading, name: 'after' | 'before') => P;

/** The two cursors of a list, one of which a request may have. Read last: a cursor belongs to one order and filter. @param unchanged other values that stay */
export function placeInputs<P>(decode: DecodePlace<P>, unchanged: string): readonly Input[] {
  const names = ['after', 'before'] as const;
  return names.map((name) => {
    const other = name === 'after' ? 'before' : 'after';
    return {
      in: 'query',
      name,
      endpoints: ['list'],
      absent: null,
      turn: PLACES,
      read(text, reading): P | null {
        if (reading.textOf(other) !== undefined) {
          if (name === 'before') reading.issues.push(EXCLUSIVE);
          return null;
        }
        // When something is wrong with the order or the filter, there is nothing to compare the cursor with.
        return reading.issues.length > 0 ? null : decode(text, reading, name);
      },
      describe: () => ({
        description:
          `The \`${name === 'after' ? 'next' : 'prev'}_cursor\` of another page, unchanged, ${unchanged}. ` +
          `Not together with \`${other}\`.`,
        schema: { type: 'string', minLength: 1, maxLength: CURSOR_LENGTH },
      }),
    };
  });
}

const EXCLUSIVE: RequestIssue = Object.freeze({
  parameter: 'before',
  code: 'exclusive',
  detail: "Parameters 'after' and 'before' exclude each other.",
});
