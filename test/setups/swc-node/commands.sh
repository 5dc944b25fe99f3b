npm pkg set type=module
npm install --save-dev typescript@6 @swc-node/register @swc/core
node --import @swc-node/register/esm-register src/main.ts
