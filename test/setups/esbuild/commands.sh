npm install --save-dev esbuild
npx tsc
npx esbuild dist/main.js --bundle --platform=node --minify --keep-names --external:cors --external:@koa/cors --external:pg-hstore --outfile=../bundle/main.js
node ../bundle/main.js
