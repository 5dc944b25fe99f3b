/** Reads what an application has stored of changes: the history of a record, and the events of a feed. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Agent } from 'supertest';

/** Milliseconds between two ticks of feeds that `eventsOf` reads: the option `changes.tick` of `bootstrap`. */
export const TICK = 50;

/** An item of a history. */
export interface PastChange {
  readonly id: string;
  readonly op: string;
  readonly changed: readonly string[];
  readonly changes: object;
}

/** The items of a history, the latest first. */
export async function pastOf(agent: Agent, path: string): Promise<PastChange[]> {
  const { body } = await agent.get(path).expect(200);
  return body.items;
}

/** The events of a feed from its start, once a tick has passed: `create 1`. */
export async function eventsOf(agent: Agent, path: string): Promise<string[]> {
  await delay(TICK);
  const { body } = await agent.get(`${path}?after=start`).expect(200);
  return body.items.map(({ op, id }: { op: string; id: string }) => `${op} ${id}`);
}
