/** `repository`: a repository for those who take providers, such as a container. */
import type { Model } from 'sequelize';
import type { Repository } from './repository.js';
import { resolveSource, type Source } from './resolve-source.js';

/**
 * A provider of repositories, of a subclass as that subclass. What is wrong with the source is told now, not when the provider is called.
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
