/**
 * The bytes of the results of Sequelize's queries. pg parses values as rows arrive, and all of them are in the heap before anything can
 * be done with the first one. A parser that throws has pg drop the rest of the result; the connection goes on.
 */
import { TEXT_WEIGHT } from '../../util/memory-budget.js';
import { ResultBytes } from './result-limit.js';

/** Types whose values are as long as their texts: bytea, text, bpchar and varchar. */
const TEXTS: ReadonlySet<number> = new Set([17, 25, 1042, 1043]);
/** Bytes of memory for a value, or an item of one: `{}` in JSON is two of them, and 56 bytes. */
const ITEM = 32;

type Parse = (text: string) => unknown;

/** Types of pg, as queries may have their own. */
interface Types {
  getTypeParser(oid: number, format?: 'text'): Parse;
}

/** The results of one connection. */
export class CountedValues {
  readonly #client: Types;
  readonly #bytes = new ResultBytes();

  constructor(client: object) {
    this.#client = client as Types;
    const { connection } = client as { readonly connection?: NodeJS.EventEmitter };
    connection?.on('readyForQuery', ({ status }: { readonly status: string }) => {
      // Rows of a transaction may be held until it ends.
      if (status === 'I') this.#bytes.end();
      else this.#bytes.next(false);
    });
    connection?.on('end', () => this.#bytes.end());
  }

  /** A query that is counted. One that submits itself parses its own rows. */
  count(query: unknown): unknown {
    if (typeof query === 'string') return { text: query, types: this.#counting(this.#client) };
    if (typeof query !== 'object' || query === null || 'submit' in query) return query;
    const { types } = query as { readonly types?: Types };
    return { ...query, types: this.#counting(types ?? this.#client) };
  }

  #counting(types: Types): Types {
    return {
      getTypeParser: (oid, format) => {
        const parse = types.getTypeParser(oid, format);
        const isText = TEXTS.has(oid);
        return (text) => {
          const { length } = text;
          const memory = TEXT_WEIGHT * length + ITEM * (isText ? 1 : itemsOf(text));
          const refusal = this.#bytes.add(length, memory);
          if (refusal) throw refusal;
          return parse(text);
        };
      },
    };
  }
}

/** The value, and the items that a JSON text or an array may have. */
function itemsOf(text: string): number {
  let items = 1;
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code === COMMA || code === BRACE || code === BRACKET) items += 1;
  }
  return items;
}

const COMMA = 0x2c;
const BRACKET = 0x5b;
const BRACE = 0x7b;
