/** The attributes of links in the list under a record: the member `link` of each. */
import type { Sequelize } from 'sequelize';
import { relatedAccess } from '../../access/related-access.js';
import { sequelizeProblem } from '../../execute/customization/internals-trial.js';
import { seesQueries } from '../../execute/customization/query-customizations.js';
import { selectValues } from '../../execute/session/select-values.js';
import { arrayLiteral, keySlots } from '../../execute/sql/encode-parameter.js';
import { joinSlots, NO_SLOTS } from '../../execute/sql/statement.js';
import type { MemberBelow } from '../../handle/around.js';
import type { Completion, Outcome } from '../../handle/outcome.js';
import { OPEN_ACCESS } from '../../operation/access.js';
import { relatedSlots } from '../../operation/related-rows.js';
import { currentTarget } from '../../postgres/index.js';
import type { SubresourceArguments } from '../sub-resources/parse-subresource.js';
import { linkSchema } from './describe-links.js';
import { compileShown } from './handle-links.js';
import { describePairs, type linkedRelations, shownAttributes } from './link-options.js';
import { KEYS, shownLinksSql } from './link-sql.js';

/** The member of one relation; null where its links have no attributes. */
export function shownLinks(all: ReturnType<typeof linkedRelations>, name: string): MemberBelow | null {
  const found = all.find(({ below }) => below.relation.name === name);
  const shown = found ? shownAttributes(found.below, found.link.fields) : [];
  if (!found || shown.length === 0) return null;
  const { below } = found;
  const key = below.relation.targetKey;
  return {
    name: MEMBER,
    attribute: key,
    schema: linkSchema(below, shown),
    compile({ plan }): Completion['complete'] {
      const info = describePairs(below);
      const shownOf = compileShown(shown);
      return async (outcome, input, { request, on }) => {
        const { access, id } = (input as SubresourceArguments).parent;
        const related = await relatedAccess(request, below);
        const keys = outcome.column(key);
        if (keys.length === 0) return outcome;
        const own = joinSlots(keySlots(plan.info.address, id) ?? NO_SLOTS, access.slots);
        const slots = joinSlots(own, relatedSlots(related));
        slots[KEYS.slot] = arrayLiteral(keys);
        const fragment = shownLinksSql(below, related, shown, { plan, access });
        const sequelize = info.model.sequelize as Sequelize;
        // Our statements have no settings of a request on another driver.
        const place = sequelizeProblem() || seesQueries(sequelize) ? null : (on ?? currentTarget(sequelize));
        const rows = await selectValues(info, fragment, slots, place);
        const { unreadable } = (related.through ?? OPEN_ACCESS).form;
        const byPlace = new Map(
          rows.map(([place, ...values]) => [Number(place), shownOf.values(values, unreadable)]),
        );
        return withLinks(outcome, (index) => byPlace.get(index + 1) ?? null);
      };
    },
  };
}

const MEMBER = 'link';

function withLinks(outcome: Outcome, linkOf: (index: number) => unknown): Outcome {
  return {
    ...outcome,
    writer(fields) {
      const write = outcome.writer(fields);
      return (index, more = '') => {
        const own = `"${MEMBER}":${JSON.stringify(linkOf(index))}`;
        return write(index, more === '' ? own : `${own},${more}`);
      };
    },
    values: (fields) =>
      outcome.values(fields).map((record, index) => Object.assign({}, record, { [MEMBER]: linkOf(index) })),
  };
}
