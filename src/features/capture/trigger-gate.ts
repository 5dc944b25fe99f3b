/** Holds writes of a resource back as long as its changes would not be stored. */
import type { Transaction } from 'sequelize';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { joinableSession } from '../../execute/session/savepoint.js';
import { selectCatalogue } from '../../inspect/catalogue.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import { type Logger, logInfo } from '../../util/logger.js';
import { type Maybe, oneAtATime } from '../../util/promises.js';
import { presentTriggers } from './capture-sql.js';

/** Milliseconds after which the triggers are read again, as those of all tables are. */
const MAX_AGE = 30_000;

/** The gate of a table, for one application. */
export class TriggerGate {
  #checkedAt = Number.NEGATIVE_INFINITY;
  #isClosed = false;
  readonly #check = oneAtATime(() => this.#read());

  constructor(
    private readonly plan: ResourcePlan,
    private readonly plans: readonly ResourcePlan[],
    private readonly logger: Logger,
  ) {}

  /** @throws RefusedRequestError 503 where a trigger is missing, disabled, or of an older version */
  pass(): Maybe<void> {
    const now = performance.now();
    if (!this.#isClosed && now - this.#checkedAt < MAX_AGE) return;
    const { sequelize } = this.plan.model;
    const begun = sequelize && joinableSession(sequelize, 'write')?.begun;
    // Units of work may have all connections of the pool, and none gets another one.
    return begun ? begun.then((transaction) => this.#read(transaction)) : this.#check();
  }

  async #read(transaction: Transaction | null = null): Promise<void> {
    const { name, model } = this.plan;
    const { text, values } = presentTriggers(this.plan, this.plans);
    const [found] = await selectCatalogue<{ exists: boolean }>(model.sequelize, text, values, transaction);
    const wasClosed = this.#isClosed;
    this.#isClosed = found?.exists !== true;
    this.#checkedAt = performance.now();
    if (this.#isClosed && !wasClosed)
      this.logger.error(
        `Writes of ${name} are answered 503, because a trigger that stores its changes is missing, disabled, or of an older version; ` +
          'run what npx crud-controllers sql prints.',
      );
    if (wasClosed && !this.#isClosed) logInfo(this.logger, `The changes of ${name} are stored again.`);
    if (this.#isClosed)
      throw new RefusedRequestError(
        503,
        'Changes cannot be stored now, so that none are made; try again later.',
      );
  }
}
