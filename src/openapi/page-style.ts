/** The style that all pages have in common: colours in light and dark, those of methods among them. */

/** Variables of CSS. A method is written in its colour, or in `--surface` on it. */
export const PAGE_COLOURS = `
:root {
  color-scheme: light dark;
  --ground: #f5f6f8; --surface: #fff; --line: #dfe3e8; --text: #1b212b; --muted: #5a6472; --link: #0b57d0;
  --get: #0b57d0; --post: #0f7041; --change: #8a5300; --delete: #b3261e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #12151a; --surface: #1a1f26; --line: #2d343e; --text: #e3e7ed; --muted: #9ba6b4; --link: #8ab4f8;
    --get: #8ab4f8; --post: #7bcf9f; --change: #e8b566; --delete: #f2938c;
  }
}
`;

/** Number of resources above which a page shows their names first, and the rest of each where it is wanted. */
export const MANY_RESOURCES = 20;
