/** Sources of repositories: values that users pass for a repository. */
import type { Model } from 'sequelize';
import type { ModelClass } from '../../declare/crud-options.js';
import { foundInstead, isModelClass } from '../../describe/record.js';
import { ConfigError } from '../../util/config-error.js';
import { Repository } from './repository.js';

/** A subclass of `Repository` for one model. */
export type RepositoryClass<M extends Model = Model> = new () => Repository<M>;

/** A repository, a subclass of `Repository`, or a model class. */
export type Source<M extends Model = Model> = Repository<M> | RepositoryClass<M> | ModelClass<M>;

/** The repository of a source: the instance itself, one of the subclass, or a plain one over the model. */
export function resolveSource<M extends Model>(source: Source<M>): Repository<M> {
  if (source instanceof Repository) return source;
  if (typeof source === 'function') {
    if (source.prototype instanceof Repository) return new (source as RepositoryClass<M>)();
    if (isModelClass(source)) return new Repository(source as ModelClass<M>);
  }
  throw new ConfigError([
    `Expected a model class, a Repository or a subclass of Repository; got ${foundInstead(source)}.`,
  ]);
}

/**
 * A provider of repositories, of a subclass as that subclass. A wrong source is refused now, not when the provider is called.
 *
 * @example
 * ```ts
 * container.bind('cities').toDynamicValue(repository(City));
 * ```
 * @throws ConfigError when the source is neither a model, nor a repository, nor a subclass of `Repository`
 */
export function repository<R extends Repository>(source: R | (new () => R)): () => R;
export function repository<M extends Model>(source: Source<M>): () => Repository<M>;
export function repository(source: Source): () => Repository {
  const provided = resolveSource(source);
  return () => provided;
}
