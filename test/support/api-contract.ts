/** A document as a contract: answers are checked against it, strictly, and the checked parts of it are remembered. */
import { expect } from 'chai';
import type { Response } from 'supertest';
import type {
  OpenAPIObject,
  OperationObject,
  Reference,
  ResponseObject,
} from '../../src/openapi/openapi-object.js';
import type { JsonSchema } from '../../src/schema/json-schema.js';
import { schemaChecker } from './json-schema-checker.js';

/** One operation and where it is. */
export interface ContractOperation {
  readonly method: 'get' | 'post' | 'patch' | 'delete';
  /** With the names of its parameters in braces. */
  readonly path: string;
  readonly operation: OperationObject;
}

/** A contract that remembers which of its promises were kept. */
export class ApiContract {
  readonly operations: ReadonlyMap<string, ContractOperation>;
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  readonly #document: OpenAPIObject;
  readonly #compile: ReturnType<typeof schemaChecker>;
  readonly #seen = new Set<string>();

  constructor(document: OpenAPIObject) {
    this.#document = document;
    this.schemas = document.components.schemas;
    this.#compile = schemaChecker(closed(document));
    const operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => ({ method, path, operation }) as ContractOperation),
    );
    this.operations = new Map(operations.map((each) => [each.operation.operationId, each]));
  }

  /** Fails where an answer does not fit the document of this operation and status. */
  check(operationId: string, answer: Response): void {
    const { operation } = this.operations.get(operationId) as ContractOperation;
    const { status, headers, text = '' } = answer;
    const place = `${operationId} ${status} ${text}`;
    const documented = operation.responses[status];
    if (documented === undefined) expect.fail(`Not documented: ${place}`);
    this.#seen.add(`${operationId} ${status}`);
    const response = this.#resolve(documented);
    for (const [name, header] of Object.entries(response.headers ?? {})) {
      const value: unknown = headers[name.toLowerCase()];
      expect(value !== undefined || !header.required, `${place} has no ${name}`).to.equal(true);
      if (value === undefined) continue;
      this.#expectValid(header.schema, header.schema.type === 'integer' ? Number(value) : value, place);
    }
    if (!response.content) {
      expect(text, place).to.equal('');
      return;
    }
    const mediaType = String(headers['content-type']).split(';')[0] ?? '';
    const content = response.content[mediaType];
    if (!content) expect.fail(`${place} is ${mediaType}`);
    // A file is a text.
    this.#expectValid(content.schema, content.schema.type === 'string' ? text : JSON.parse(text), place);
  }

  /** The promises that no answer has shown to be true. @param own operations of the user's, whose problems depend on his code */
  unseen(own: readonly string[] = []): string[] {
    return [...this.operations.values()]
      .flatMap(({ operation: { operationId, responses } }) =>
        Object.keys(responses)
          .filter((status) => status.startsWith('2') || !own.includes(operationId))
          .map((status) => `${operationId} ${status}`),
      )
      .filter((promise) => !this.#seen.has(promise));
  }

  /** True where a schema of the document allows a value. */
  allows(schema: JsonSchema, value: unknown): boolean {
    return this.#compile(schema)(value);
  }

  #expectValid(schema: JsonSchema, value: unknown, place: string): void {
    const validate = this.#compile(closed(schema));
    expect(validate(value), `${place}: ${JSON.stringify(validate.errors)}`).to.equal(true);
  }

  #resolve(response: ResponseObject | Reference): ResponseObject {
    if (!('$ref' in response)) return response;
    const name = response.$ref.slice('#/components/responses/'.length);
    return this.#document.components.responses[name] as ResponseObject;
  }
}

/** Objects with no other properties than those described: an answer may have no undocumented ones. */
function closed<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(closed) as T;
  const members = Object.entries(value).map(([name, member]) => [name, closed(member)] as const);
  const isObjectSchema = 'properties' in value && !('additionalProperties' in value);
  return Object.fromEntries([...members, ...(isObjectSchema ? [['additionalProperties', false]] : [])]) as T;
}
