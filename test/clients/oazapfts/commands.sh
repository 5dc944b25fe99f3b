npm install --save-dev oazapfts @oazapfts/runtime typescript@5.9
npx oazapfts api.json client.ts
npx tsc
node main.js
