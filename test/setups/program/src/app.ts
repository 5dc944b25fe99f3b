import 'reflect-metadata';
import { bootstrap, engineLifespan } from 'crud-controllers';
import express from 'express';
import { Note } from './note.js';
import { NoteController } from './note-controller.js';

export async function createApp(url: string | undefined) {
  const app = express();
  const engine = await engineLifespan(url, { models: [Note], createAll: true })(app);
  await bootstrap(app, { controllers: [NoteController] });
  return { app, engine };
}
