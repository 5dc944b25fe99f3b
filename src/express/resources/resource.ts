/** A resource at work: its plan, and the parts that later phases made of it. */

import { compileRequestAccess, type RequestAccess } from '../../access/evaluate-rules.js';
import { compileGivenValues } from '../../access/given-values.js';
import type { ResourcePlan } from '../../compile/resource-plan.js';
import { everyInclude } from '../../compile/resource-plan.js';
import { ENDPOINTS, type Endpoint, type ModelClass } from '../../declare/crud-options.js';
import { keyText } from '../../describe/row-key.js';
import { noteUnseen } from '../../describe/unseen-values.js';
import type { Repository } from '../../execute/records/repository.js';
import { compileFeatures, type ResourceFeatures } from '../../operation/compile-features.js';
import type { FeatureFactory, ModelView } from '../../operation/feature.js';
import { type RouteSpec, routesOf } from '../../operation/route-spec.js';
import { compileParser, parseOnce, type RequestParser } from '../../request/parse-request.js';
import type { CursorCodec } from '../../request/query/cursor-codec.js';
import {
  type CompiledSerializer,
  compileSerializer,
  type NestedRecords,
  type RecordSerializer,
  readableProperties,
  recordPlan,
  unseenAttributes,
} from '../../respond/record-serializer.js';
import { nestedRecords, type SerializerRegistry } from '../../respond/result-serializer.js';
import { compileRowView, type RowView } from '../../respond/row-view.js';
import { lazy } from '../../util/memo.js';
import { lineageOf } from './controller-metadata.js';
import { CrudController, type CrudControllerClass, generateController } from './crud-controller.js';
import type { Declaration } from './declare-resources.js';
import { ownQueryParameters } from './resource-parameters.js';

/** Model whose records are shown, served or not. */
export interface ShownModel extends ModelView {
  readonly plan: ResourcePlan;
  readonly serialize: RecordSerializer;
  /** The same, with its parts. */
  readonly serializer: CompiledSerializer;
  /** View of the rows of this library's SQL. */
  readonly rowView: RowView;
}

/** Everything a resource's routes need, closed over by them. */
export interface Resource extends ShownModel {
  readonly repository: Repository;
  /** The user's subclass, or the generated controller itself. */
  readonly controller: CrudControllerClass;
  readonly isGenerated: boolean;
  readonly cursors: CursorCodec;
  views(model: ModelClass): ShownModel;
  /** Another resource of the application; undefined where the model has none. */
  resourceOf(model: ModelClass): Resource | undefined;
  /** The routes that its methods can serve. */
  readonly routes: readonly RouteSpec[];
  readonly features: ResourceFeatures;
  /** Rules of the resource, evaluated for a request. */
  readonly access: RequestAccess;
  readonly parsers: Readonly<Record<Endpoint, RequestParser>>;
  /** Bytes of a body at most; undefined for the default. */
  readonly bodyLimit: number | undefined;
  /** The same for callers that parse a request several times. */
  readonly parseOnce: Readonly<Record<Endpoint, RequestParser>>;
}

interface ResourceSettings {
  /** Bytes; undefined for the default. */
  readonly bodyLimit: number | undefined;
  readonly cursors: CursorCodec;
  readonly features: readonly FeatureFactory[];
  /** Options of `bootstrap` that features compile, by name. Default: none. */
  readonly application?: Readonly<Record<string, unknown>>;
}

/**
 * Assembles the resources of an application: for each plan its repository and controller, its schemas, its parsers and
 * its serializer. All but the first two are compiled when something first reads them, so a start does not pay for routes that
 * no request has come to yet. The plan has found every problem before.
 */
export function createResources(
  plans: readonly ResourcePlan[],
  declarations: readonly Declaration[],
  settings: ResourceSettings,
): readonly Resource[] {
  const declared = new Map(declarations.map((declaration) => [declaration.model, declaration]));
  const served = new Map<object, ShownModel>();
  const nested = nestedRecords(serializersOf(served));
  for (const plan of plans) served.set(plan.model, showModel(plan, nested));
  const views = new Map(served);
  const targets = plans
    .flatMap(({ relations }) => everyInclude(relations.include))
    .map(({ target }) => target);
  for (const plan of targets) if (!views.has(plan.model)) views.set(plan.model, showModel(plan, nested));
  const made = new Map<ModelClass, Resource>();
  const others = {
    views: (model: ModelClass) => views.get(model) as ShownModel,
    resourceOf: (model: ModelClass) => made.get(model),
  };
  for (const { model } of plans) {
    const declaration = declared.get(model) as Declaration;
    made.set(model, createResource(views.get(model) as ShownModel, declaration, others, settings));
  }
  return [...made.values()];
}

/** Finds the serializers of models that are served. */
export function serializersOf(shown: ReadonlyMap<object, ShownModel>): SerializerRegistry {
  return { has: (model) => shown.has(model), get: (model) => shown.get(model)?.serializer };
}

function showModel(plan: ResourcePlan, nested: NestedRecords): ShownModel {
  const serializer = lazy(() => compileSerializer(recordPlan(plan), nested));
  const rowView = lazy(() => compileRowView(plan, serializer().serialize));
  const readable = lazy(() => readableProperties(plan));
  return Object.freeze({
    plan,
    get serialize() {
      return serializer().serialize;
    },
    get serializer() {
      return serializer();
    },
    get rowView() {
      return rowView();
    },
    get columnsOf() {
      return rowView().columnsOf;
    },
    get readable() {
      return readable();
    },
  });
}

function createResource(
  view: ShownModel,
  { repository, controller }: Declaration,
  { views, resourceOf }: Pick<Resource, 'views' | 'resourceOf'>,
  { bodyLimit, cursors, features: factories, application = {} }: ResourceSettings,
): Resource {
  const { plan } = view;
  const access = compileRequestAccess(plan, compileGivenValues(plan));
  noteUnseen(plan.model, () => unseenAttributes(plan));
  const features = lazy(() => compileFeatures({ ...view, cursors, views, application }, factories));
  const settings = lazy(() => ({ plan, features: features(), access, bodyLimit }));
  const lineage = controller ? lineageOf(controller, CrudController) : [];
  const routes = routesOf(plan, factories);
  const methodOf = (endpoint: Endpoint) =>
    routes.find(({ operation }) => operation === endpoint)?.method ?? endpoint;
  const parsers = forEachOperation((operation) =>
    compileParser(settings(), operation, ownQueryParameters(lineage, methodOf(operation))),
  );
  const isOwn = keyText(repository.idParts) === keyText(plan.info.address);
  const members = {
    repository: isOwn ? repository : repository.addressedBy(keyText(plan.info.address)),
    controller: controller ?? generateController(repository),
    isGenerated: controller === undefined,
    cursors,
    views,
    resourceOf,
    routes,
    get features() {
      return features();
    },
    access,
    parsers,
    bodyLimit,
    parseOnce: forEachOperation((operation) => parseOnce(parsers[operation])),
  };
  const described = {
    ...Object.getOwnPropertyDescriptors(view),
    ...Object.getOwnPropertyDescriptors(members),
  };
  // Defined and not spread, which would compute each member. The compiler cannot infer the type of that.
  return Object.freeze(Object.defineProperties({}, described) as Resource);
}

/** Each is made at its first use. */
function forEachOperation<T>(make: (operation: Endpoint) => T): Readonly<Record<Endpoint, T>> {
  const made = {} as Record<Endpoint, T>;
  for (const operation of ENDPOINTS)
    Object.defineProperty(made, operation, { enumerable: true, get: lazy(() => make(operation)) });
  return Object.freeze(made);
}
