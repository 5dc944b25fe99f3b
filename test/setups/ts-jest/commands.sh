npm install --save-dev typescript@6 jest @jest/globals ts-jest supertest @types/supertest
npx jest
