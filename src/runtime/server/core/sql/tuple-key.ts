/** Joins the driver values of several columns into one string, for use as the key of a Map or a Set. */
export const tupleKey = (values: readonly unknown[]): string => values.map(String).join('\0')
