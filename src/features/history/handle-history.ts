/** The handler of `GET /cities/{id}/history`: the story of a read whose result is a page of changes. */
import type { Request } from 'express';
import { idText } from '../../describe/id-text.js';
import { openTest } from '../../execute/customization/plain-queries.js';
import type { ActionRunner } from '../../express/resources/controller-metadata.js';
import type { Resource } from '../../express/resources/resource.js';
import { compileValueHandler } from '../../handle/handle-values.js';
import type { HandlerContext } from '../../handle/handled-route.js';
import { compileQueryReader } from '../../operation/compile-features.js';
import type { Input, Inputs } from '../../operation/feature.js';
import type { RequestArguments } from '../../request/parse-request.js';
import type { CursorScope } from '../../request/query/cursor-codec.js';
import { parsePathId } from '../../request/read-id.js';
import { envelopeOf } from '../../respond/envelope.js';
import type { WireRecord } from '../../respond/record-serializer.js';
import { storedProperties } from '../capture/stored-properties.js';
import { chosenNames } from '../chosen-names.js';
import { fieldsReader } from '../fields.js';
import { placeInputs, sizeInput } from '../paging.js';
import { findPast } from './past-record.js';
import { compileView, readChanges } from './read-changes.js';

type HistoryArguments = Omit<RequestArguments, 'query'> & { readonly query: HistoryInputs };

/** Texts of cursors: they are decoded when the record of the path is known, to which they belong. */
interface HistoryInputs extends Omit<Inputs, 'after' | 'before'> {
  readonly size: number;
  readonly fields: readonly string[] | null;
  readonly after: string | null;
  readonly before: string | null;
}

/** Newest first. */
const SORT = Object.freeze([Object.freeze({ attribute: 'id', descending: true })]);

/** The inputs of a history. */
export function historyInputs({ plan }: Pick<Resource, 'plan'>): readonly Input[] {
  const names = storedProperties(plan).map(({ name }) => name);
  const { read } = fieldsReader(names);
  return [
    ...placeInputs((text) => text, 'of the same record'),
    sizeInput(plan.pageSize),
    {
      in: 'query',
      name: 'fields',
      endpoints: [],
      absent: null,
      read: (text, { issues, access }) => read(text, access.form, issues),
      describe: () => chosenNames('Changes of these properties alone.', names, names.length),
    },
  ];
}

function compileParser({ plan, access: evaluate }: Resource) {
  const readQuery = compileQueryReader(plan, historyInputs({ plan }));
  return async (request: Request): Promise<HistoryArguments> => {
    const access = await evaluate(request, 'history');
    const query = readQuery(request.url, access) as unknown as HistoryInputs;
    return { access, query, id: parsePathId(plan, request) };
  };
}

function scopeOf({ plan }: Resource, { id, access, query }: HistoryArguments): CursorScope {
  const rows = access.digest() || null;
  const mask = [...access.form.unreadable].sort();
  const digest = ['history', idText(plan.info.address, id), query.fields, mask, rows];
  return { plan, sort: SORT, digest };
}

/** Compiles the handler. */
export function compileHistoryHandler(context: HandlerContext): ActionRunner {
  const { resource } = context;
  const { plan, cursors } = resource;
  const viewOf = compileView(plan);
  return compileValueHandler<HistoryArguments>(context, {
    resources: [resource],
    parse: compileParser(resource),
    isOpen: openTest(plan.info, 'read', false),
    async read(input, { request }, on) {
      const { access, query } = input;
      const { fields, size } = query;
      const scope = scopeOf(resource, input);
      const placeOf = (name: 'after' | 'before') => {
        const text = query[name];
        return text === null ? null : cursors.decode(text, scope, name);
      };
      const window = { after: placeOf('after'), before: placeOf('before'), size };
      const past = await findPast(resource, request, input, on);
      const view = { ...viewOf(access.form, fields), access };
      const page = await readChanges(resource, view, past.rowId, window, on);
      const items = page.items as readonly object[] as readonly WireRecord[];
      return envelopeOf(page, 'cursor', false, items, (place) => cursors.encode(place, scope));
    },
  });
}
