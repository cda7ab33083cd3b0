/** Driver values of several columns as one text, so that rows can be found by them in a Map or a Set. */
export const tupleKey = (values: readonly unknown[]): string => values.map(String).join('\0')
