npm install --save-dev @hey-api/openapi-ts typescript@5.9
npx openapi-ts --input api.json --output client
npx tsc
node main.js
