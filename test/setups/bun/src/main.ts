import { createApp } from './app.js';

async function main(): Promise<void> {
  const { DATABASE_URL = '', PORT = 3000 } = process.env;
  const { app } = await createApp(DATABASE_URL);
  app.listen(Number(PORT), () => console.log(`Listening on ${PORT}`));
}

void main();
