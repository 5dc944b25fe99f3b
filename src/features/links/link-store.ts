/** The links of one relation, whoever stores them. */
import type { Action } from 'routing-controllers';
import type { SubresourcePlan } from '../../compile/resource-plan.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { ConcurrentModificationError } from '../../errors/errors.js';
import { textsOfId } from '../../execute/sql/encode-parameter.js';
import { bindRows, type GivenRow } from '../../execute/sql/parameter-arrays.js';
import { joinSlots, type Slots } from '../../execute/sql/statement.js';
import { PARENT, relatedSlots } from '../../operation/related-rows.js';
import type { StatementTarget } from '../../postgres/index.js';
import { addressColumns } from './link-sql.js';
import type { LinkArguments, LinkItem } from './parse-links.js';

/** A request whose record is locked. */
export interface LinkRequest {
  readonly action: Action;
  readonly input: LinkArguments;
  /** The key of the record, by which its links are found. */
  readonly key: string;
  readonly on: StatementTarget;
  /** Keys of all rows that were locked, with the record among them; null where targets are locked when they are found. */
  readonly locked: ReadonlySet<string> | null;
}

/** A row has become one of the links, and is not locked: to lock it now would break the order in which requests lock. */
export class OutrunError extends ConcurrentModificationError {}

/** A target, or a link of the record, locked. */
export interface FoundLink {
  /** The place of its item; null where none names it. */
  readonly place: number | null;
  /** The key by which the target is linked. */
  readonly key: string;
  /** `gone` is a link that was removed, and whose row is kept; `other` a child of another record; `keyless` a target without such a key. */
  readonly state: 'linked' | 'gone' | 'other' | 'none' | 'keyless';
  /** The parts of the id of the target. */
  readonly id: readonly string[];
  /** The attributes of the link. */
  readonly values: readonly unknown[];
}

interface NamedLink {
  readonly found: FoundLink;
  readonly item: LinkItem;
}

/** Changes of links. */
export interface LinkChanges {
  readonly add: readonly NamedLink[];
  readonly set: readonly NamedLink[];
  readonly remove: readonly FoundLink[];
}

/** Finds and writes links, in the transaction of a request. */
export interface LinkStore {
  /** Attributes that answers show. */
  readonly shown: readonly AttributeInfo[];
  /** Attributes without which there is no new link. */
  readonly required: readonly AttributeInfo[];
  /** Locks the targets before the record, or with it where all are rows of one model: all requests lock in one order. @returns their keys */
  lock?(
    input: LinkArguments,
    isWhole: boolean,
    slots: Slots,
    on: StatementTarget,
  ): Promise<ReadonlySet<string>>;
  /**
   * @param isWhole whether all links of the record are found, to targets that the request sees
   * @throws OutrunError for a row that `lock` has not locked
   */
  find(request: LinkRequest, items: readonly LinkItem[], isWhole: boolean): Promise<readonly FoundLink[]>;
  /** @returns the number of added links. Those that are missing were added by another request meanwhile. */
  write(request: LinkRequest, changes: LinkChanges): Promise<number>;
}

/** The slots of a statement that finds links. */
export function findSlots(
  below: SubresourcePlan,
  { key, input }: Pick<LinkRequest, 'input'> & { readonly key: string | null },
  items: readonly LinkItem[],
): Record<string, string | null> {
  const { address } = below.target.info;
  const rows = items.flatMap(({ id }, place): GivenRow[] => {
    if (id === undefined) return [];
    const texts = [...textsOfId(address, id)];
    return texts.every((text) => typeof text === 'string') ? [{ place, texts, lengths: [] }] : [];
  });
  const slots = joinSlots(relatedSlots(input.related), { [PARENT.slot]: key });
  bindRows(0, addressColumns(below), rows, slots);
  return slots;
}
