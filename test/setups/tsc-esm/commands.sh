npm pkg set type=module
npx tsc
node dist/main.js
