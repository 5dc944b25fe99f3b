/** Where the database is: `DATABASE_URL` of the environment, or else that of the file `.env`, which no commit and no image has. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';

const FILE = join(__dirname, '../../.env');
// Variables of the environment stay as they are.
if (existsSync(FILE)) process.loadEnvFile(FILE);

export const { DATABASE_URL } = process.env;
