import { serve } from 'crud-controllers';
import { createApp } from './app.js';

async function main(): Promise<void> {
  const { DATABASE_URL = '', PORT = 3000 } = process.env;
  const { app } = await createApp(DATABASE_URL);
  await serve(app, { port: Number(PORT) });
}

void main();
