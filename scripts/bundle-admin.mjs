/**
 * Bundles the back office with esbuild: it takes a second, needs no settings, and is here already, for tsx.
 *
 * The icons of react-admin are a package of 43,000 files, which takes longer to install than all else together. The same icons come in one
 * JSON file, `@iconify-json/ic`, which package.json of the back office has npm install in its place. Here each icon that is imported is
 * made from it.
 */
import { cpSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const ICONS = '@mui/icons-material';

/** Bundles a folder with `main.tsx` and `index.html` into another one, with other pages beside it. */
export async function bundleAdmin(source, target, pages = ['main.tsx']) {
  // Imported late, when the packages are installed.
  const { build } = await import('esbuild');
  mkdirSync(target, { recursive: true });
  cpSync(path.join(source, 'index.html'), path.join(target, 'index.html'));
  await build({
    entryPoints: pages.map((page) => path.join(source, page)),
    outdir: target,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    plugins: [iconsOf(source)],
    logLevel: 'warning',
  });
}

function iconsOf(source) {
  const { icons } = createRequire(path.join(source, 'main.tsx'))(`${ICONS}/icons.json`);
  return {
    name: 'icons',
    setup(bundler) {
      bundler.onResolve({ filter: new RegExp(`^${ICONS}/`) }, ({ path: module }) => ({
        path: path.posix.basename(module),
        namespace: 'icons',
      }));
      bundler.onLoad({ filter: /./, namespace: 'icons' }, ({ path: name }) => {
        const icon = icons[nameInSet(name)];
        if (!icon) return { errors: [{ text: `${ICONS} has no ${name}.` }] };
        return { contents: component(name, icon.body), resolveDir: source };
      });
    },
  };
}

/** `ErrorOutlineOutlined` is `outline-error-outline`, `Delete` is `baseline-delete`, and `Brightness4` is `baseline-brightness-4`. */
function nameInSet(name) {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])|(?<=[a-zA-Z])(?=\d)/g, '-').toLowerCase();
  return words.endsWith('-outlined') ? `outline-${words.slice(0, -9)}` : `baseline-${words}`;
}

/** A module as in the original package: an icon as a component. */
function component(name, body) {
  return `
    import { createSvgIcon } from '@mui/material/utils';
    import { createElement } from 'react';
    const paths = createElement('g', { dangerouslySetInnerHTML: { __html: ${JSON.stringify(body)} } });
    export default createSvgIcon(paths, ${JSON.stringify(name)});
  `;
}
