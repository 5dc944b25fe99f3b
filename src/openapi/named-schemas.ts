/** Components of a document for classes of the user's: each class has one name, and classes inside classes are references. */
import type { Class } from '../declare/crud-options.js';
import { refuseMinified } from '../describe/minified-names.js';
import { isModel } from '../describe/record.js';
import { answerJsonSchema, classJsonSchema, type WriteNested } from '../schema/class-json-schema.js';
import { classProperties, isDerived } from '../schema/class-properties.js';
import type { JsonSchema } from '../schema/json-schema.js';
import { readSchema } from '../schema/model-schemas.js';
import { schemaRef } from './openapi-object.js';
import { type MakeName, pascalCase } from './resource-schemas.js';

type Direction = Parameters<WriteNested>[1];

/** Schemas of resources, which classes may have, too. */
interface KnownSchemas {
  /** Name of the record of a served model. */
  recordOf(model: object): string | undefined;
  /** Writes a schema of a resource; undefined for a name that is none. */
  write(name: string, writeNested: WriteNested): JsonSchema | undefined;
}

/** Names of the other schema of a class that is both a body and an answer. */
const SUFFIXES: Readonly<Record<Direction, string>> = { write: 'Input', read: 'Answer' };

/** The schemas of classes, by name. */
export class NamedSchemas {
  readonly #names = { write: new Map<Class, string>(), read: new Map<Class, string>() };
  /** In the order in which routes refer to them. */
  readonly schemas: Record<string, JsonSchema> = {};

  constructor(
    private readonly makeName: MakeName,
    private readonly known: KnownSchemas,
  ) {}

  /** Refers to the schema of a class, and writes it at the first reference. */
  readonly refer: WriteNested = (type, direction) => {
    if (direction === 'read' && isModel(type)) {
      const name = this.known.recordOf(type);
      return name === undefined ? this.refer(readSchema(type), direction) : this.#knownRef(name);
    }
    if (classProperties(type, direction).size === 0) return { type: 'object' };
    const name = this.#names[direction].get(type) ?? this.#add(type, direction);
    return schemaRef(name);
  };

  #knownRef(name: string): JsonSchema {
    this.schemas[name] ??= this.known.write(name, this.refer) ?? {};
    return schemaRef(name);
  }

  #add(type: Class, direction: Direction): string {
    if (!isDerived(type)) refuseMinified(type);
    const wanted = pascalCase(type.name) || 'Unnamed';
    const write = direction === 'read' ? answerJsonSchema : classJsonSchema;
    // The body of a resource may be that of a route of the user's.
    const isKnown = isDerived(type) && isEqual(write(type, this.refer), this.known.write(wanted, this.refer));
    const isOther = this.#names[direction === 'read' ? 'write' : 'read'].has(type);
    const name = isKnown ? wanted : this.makeName(isOther ? `${wanted}${SUFFIXES[direction]}` : wanted);
    this.#names[direction].set(type, name);
    // The class may be inside itself, and then refers to its name.
    this.schemas[name] ??= {};
    this.schemas[name] = write(type, this.refer);
    return name;
  }
}

function isEqual(first: JsonSchema, second: JsonSchema | undefined): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}
