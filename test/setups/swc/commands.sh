npm install --save-dev @swc/cli @swc/core
npx swc src --out-dir dist --strip-leading-paths
node dist/main.js
