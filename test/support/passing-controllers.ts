/** Code of a user's that calls `super` in each generated method, and passes on its result. */
import type { Model } from 'sequelize';
import {
  type Class,
  type CreateValues,
  type CrudContext,
  type crudController,
  type Id,
  InjectUnitOfWork,
  type ListQuery,
  type ReadQuery,
  type UpdateValues,
} from '../../src/index.js';

/** @param onCall runs before `super`, with the name of the method */
export function passingController<M extends Model>(
  base: ReturnType<typeof crudController<M>>,
  onCall: (method: string) => unknown = () => {},
) {
  return class Passing extends base {
    override list(query: ListQuery, context: CrudContext<M>) {
      onCall('list');
      return super.list(query, context);
    }
    override read(id: Id, query: ReadQuery, context: CrudContext<M>) {
      onCall('read');
      return super.read(id, query, context);
    }
    override create(values: CreateValues<M>, context: CrudContext<M>) {
      onCall('create');
      return super.create(values, context);
    }
    override update(id: Id, values: UpdateValues<M>, context: CrudContext<M>) {
      onCall('update');
      return super.update(id, values, context);
    }
    override remove(id: Id, context: CrudContext<M>) {
      onCall('remove');
      return super.remove(id, context);
    }
  };
}

/** Places behind the parameters that the generated methods have. */
const NEXT_PARAMETERS = { list: 2, read: 3, create: 2, update: 3, remove: 2 } as const;

/** The same with one parameter more of each method. */
export function withParameter(
  controller: Class<object>,
  decorate: (method: string) => ParameterDecorator,
): Class {
  const Injected = class extends controller {};
  for (const [method, index] of Object.entries(NEXT_PARAMETERS)) {
    decorate(method)(Injected.prototype as object, method, index);
  }
  return Injected;
}

/** The same in the unit of work of the request, which each method has injected. */
export function inUnit(controller: Class<object>): Class {
  return withParameter(controller, () => InjectUnitOfWork());
}
