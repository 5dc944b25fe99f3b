deno run --allow-all --unstable-sloppy-imports src/main.ts
