npm install --save-dev vitest supertest @types/supertest
npx vitest run
