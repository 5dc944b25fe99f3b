/** Serves the application until a signal stops the process: `npm start`. */
import 'reflect-metadata';
import { serve } from 'crud-controllers';
import express from 'express';
import { openApp } from './app.js';
import { DATABASE_URL } from './database-url.js';

const { HOST, PORT = 3000 } = process.env;

void serve(express(), { host: HOST, port: Number(PORT), lifespan: (app) => openApp(app, DATABASE_URL) });
