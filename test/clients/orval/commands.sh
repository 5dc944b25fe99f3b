npm install --save-dev orval typescript@5.9
npx orval --input api.json --output ./client.ts --client fetch
npx tsc
node main.js
