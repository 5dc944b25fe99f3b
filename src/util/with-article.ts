/** Nouns in messages: the article of a name by its sound (`an article`, `a user`, `an hour`), and numbers of things. */

/** Vowels that sound as consonants: `user`, `unit`, `European`, `one-time code`; not `uninvited`. */
const CONSONANT_SOUND = /^(?:u(?:ni(?![mn])|[bcfhjkqrst][aeiou])|eu|ewe|on(?:e|ce)(?![a-z]))/i;
const VOWEL_SOUND = /^(?:[aeiou]|hour|heir|hono)/i;
/** Letters that are spelled, whose names begin with a vowel: `an SKU`. */
const SPELLED = /^[A-Z]{2,}(?![a-z])/;
const SPELLED_VOWEL = /^[AEFHILMNORSX]/;

/**
 * `article` -> `an article`
 *
 * @param words the name as it is printed
 * @param name the name with its own capitals, which mark letters that are spelled
 */
export function withArticle(words: string, name = words): string {
  const isVowel = SPELLED.test(name)
    ? SPELLED_VOWEL.test(name)
    : VOWEL_SOUND.test(words) && !CONSONANT_SOUND.test(words);
  return `${isVowel ? 'an' : 'a'} ${words}`;
}

/** `1 cell`, `2 cells` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
