npm install --save-dev openapi-zod-client @zodios/core axios zod@3 typescript@5.9
npx openapi-zod-client api.json --output client.ts
npx tsc
node main.js
