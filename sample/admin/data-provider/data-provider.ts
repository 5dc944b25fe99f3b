/** A data provider of react-admin for resources of crud-controllers, on a client that openapi-fetch has made. */
import type { Client } from 'openapi-fetch';
import {
  type CreateParams,
  type DataProvider,
  type DeleteManyParams,
  type DeleteParams,
  type GetListParams,
  type GetManyParams,
  type GetManyReferenceParams,
  type GetOneParams,
  HttpError,
  type Identifier,
  type RaRecord,
  type SortPayload,
  type UpdateManyParams,
  type UpdateParams,
} from 'react-admin';
import {
  type Download,
  type FileProgress,
  type ImportResult,
  readDownload,
  readImport,
  refusedRows,
} from './files.js';
import { toParameters } from './filter.js';
import { ListPages, type Page } from './list-pages.js';
import { nestedChanges, nestedCreate, withChildren } from './nested.js';
import { type LabelOf, toHttpError } from './problem.js';
import type { AnyResource, Resource } from './resources.js';
import { type Answer, createSender } from './sender.js';

/** The methods of react-admin, and some more. */
export interface CrudDataProvider extends DataProvider {
  /** Brings a deleted record back, where the resource has the endpoint `restore`. */
  restore(name: string, params: { readonly id: Identifier }): Promise<{ data: RaRecord }>;
  /** Links a record with another one, or removes the link, where the resource has the option `links`. @param target `/trips/{id}/themes` */
  setLink(target: string, params: LinkParams): Promise<void>;
  /** A page of the changes of a record, the newest first, where the resource has the endpoint `history`. */
  getHistory(name: string, params: HistoryParams): Promise<HistoryPage>;
  /** Goes back to the state after a change, where the resource has the endpoint `revert`. The tag of the record is the condition. */
  revert(name: string, params: RevertParams): Promise<{ data: RaRecord; skipped: readonly string[] }>;
  /** Groups of the records that a filter finds, where the resource has the option `aggregate`. */
  aggregate(name: string, params: AggregateParams): Promise<Groups>;
  /** All records of a list as a CSV file, where the resource has the option `export`. @throws CutError where its end is missing */
  exportRecords(name: string, params: ExportParams): Promise<Download>;
  /** Stores the rows of a file, where the resource has the option `import`. @throws CutError where it is unknown how it ended */
  importFile(name: string, params: ImportParams): Promise<ImportResult>;
}

/** Parameters of `setLink`. */
export interface LinkParams {
  readonly id: Identifier;
  /** The id of the other record. */
  readonly link: Identifier;
  /** False removes the link. */
  readonly isLinked: boolean;
}

/** Parameters of `getHistory`. */
export interface HistoryParams {
  readonly id: Identifier;
  /** The `next_cursor` of the page before; null for the first one. */
  readonly after: string | null;
  readonly signal?: AbortSignal;
}

/** A page of changes. */
export interface HistoryPage {
  readonly items: readonly Change[];
  readonly next_cursor: string | null;
}

/** A change of a record. */
export interface Change {
  readonly id: string;
  readonly at: string;
  readonly op: 'create' | 'update' | 'delete' | 'restore';
  /** Null where nobody was signed in, or something else than the application has written. */
  readonly actor: string | null;
  /** Null where something else than the application has written. */
  readonly operation: string | null;
  /** The change that a revert went back to; null for others. */
  readonly of: string | null;
  /** The values before and after, by attribute. */
  readonly changes: Readonly<Record<string, { readonly from?: unknown; readonly to?: unknown }>>;
}

/** Parameters of `revert`. */
export interface RevertParams {
  /** As it was read. */
  readonly record: RaRecord;
  /** The id of the change. */
  readonly to: string;
}

/** A list whose records are counted, or written to a file. */
interface WholeList {
  /** As that of a `<List>`. */
  readonly filter?: object;
  /** Other parameters of the request. `AggregateQuery` has the types of those of aggregates. */
  readonly query?: object;
  readonly signal?: AbortSignal;
}

/** Parameters of `aggregate`. */
export type AggregateParams = WholeList;

/** Groups of records. Sums and averages of integers and decimals are texts, which `Intl.NumberFormat` formats exactly. */
export interface Groups {
  readonly items: readonly Group[];
  /** True where other groups come behind them. */
  readonly has_next: boolean;
}

/** A group, with its measures by the names of their attributes. */
export type Group = {
  readonly group: Readonly<Record<string, string | number | boolean | null>>;
  readonly count: number;
} & {
  readonly [Measure in 'sum' | 'avg' | 'min' | 'max' | 'countDistinct']?: Readonly<
    Record<string, string | number | null>
  >;
};

/** Parameters of `exportRecords`. */
export interface ExportParams extends WholeList {
  readonly sort?: SortPayload;
  readonly onProgress?: (progress: FileProgress) => void;
}

/** Parameters of `importFile`. */
export interface ImportParams {
  readonly file: File;
  /** `mode`, `on`, `atomic`, `dry_run` and `delimiter`. */
  readonly query?: object;
  /** The `Idempotency-Key` of the file: sent again with the same one, no row is stored twice. */
  readonly key?: string;
  readonly onProgress?: (progress: FileProgress) => void;
  readonly signal?: AbortSignal;
}

type Item = Readonly<Record<string, unknown>>;

/** Where a record keeps the tag that it was read with: a form and its tag are then of the same state. */
const TAG = '_etag';
/** A `q` has at most 2,048 characters, which are 50 UUIDs. */
const MOST_KEYS = 50;
/** A line of JSON for each record, or for each part of an import. */
const LINES = 'application/x-ndjson';

function ignore(): void {}

/** Makes the provider. The resources have the names of the `<Resource>`s. */
export function crudDataProvider<Paths extends object>(
  client: Client<Paths>,
  resources: Readonly<Record<string, Resource<Paths>>>,
): CrudDataProvider {
  const send = createSender(client);
  const pages = new ListPages();

  function find(name: string): Required<AnyResource> {
    // The compiler has compared it with the document, and `AnyResource` has all members that it may have.
    const resource = resources[name] as AnyResource | undefined;
    if (!resource) throw new Error(`The data provider knows no '${name}'.`);
    return { key: 'id', pagination: 'offset', tags: false, bulk: false, nested: [], labels: {}, ...resource };
  }

  function findBulk(name: string): Required<AnyResource> {
    const resource = find(name);
    if (resource.bulk) return resource;
    throw new Error(`Many ${name} at once need the endpoints updateMany and deleteMany.`);
  }

  async function readPage(name: string, path: string, params: GetListParams, id?: Identifier) {
    const resource = find(name);
    const { pagination, sort, filter, meta, signal } = params;
    const query = { ...meta, ...toParameters(filter), sort: sort && orderOf(resource, sort) };
    const list = {
      name: JSON.stringify([path, id, query]),
      pagination: resource.pagination,
      read: async (page: Item) =>
        (await send<Page<Item>>('get', path, { id, query: { ...query, ...page }, signal })).body,
    };
    const { data, ...rest } = await pages.read(list, pagination ?? {});
    return { data: data.map((body) => toRecord(resource, { body, tag: null })), ...rest };
  }

  const provider = {
    supportAbortSignal: true,

    getList: (name: string, params: GetListParams) => readPage(name, find(name).path, params),

    async getOne(name: string, { id, meta, signal }: GetOneParams) {
      const resource = find(name);
      const { nested } = resource;
      const include = [...new Set([...(meta?.include ?? []), ...nested])];
      const query = nested.length > 0 ? { ...meta, include } : meta;
      const answer = await send<Item>('get', `${resource.path}/{id}`, { id, query, signal });
      return { data: toRecord(resource, answer) };
    },

    /** The key has to be in `filterAllow`. */
    async getMany(name: string, { ids, meta, signal }: GetManyParams) {
      const { path, key } = find(name);
      const reads = slices(ids).map((some) => {
        const pagination = { page: 1, perPage: some.length };
        return readPage(name, path, { filter: { [key]: some }, pagination, meta, ...(signal && { signal }) });
      });
      return { data: (await Promise.all(reads)).flatMap(({ data }) => data) };
    },

    /** The target is a sub-resource, `/countries/{id}/cities`, or the attribute that refers, which has to be in `filterAllow`. */
    getManyReference(name: string, { target, id, filter, ...params }: GetManyReferenceParams) {
      if (target.startsWith('/')) return readPage(name, target, { ...params, filter }, id);
      return readPage(name, find(name).path, { ...params, filter: { ...filter, [target]: id } });
    },

    async create(name: string, { data }: CreateParams) {
      const resource = find(name);
      return {
        data: toRecord(
          resource,
          await send<Item>('post', resource.path, {
            ...nestedCreate(data, resource.nested),
            labelOf: labelsOf(resource),
          }),
        ),
      };
    },

    async update(name: string, { id, data, previousData }: UpdateParams) {
      const resource = find(name);
      const condition = ifMatch(data[TAG] ?? previousData?.[TAG]);
      if (resource.tags && !condition) {
        throw new HttpError('The record was read without its tag. Reload it, and repeat the change.', 412);
      }
      const answer = await send<Item>('patch', `${resource.path}/{id}`, {
        id,
        ...nestedChanges(changesOf(data, previousData), previousData ?? {}, resource.nested),
        ...condition,
        labelOf: labelsOf(resource),
      });
      return { data: toRecord(resource, answer) };
    },

    /** All of them or none. */
    async updateMany(name: string, { ids, data }: UpdateManyParams) {
      const resource = findBulk(name);
      // An empty filter is left out, and finds all records.
      if (ids.length === 0) return { data: ids };
      const query = toParameters({ [resource.key]: ids });
      await send('patch', resource.path, { query, body: data, labelOf: labelsOf(resource) });
      return { data: ids };
    },

    /** With the tag, where the record was read by itself. */
    async delete(name: string, { id, previousData }: DeleteParams) {
      await send('delete', `${find(name).path}/{id}`, { id, ...ifMatch(previousData?.[TAG]) });
      return { data: previousData ?? { id } };
    },

    /** All of them or none. */
    async deleteMany(name: string, { ids }: DeleteManyParams) {
      const { path, key } = findBulk(name);
      if (ids.length === 0) return { data: ids };
      await send('delete', path, { query: toParameters({ [key]: ids }) });
      return { data: ids };
    },

    async restore(name: string, { id }: { readonly id: Identifier }) {
      const resource = find(name);
      return { data: toRecord(resource, await send<Item>('post', `${resource.path}/{id}/restore`, { id })) };
    },

    async setLink(target: string, { id, link, isLinked }: LinkParams) {
      const path = `${target}/${encodeURIComponent(link)}`;
      // A link that is gone already is what was wanted.
      const missing = { query: { missing: 'ok' } };
      await send(isLinked ? 'put' : 'delete', path, { id, ...(!isLinked && missing) });
    },

    async getHistory(name: string, { id, after, signal }: HistoryParams) {
      const path = `${find(name).path}/{id}/history`;
      return (await send<HistoryPage>('get', path, { id, query: { after: after ?? undefined }, signal }))
        .body;
    },

    async revert(name: string, { record, to }: RevertParams) {
      const resource = find(name);
      const call = { id: record.id, body: { to }, ...ifMatch(record[TAG]), labelOf: labelsOf(resource) };
      const answer = await send<Item & { skipped: string[] }>('post', `${resource.path}/{id}/revert`, call);
      const { skipped, ...body } = answer.body;
      return { data: toRecord(resource, { ...answer, body }), skipped };
    },

    async aggregate(name: string, { filter, query, signal }: AggregateParams) {
      const parameters = { ...query, ...toParameters(filter) };
      return (await send<Groups>('get', `${find(name).path}/aggregate`, { query: parameters, signal })).body;
    },

    async exportRecords(name: string, { filter, query, sort, onProgress, signal }: ExportParams) {
      const resource = find(name);
      const { response, problem } = await send.file('get', resource.path, {
        query: {
          ...query,
          ...toParameters(filter),
          sort: sort && orderOf(resource, sort),
          format: 'csv',
          count: 'exact',
        },
        signal,
      });
      if (!response.ok) throw toHttpError(response, problem, {}, String);
      return readDownload(response, onProgress ?? ignore);
    },

    async importFile(name: string, { file, query, key, onProgress, signal }: ImportParams) {
      // A browser does not send it, and would call that a lost connection.
      await file
        .slice(0, 1)
        .arrayBuffer()
        .catch(() => {
          throw new HttpError('The file has changed since it was chosen. Choose it again.', 400);
        });
      const { response, problem } = await send.file('post', `${find(name).path}/import`, {
        query: { ...query },
        header: {
          'Content-Type': /\.(?:ndjson|jsonl)$/i.test(file.name) ? LINES : 'text/csv',
          Accept: LINES,
          ...(key !== undefined && { 'Idempotency-Key': key }),
        },
        file,
        onSent: (sent) => onProgress?.({ rows: 0, sent }),
        signal,
      });
      return response.ok ? readImport(response, onProgress ?? ignore) : refusedRows(problem, response.status);
    },
  };
  // react-admin lets whoever calls say what its records are, which no answer can know.
  return provider as CrudDataProvider;
}

/** Labels of a resource: those that it names, and those that react-admin makes of names. */
function labelsOf({ labels }: Required<AnyResource>): LabelOf {
  return (attribute) => labels[attribute] ?? humanized(attribute);
}

/** `officialName` is `Official name`, and `cityId` is `City`. */
function humanized(attribute: string): string {
  const words = attribute
    .replace(/(?<=[a-z\d])(?=[A-Z])/g, ' ')
    .replaceAll('_', ' ')
    .toLowerCase();
  return words.replace(/ ids?$/, '').replace(/^./, (first) => first.toUpperCase());
}

/** Records of react-admin have their key in `id`. */
function toRecord({ key, tags, nested }: Required<AnyResource>, { body, tag }: Answer<Item>): RaRecord {
  // Keys are numbers or texts.
  const id = body[key] as Identifier;
  return { ...withChildren(body, nested), id, ...(tags && tag !== null && { [TAG]: tag }) };
}

function orderOf({ key }: Required<AnyResource>, { field, order }: SortPayload): string {
  return `${order === 'DESC' ? '-' : ''}${field === 'id' ? key : field}`;
}

function ifMatch(tag: unknown): { header: { 'If-Match': string } } | undefined {
  return typeof tag === 'string' ? { header: { 'If-Match': tag } } : undefined;
}

/** The values that differ. The rest is not to be sent: most of it cannot be set, or is none of the record, as its relations. */
function changesOf(data: Item, previous: Item = {}): Item {
  const isChanged = ([name, value]: [string, unknown]) =>
    name !== TAG && JSON.stringify(value) !== JSON.stringify(previous[name]);
  return Object.fromEntries(Object.entries(data).filter(isChanged));
}

function slices(ids: readonly Identifier[]): readonly (readonly Identifier[])[] {
  const starts = Array.from({ length: Math.ceil(ids.length / MOST_KEYS) }, (_, index) => index * MOST_KEYS);
  return starts.map((start) => ids.slice(start, start + MOST_KEYS));
}
