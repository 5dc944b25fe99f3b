/** A resource at work: its plan, and what the later phases made of it. */
import { FEATURES } from '../../features/features.js';
import type { Endpoint } from '../../metadata/crud-options.js';
import { compileFeatures, type ResourceFeatures } from '../../operation/compile-features.js';
import type { FeatureFactory } from '../../operation/feature.js';
import type { Repository } from '../../persistence/records/repository.js';
import type { ResourcePlan } from '../../plan/resource-plan.js';
import type { CursorCodec } from '../../query/cursor-codec.js';
import {
  type CompiledSerializer,
  compileSerializer,
  type RecordSerializer,
  readableProperties,
  recordPlan,
} from '../../response/record-serializer.js';
import { nestedRecords } from '../../response/result-serializer.js';
import { compileRowView, type RowView } from '../../response/row-view.js';
import { compileParser, parseOnce, type RequestParser } from '../request/parse-request.js';
import { compileRequestAccess, type RequestAccess } from '../request/request-access.js';
import { type CrudControllerClass, generateController } from './crud-controller.js';
import type { Declaration } from './declare-resources.js';

/** Everything a resource's routes need, closed over by them. */
export interface Resource {
  readonly plan: ResourcePlan;
  readonly repository: Repository;
  /** The user's subclass, or the generated controller itself. */
  readonly controller: CrudControllerClass;
  readonly isGenerated: boolean;
  readonly serialize: RecordSerializer;
  /** How rows of our SQL leave. */
  readonly rowView: RowView;
  /** The same, with what it is made of. */
  readonly serializer: CompiledSerializer;
  readonly cursors: CursorCodec;
  readonly features: ResourceFeatures;
  /** What a request may see and write of the resource. */
  readonly access: RequestAccess;
  readonly parsers: Readonly<Record<Endpoint, RequestParser>>;
  /** The same for those who ask several times about a request. */
  readonly parseOnce: Readonly<Record<Endpoint, RequestParser>>;
}

/** What all resources of an application share. */
export interface ResourceSettings {
  /** Bytes. */
  readonly bodyLimit: number;
  readonly cursors: CursorCodec;
  /** Default: all there are. */
  readonly features?: readonly FeatureFactory[];
}

/**
 * Assembles the resources of an application: for each plan its repository and controller, its schemas, its parsers and
 * its serializer.
 */
export function createResources(
  plans: readonly ResourcePlan[],
  declarations: readonly Declaration[],
  settings: ResourceSettings,
): readonly Resource[] {
  const declared = new Map(declarations.map((declaration) => [declaration.model, declaration]));
  const serializers = new Map<object, CompiledSerializer>();
  const nested = nestedRecords(serializers);
  for (const plan of plans) serializers.set(plan.model, compileSerializer(recordPlan(plan), nested));
  return plans.map((plan) =>
    createResource(
      plan,
      declared.get(plan.model) as Declaration,
      serializers.get(plan.model) as CompiledSerializer,
      settings,
    ),
  );
}

function createResource(
  plan: ResourcePlan,
  { repository, controller }: Declaration,
  serializer: CompiledSerializer,
  { bodyLimit, cursors, features: factories = FEATURES }: ResourceSettings,
): Resource {
  const access = compileRequestAccess(plan);
  const readable = readableProperties(plan);
  const rowView = compileRowView(plan, serializer.serialize);
  const features = compileFeatures({ plan, readable, columnsOf: rowView.columnsOf, cursors }, factories);
  const settings = { plan, features, access, bodyLimit };
  const parsers = forEachOperation((operation) => compileParser(settings, operation));
  return Object.freeze({
    plan,
    repository,
    controller: controller ?? generateController(repository),
    isGenerated: controller === undefined,
    serialize: serializer.serialize,
    rowView,
    serializer,
    cursors,
    features,
    access,
    parsers,
    parseOnce: forEachOperation((operation) => parseOnce(parsers[operation])),
  });
}

function forEachOperation<T>(make: (operation: Endpoint) => T): Readonly<Record<Endpoint, T>> {
  return Object.freeze({
    list: make('list'),
    read: make('read'),
    create: make('create'),
    update: make('update'),
    delete: make('delete'),
  });
}
