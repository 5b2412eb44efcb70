/** The weights of text. */
export type Weight = 'regular' | 'bold'

/** The fonts by the scripts that they have. A file is read when a document needs it. */
export const fontFiles = {
  alphabets: {
    regular: '@expo-google-fonts/arimo/400Regular/Arimo_400Regular.ttf',
    bold: '@expo-google-fonts/arimo/700Bold/Arimo_700Bold.ttf',
  },
  arabic: {
    regular: '@expo-google-fonts/noto-sans-arabic/400Regular/NotoSansArabic_400Regular.ttf',
    bold: '@expo-google-fonts/noto-sans-arabic/700Bold/NotoSansArabic_700Bold.ttf',
  },
  chinese: {
    regular: '@expo-google-fonts/noto-sans-sc/400Regular/NotoSansSC_400Regular.ttf',
    bold: '@expo-google-fonts/noto-sans-sc/700Bold/NotoSansSC_700Bold.ttf',
  },
  japanese: {
    regular: '@expo-google-fonts/noto-sans-jp/400Regular/NotoSansJP_400Regular.ttf',
    bold: '@expo-google-fonts/noto-sans-jp/700Bold/NotoSansJP_700Bold.ttf',
  },
  korean: {
    regular: '@expo-google-fonts/noto-sans-kr/400Regular/NotoSansKR_400Regular.ttf',
    bold: '@expo-google-fonts/noto-sans-kr/700Bold/NotoSansKR_700Bold.ttf',
  },
} as const satisfies Record<string, Record<Weight, string>>
export type Family = keyof typeof fontFiles

/** Letters, digits, punctuation and symbols. It excludes invisible characters, and those that change the direction of other text. */
const legible = /^[\p{L}\p{N}\p{P}\p{S}]$/u
/** The scripts that are written from left to right with one glyph after the other, in the font of all pages. */
const alphabets = /^[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Common}]$/u
const hebrew = /^\p{Script=Hebrew}$/u
const arabic = /^\p{Script_Extensions=Arabic}$/u
const eastAsian =
  /^[\p{scx=Han}\p{scx=Hiragana}\p{scx=Katakana}\p{scx=Hangul}\p{scx=Bopomofo}\u3000-\u303f\uff00-\uffef]$/u
const kana = /[\p{Script=Hiragana}\p{Script=Katakana}]/u
const hangul = /\p{Script=Hangul}/u
/** Marks stand above or below the letter before them. Where nothing is before them, they would be drawn over other text. */
const mark = /^\p{M}$/u
const rightToLeft = /[\p{Script=Hebrew}\p{Script=Arabic}]/u

/** Returns true for a character that is drawn behind the one before it, in the font of all pages. */
export const isPlain = (character: string) => legible.test(character) && alphabets.test(character)

export const isMark = (character: string) => mark.test(character)

/** Returns true if text has letters of a script that is written from right to left. */
export const hasRightToLeft = (text: string) => rightToLeft.test(text)

/** The fonts of East Asia, those with the forms of a language first. */
const byLanguage = {
  chinese: ['chinese', 'japanese', 'korean'],
  japanese: ['japanese', 'chinese', 'korean'],
  korean: ['korean', 'japanese', 'chinese'],
} as const
export type EastAsian = keyof typeof byLanguage

/** Returns the language of the forms of Chinese characters: that of the other characters of the text, if there are any. */
export function languageOf(text: string): EastAsian {
  if (kana.test(text)) return 'japanese'
  return hangul.test(text) ? 'korean' : 'chinese'
}

/** Returns the fonts that may have a character, the preferred first. */
export function familiesFor(character: string, language: EastAsian): readonly Family[] {
  if (!legible.test(character) && !mark.test(character)) return []
  if (arabic.test(character)) return ['arabic']
  if (hebrew.test(character)) return ['alphabets']
  if (mark.test(character)) return []
  if (eastAsian.test(character)) return ['alphabets', ...byLanguage[language]]
  return alphabets.test(character) ? ['alphabets'] : []
}
