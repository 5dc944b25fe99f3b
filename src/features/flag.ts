/** A query parameter that is true or false. */
import type { Input } from '../operation/feature.js';
import { quote } from '../request/query/query-string.js';

/** Makes the input of a parameter that is true or false, for routes that choose their inputs. */
export function flag(name: string, member: string, absent: boolean, description: string): Input {
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
    // A form would send a default of the schema, and other requests to the same path have no such parameter.
    describe: () => ({ description, schema: { type: 'boolean' } }),
  };
}
