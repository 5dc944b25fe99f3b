npm install --save-dev openapi-typescript openapi-fetch typescript@5.9
npx openapi-typescript api.json --output client.ts
npx tsc
node main.js
