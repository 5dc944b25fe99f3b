/** An engine and its database, on which applications are proven to keep tenants apart. */
import type { CrudApplication } from '../../src/index.js';
import type { Listening } from './listen.js';
import { connectTo, freshDatabase } from './postgres.js';
import { findingsOf, type ProvenTable } from './scope-proof.js';
import { StatementTap } from './statement-tap.js';
import { SERVED, TWIN_COLUMN, UNSERVED, type World } from './tenant-notes.js';
import { startTestApp } from './test-app.js';

/** The resources, and the rows of each that A may not touch. */
const TABLES: Readonly<Record<string, ProvenTable>> = {
  Note: { table: 'notes', allowed: ['A'], foreign: "owner IS DISTINCT FROM 'A'" },
  Card: { table: 'notes', allowed: ['A'], foreign: "owner IS DISTINCT FROM 'A'" },
  Twin: { table: 'notes', allowed: ['A'], foreign: "owner IS DISTINCT FROM 'A'", id: 'twin' },
  Leaf: {
    table: 'notes',
    allowed: ['A', 'C'],
    foreign: `(owner = 'A' OR (owner = 'C' AND "isOpen")) IS NOT TRUE`,
  },
};

/** An application, for the proof that it keeps to the scope. */
export interface Proposition {
  readonly listening: Listening;
  readonly crud: Pick<CrudApplication, 'routes' | 'openapi'>;
  /** Rows of others, in turn. Default: their rows, and none. */
  readonly worlds?: readonly World[] | undefined;
}

/** The engine, with a tap before its database. */
export async function startProofGround() {
  const database = await freshDatabase();
  const tap = await StatementTap.start(database.url);
  const direct = await connectTo(database.url);
  const site = await startTestApp({
    models: [...UNSERVED, ...SERVED],
    bootstrap: { models: [] },
    database: { ...database, url: tap.url },
  });
  await direct.query(TWIN_COLUMN);
  return {
    site,
    /** Answers of all resources of an application that reveal rows of others, and writes that reach them. */
    async findings({ listening, crud, worlds = ['there', 'absent'] }: Proposition): Promise<string[]> {
      const proven = { listening, routes: crud.routes, document: crud.openapi(), tap, direct };
      const findings: string[] = [];
      for (const resource of new Set(crud.routes.map((route) => route.resource))) {
        const scoped = TABLES[resource];
        if (!scoped) throw new Error(`Say what of ${resource} is others'.`);
        findings.push(...(await findingsOf(proven, resource, scoped, worlds)));
      }
      return findings;
    },
    async [Symbol.asyncDispose]() {
      await direct.end();
      await site[Symbol.asyncDispose]();
      await tap[Symbol.asyncDispose]();
    },
  };
}
