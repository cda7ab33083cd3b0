/** Driver values of several columns as one text, the key of a Map or a Set. */
export const tupleKey = (values: readonly unknown[]): string => values.map(String).join('\0')
