/** The options of the docs page `relations`. */
export const autoApi = {
  m2m: {
    relations: { fans: ['songs', 'listeners'] },
  },
} as const
