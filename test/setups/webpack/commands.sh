npm install --save-dev webpack webpack-cli
npx tsc
npx webpack
node ../bundle/main.js
