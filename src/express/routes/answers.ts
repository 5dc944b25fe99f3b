/** `@Answers`: the description of a route in the OpenAPI document, where its decorators and types have none. */
import type { Class } from '../../declare/crud-options.js';
import { foundInstead } from '../../describe/record.js';
import { ConfigError } from '../../util/config-error.js';
import { keptIn } from '../../util/memo.js';
import { showValue, unknownOptions } from '../../util/option-problems.js';

/** A class, or a list of its instances. */
export type AnswerType = Class | readonly [Class];

/**
 * Answers by status. A class is the body, a text describes the answer, and null is an answer without a body. The body of a text is that
 * of a problem from 400 on, and below that the usual one of the route.
 */
export type StatusAnswers = Readonly<Record<number, AnswerType | string | null>>;

/** Words for a route in the OpenAPI document. */
export interface RouteDetails {
  /** A few words, for lists of operations. Default: the name of the method. */
  readonly summary?: string;
  /** In Markdown. Default: a sentence with the name of the method. */
  readonly description?: string;
  /** Groups of operations that it is shown in. Default: that of its controller. */
  readonly tags?: readonly string[];
  /** True: it needs no authentication, so that no lock is shown, and clients send no token. Default: false. */
  readonly public?: boolean;
}

/** Parts of a route that `@Answers` declares. */
export interface DeclaredRoute {
  /** Body of success, with any status. */
  readonly success?: AnswerType;
  readonly byStatus: StatusAnswers;
  readonly details: RouteDetails;
}

const NOTHING: DeclaredRoute = Object.freeze({ byStatus: {}, details: {} });

const DECLARED = new WeakMap<object, Map<string | symbol, DeclaredRoute>>();

/**
 * Describes a route in the OpenAPI document. The class of the body is that which the method returns; the type of a promise is gone at run
 * time, so it is named here. The status is that of `@HttpCode()`. A model means its records as they are answered, `[City]` an array of them. Any other class is described by its
 * class-validator and class-transformer decorators. Nothing is checked or converted. On a method that overrides a generated one, it
 * replaces the generated description. Several on a method add up.
 *
 * @param answers the class of success, or answers by status, or the words for the route alone
 * @param details the words for the route. Default: those of its name
 * @example
 * ```ts
 * @Post('/:id/publish')
 * @Answers({ 200: Article, 409: 'It is published.' }, { summary: 'Publish an article', tags: ['Editing'] })
 * publish(@InjectRecord() article: Article) { … }
 *
 * @Get('/capitals')
 * @Answers([City])
 * capitals(@InjectRepository(City) cities: Repository<City>) {
 *   return cities.list({ where: { isCapital: true } });
 * }
 *
 * @Get('/ping')
 * @Answers({ summary: 'Answers at once', public: true })
 * ping() { … }
 * ```
 * @throws ConfigError for a value that is neither a class, nor an array of one class, nor an object of these
 */
export function Answers(
  answers: AnswerType | StatusAnswers | RouteDetails,
  details: RouteDetails = {},
): MethodDecorator {
  const declared = parseAnswers(answers, details);
  return (prototype, method) => {
    const ofClass = keptIn(DECLARED, prototype.constructor, () => new Map<string | symbol, DeclaredRoute>());
    const known = ofClass.get(method) ?? NOTHING;
    ofClass.set(method, {
      ...known,
      ...declared,
      byStatus: { ...known.byStatus, ...declared.byStatus },
      details: { ...known.details, ...declared.details },
    });
  };
}

/** Declarations of the nearest class that has any of the method. */
export function declaredRoute(lineage: readonly object[], method: string): DeclaredRoute {
  const found = lineage.map((target) => DECLARED.get(target)?.get(method));
  return found.find((each) => each !== undefined) ?? NOTHING;
}

/** The methods of a class that have a declaration. */
export function declaredMethods(target: object): string[] {
  return [...(DECLARED.get(target)?.keys() ?? [])].map(String);
}

function parseAnswers(answers: AnswerType | StatusAnswers | RouteDetails, details: RouteDetails) {
  if (!isOptions(answers)) {
    throwFirst([...typeProblems(answers), ...detailProblems(details)]);
    return { success: answers, byStatus: {}, details };
  }
  const isByStatus = Object.keys(answers).some((name) => /^\d/.test(name));
  if (!isByStatus) {
    throwFirst([...detailProblems(answers), ...detailProblems(details)]);
    return { byStatus: {}, details: { ...answers, ...details } as RouteDetails };
  }
  throwFirst([...Object.entries(answers).flatMap(statusProblems), ...detailProblems(details)]);
  return { byStatus: answers as StatusAnswers, details };
}

function throwFirst(problems: readonly string[]): void {
  if (problems.length > 0) throw new ConfigError(problems.map((problem) => `@Answers ${problem}`));
}

function isOptions(answers: unknown): answers is StatusAnswers | RouteDetails {
  return typeof answers === 'object' && answers !== null && !Array.isArray(answers);
}

function typeProblems(type: unknown): string[] {
  const [only, ...others] = Array.isArray(type) ? type : [type];
  if (typeof only === 'function' && others.length === 0) return [];
  const found = Array.isArray(type) ? `an array of ${type.length}` : foundInstead(type);
  return [`expects a class, or an array of one class; got ${found}.`];
}

function statusProblems([status, answer]: [string, unknown]): string[] {
  if (!/^[2-5]\d\d$/.test(status)) return [`has the status '${status}'; use a number from 200 to 599.`];
  if (answer === null || (typeof answer === 'string' && answer !== '')) return [];
  return typeProblems(answer).map(
    (problem) => `of ${status} ${problem.replace('expects', 'expects a text,')}`,
  );
}

const DETAILS = ['summary', 'description', 'tags', 'public'];

function detailProblems(details: object): string[] {
  const { summary, description, tags, public: isPublic } = details as Readonly<Record<string, unknown>>;
  const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
  const isWrong = (name: string, value: unknown, isRight: boolean, use: string): string[] =>
    value === undefined || isRight ? [] : [`has the ${name} ${showValue(value)}; use ${use}.`];
  return [
    ...unknownOptions('of a route', details, DETAILS),
    ...isWrong('summary', summary, isText(summary), 'a text'),
    ...isWrong('description', description, isText(description), 'a text'),
    ...isWrong(
      'tags',
      tags,
      Array.isArray(tags) && tags.length > 0 && tags.every(isText),
      "a list such as ['Editing']",
    ),
    ...isWrong('public', isPublic, typeof isPublic === 'boolean', 'true or false'),
  ];
}
