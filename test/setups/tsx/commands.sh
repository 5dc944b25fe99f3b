npm install --save-dev tsx
npx tsx src/main.ts
