/** The permissions of each role: the names of its policies in Directus. `'*'` allows everything. */
export const POLICIES: Readonly<Record<string, readonly string[]>> = {
  Administrator: ['*'],
  Editor: ['content-editors', 'writers'],
  Writer: ['writers'],
}
