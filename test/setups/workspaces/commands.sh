npm init -y
npm pkg set workspaces[]=packages/notes
npm install crud-controllers express routing-controllers class-validator@^0.14.2 class-transformer sequelize sequelize-typescript pg reflect-metadata
npm install --save-dev typescript @types/node @types/express
npx tsc -p packages/notes
npx tsc
node dist/main.js
