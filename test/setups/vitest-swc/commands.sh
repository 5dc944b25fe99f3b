npm install --save-dev vitest@3 unplugin-swc @swc/core supertest @types/supertest
npx vitest run
