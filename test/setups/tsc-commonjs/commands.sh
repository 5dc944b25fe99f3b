npx tsc
node dist/main.js
