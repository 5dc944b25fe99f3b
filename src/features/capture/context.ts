/** The writer of changes, as triggers read it from a setting of the transaction. */
import type { Request } from 'express';
import { guarded } from '../../access/evaluate-rules.js';
import { addSetting } from '../../access/row-security.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import type { ModelClass } from '../../declare/crud-options.js';
import { foreignKeysOf } from '../../describe/foreign-keys.js';
import { ofTables } from '../../describe/table-facts.js';
import { runsCodeInWrites } from '../../execute/customization/plain-queries.js';
import type { RouteSettings } from '../../operation/route-settings.js';
import { requestId } from '../../request/standard-headers.js';
import type { Logger } from '../../util/logger.js';
import { type Maybe, then } from '../../util/promises.js';
import { IDEMPOTENCY_KEY, parseKey } from '../idempotency/idempotency-key.js';
import { type ActorRule, isCaptured } from './capture-options.js';
import { isOfTable, sourceOf } from './change-table.js';
import { directWrites, modelsAbove, type RowWrite, reachedTables } from './reached-tables.js';
import { TriggerGate } from './trigger-gate.js';

/** The writer of a change, as `crud_changes` has it in the column `context`. Null there for a writer that is not this library. */
interface ChangeContext {
  readonly actor: string | null;
  readonly request_id: string | null;
  /** `City.update`. */
  readonly operation: string | null;
  /** The Idempotency-Key. */
  readonly key?: string;
  /** The change to which a revert went back. */
  readonly of?: string;
}

const SETTING = 'crud.context';

const CONTEXT = Symbol('change context');

/** A property, as the resource of a request is. */
interface WritingRequest extends Request {
  [CONTEXT]?: ChangeContext;
}

/** Adds to the context of the changes that a request makes from now on. */
export function addToContext(request: WritingRequest, added: Pick<ChangeContext, 'of'>): void {
  const context = request[CONTEXT];
  if (!context) return;
  request[CONTEXT] = { ...context, ...added };
  addSetting(request, SETTING, JSON.stringify(request[CONTEXT]));
}

/** The context of each request that may write a table whose changes are stored; null where there is no such table. */
export function captureSettings(
  plans: readonly ResourcePlan[],
  application: Readonly<Record<string, unknown>>,
  logger: Logger,
): RouteSettings | null {
  const captured = plans.filter(isCaptured);
  if (captured.length === 0) return null;
  const { actor = null } = (application['history'] as { readonly actor: ActorRule | null } | undefined) ?? {};
  const gates = captured.map((stored) => ({ stored, gate: new TriggerGate(stored, plans, logger) }));
  const models = modelsAbove(plans);
  const parents = tablesAbove(captured, models);
  const mayLeadOn = ({ model, write }: RowWrite): boolean =>
    (write !== 'insert' && parents.has(sourceOf({ model }))) || runsCodeInWrites(model);
  return ({ plan, operation, verb, works, isAmbient }) => {
    if (verb === 'get') return null;
    const writes = directWrites(works);
    const findGates = () => {
      const tables = reachedTables(writes, models);
      // Another resource may write the same table.
      const isWritten = ({ model }: ResourcePlan) =>
        plan !== null &&
        (isOfTable({ model }, plan) ||
          (model.sequelize === plan.model.sequelize && tables.has(sourceOf({ model }))));
      return gates.flatMap(({ stored, gate }) => (isWritten(stored) ? gate : []));
    };
    if (!isAmbient && findGates().length === 0 && !writes.some(mayLeadOn)) return null;
    const gatesNow = ofTables(findGates);
    return (request: WritingRequest) =>
      // A method of the user's may only read.
      then(verb !== null || request.method !== 'GET' ? passAll(gatesNow()) : undefined, () =>
        then(actor ? guarded(actor, request) : null, (answer) => {
          const key = keyOf(request);
          const context: ChangeContext = {
            actor: actorText(answer),
            request_id: requestId(request),
            operation,
            ...(key === null ? {} : { key }),
          };
          request[CONTEXT] = context;
          return [[SETTING, JSON.stringify(context)]];
        }),
      );
  };
}

/** Passes all. Most have nothing to wait for. */
function passAll(gates: readonly TriggerGate[]): Maybe<void> {
  return gates.reduce<Maybe<void>>((before, gate) => then(before, () => gate.pass()), undefined);
}

function actorText(answer: unknown): string | null {
  if (answer === null || answer === undefined) return null;
  if (typeof answer === 'string' || typeof answer === 'number' || typeof answer === 'bigint') {
    const text = String(answer);
    // JSON of PostgreSQL has no such character.
    if (!text.includes('\0')) return text;
  }
  throw new TypeError(
    `history.actor gave a ${typeof answer}, which is no text or number; write it as one, such as String(id).`,
  );
}

/** The key that the request is sent with; null where there is none, or it is refused later. */
function keyOf(request: Request): string | null {
  const text = request.get(IDEMPOTENCY_KEY);
  if (text === undefined) return null;
  try {
    return parseKey(text);
  } catch {
    return null;
  }
}

/** Tables whose writes may change rows of the captured ones by foreign keys, over any number of tables. */
function tablesAbove(
  captured: readonly ResourcePlan[],
  models: ReadonlySet<ModelClass>,
): ReadonlySet<string> {
  const above = new Set<string>();
  const reached = new Set(captured.map(sourceOf));
  // The loop also visits members that it adds to the set.
  for (const source of reached)
    for (const model of [...models].filter((each) => sourceOf({ model: each }) === source))
      for (const { target } of foreignKeysOf(model)) {
        if (!target.sequelize) continue;
        above.add(sourceOf({ model: target }));
        reached.add(sourceOf({ model: target }));
      }
  return above;
}
