npm install --save-dev jest @jest/globals @swc/jest @swc/core supertest @types/supertest
npx jest
