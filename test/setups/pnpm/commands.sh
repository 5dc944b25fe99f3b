pnpm init
pnpm add crud-controllers express routing-controllers class-validator@^0.14.2 class-transformer sequelize sequelize-typescript pg reflect-metadata
pnpm add --save-dev typescript @types/node @types/express
pnpm tsc
node dist/main.js
