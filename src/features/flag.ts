/** Query parameters with a few values, for routes that choose their inputs. */
import type { Input } from '../operation/feature.js';
import { quote } from '../request/query/query-string.js';
import { didYouMean } from '../util/option-problems.js';

/** Makes the input of a parameter that is true or false. */
export function flag(name: string, member: string, absent: boolean, description: string): Input {
  const choices = { description, allowed: ['true', 'false'], code: 'boolean', member, absent };
  return {
    ...choice(name, choices, (text) => (text === 'true' ? true : text === 'false' ? false : undefined)),
    // A form would send a default of the schema, and other requests to the same path have no such parameter.
    describe: () => ({ description, schema: { type: 'boolean' } }),
  };
}

interface ChoiceWords {
  readonly description: string;
  /** The texts, as the document shows them. */
  readonly allowed: readonly string[];
  readonly code: string;
  /** Default: the name of the parameter. */
  readonly member?: string;
  readonly absent?: unknown;
}

/** Makes the input of a parameter that is one of a few texts. @param parse undefined for another text. Default: the text itself */
export function choice(
  name: string,
  { description, allowed, code, member = name, absent }: ChoiceWords,
  parse: (text: string) => unknown = (text) => (allowed.includes(text) ? text : undefined),
): Input {
  return {
    in: 'query',
    name,
    endpoints: [],
    member,
    absent,
    read(text, { issues }) {
      const value = parse(text);
      if (value !== undefined) return value;
      const list = allowed.map((each) => `'${each}'`).join(', ');
      const detail = `Parameter '${name}' is ${quote(text)}; it accepts ${list}.${didYouMean(text, allowed)}`;
      issues.push({ parameter: name, code, detail, allowed });
      return absent;
    },
    describe: () => ({ description, schema: { type: 'string', enum: allowed } }),
  };
}
