/** Names of tables and columns -> names of classes, attributes and files. */

const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  (
    'ß ss æ ae œ oe ø o đ d ð d þ th ł l ı i ŋ n ħ h ' +
    'а a б b в v г g д d е e ж zh з z и i к k л l м m н n о o п p р r с s т t у u ф f х kh ц ts ч ch ш sh щ shch ъ - ы y ь - э e ю yu я ya ' +
    'є ye ґ g ђ dj ј j љ lj њ nj ћ c џ dz ' +
    'α a β b γ g δ d ε e ζ z η i θ th ι i κ k λ l μ m ν n ξ x ο o π p ρ r σ s ς s τ t υ y φ f χ ch ψ ps ω o'
  )
    .split(' ')
    .flatMap((letter, at, all) => (at % 2 === 0 ? [[letter, (all[at + 1] ?? '').replace('-', '')]] : [])),
);

/** The name with letters of ASCII alone; null where a letter has none. */
function transliterate(name: string): string | null {
  // Й is an И with a mark, and Ä is an A with one, which is left out.
  const plain = name.normalize('NFKD').replace(/\p{Mark}/gu, '');
  const ascii = plain.replace(/\p{Letter}/gu, (letter) => {
    if (/[a-z]/i.test(letter)) return letter;
    const small = letter.toLowerCase();
    const found = LETTERS[small];
    if (found === undefined) return '\0';
    return small === letter ? found : found.charAt(0).toUpperCase() + found.slice(1);
  });
  return ascii.includes('\0') ? null : ascii;
}

/** The words of a name: `order_line`, `OrderLine`, `ORDER-LINE` and `"order line"` have the same. Empty where nothing of it can be spelled. */
export function wordsOf(name: string): string[] {
  const ascii = transliterate(name) ?? '';
  return ascii
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z]+)([A-Z][a-z])/g, '$1 $2')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.toLowerCase());
}

/** PostgreSQL cuts longer names, which Sequelize would not find again. */
const LONGEST = 63;

/** `orderLine`. A digit at the front is led by `n`. */
export function camelCase(words: readonly string[]): string {
  const [first = '', ...others] = words;
  return `${/^\d/.test(first) ? 'n' : ''}${first}${others.map(capital).join('')}`.slice(0, LONGEST);
}

/** `OrderLine`. */
export function pascalCase(words: readonly string[]): string {
  return capital(camelCase(words));
}

/** `order-line`. */
export function fileCase(className: string): string {
  return wordsOf(className).join('-');
}

/** The same name with a capital at its front. */
export function capital(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** Classes that generated files import, and those that decorators and types of fields name. */
const TAKEN: ReadonlySet<string> = new Set(
  (
    'Model Table Column DataType BelongsTo HasOne HasMany BelongsToMany BelongsToKey HasManyKey Crud Ref Exclude Expose ' +
    'Object String Number Boolean Array Function Symbol BigInt Date Promise Map Set Error Buffer Record Reflect Parameters'
  ).split(' '),
);

/** True for a class that another one of the same name would hide from its file. */
export function isTakenClass(name: string): boolean {
  return TAKEN.has(name);
}

/** Singulars and plurals, where the rules below have another result. */
const IRREGULAR: readonly (readonly [one: string, many: string])[] = (
  'person people,man men,woman women,child children,foot feet,tooth teeth,goose geese,mouse mice,ox oxen,index indices,vertex vertices,' +
  'matrix matrices,appendix appendices,criterion criteria,phenomenon phenomena,knife knives,life lives,wife wives,leaf leaves,' +
  'shelf shelves,half halves,wolf wolves,calf calves,loaf loaves,thief thieves,self selves,scarf scarves,hero heroes,potato potatoes,' +
  'tomato tomatoes,echo echoes,veto vetoes,torpedo torpedoes,quiz quizzes,gas gases,bus buses,alias aliases,bias biases,' +
  'canvas canvases,atlas atlases,lens lenses,iris irises,cache caches,niche niches,ache aches,headache headaches,movie movies,' +
  'cookie cookies,zombie zombies,calorie calories,tie ties,pie pies,lie lies,die dies,rookie rookies,selfie selfies,genie genies,' +
  'brownie brownies,hoodie hoodies,smoothie smoothies,prairie prairies,menu menus,guru gurus,emu emus,api apis,taxi taxis,kiwi kiwis,' +
  'wiki wikis,emoji emojis,ski skis,uri uris,rabbi rabbis,photo photos,use uses,excuse excuses,abuse abuses,fuse fuses,analysis analyses,basis bases,' +
  'crisis crises,thesis theses,diagnosis diagnoses,hypothesis hypotheses,synopsis synopses,axis axes,database databases,base bases'
)
  .split(',')
  .map((pair) => pair.split(' ') as [string, string]);

/** Words that are their own plurals. */
const INVARIANT: ReadonlySet<string> = new Set(
  (
    'data media metadata news series species sheep fish deer aircraft equipment information software hardware money rice ' +
    'gps sms dns css js aws tls https os ios sos has is was goods means headquarters analytics statistics physics mathematics economics ' +
    'logistics politics chaos cosmos feedback staff'
  ).split(' '),
);

const MANY = new Map(IRREGULAR.map(([one, many]) => [one, many]));
// `bases` is the plural of `base` here. In a database this is more frequent than `basis`.
const ONE = new Map(IRREGULAR.map(([one, many]) => [many, one]));

/** The singular of a word, as far as rules and a list of others say it. */
export function singular(word: string): string {
  const irregular = ONE.get(word);
  if (irregular !== undefined) return irregular;
  if (INVARIANT.has(word) || MANY.has(word) || word.length < 3) return word;
  // Statuses, and no houses.
  if (/[^aeiou]uses$|(?:ss|sh|ch|x|zz)es$/.test(word)) return word.slice(0, -2);
  if (/(?:ss|us|is)$/.test(word)) return word;
  if (/[^aeiou]ies$/.test(word) && word.length > 4) return `${word.slice(0, -3)}y`;
  return word.endsWith('s') ? word.slice(0, -1) : word;
}

/** The plural of a word. One that is a plural stays. */
export function plural(word: string): string {
  const irregular = MANY.get(word);
  if (irregular !== undefined) return irregular;
  if (INVARIANT.has(word) || ONE.has(word)) return word;
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  if (word.endsWith('s')) return singular(word) === word ? `${word}es` : word;
  return /(?:sh|ch|x|z)$/.test(word) ? `${word}es` : `${word}s`;
}

/** The same words, with the last one changed. */
export function withLast(words: readonly string[], change: (word: string) => string): string[] {
  return words.map((word, at) => (at === words.length - 1 ? change(word) : word));
}
