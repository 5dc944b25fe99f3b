/** `@Answers`: what a method of the user's answers, for the document. */
import type { Class } from '../../declare/crud-options.js';
import { foundInstead } from '../../describe/record.js';
import { ConfigError } from '../../util/config-error.js';

/** A class, or a list of its instances. */
export type AnswerType = Class | readonly [Class];

const ANSWERS = new WeakMap<object, Map<string | symbol, AnswerType>>();

/**
 * Says in the OpenAPI document what a route of yours answers; its promise tells no compiler. A model stands for its records as they
 * are answered, `[City]` for an array of them. Any other class is described by its class-validator and class-transformer decorators.
 * Nothing is checked or converted. For methods with a route of their own: what generated methods answer is known.
 *
 * @example
 * ```ts
 * @Get('/capitals')
 * @Answers([City])
 * capitals(@InjectRepository(City) cities: Repository<City>) {
 *   return cities.list({ where: { isCapital: true } });
 * }
 * ```
 * @throws ConfigError when it is neither a class nor an array of one
 */
export function Answers(type: AnswerType): MethodDecorator {
  const [only, ...others] = Array.isArray(type) ? type : [type];
  if (typeof only !== 'function' || others.length > 0) {
    const found = Array.isArray(type) ? `an array of ${type.length}` : foundInstead(type);
    throw new ConfigError([`@Answers expects a class, or an array of one class; got ${found}.`]);
  }
  return (prototype, method) => {
    const ofClass = ANSWERS.get(prototype.constructor) ?? new Map<string | symbol, AnswerType>();
    ANSWERS.set(prototype.constructor, ofClass);
    ofClass.set(method, type);
  };
}

/** Answer of a method, declared by the nearest class that has one. */
export function declaredAnswer(lineage: readonly object[], method: string): AnswerType | undefined {
  for (const target of lineage) {
    const type = ANSWERS.get(target)?.get(method);
    if (type) return type;
  }
  return undefined;
}
