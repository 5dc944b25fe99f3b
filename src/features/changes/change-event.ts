/** Events of changes that were judged: the ids of their records, and names of what an update has changed. */
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { isLeftOut } from '../../describe/hooks-and-scopes-internals.js';
import { idTextOfTexts } from '../../describe/id-text.js';
import { parentKeys } from '../../describe/relations.js';
import { storedAttributes } from '../../execute/customization/hydrate-record.js';
import type { Resource } from '../../express/resources/resource.js';
import type { AccessForm } from '../../operation/access.js';
import { computesProperties } from '../../respond/record-serializer.js';
import { keptIn } from '../../util/memo.js';
import { storedProperties } from '../capture/stored-properties.js';
import type { Texts } from '../capture/ticks.js';

/** An event, as clients get it. It has no values, so that there is nothing to mask. */
export interface ChangeEvent {
  readonly op: 'create' | 'update' | 'delete' | 'reset';
  /** Left out of a reset, which is about all records. */
  readonly id?: string;
  readonly at: string;
  readonly version?: number;
  /** The properties that an update has changed, of those that may be read. None where only computed ones may have changed. */
  readonly changed?: readonly string[];
  /** Null for a writer that is not this library. */
  readonly request_id: string | null;
}

/** An event with its place among those of a tick. */
export interface PlacedEvent {
  /** Ascending. */
  readonly place: bigint;
  readonly resource: string;
  readonly event: ChangeEvent;
}

/** Id, kind, time, ids before and after where they are seen, changed columns, version, request id. */
export type EventRow = readonly [
  place: string,
  kind: string,
  at: string,
  before: Texts | null,
  after: Texts | null,
  changed: readonly string[],
  version: string | null,
  requestId: string | null,
];

/** The name of a resource in a feed. */
export function feedName({ prefix }: Pick<ResourcePlan, 'prefix'>): string {
  return prefix.slice(1);
}

/** Makes the events of a row: none for an update of which the request may read nothing, and two for one that changes the id. */
type EventMaker = (form: AccessForm, row: EventRow) => PlacedEvent[];

const makers = new WeakMap<ResourcePlan, EventMaker>();

/** The maker of the events of a resource. */
export function eventsOf({ plan }: Pick<Resource, 'plan'>): EventMaker {
  return keptIn(makers, plan, () => compileEvents(plan));
}

function compileEvents(plan: ResourcePlan): EventMaker {
  const { info, entityTag } = plan;
  const resource = feedName(plan);
  const properties = storedProperties(plan);
  const version = properties.find(
    ({ attribute }) => entityTag?.kind === 'version' && entityTag.attribute === attribute,
  );
  const sources = unnamedSources(plan);
  const idOf = (texts: Texts | null) => texts && idTextOfTexts(info.address, texts);
  return ({ unreadable }, [place, kind, at, before, after, columns, counted, request_id]) => {
    const placed = (event: ChangeEvent): PlacedEvent => ({ place: BigInt(place), resource, event });
    if (kind === 't') return [placed({ op: 'reset', at, request_id })];
    // No values are left that say of which record it is, nor who may see that.
    if (kind === 'e') return [placed({ op: 'reset', at, request_id: null })];
    const [old, id] = [idOf(before), idOf(after)];
    const gone = typeof old === 'string' ? [placed({ op: 'delete', id: old, at, request_id })] : [];
    if (typeof id !== 'string') return gone;
    const tag =
      counted !== null && version && !unreadable.has(version.attribute) ? { version: Number(counted) } : {};
    if (old !== id) return [...gone, placed({ op: 'create', id, at, ...tag, request_id })];
    const isTouched = ({ attribute, column }: Source) =>
      columns.includes(column) && !unreadable.has(attribute);
    const changed = properties.filter(isTouched).map(({ name }) => name);
    if (changed.length === 0 && !sources.some(isTouched)) return [];
    return [placed({ op: 'update', id, at, ...tag, changed, request_id })];
  };
}

interface Source {
  readonly attribute: string;
  readonly column: string;
}

/**
 * Attributes that answers do not show, and of which something shown may be made: code of the user's may read all that its records have, and an
 * included record is found by a key.
 */
function unnamedSources(plan: ResourcePlan): readonly Source[] {
  const { info, model, relations } = plan;
  const keys = new Set([...relations.include.values()].flatMap(({ relation }) => parentKeys(relation)));
  const isComputed = computesProperties(plan);
  return storedAttributes(info)
    .filter(({ name }) => (isComputed && !isLeftOut(model, name)) || keys.has(name))
    .map(({ name, column }) => ({ attribute: name, column }));
}
