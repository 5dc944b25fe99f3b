/** All features, in the order of the document. */
import type { FeatureFactory } from '../operation/feature.js';
import { aggregate } from './aggregate/aggregate.js';
import { bulk } from './bulk/bulk.js';
import { capture } from './capture/capture.js';
import type { HistoryOption } from './capture/capture-options.js';
import { changes } from './changes/changes.js';
import type { FeedOption } from './changes/feed-options.js';
import { exported } from './export/export.js';
import { history } from './history/history.js';
import type { IdempotencyOption } from './idempotency/idempotency-options.js';
import { idempotency } from './idempotency/idempotent-write.js';
import { fileImport } from './import/import.js';
import { embeddedRecords } from './include/embed.js';
import { increment } from './increment/increment.js';
import { links } from './links/links.js';
import { nested } from './nested/nested.js';
import { preference } from './preference/preference.js';
import { replace } from './replace/replace.js';
import { ROW_FEATURES } from './row-features.js';
import { sentBack } from './sent-back/sent-back.js';
import { subResources } from './sub-resources/sub-resources.js';
import { upsert } from './upsert/upsert.js';

/** A new feature is a folder or file beside these, and a line here. */
export const FEATURES: readonly FeatureFactory[] = [
  ...ROW_FEATURES,
  replace,
  embeddedRecords,
  idempotency,
  preference,
  sentBack,
  increment,
  subResources,
  links,
  bulk,
  aggregate,
  exported,
  upsert,
  fileImport,
  nested,
  capture,
  changes,
  history,
];

/** Members of the options of `bootstrap` that features declare. */
export interface FeatureOptions extends IdempotencyOption, HistoryOption, FeedOption {}
