/** The door of postgres/: all that the rest of `src` imports of it. README.md has its promises. */

// The engine
export type { PoolUsage } from './connections/connection-source.js';
// Statements
export { dealReads } from './connections/deal-reads.js';
// Sessions
export { isOfStale, SessionTransaction } from './connections/session-transaction.js';
export { currentTarget, statementRunner } from './connections/statement-runner.js';
export { onPrimary, type StatementTarget } from './connections/statement-target.js';
export { checkConnections } from './engine/check-connections.js';
export type { ClickHouseClient, Cluster, Redis } from './engine/client-types.js';
export { connectionAdvice } from './engine/connection-advice.js';
export {
  type AddressDefaults,
  type PostgresAddress,
  readConnectionString,
} from './engine/connection-string.js';
export {
  checkParts,
  closeBusyConnections,
  configureEngine,
  currentEngine,
  disposeEngine,
  type Engine,
  type EngineParts,
  enginesInUse,
  openEngine,
} from './engine/engine.js';
export { LIMITS, limitsSetBy, NO_LIMIT } from './engine/limits.js';
export { separateClickHouse, untilConnected } from './engine/optional-client.js';
export { postgresServers } from './engine/ping-postgres.js';
export type { TextResult, TextRow } from './protocol/batch.js';
export { timeoutDriver } from './protocol/pg-client.js';
export { isTraced, pgProblem } from './protocol/pg-internals.js';
export { isInstalledPg } from './protocol/pg-text-query.js';
export type { TextParser } from './protocol/prepared-statement.js';
export { isOfChangedTable } from './protocol/stale-statement.js';
export { chooseHosts, NoHostError } from './session/choose-host.js';
export { runCallbacks } from './session/commit-callbacks.js';
export {
  connectionManager,
  knownManager,
  type MarkedClient,
  plainManager,
  poolsOf,
  readServers,
  transactionInternals,
} from './session/connection-internals.js';
export { EngineSequelize, refuseWrites } from './session/engine-sequelize.js';
export { setWarningLogger, warnOf } from './session/engine-warnings.js';
export { prepareConnections } from './session/guard-connections.js';
export {
  checkOwner,
  closedWarnings,
  holdInstance,
  ownerProblems,
  takeoverProblems,
} from './session/model-registry.js';
export {
  applySettings,
  currentSession,
  currentSettings,
  isOfOther,
  isOnSequelize,
  type RequestSettings,
  runInSession,
  runOnSequelize,
  runOutside,
  runWithSettings,
  type SessionScope,
  settingsOf,
  type TransactionScope,
  withoutSettings,
} from './session/session.js';
export {
  forgetTriggers,
  NO_TRIGGERS,
  OBSERVERS,
  type RowWrite,
  reportChangedTable,
  type TableTriggers,
  tableTriggers,
  watchTables,
} from './session/table-triggers.js';
