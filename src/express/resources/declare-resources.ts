/** `@Crud` records and controllers -> the declarations to compile, each with where its rows come from. */

import { reloadWarnings, standardDecorator } from '../../declare/crud.js';
import type { Class, CrudOptions, ModelClass } from '../../declare/crud-options.js';
import { isAttached } from '../../describe/describe-model.js';
import { minifiedModels } from '../../describe/minified-names.js';
import { declaredOptions } from '../../describe/record.js';
import { refusedModelOptions } from '../../execute/customization/refused-options.js';
import { isPlainRepository, Repository } from '../../execute/records/repository.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import { closedWarnings, enginesInUse, takeoverProblems } from '../../postgres/index.js';
import { pathInListProblem, showValue } from '../../util/option-problems.js';
import { OWN_PLACE } from '../../util/own-package.js';
import { authorizations, declaredParameters, lineageOf } from './controller-metadata.js';
import {
  CrudController,
  type CrudControllerClass,
  controllerSource,
  copyOf,
  isOverridden,
} from './crud-controller.js';
import { forgottenControllers, noteController } from './left-out.js';
import { resourceParameterProblems } from './resource-parameters.js';
import { routingStorage } from './routing-controllers-internals.js';
import type { Settings } from './settings.js';
import {
  methodsOf,
  undecoratedArgumentProblems,
  undecoratedParameterProblems,
  untypedListWarnings,
  untypedParameterProblems,
} from './untyped-parameters.js';

/** A model to serve, before anything is checked. */
export interface Declaration {
  readonly model: ModelClass;
  readonly options: CrudOptions;
  readonly repository: Repository;
  /** The subclass that replaces the generated controller. */
  readonly controller: CrudControllerClass | undefined;
  /** Parts of its controller and repository that may hide rows that its options do not. */
  readonly guards: readonly string[];
  /** Parts of its controller that may hide a record that its repository does not. */
  readonly readGuards: readonly string[];
  /** Parts of its controller and repository that take part in its writes. */
  readonly writeGuards: readonly string[];
}

interface Declarations {
  readonly declarations: readonly Declaration[];
  readonly handWritten: readonly Class[];
  /** Problems of the declarations, behind the problems of earlier steps. */
  readonly problems: readonly string[];
  /** Declarations that may be intended, and are written to the log. */
  readonly warnings: readonly string[];
}

/**
 * Puts records and controllers together. A controller that extends a generated one replaces it, and brings its model
 * along when that has no `@Crud`. Two `@Crud` on one model are a problem, and so are two controllers for one.
 *
 * @param routes all that methods of controllers can serve
 */
export function declareResources(
  {
    records,
    isScan,
    controllers,
    routing,
    problems: earlier,
  }: Pick<Settings, 'records' | 'isScan' | 'controllers' | 'routing' | 'problems'>,
  routes: readonly RouteSpec[],
): Declarations {
  const declarations = new Map<ModelClass, Declaration>();
  const problems = [...earlier];
  for (const { model, options } of records) {
    if (declarations.has(model)) problems.push(`${model.name} has @Crud twice; merge them into one.`);
    declarations.set(model, {
      model,
      options,
      repository: new Repository(model),
      controller: undefined,
      guards: [],
      readGuards: [],
      writeGuards: [],
    });
  }
  const handWritten: Class[] = [];
  const extended: Class[] = [];
  for (const controller of controllers) {
    const source = controllerSource(controller);
    if (!source) {
      const copy = copyOf(Object(controller));
      if (copy !== undefined) problems.push(copyProblem(controller, copy));
      else if (isDecorated(controller)) handWritten.push(controller);
      else problems.push(undecoratedProblem(controller));
      continue;
    }
    extended.push(controller);
    noteController(controller);
    problems.push(...ignoredDecoratorProblems(controller), ...readProblems(controller));
    const { model } = source.repository;
    const known = declarations.get(model);
    if (known?.controller) {
      problems.push(
        `${known.controller.name} and ${controller.name} both extend the controller of ${model.name}; pass one.`,
      );
    }
    declarations.set(model, {
      model,
      options: { ...(known ? known.options : declaredOptions(model)), ...source.options },
      repository: source.repository,
      controller: controller as unknown as CrudControllerClass,
      ...guardsOf(controller as unknown as CrudControllerClass, source.repository),
    });
  }
  // A context is in the place of a name, and the route has no class.
  if (routingStorage().actions.some(({ method }) => typeof method !== 'string'))
    problems.push(standardDecorator('The decorator of a route'));
  const own = [...extended, ...handWritten];
  problems.push(...joinedPathProblems(extended, handWritten));
  const methods = methodsOf(own, routes);
  problems.push(
    ...untypedParameterProblems(methods),
    ...undecoratedParameterProblems(methods, routing),
    ...undecoratedArgumentProblems(methods),
    ...resourceParameterProblems(own, routes),
  );
  problems.push(...takeoverProblems([...declarations.keys()]));
  problems.push(...refusedModelOptions([...declarations.keys()]));
  const minified = minifiedModels([...declarations.keys()]);
  problems.push(...minified.problems);
  if (isScan && declarations.size + controllers.length === 0) problems.push(NO_MODEL);
  const generated = [...declarations.values()].filter(({ controller }) => !controller);
  const forgotten = generated.flatMap(({ model }) => forgottenControllers(model));
  // Where the models are listed, another application of the process may have the subclass.
  if (isScan)
    problems.push(...forgotten.map((line) => `${line} Or list the models that are meant in models.`));
  const warnings = [
    ...(isScan ? reloadWarnings() : forgotten),
    ...minified.warnings,
    ...untypedListWarnings(methods, routing),
    ...closedWarnings([...declarations.keys()]),
  ];
  const unconnected = noEngineProblem([...declarations.keys()]);
  return {
    declarations: unconnected ? [] : [...declarations.values()],
    handWritten,
    problems: [...problems, ...(unconnected ? [unconnected] : [])],
    warnings,
  };
}

const NO_MODEL =
  'No class has @Crud, so there is nothing to serve; import the modules of the models before bootstrap is called, or pass ' +
  'models: [] where none is meant.';

/** Where not one model is attached the cause is one: said once, and not for each model. */
function noEngineProblem(models: readonly ModelClass[]): string | null {
  if (models.length === 0 || enginesInUse().length > 0 || models.some(isAttached)) return null;
  const names = models.map(({ name }) => name).join(', ');
  return (
    `No engine is in use, so there is no database for ${names}; write await engineLifespan(dsn)(app) before bootstrap ` +
    '(without the second call, (app), nothing is connected), or attach them to a Sequelize instance of yours.'
  );
}

/** A subclass is mounted with the prefix and the type of its resource; other ones would be ignored. */
function ignoredDecoratorProblems(controller: Class): string[] {
  const lineage = lineageOf(controller, CrudController);
  const declared = routingStorage().controllers.find(({ target }) => lineage.includes(target));
  if (!declared) return [];
  const { type, route = '/path' } = declared;
  const decorator = type === 'json' ? '@JsonController' : '@Controller';
  return [
    `${controller.name} has ${decorator}, which is ignored where a generated controller is extended; remove it, and give the ` +
      `path as an option: { prefix: '${route}' }.`,
  ];
}

/** An override that was written for \`read(id, context)\` would take the query for the context. */
function readProblems(controller: Class): string[] {
  const generated = controller as unknown as CrudControllerClass;
  if (!isOverridden(generated, 'read')) return [];
  const { read } = generated.prototype;
  const decorated = declaredParameters(lineageOf(controller, CrudController), 'read').map(
    ({ index }) => index,
  );
  const lacksContext = read.length === 2 || decorated.includes(2);
  if (!lacksContext || decorated.includes(1)) return [];
  return [
    `${controller.name} overrides read without the parameter context; write read(id, query, context), with parameters of its ` +
      'own behind them. The query has come between the id and the context.',
  ];
}

/** Reasons for which a repository may hide rows. */
export function repositoryGuards(repository: Repository): string[] {
  return isPlainRepository(repository) ? [] : ['it has a repository of its own'];
}

/** Methods that write one record. */
const WRITES = ['create', 'update', 'remove'] as const;

/** Code of a subclass that takes part in its routes: it runs before a list or a read, in its place, or behind it. */
function guardsOf(
  controller: CrudControllerClass,
  repository: Repository,
): Pick<Declaration, 'guards' | 'readGuards' | 'writeGuards'> {
  const { name } = controller;
  const lineage = lineageOf(controller as unknown as Class, CrudController);
  const { uses, useInterceptors, responseHandlers } = routingStorage();
  const isOn =
    (...methods: readonly (string | undefined)[]) =>
    ({ target, method }: { target: unknown; method?: string }): boolean =>
      lineage.includes(target as object) && methods.includes(method);
  const overrides = (method: string): string[] =>
    isOverridden(controller, method) ? [`${name} overrides ${method}`] : [];
  const authorized = authorizations();
  const guarded = (...methods: readonly string[]): string[] => {
    const concerns = isOn(undefined, ...methods);
    return [
      ...(uses.some(concerns) || authorized.some(concerns) ? [`${name} has middlewares or @Authorized`] : []),
      ...(useInterceptors.some(concerns) ? [`${name} has interceptors`] : []),
    ];
  };
  const isReadDecorated =
    declaredParameters(lineage, 'read').length > 0 ||
    [uses, useInterceptors, responseHandlers].flat().some(isOn('read'));
  return {
    guards: [
      ...overrides('list'),
      ...overrides('read'),
      ...repositoryGuards(repository),
      ...guarded('list', 'read'),
    ],
    // Guards of the class are part of each route.
    readGuards: [...overrides('read'), ...(isReadDecorated ? [`${name}.read has decorators`] : [])],
    writeGuards: [
      ...WRITES.flatMap(overrides),
      ...WRITES.filter((each) => declaredParameters(lineage, each).length > 0).map(
        (each) => `${name}.${each} has decorators`,
      ),
      ...repositoryGuards(repository),
      ...guarded(...WRITES),
    ],
  };
}

/** routing-controllers passes over a class without a decorator, and none of its routes would answer. */
function isDecorated(controller: Class): boolean {
  return routingStorage().controllers.some(({ target }) => target === controller);
}

function copyProblem({ name }: Class, copy: string): string {
  if (copy === OWN_PLACE)
    return (
      `${name} extends crudController of crud-controllers, which was loaded twice from ${copy}, as by a test runner that resets its ` +
      'modules; import bootstrap and the controller behind the same reset.'
    );
  return (
    `${name} extends crudController of another copy of crud-controllers: that of ${copy}, and bootstrap is that of ${OWN_PLACE}. ` +
    'Have one copy: npm ls crud-controllers names what needs which, npm dedupe removes what is not needed.'
  );
}

/** Paths that routing-controllers joins to the one before: `@Get('export')` below `/notes` is `/notesexport`. */
function joinedPathProblems(extended: readonly Class[], handWritten: readonly Class[]): string[] {
  const { actions, controllers } = routingStorage();
  const found = [
    ...actions.filter(({ target }) => extended.includes(target as Class)),
    ...controllers.filter(({ target }) => handWritten.includes(target as Class)),
  ];
  return found.flatMap(({ target, route, ...action }) => {
    if (typeof route !== 'string' || !/^[\w:]/.test(route)) return [];
    const place = 'method' in action ? `${target.name}.${action.method}` : target.name;
    return `${place} has the path '${route}', which does not begin with a slash; write '/${route}'.`;
  });
}

function undecoratedProblem(controller: unknown): string {
  if (typeof controller === 'string') return pathInListProblem('controllers', controller);
  const name = typeof controller === 'function' ? controller.name : showValue(controller);
  return `${name} is in controllers but is none; give it @JsonController, or extend crudController(Model).`;
}
