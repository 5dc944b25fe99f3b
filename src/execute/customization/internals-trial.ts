/**
 * A trial, once in a process. It has a model, in no table and no registry, with everything that a user can plug in. Each part has to
 * be found in Sequelize's internals. Where one is not, a scope or a hook would be ignored: then all queries are
 * Sequelize's own. The same holds for an unknown version of pg.
 */

import { DataTypes, Sequelize, Transaction } from 'sequelize';
import { introspectModel } from '../../describe/describe-model.js';
import {
  hasQueryHooks,
  hasScope,
  queryHooks,
  scopeCondition,
} from '../../describe/hooks-and-scopes-internals.js';
import { timestampsOf, versionOf } from '../../describe/model-info.js';
import {
  ambientTransactions,
  attributesVersion,
  buildableModel,
  defaultValues,
  hookedCascades,
  isTornRecord,
  SEQUELIZE_VERSION,
} from '../../describe/sequelize-internals.js';
import { connectionManager, pgProblem, timeoutDriver, transactionInternals } from '../../postgres/index.js';
import type { Logger } from '../../util/logger.js';
import { gettersOf, modelFastPathBlockers } from './model-fast-path-blockers.js';
import { hasInstanceFields } from './query-customizations.js';

/** The reason that queries of all models have to be Sequelize's own; undefined where they need not. */
export function sequelizeProblem(): string | undefined {
  known ??= {
    problem: [tryOut(), pgProblem()].filter((problem) => problem !== undefined).join('; ') || undefined,
  };
  return known.problem;
}

let known: { readonly problem: string | undefined } | undefined;
let isTold = false;

/** Warns, once in a process, of versions with other internals than the tested ones. */
export function warnOfInternals(logger: Logger): void {
  const problem = sequelizeProblem();
  if (isTold || problem === undefined) return;
  isTold = true;
  logger.warn(`${problem}. Requests are served through public interfaces only, which is slower.`);
}

function tryOut(): string | undefined {
  try {
    const specimen = define();
    const [unseen] = Object.entries(CHECKS).find(([, check]) => !check(specimen)) ?? [];
    return unseen && `Sequelize ${SEQUELIZE_VERSION} keeps ${unseen} where crud-controllers does not see it`;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

type Specimen = ReturnType<typeof define>;

/** Checks by name, in this order: the last ones change the model. */
const CHECKS: Readonly<Record<string, (specimen: Specimen) => boolean>> = {
  getters: ({ info, attributes }) => gettersOf(info, attributes).join() === 'name',
  'what only it writes': ({ sequelize, info }) => {
    const ambient = ambientTransactions(sequelize) ? ["Sequelize's option useCLS is set"] : [];
    return modelFastPathBlockers(info, 'create', true).join('; ') === [...ambient, ...BLOCKERS].join('; ');
  },
  defaults: ({ model }) => {
    const defaults = defaultValues(model);
    return defaults['size']?.() === 7 && defaults['version']?.() === 0;
  },
  timestamps: ({ model }) => {
    const names = [...Object.values(timestampsOf(model)), versionOf(model)];
    return (
      names.join() === 'made,updatedAt,gone,version' &&
      names.every((name) => name && name in model.getAttributes())
    );
  },
  records: ({ model }) =>
    Boolean(buildableModel(model)) && !hasInstanceFields(model) && isTornRecord({ ...model.build() }),
  'hooks of rows that go along': ({ model }) => hookedCascades(model).join() === 'parts',
  connections: ({ sequelize }) => {
    const manager = connectionManager<{ _invalid?: boolean }>(sequelize);
    return manager.validate({}) && !manager.validate({ _invalid: true });
  },
  transactions: ({ sequelize }) => {
    const transaction: Transaction = Reflect.construct(Transaction, [sequelize, {}]);
    transaction.afterCommit(() => {});
    return transactionInternals(transaction)?._afterCommitHooks.length === 1;
  },
  'Sequelize.useCLS': () => /\b_cls\b/.test(String(Sequelize.useCLS)),
  hooks: ({ model, sequelize }) => {
    const hadNone = !hasQueryHooks(model, 'read');
    model.addHook('beforeFind', () => {});
    sequelize.addHook('afterQuery', () => {});
    return hadNone && hasQueryHooks(model, 'read') && queryHooks(model, 'read').length === 2;
  },
  scopes: ({ model }) => {
    const isWritten = scopeCondition(model) === '"Specimen"."size" = 7';
    const hasOwn = isWritten && hasScope(model) && !hasScope(model.unscoped());
    model.addScope('defaultScope', {}, { override: true });
    return hasOwn && !hasScope(model);
  },
  'the description of a model': ({ model, info }) => {
    const { type } = info.attributes.get('name') ?? {};
    const before = attributesVersion(model);
    model.removeAttribute('name');
    const isNew = before !== undefined && before !== attributesVersion(model);
    return isNew && type?.kind === 'string' && type.maxLength === 7;
  },
  'the row of a record without a key': ({ model }) => {
    model.removeAttribute('id');
    introspectModel(model);
    try {
      model.build().where();
      return false;
    } catch (error) {
      return error instanceof TypeError;
    }
  },
};

const BLOCKERS = [
  "Sequelize's option benchmark is set",
  'name has a setter',
  'size has validation rules of Sequelize',
  "Sequelize's option typeValidation is set",
  'the model has a default scope',
];

/** It is never connected, and no other instance has the model. */
function define() {
  const sequelize = new Sequelize({
    dialect: 'postgres',
    // A bundle has the one that it imports, and nothing that is loaded by name.
    dialectModule: timeoutDriver,
    logging: false,
    benchmark: true,
    typeValidation: true,
    replication: { write: {}, read: [{}] },
  });
  const name = { type: DataTypes.STRING(7), get: () => '', set: () => {} };
  const size = { type: DataTypes.INTEGER, defaultValue: 7, validate: { min: 1 } };
  const options = {
    version: true,
    paranoid: true,
    createdAt: 'made',
    deletedAt: 'gone',
    defaultScope: { where: { size: 7 } },
  };
  const model = sequelize.define('Specimen', { name, size }, options);
  model.hasMany(model, { as: 'parts', foreignKey: 'partOf', onDelete: 'CASCADE', hooks: true });
  const { info } = introspectModel(model);
  if (!info)
    throw new Error(`Sequelize ${SEQUELIZE_VERSION} does not describe models as crud-controllers knows it`);
  return { sequelize, model, info, attributes: [...info.attributes.values()] };
}
