/** A capability as one value: its parameters, what it does to operations and answers, and what can go wrong. */
import type { Request } from 'express';
import type { Endpoint } from '../metadata/crud-options.js';
import type { ResourcePlan } from '../plan/resource-plan.js';
import type { JsonSchema } from '../schema/json-schema.js';
import type { RequestIssue } from '../schema/request-issue.js';
import type { Operation } from './operation.js';

/** A query parameter or a header of some endpoints: how it is read, and how the document describes it, in one place. */
export interface Input {
  readonly in: 'query' | 'header';
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
  /** Reads the text of a request; undefined where the request has none. What is wrong is added to the issues. */
  read(text: string | undefined, issues: RequestIssue[]): unknown;
  readonly description: string;
  readonly schema: JsonSchema;
  /** How the values of an array stand in a query string (OpenAPI 3.1, `style`). */
  readonly style?: 'form';
  readonly explode?: boolean;
}

/** What the inputs of a request gave, by name. */
export type Inputs = Readonly<Record<string, unknown>>;

/** An answer before it is sent. What throws while it is made undoes what was written. */
export interface AnswerDraft {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined is an answer without a body. */
  readonly body: unknown;
}

/** What an operation gave, as far as answers depend on it. */
export interface OperationResult {
  readonly endpoint: Endpoint;
  /** Rows that were found or written. */
  readonly count: number;
}

/** What a resource's feature does. Each member is optional; a feature that is off does not exist. */
export interface Feature {
  readonly name: string;
  readonly inputs?: readonly Input[];
  /** Called once at the start, for what does not depend on a request. Pure. */
  prepare?(operation: Operation): Operation;
  /** Called for each request. Pure. */
  rewrite?(operation: Operation, inputs: Inputs, request: Request): Operation;
  /** Changes the answer: status and headers. Called before the commit. */
  present?(draft: AnswerDraft, result: OperationResult, request: Request): AnswerDraft;
  /** The statuses of what can go wrong, by endpoint, for the document. */
  readonly problems?: Readonly<Partial<Record<Endpoint, readonly number[]>>>;
  /** The headers of answers, by endpoint, for the document. */
  readonly headers?: Readonly<
    Partial<
      Record<
        Endpoint,
        Readonly<
          Record<
            string,
            { readonly description: string; readonly schema: JsonSchema; readonly required?: boolean }
          >
        >
      >
    >
  >;
}

/** Makes a feature of a resource's options; null where it is off, and then it costs nothing. */
export type FeatureFactory = (plan: ResourcePlan) => Feature | null;
