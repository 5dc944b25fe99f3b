/** The parameters of writes of many records: `atomic`, `dry_run`, and with `q` `max_affected`. */
import type { BulkEndpoint } from '../../declare/endpoint.js';
import type { Input, Inputs } from '../../operation/feature.js';
import type { Filter } from '../../request/query/predicate.js';
import { quote } from '../../request/query/query-string.js';

/** Values of the parameters, and the rows of the body. */
export interface BulkInputs extends Inputs {
  /** The rows; null where the body has the keys. */
  readonly filter: Filter | null;
  readonly isAtomic: boolean;
  readonly isDryRun: boolean;
  /** Rows that `filter` may find; undefined where the request does not say. */
  readonly maxAffected?: number;
}

/** Rows that a filter may find where the request does not say. */
export const DEFAULT_MAX_AFFECTED = 100;

const POSITIVE_INTEGER = /^[1-9]\d{0,8}$/;

/**
 * The parameters of an endpoint. No feature takes part in them, so that each is in this list or is refused.
 *
 * @param max records in a request
 * @param filter `q`, as lists have it
 */
export function bulkInputs(max: number, endpoint: BulkEndpoint, filter: Input | undefined): readonly Input[] {
  const flags = [
    flag(
      'atomic',
      'isAtomic',
      true,
      'Whether one record that is refused undoes all. With `false` each has a status of its own. Default: true.',
    ),
    flag(
      'dry_run',
      'isDryRun',
      false,
      'Whether all is undone again. The answer is the same. Default: false.',
    ),
  ];
  if (endpoint === 'createMany' || !filter) return flags;
  return [filter, maxAffected(max), ...flags];
}

function flag(name: string, member: string, absent: boolean, description: string): Input {
  return {
    in: 'query',
    name,
    endpoints: [],
    member,
    absent,
    read(text, { issues }) {
      if (text === 'true' || text === 'false') return text === 'true';
      const detail = `Parameter '${name}' is ${quote(text)}; it accepts true and false.`;
      issues.push({ parameter: name, code: 'boolean', detail, allowed: ['true', 'false'] });
      return absent;
    },
    // A form would send a default of the schema, and a request for one record has no such parameter.
    describe: () => ({ description, schema: { type: 'boolean' } }),
  };
}

function maxAffected(max: number): Input {
  const name = 'max_affected';
  const usual = Math.min(DEFAULT_MAX_AFFECTED, max);
  return {
    in: 'query',
    name,
    endpoints: [],
    member: 'maxAffected',
    turn: 2,
    read(text, { inputs, issues }) {
      const value = POSITIVE_INTEGER.test(text) ? Number(text) : Number.NaN;
      if (!(value <= max)) {
        const detail = `Parameter '${name}' is ${quote(text)}; it accepts an integer from 1 to ${max}.`;
        issues.push({ parameter: name, code: 'range', detail });
      } else if (!inputs['filter'] && issues.length === 0) {
        const detail = `Parameter '${name}' is the most records that q may find, and there is no q.`;
        issues.push({ parameter: name, code: 'exclusive', detail });
      }
      return value;
    },
    describe: () => ({
      description: `The most records that \`q\` may find. Where there are more, nothing is written. With \`q\` only. Default: ${usual}.`,
      schema: { type: 'integer', minimum: 1, maximum: max },
    }),
  };
}
