/** The base class of every generated controller, and `crudController`, which users extend. */
import type { Request, Response } from 'express';
import type { Model } from 'sequelize';
import type { CreateValues, UpdateValues } from '../../declare/attributes.js';
import type { CrudOptions, ModelClass } from '../../declare/crud-options.js';
import { valuesOfId } from '../../describe/row-key.js';
import type { Page } from '../../execute/page.js';
import type { Repository } from '../../execute/records/repository.js';
import type { Id } from '../../execute/records/repository-operations.js';
import { resolveSource, type Source } from '../../execute/records/repository-source.js';
import type { ListQuery, ReadQuery } from '../../request/query/list-query.js';
import { requestResource } from '../../request/request-notes.js';
import { OWN_PLACE } from '../../util/own-package.js';

/**
 * The last argument of every method of a generated controller: the request, and a repository with the rows that it may see.
 *
 * `M` is the model; left out, the context fits the controller of any model, and its repository returns `any`. `Q` is the type of the properties that
 * your middlewares have put on the request, or its type as rules of access take it. Default: nothing.
 *
 * @example
 * ```ts
 * override create(values: CreateValues<Article>, context: CrudContext<Article, SignedRequest>) {
 *   if (context.request.user.isNew) throw new ForbiddenError('New users write no articles.');
 *   return super.create(values, context);
 * }
 * ```
 */
// biome-ignore lint/suspicious/noExplicitAny: only any fits every model, as a repository both takes and returns records
export interface CrudContext<M extends Model = any, Q = unknown> {
  /** The request of Express, with the properties that your middlewares have added. */
  readonly request: Request & Q;
  /** The response, for headers of yours. The answer itself is the result of the method. */
  readonly response: Response;
  /**
   * The rows within the access of the request: its `scope`, `visible` and soft deletion. In a request that has a unit of work its
   * queries are part of it. `repository.unscoped()` leaves the scope.
   */
  readonly repository: Repository<M>;
}

/**
 * The operations of a resource. Ids are parsed and values are validated when a method is called; the records that it returns
 * go through the read schema. The class holds no state: everything comes in, so one class serves any application.
 *
 * `R` is the type of results: `M` itself, or `object` for a subclass that returns plain objects.
 */
export abstract class CrudController<M extends Model = Model, R extends object = M> {
  /**
   * `GET /`: a page of records. `query` is the query string, checked and parsed; it goes to `page` or `cursorPage` of the
   * repository as it is, or with a `where` of yours. Cursors, totals and `fields` are made of the page that is returned. Parameters
   * with `@QueryParam()` behind the context are read beside those of the list, and are in the document.
   *
   * @example
   * ```ts
   * override list(
   *   query: OffsetListQuery,
   *   { repository }: CrudContext<Article>,
   *   @QueryParam('minWords') minWords?: number,
   * ): Promise<Page<Article>> {
   *   return repository.page({ ...query, where: { words: { [Op.gte]: minWords ?? 0 } } });
   * }
   * ```
   */
  list(query: ListQuery, context: CrudContext<M>): Promise<Page<R>> {
    const { repository } = context;
    return result(query.kind === 'cursor' ? repository.cursorPage(query) : repository.page(query));
  }

  /**
   * `GET /{id}`: one record. `query` has `fields`, `include` and `deleted`; answers have only the fields that it names, whatever
   * the record has.
   *
   * @throws NotFoundError when there is none, or the request may not see it: 404
   */
  read(id: Id, { include, deleted }: ReadQuery, { repository }: CrudContext<M>): Promise<R> {
    return result(repository.get(id, { include, deleted }));
  }

  /**
   * `POST /`: a new record. `values` are those of the create schema, validated and of the types that the model has; they have no
   * attribute that the request may not set. The answer is 201 with the record, and `Location`.
   *
   * @example
   * ```ts
   * override create(values: CreateValues<Article>, context: CrudContext<Article>) {
   *   return super.create({ ...values, slug: slugify(values.title) }, context);
   * }
   * ```
   */
  create(values: CreateValues<M>, context: CrudContext<M>): Promise<R> {
    return result(context.repository.create(values));
  }

  /**
   * `PATCH /{id}`: a change. `values` has only values of the body. The answer is the record after the change.
   *
   * @throws NotFoundError when there is none, or the request may not see it: 404
   * @throws ConcurrentModificationError when it is a row of a view with a version, and another transaction has changed it since it was read: 409
   */
  update(id: Id, values: UpdateValues<M>, context: CrudContext<M>): Promise<R> {
    return result(context.repository.update(id, values));
  }

  /**
   * `DELETE /{id}`: deletes the record, softly where the model is `paranoid` or has `softDelete`. The answer is 204.
   *
   * @throws NotFoundError when there is none, or the request may not see it: 404
   */
  remove(id: Id, context: CrudContext<M>): Promise<void> {
    return context.repository.delete(id);
  }

  /**
   * `POST /{id}/restore`: undoes the soft delete of a record. The answer is 200 with the record.
   *
   * @throws NotFoundError when there is none, or the request may not see it: 404
   * @throws NotDeletedError when there is none to undo: 409
   */
  restore(id: Id, context: CrudContext<M>): Promise<R> {
    return result(context.repository.restore(id));
  }

  /**
   * `DELETE /{id}/purge`: removes a record for good, after a soft delete. The answer is 204.
   *
   * @throws NotFoundError when there is none, or the request may not see it: 404
   * @throws NotDeletedError where there was none: 409
   */
  purge(id: Id, context: CrudContext<M>): Promise<void> {
    return context.repository.purge(id);
  }

  /**
   * `PUT /{id}`: by `update` where the record is there, and else by `create`. The status of the response says which: 201 is a new
   * record. A `create` that another request has outrun is undone, and the method runs once more, because there is a record by then.
   *
   * @param values all that the request may set, with the defaults of missing ones
   */
  async replace(id: Id, values: CreateValues<M>, context: CrudContext<M>): Promise<R> {
    const { repository, request, response } = context;
    // With If-None-Match the record is created, or refused by its key: another request may have created it meanwhile.
    if (requestResource(request)?.isKeyGiven === false)
      return this.update(id, values as UpdateValues<M>, context);
    const isOnlyNew = request.headers['if-none-match'] !== undefined;
    const changes = isOnlyNew ? null : await repository.lockToReplace(id, values);
    response.status(changes ? 200 : 201);
    if (changes) return this.update(id, changes, context);
    return this.create({ ...values, ...valuesOfId(repository.idParts, id) }, context);
  }
}

/** A record is an `R` unless a subclass says otherwise, and then it is an object all the same. */
function result<T>(records: Promise<unknown>): Promise<T> {
  return records as Promise<T>;
}

interface ControllerSource {
  readonly repository: Repository;
  readonly options: CrudOptions;
}

/** A class that extends a generated controller, or is one. */
export type CrudControllerClass<
  M extends Model = Model,
  R extends object = M,
> = abstract new () => CrudController<M, R>;

const SOURCES = new WeakMap<object, ControllerSource>();

/** Place of the copy of this package that has generated a controller: the sources of another copy are not registered here. */
const COPY = Symbol.for('crud-controllers:controller:v1');

/** The classes that `crudController` has returned, by model, as long as they exist. */
const REQUESTED = new WeakMap<object, readonly WeakRef<CrudControllerClass>[]>();

/**
 * The generated controller of a model, to be extended. Pass the subclass to `bootstrap(app, { controllers: [...] })`:
 * it replaces the generated one. An override needs no decorators; added routes are relative to the resource's prefix.
 *
 * @param source a model class, a repository, or a subclass of `Repository`
 * @param options as for `@Crud`; they come on top of those of the model's `@Crud`
 * @example
 * ```ts
 * class ArticleController extends crudController(Article) {
 *   override async create(values: CreateValues<Article>, context: CrudContext<Article>) {
 *     return super.create({ ...values, slug: slugify(values.title) }, context);
 *   }
 *   @Post('/:id/publish') publish(@InjectRecord() article: Article) { … }
 * }
 * ```
 * @throws ConfigError when the source is none of these
 */
export function crudController<M extends Model, R extends object = M>(
  source: Source<M>,
  options: CrudOptions<M> = {},
): CrudControllerClass<M, R> {
  const repository = resolveSource(source);
  const controller = generateController<M, R>(repository, options);
  const { model } = repository;
  const known = REQUESTED.get(model)?.filter((each) => each.deref()) ?? [];
  REQUESTED.set(model, [...known, new WeakRef(controller as unknown as CrudControllerClass)]);
  return controller;
}

/** True where a method of a controller is the user's. */
export function isOverridden(controller: CrudControllerClass, method: string): boolean {
  const name = method as keyof CrudController;
  return controller.prototype[name] !== CrudController.prototype[name];
}

/** The classes that `crudController` made for a model. */
export function requestedControllers(model: ModelClass): CrudControllerClass[] {
  return (REQUESTED.get(model) ?? []).flatMap((each) => each.deref() ?? []);
}

/** The generated controller of a model, for the library's own use where no class extends it. */
export function generateController<M extends Model, R extends object = M>(
  repository: Repository<M>,
  options: CrudOptions<M> = {},
): CrudControllerClass<M, R> {
  const name = `${repository.model.name}Controller`;
  const holder = { [name]: class extends CrudController<M, R> {} };
  const controller = holder[name] as CrudControllerClass<M, R>;
  Object.defineProperty(controller, COPY, { value: OWN_PLACE });
  SOURCES.set(controller, {
    // The registry of sources holds many models side by side; a plan ties each to its own again.
    repository: repository as unknown as Repository,
    options: Object.freeze({ ...options }) as unknown as CrudOptions,
  });
  return controller;
}

/** Place of the copy that has generated the base of a controller; undefined for a hand-written one. */
export function copyOf(controller: object): string | undefined {
  return (controller as { readonly [COPY]?: string })[COPY];
}

/** The source of the nearest generated class that `controller` extends, or undefined for a hand-written controller. */
export function controllerSource(controller: object): ControllerSource | undefined {
  for (let target: object | null = controller; target; target = Object.getPrototypeOf(target)) {
    const source = SOURCES.get(target);
    if (source) return source;
  }
  return undefined;
}
