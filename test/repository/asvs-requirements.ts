/**
 * The requirements of OWASP ASVS 5.0.0 in the chapters of the page `docs/5.concepts/5.asvs.md`: the level of each requirement of a section,
 * in the order of their numbers. `1.1: '22'` stands for 1.1.1 and 1.1.2, both of level 2. The texts are those of OWASP:
 * https://github.com/OWASP/ASVS/tree/v5.0.0/5.0/en
 */
const LEVELS: Readonly<Record<string, string>> = {
  1.1: '22',
  1.2: '1111122223',
  1.3: '112222222223',
  1.4: '222',
  1.5: '123',
  2.1: '122',
  2.2: '112',
  2.3: '12223',
  2.4: '23',
  4.1: '12233',
  4.2: '23333',
  4.3: '22',
  4.4: '1222',
  5.1: '2',
  5.2: '112333',
  5.3: '113',
  5.4: '222',
  8.1: '1233',
  8.2: '1123',
  8.3: '133',
  8.4: '23',
  11.1: '2233',
  11.2: '22233',
  11.3: '11233',
  11.4: '1222',
  11.5: '23',
  11.6: '23',
  11.7: '33',
  14.1: '22',
  14.2: '12223333',
  14.3: '122',
  15.1: '12233',
  15.2: '12233',
  15.3: '1222222',
  15.4: '3333',
  16.1: '2',
  16.2: '22222',
  16.3: '2222',
  16.4: '222',
  16.5: '2223',
}

/** The level of each requirement, by its number. */
export const REQUIREMENTS: ReadonlyMap<string, number> = new Map(Object.entries(LEVELS).flatMap(([section, levels]) =>
  Array.from(levels, (level, index): [string, number] => [`${section}.${index + 1}`, Number(level)])))
