/** The handlers of links: the record is locked and judged, then its targets, and the difference is written, in one transaction. */
import type { Action } from 'routing-controllers';
import type { Sequelize } from 'sequelize';
import { checkChoice } from '../../describe/hooks-and-scopes-internals.js';
import { idTextOfTexts } from '../../describe/id-text.js';
import type { AttributeInfo } from '../../describe/model-info.js';
import { keyText } from '../../describe/row-key.js';
import { noteOperation } from '../../diagnostics/channels.js';
import { NotFoundError, noSuchRecord, severalRecords } from '../../errors/errors.js';
import { refusedRow, whyUnwritten } from '../../execute/executor.js';
import { joinableSession, retried, runInSavepoint } from '../../execute/session/savepoint.js';
import { selectValues } from '../../execute/session/select-values.js';
import { keySlots, now } from '../../execute/sql/encode-parameter.js';
import { joinSlots, type Slots } from '../../execute/sql/statement.js';
import { NOW } from '../../execute/sql/write-sql.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import { compileAround } from '../../handle/around.js';
import { operationSessions } from '../../handle/commit-request.js';
import { answerWith, formatFor, type Story } from '../../handle/handle.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { compileAloneTarget, inTransaction, sessionTarget } from '../../handle/run-rows.js';
import { compileShape } from '../../handle/shape-answer.js';
import { OPEN_ACCESS } from '../../operation/access.js';
import type { AnswerDraft } from '../../operation/feature.js';
import { RefusedRequestError } from '../../operation/refused-request-error.js';
import type { RouteSpec } from '../../operation/route-spec.js';
import { onPrimary, type StatementTarget } from '../../postgres/index.js';
import { requestSessions } from '../../request/request-sessions.js';
import { noteProblem } from '../../respond/problem.js';
import { wireFormat } from '../../respond/wire-format.js';
import { bodyPointer, InvalidBodyError, type RequestIssue } from '../../schema/request-issue.js';
import { isInState } from '../entity-tag.js';
import { compileParentReader } from '../sub-resources/run-subresource.js';
import { compileChildStore } from './child-store.js';
import { MAX_REPLACED, shownAttributes } from './link-options.js';
import { lockParentSql, touchSql } from './link-sql.js';
import { type FoundLink, type LinkChanges, type LinkRequest, OutrunError } from './link-store.js';
import { compilePairStore } from './pair-store.js';
import {
  compileLinkParser,
  type LinkArguments,
  type LinkItem,
  type Links,
  type LinkWork,
} from './parse-links.js';

/** Attempts of a write that another request outruns from the other side. */
const ATTEMPTS = 3;

/** Attempts to lock all rows of a replacement, none of which has waited for a deadlock. */
const OUTRUN_ATTEMPTS = 20;

/** Result of a request. */
interface Linked {
  readonly links: readonly FoundLink[];
  readonly added: number;
  readonly removed: number;
}

/** Compiles the handler of a work. */
export function compileLinkHandler(
  links: Links,
  work: LinkWork,
  route: RouteSpec,
  { decisions, shaper }: HandlerContext,
): ActionRunner {
  const { parent } = links;
  const { answer, settings, shapedBy } = decisions;
  const sequelize = parent.plan.model.sequelize as Sequelize;
  const { transaction } = operationSessions(parent, route, settings);
  const around = compileAround(parent, route, { shape: compileShape(parent, route), shapedBy, shaper });
  const run = compileRun(links, work, { settings, shaper });
  const draftOf = compileDraft(links, work);
  const story: Story<LinkArguments, never> = {
    parse: compileLinkParser(links, work),
    around: {
      headers: null,
      async find({ request, response }: Action, input) {
        const { inputs, access, id } = input;
        if (!inputs.isDryRun) {
          const query = parent.features.update.absentFor(access.form);
          return around?.find({ request, response } as Action, { query, access, id }) ?? null;
        }
        return {
          run: async (next) => (await requestSessions(request, response).unit(sequelize)).rehearse(next),
        };
      },
    },
    aloneTarget: compileAloneTarget(sequelize, settings, false),
    plan: () => 'transaction',
    runAlone: () => Promise.resolve(null),
    shape: () => {
      throw new TypeError('Links are written in a transaction alone.');
    },
    sessions: { session: transaction, transaction },
    async runWithin(action, input) {
      noteOperation(action.request, { runner: 'rows' });
      const on = inTransaction(await sessionTarget(sequelize, route.verb));
      const { status, body } = draftOf(await run(action, input, on), input);
      const isText = formatFor(action.response, answer) === 'text';
      return { status, headers: {}, body: isText ? (JSON.stringify(body) ?? '') : body };
    },
    // The answer is the state of no resource.
    isTagged: false,
  };
  return answerWith(story, answer, shaper);
}

/** Compiles the writer of the answer. */
function compileDraft({ below, link, target }: Links, work: LinkWork) {
  const { address } = target.plan.info;
  const shownOf = compileShown(shownAttributes(below, link.fields));
  return (
    { links, added, removed }: Linked,
    { related, items }: LinkArguments,
  ): Pick<AnswerDraft, 'status' | 'body'> => {
    if (work === 'unlink') return { status: 204, body: undefined };
    const { unreadable } = (related.through ?? OPEN_ACCESS).form;
    const byPlace = new Map(links.map((each) => [each.place, each]));
    const shown = items.map((_, place) => {
      const { id = [], values = [] } = byPlace.get(place) ?? {};
      return { id: idTextOfTexts(address, id) ?? undefined, ...shownOf.values(values, unreadable) };
    });
    if (work === 'link') return { status: added > 0 ? 201 : 200, body: shown[0] };
    return { status: 200, body: { items: shown, added, ...(work === 'replace' ? { removed } : {}) } };
  };
}

/** Compiles the work on the links of one record. */
function compileRun(links: Links, work: LinkWork, context: Pick<HandlerContext, 'settings' | 'shaper'>) {
  const { below, link, parent, target } = links;
  const { plan } = parent;
  const { info } = plan;
  const { relation } = below;
  const store = relation.through
    ? compilePairStore(links, context.settings)
    : compileChildStore(links, context);
  const { textOf } = compileParentReader({ plan: below, parent, target });
  const guarded = [relation.parent, relation.target, ...(relation.through ? [relation.through.model] : [])];
  const shownOf = compileShown(store.shown);

  /** Locks the record. @returns the key of its relation */
  const lock = async ({ access, inputs }: LinkArguments, slots: Slots, on: StatementTarget) => {
    const found = await selectValues(
      info,
      lockParentSql(plan, relation.parentKey, access),
      slots,
      onPrimary(on),
    );
    const [row] = found;
    if (!row) throw noSuchRecord({ name: info.name, key: keyText(info.address) });
    if (found.length > 1) throw severalRecords({ name: info.name, key: keyText(info.address) });
    const [text, state, isAllowed] = row as [string | null, string | null, boolean];
    if (!isAllowed) throw refusedRow('update', info.name);
    const { ifMatch } = inputs;
    if (ifMatch && !isInState(ifMatch, state)) {
      const { entityTag } = plan;
      const { form } = access;
      throw whyUnwritten({ info, endpoint: 'update', entityTag, ifMatch, form }, { state });
    }
    const key = textOf([text]);
    if (key !== null) return key;
    throw new RefusedRequestError(
      409,
      `This ${info.name} has no ${relation.parentKey} by which it can be linked.`,
    );
  };

  /** The changes that make the links those of the request. @throws for an item that is refused */
  const compare = ({ input }: LinkRequest, found: readonly FoundLink[]): LinkChanges => {
    const { items, inputs, related } = input;
    const { unreadable } = (related.through ?? OPEN_ACCESS).form;
    const isArray = work === 'add' || work === 'replace';
    const refuse = issuesOf(isArray);
    const byPlace = new Map(found.map((each) => [each.place, each]));
    const named = items.map((item, place) => ({ item, found: byPlace.get(place), place }));
    if (work === 'unlink') {
      const [one] = named;
      if (one?.found?.state === 'linked') return { add: [], set: [], remove: [one.found] };
      if (inputs.missing === 'ok') return NOTHING;
      throw new NotFoundError(`There is no such link of this ${info.name}.`);
    }
    const missing = named.filter((each) => !each.found);
    if (missing.length > 0) {
      const { name, info: of } = target.plan;
      const detail = `There is no ${name} with this ${keyText(of.address)}.`;
      throw refuse(409, missing, 'id', { code: 'foreignKey', detail });
    }
    // In the order in which all requests lock and write.
    const known = found.flatMap((each) => {
      const item = each.place === null ? undefined : items[each.place];
      return item ? { item, found: each, place: each.place as number } : [];
    });
    const keyless = known.filter((each) => each.found.state === 'keyless');
    if (keyless.length > 0) {
      const detail = `This ${target.plan.name} has no ${relation.targetKey} by which it can be linked.`;
      throw refuse(409, keyless, 'id', { code: 'keyless', detail });
    }
    const first = new Map(known.map((each) => [each.found.key, each]));
    const last = new Map(known.toReversed().map((each) => [each.found.key, each]));
    const twice = known.filter(({ found: { key } }) => first.get(key) !== last.get(key));
    if (twice.length > 0) throw refuse(422, twice, 'id', REPEATED);
    const others = known.filter((each) => each.found.state === 'other' && !link.steal);
    if (others.length > 0) {
      const detail = `This ${target.plan.name} belongs to another ${info.name}.`;
      throw refuse(409, others, 'id', { code: 'linked', detail });
    }
    const add = known.filter((each) => each.found.state !== 'linked');
    if (inputs.onlyNew && add.length === 0)
      throw new RefusedRequestError(
        412,
        `This link is there, and nothing was done; leave If-None-Match out.`,
      );
    for (const { name } of store.required) {
      const lacking = add.filter(({ item }) => item.values[name] === undefined);
      if (lacking.length > 0)
        throw refuse(422, lacking, name, { code: 'isDefined', detail: `${name} is required.` });
    }
    const set =
      work === 'add'
        ? []
        : known.filter((each) => !add.includes(each) && shownOf.differs(each.item, each.found, unreadable));
    const remove =
      work === 'replace' ? found.filter(({ place, state }) => place === null && state === 'linked') : [];
    if (remove.length > MAX_REPLACED || found.filter(({ state }) => state === 'linked').length > MAX_REPLACED)
      throw new RefusedRequestError(
        409,
        `This ${info.name} has more than ${MAX_REPLACED} ${relation.name}, and nothing was done; remove some of them one by one.`,
      );
    return { add, set, remove };
  };

  const change = async (action: Action, input: LinkArguments, on: StatementTarget): Promise<Linked> => {
    const { access, items } = input;
    const key = keySlots(info.address, input.id);
    if (!key) throw noSuchRecord({ name: info.name, key: keyText(info.address) });
    const slots = joinSlots(key, access.slots);
    const locked = (await store.lock?.(input, work === 'replace', slots, on)) ?? null;
    const request = { action, input, on, locked, key: await lock(input, slots, on) };
    let added = 0;
    let removed = 0;
    let changed = 0;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const found = await store.find(request, items, work === 'replace');
      const changes = compare(request, found);
      const { add, set, remove } = changes;
      const isSame = add.length + set.length + remove.length === 0;
      const count = isSame ? 0 : await store.write(request, changes);
      added += count;
      removed += remove.length;
      changed += set.length;
      if (count < add.length) continue;
      const isWritten = added + removed + changed > 0;
      if (isWritten && link.touch) {
        const touched = joinSlots(slots, { [NOW.slot]: now() });
        await selectValues(info, touchSql(plan, access), touched, onPrimary(on));
      }
      const isStale = !isSame && store.shown.length > 0 && work !== 'unlink';
      return { links: isStale ? await store.find(request, items, false) : found, added, removed };
    }
    throw new RefusedRequestError(
      409,
      `These links of this ${info.name} are there and not shown to this request, or somebody else changes them at the same time.`,
    );
  };

  // Many that were outrun lock once more, behind those that they have inserted. Children are locked behind their record.
  const mayDeadlock = work === 'add' || work === 'replace' || !relation.through;
  return async (action: Action, input: LinkArguments, on: StatementTarget): Promise<Linked> => {
    for (const model of guarded) checkChoice(model, `Links of ${info.name} cannot be written`);
    const session = mayDeadlock && joinableSession(plan.model.sequelize as Sequelize, 'write');
    if (!session) return change(action, input, on);
    return retried(
      () => runInSavepoint(session, 'write', () => change(action, input, on)),
      (error) => (error instanceof OutrunError ? OUTRUN_ATTEMPTS : 1),
    );
  };
}

const NOTHING: LinkChanges = Object.freeze({ add: [], set: [], remove: [] });

const REPEATED = Object.freeze({
  code: 'repeated',
  detail: 'id is that of another item, too; a link may stand in a body once.',
});

/** Makes errors of items. @param isArray whether they have places in the body */
function issuesOf(isArray: boolean) {
  return (
    status: 409 | 422,
    items: readonly { readonly place: number }[],
    name: string,
    issue: Pick<RequestIssue, 'code' | 'detail'>,
  ): Error => {
    const inOrder = [...items].sort((one, other) => one.place - other.place);
    const errors = inOrder.map(({ place }) => ({
      pointer: isArray ? bodyPointer(place, name) : bodyPointer(name),
      ...issue,
    }));
    if (status === 422) return new InvalidBodyError(errors);
    const error = new RefusedRequestError(409, issue.detail);
    return isArray ? (noteProblem(error, { status, detail: issue.detail, errors }) as Error) : error;
  };
}

/** The attributes of links, as answers show them. */
export function compileShown(shown: readonly AttributeInfo[]) {
  const formats = shown.map(({ type }) => wireFormat(type));
  const wire = (index: number, value: unknown) => (value === null ? null : formats[index]?.(value));
  return {
    /** True where an item has another value than the link, or one that the request may not read: a change must not reveal it. */
    differs: ({ values: sent }: LinkItem, { values }: FoundLink, unreadable: ReadonlySet<string>): boolean =>
      Object.entries(sent).some(([name, value]) => {
        const index = unreadable.has(name) ? -1 : shown.findIndex((each) => each.name === name);
        return (
          value !== undefined &&
          (index < 0 || JSON.stringify(wire(index, value)) !== JSON.stringify(wire(index, values[index])))
        );
      }),
    /** The values by name, without those that the request may not read. */
    values: (values: readonly unknown[], unreadable: ReadonlySet<string>) =>
      Object.fromEntries(
        shown.flatMap(({ name }, index) =>
          unreadable.has(name) ? [] : [[name, wire(index, values[index] ?? null)] as const],
        ),
      ),
  };
}
