/** What a controller's method gets besides its data. */
import type { Request, Response } from 'express';
import type { Model } from 'sequelize';
import type { Repository } from '../../persistence/records/repository.js';

/**
 * The last argument of every method of a generated controller.
 *
 * `M` is the model; left out, the context fits the controller of any model, and its repository returns `any`.
 */
// biome-ignore lint/suspicious/noExplicitAny: only any fits every model, as a repository both takes and gives records
export interface CrudContext<M extends Model = any> {
  readonly request: Request;
  readonly response: Response;
  readonly repository: Repository<M>;
}
