/** What every contender is told, and what all of them have in common. */

/** Where to listen. */
export const HOST = '127.0.0.1';

/** Connections of a pool. */
export const CONNECTIONS = 10;

/** Says which port and database are meant; the benchmark sets both. */
export function readEnvironment(): { readonly port: number; readonly databaseUrl: string } {
  const { PORT, DATABASE_URL } = process.env;
  if (!PORT || !DATABASE_URL) throw new Error('A contender needs PORT and DATABASE_URL.');
  return { port: Number(PORT), databaseUrl: DATABASE_URL };
}
