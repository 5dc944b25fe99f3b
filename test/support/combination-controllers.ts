/** Code of a user's that changes no answer, but is given it: by overrides of the generated methods, and by an interceptor. */
import { Interceptor, type InterceptorInterface } from 'routing-controllers';
import type { Model } from 'sequelize';
import {
  type Class,
  type CrudContext,
  crudController,
  type Id,
  InjectSession,
  InjectUnitOfWork,
  type ListQuery,
  type ModelClass,
  type ReadQuery,
} from '../../src/index.js';
import { passingController, withParameter } from './passing-controllers.js';

type Values = Readonly<Record<string, unknown>>;

/** Returns its argument. */
@Interceptor()
export class PassOn implements InterceptorInterface {
  intercept(_action: unknown, content: unknown): unknown {
    return content;
  }
}

const READS: readonly string[] = ['list', 'read'];

/** Overrides whose parameters begin a session of the request before. */
export const onSession = oncePerModel((model) =>
  withParameter(passingController(crudController(model)), (method) =>
    READS.includes(method) ? InjectSession() : InjectUnitOfWork(),
  ),
);

/** Overrides that read each record. */
export const throughRecords = oncePerModel((model) => {
  class ThroughRecords extends crudController(model) {
    override async list(query: ListQuery, context: CrudContext) {
      const page = await super.list(query, context);
      page.items.forEach(lookInto);
      return page;
    }

    override async read(id: Id, query: ReadQuery, context: CrudContext) {
      return lookInto(await super.read(id, query, context));
    }

    override async create(values: Values, context: CrudContext) {
      return lookInto(await super.create(values, context));
    }

    override async update(id: Id, values: Values, context: CrudContext) {
      return lookInto(await super.update(id, values, context));
    }

    override async remove(id: Id, context: CrudContext) {
      await super.remove(id, context);
    }
  }
  return ThroughRecords;
});

/** From its first read on a record holds values, and is written from those. */
function lookInto(record: Model): Model {
  void record.dataValues;
  return record;
}

/** An application without a subclass of a model warns of the subclasses that exist, so there is one. */
function oncePerModel(make: (model: ModelClass) => Class): (model: ModelClass) => Class {
  const made = new WeakMap<ModelClass, Class>();
  return (model) => {
    const known = made.get(model) ?? make(model);
    made.set(model, known);
    return known;
  };
}
