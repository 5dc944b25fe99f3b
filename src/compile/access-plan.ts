/** Access rules of a resource, as the compile phase produces them. Frozen. */
import type { AccessRule, ScopeRule, VisibleRule } from '../declare/access-options.js';
import type { RuleName } from '../declare/endpoint.js';

/** The rules of one attribute; null is none. */
export interface FieldPlan {
  readonly read: AccessRule | null;
  readonly create: AccessRule | null;
  readonly update: AccessRule | null;
}

/** Names of attributes that not every request may read. */
export function restrictedNames(access: Pick<AccessPlan, 'fields'> | null): ReadonlySet<string> {
  return new Set([...(access?.fields ?? [])].flatMap(([name, { read }]) => (read === null ? [] : name)));
}

/** The rules of a resource. */
export interface AccessPlan {
  readonly can: ReadonlyMap<RuleName, AccessRule>;
  /** By attribute; those of `bootstrap` among them. */
  readonly scope: ReadonlyMap<string, ScopeRule>;
  readonly visible: VisibleRule | null;
  /** By attribute. */
  readonly fields: ReadonlyMap<string, FieldPlan>;
}
