npm install --save-dev swagger-typescript-api typescript@5.9
npx swagger-typescript-api generate --path api.json --output . --name client.ts
npx tsc
node main.js
