/** The options of docs/2.guides/9.relations.md. */
export const autoApi = {
  m2m: {
    relations: { fans: ['songs', 'listeners'] },
  },
} as const
