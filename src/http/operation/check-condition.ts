/**
 * Looks whether a record still has the state that a client has seen, and keeps it so until the transaction has ended: for
 * writes that are not one statement of ours, which has the condition in itself.
 */
import type { Action } from 'routing-controllers';
import type { Endpoint } from '../../metadata/crud-options.js';
import { changedMeanwhile, type WantedStates } from '../../operation/entity-tag.js';
import { storedText } from '../../persistence/records/record-column.js';
import type { Id } from '../../persistence/records/row-records.js';
import { parsePathId, type RequestArguments } from '../request/parse-request.js';
import type { Resource } from '../resources/resource.js';
import { compileStateReader } from './read-state.js';
import { contextOf } from './run-method.js';

/**
 * Locks the record, in the session of the running code.
 *
 * @param input null where decorators of the user's read the parameters
 * @throws NotFoundError @throws RefusedRequestError 412 with the tag that the record has
 */
export type ConditionCheck = (action: Action, input: RequestArguments | null) => Promise<void>;

const CHANGES: readonly Endpoint[] = ['update', 'delete', 'restore', 'purge'];

/** The check of a write; null where there are no states, or no record. */
export function compileConditionCheck(resource: Resource, operation: Endpoint): ConditionCheck | null {
  const { plan, access, features } = resource;
  const { entityTag, info } = plan;
  if (entityTag === null || !CHANGES.includes(operation)) return null;
  const { absentFor, readHeaders } = features[operation];
  const stateOf = compileStateReader(resource);
  const wantedBy = async ({ request }: Action, input: RequestArguments | null) => {
    if (input) return input.query.ifMatch;
    const granted = await access(request, operation);
    return readHeaders(request, absentFor(granted.form), granted).ifMatch;
  };
  return async (action, input) => {
    const states: WantedStates | undefined = await wantedBy(action, input);
    if (!states) return;
    const id = input ? input.id : parsePathId(plan, action.request);
    const { repository } = contextOf(resource, action);
    const isOfDeleted = operation === 'restore' || operation === 'purge';
    const record = await repository.getLocked(id as Id, isOfDeleted);
    const { name, attribute, kind } = { name: info.primaryKey.name, ...entityTag };
    const state =
      kind === 'version'
        ? storedText(info, record, attribute)
        : await stateOf?.(storedText(info, record, name));
    if (state === null || state === undefined) {
      throw new TypeError(`A ${info.name} was read without its ${attribute}, so If-Match cannot be checked.`);
    }
    if (!states.includes(state)) throw changedMeanwhile(plan, state);
  };
}
