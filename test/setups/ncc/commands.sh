npm install --save-dev @vercel/ncc
npx tsc
npx ncc build dist/main.js --out ../bundle
node ../bundle/index.js
