/** The permissions of each role: the names of its policies in Directus. `'*'` allows everything. */
export const POLICIES: Readonly<Record<string, readonly string[]>> = {
  Administrator: ['*'],
  Editor: ['policy:content-editors', 'policy:writers'],
  Writer: ['policy:writers'],
}
