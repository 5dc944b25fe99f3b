/** Finds the record of a path among those that are there, and those that are gone. */
import type { Request } from 'express';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { checkChoice, queryHooks } from '../../describe/hooks-and-scopes-internals.js';
import { keyText } from '../../describe/row-key.js';
import { noSuchRecord, severalRecords } from '../../errors/errors.js';
import { selectValues } from '../../execute/session/select-values.js';
import { keySlots } from '../../execute/sql/encode-parameter.js';
import { joinSlots } from '../../execute/sql/statement.js';
import type { Resource } from '../../express/resources/resource.js';
import { idSlot } from '../../operation/predicates.js';
import type { StatementTarget } from '../../postgres/index.js';
import type { RequestArguments } from '../../request/parse-request.js';
import { lastSeenSql, rowNowSql } from './history-sql.js';

/** A record with a past. */
export interface PastRecord {
  /** Its name in `crud_changes`. */
  readonly rowId: string;
  /** False where it is deleted, as far as the request has seen. */
  readonly isAlive: boolean;
  /** True where the request sees the record: as it is, or as it was when it was deleted. False where it saw it once. */
  readonly isSeen: boolean;
}

/** The hook through which code of the user's may change records that are found; undefined where there is none. */
export function recordHook({ model }: Pick<ResourcePlan, 'model'>): string | undefined {
  return queryHooks(model, 'read').find((each) => each.endsWith(' afterFind'));
}

/** Refuses a model that has got hooks after the start which decide about records that are read. */
function checkHooks(plan: ResourcePlan): void {
  const refused = `The history of ${plan.name} cannot be read`;
  checkChoice(plan.model, refused);
  const hook = recordHook(plan);
  if (hook !== undefined) throw new TypeError(`${refused}: ${hook}`);
}

/**
 * Finds a record. One that is deleted is found where the request may see deleted ones. One that the request does not see is found by the
 * last change that it saw, be the record there or gone.
 *
 * @throws NotFoundError @throws TypeError where hooks decide about records that are read
 */
export async function findPast(
  { plan, access: rules }: Pick<Resource, 'plan' | 'access'>,
  request: Request,
  { id, access }: Pick<RequestArguments, 'id' | 'access'>,
  on: StatementTarget | null,
): Promise<PastRecord> {
  checkHooks(plan);
  const { info } = plan;
  const named = { name: info.name, key: keyText(info.address) };
  const key = keySlots(info.address, id);
  if (!key) throw noSuchRecord(named);
  const slots = joinSlots(key, access.slots);
  const [row, other] = await selectValues(info, rowNowSql(plan, access), slots, on);
  if (other) throw severalRecords(named);
  const [rowId, isAlive = false, isSeen] = (row ?? []) as [
    rowId?: string,
    isAlive?: boolean,
    isSeen?: boolean,
  ];
  const refuseUnlessDeletedAreSeen = async (): Promise<void> => {
    if (!(await rules.allows(request, 'deleted'))) throw noSuchRecord(named);
  };
  if (isSeen) {
    if (!isAlive) await refuseUnlessDeletedAreSeen();
    return { rowId: rowId as string, isAlive, isSeen };
  }
  const texts = Object.fromEntries(
    info.address.map(({ name, column }) => [column, key[idSlot(info.address, name).slot] as string]),
  );
  const [last] = await selectValues(info, lastSeenSql(plan, access, texts, rowId ?? null), slots, on);
  const [lastId, hasLeft] = (last ?? []) as [rowId?: string, hasLeft?: boolean];
  if (lastId === undefined) throw noSuchRecord(named);
  if (!hasLeft) await refuseUnlessDeletedAreSeen();
  return { rowId: lastId, isAlive: hasLeft === true, isSeen: !hasLeft };
}
