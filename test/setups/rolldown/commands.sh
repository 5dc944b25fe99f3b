npm install --save-dev rolldown
npx tsc
npx rolldown dist/main.js --platform node --format cjs --minify --keep-names --file ../bundle/main.js
node ../bundle/main.js
