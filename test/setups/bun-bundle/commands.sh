bun build src/main.ts --target=node --minify-syntax --minify-whitespace --external=cors --external=@koa/cors --external=pg-hstore --outfile=../bundle/main.js
node ../bundle/main.js
