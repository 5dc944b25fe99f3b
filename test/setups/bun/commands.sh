bun add crud-controllers express routing-controllers class-validator@^0.14.2 class-transformer sequelize sequelize-typescript pg reflect-metadata
bun add --dev typescript @types/node @types/express
bun src/main.ts
