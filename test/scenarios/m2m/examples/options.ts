/** The options of docs/relations.md. */
export const autoApi = {
  m2m: {
    relations: { fans: ['songs', 'listeners'] },
  },
} as const
