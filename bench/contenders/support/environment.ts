/** Settings of all contenders: those from the environment, and those that are the same for all. */

/** The address to listen on. */
export const HOST = '127.0.0.1';

/** Connections of a contender. */
export const CONNECTIONS = 10;

/** Connections of each of our two pools: one reads, and one writes. */
export const CONNECTIONS_OF_OURS = CONNECTIONS / 2;

/** The port and the database of this process; the benchmark sets both. */
export function readEnvironment(): { readonly port: number; readonly databaseUrl: string } {
  const { PORT, DATABASE_URL } = process.env;
  if (!PORT || !DATABASE_URL) throw new Error('A contender needs PORT and DATABASE_URL.');
  return { port: Number(PORT), databaseUrl: DATABASE_URL };
}
