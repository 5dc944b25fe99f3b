/** Rows of one model: the data access that generated controllers use and that users subclass. */
import {
  type Attributes,
  type CreationAttributes,
  InstanceError,
  type Model,
  OptimisticLockError,
  type OrderItem,
  type WhereOptions,
} from 'sequelize';
import type { CreateValues, UpdateValues } from '../metadata/attributes.js';
import type { ModelClass } from '../metadata/crud-options.js';
import { ConfigError } from '../plan/config-error.js';
import { ConcurrentModificationError, MultipleResultsFound, NotFoundError } from './errors.js';
import type { Page, PageRequest } from './page.js';

/** The value of a primary key. */
export type Id = string | number | bigint;

/** What `Repository.list` takes. */
export interface ListOptions<M extends Model> {
  where?: WhereOptions<Attributes<M>>;
  /** Default: the primary key, ascending. */
  order?: OrderItem[];
  limit?: number;
  offset?: number;
}

/**
 * Access to the rows of one model through Sequelize, with its hooks, scopes, validations and soft deletes.
 *
 * @example
 * ```ts
 * class CityRepository extends Repository<City> {
 *   static override model = City;
 *   capitals() { return this.list({ where: { isCapital: true } }); }
 * }
 * const paris = await new CityRepository().get(2988507);
 * const lyon = await new Repository(City).one({ name: 'Lyon' });
 * ```
 */
export class Repository<M extends Model = Model> {
  /** The model of a subclass; an instance of `Repository` itself gets its model from the constructor. */
  // biome-ignore lint/suspicious/noExplicitAny: a static member cannot use the class's type parameter
  static model: ModelClass<any> | undefined;

  readonly model: ModelClass<M>;

  /**
   * @param model default: the `static model` of the subclass
   * @throws ConfigError when there is neither
   */
  constructor(model?: ModelClass<M>) {
    const known = model ?? (new.target as typeof Repository).model;
    if (!known) {
      const { name } = new.target;
      throw new ConfigError([
        `${name} has no model; pass one, or write \`static override model = …\` in it.`,
      ]);
    }
    this.model = known as ModelClass<M>;
  }

  /**
   * The row with this primary key.
   *
   * @throws NotFoundError when there is none, or it is soft-deleted
   */
  async get(id: Id): Promise<M> {
    return (await this.find(id)) ?? this.#missing();
  }

  /** The row with this primary key, or null. */
  find(id: Id): Promise<M | null> {
    return this.model.findOne({ where: this.#byId(id) });
  }

  /**
   * The only row that matches.
   *
   * @throws NotFoundError when no row matches
   * @throws MultipleResultsFound when several do
   */
  async one(where: WhereOptions<Attributes<M>>): Promise<M> {
    const [first, second] = await this.model.findAll({ where, limit: 2 });
    if (second) throw new MultipleResultsFound(`There is more than one such ${this.model.name}.`);
    return first ?? this.#missing();
  }

  /** All rows that match, by primary key unless told otherwise. */
  list(options: ListOptions<M> = {}): Promise<M[]> {
    return this.model.findAll({ order: this.#defaultOrder(), ...options });
  }

  /**
   * One page of rows by primary key, and how many rows there are in all. The rows are read first; the count is not
   * asked of the database where a short page tells it, and otherwise runs after them in a snapshot of its own.
   */
  async page({ page, size }: PageRequest): Promise<Page<M>> {
    const offset = (page - 1) * size;
    const items = await this.list({ limit: size, offset });
    const isLast = items.length < size && (items.length > 0 || page === 1);
    const total = isLast ? offset + items.length : await this.model.count();
    return { items, total, page, size };
  }

  /** Inserts a row and returns it as the database holds it, defaults included. */
  create(values: CreateValues<M>): Promise<M> {
    // Narrower than what Sequelize takes, which the compiler cannot tell as long as M is open.
    return this.model.create(values as CreationAttributes<M>);
  }

  /**
   * Writes the given attributes of a row, and only those, and returns the row after the change.
   *
   * @throws NotFoundError when there is no such row, or it goes away meanwhile
   * @throws ConcurrentModificationError when the model has a version and somebody else changed the row meanwhile
   */
  async update(id: Id, values: UpdateValues<M>): Promise<M> {
    const record = await this.get(id);
    try {
      await record.update(values as Partial<Attributes<M>>);
      // An UPDATE that matches no row is no error to Sequelize; reading the row back tells, and shows what triggers did.
      return await record.reload();
    } catch (error) {
      if (error instanceof InstanceError) return this.#missing();
      if (error instanceof OptimisticLockError) return this.#conflict(id);
      throw error;
    }
  }

  /**
   * Deletes a row; marks it as deleted where the model is `paranoid`.
   *
   * @throws NotFoundError when there is no such row, or it is already soft-deleted
   */
  async delete(id: Id): Promise<void> {
    // The static form reports how many rows it hit; the instance's does not where it only marks them.
    const deleted = await this.model.destroy({
      where: this.#byId(id),
      individualHooks: this.#hasDestroyHooks(),
    });
    if (deleted === 0) this.#missing();
  }

  #byId(id: Id): WhereOptions<Attributes<M>> {
    return { [this.model.primaryKeyAttribute]: id } as WhereOptions<Attributes<M>>;
  }

  #defaultOrder(): OrderItem[] {
    return [[this.model.primaryKeyAttribute, 'ASC']];
  }

  #hasDestroyHooks(): boolean {
    const model = this.model as unknown as { hasHook(name: string): boolean };
    return model.hasHook('beforeDestroy') || model.hasHook('afterDestroy');
  }

  /** A version that no longer matches means that the row was changed, or that it is gone. */
  async #conflict(id: Id): Promise<never> {
    if (!(await this.find(id))) this.#missing();
    throw new ConcurrentModificationError(
      `Somebody else changed this ${this.model.name} at the same time; read it again and repeat the change.`,
    );
  }

  #missing(): never {
    throw new NotFoundError(`There is no ${this.model.name} with this ${this.model.primaryKeyAttribute}.`);
  }
}
