/** Names of column types that both majors use. */

/** Whether values have digits that a double cannot keep. */
export const isExactType = (type: string) => /(?:Numeric|Decimal)$/.test(type)

export const isWholeType = (type: string) => /(?:Integer|Int|BigInt53|BigSerial53|SmallSerial|Serial|Year)$/.test(type)
