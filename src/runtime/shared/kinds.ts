/** The kinds of columns. Each has its own wire format. */
export const KINDS = ['text', 'number', 'integer', 'boolean', 'date', 'bigint', 'decimal', 'json', 'blob', 'custom'] as const

export type Kind = typeof KINDS[number]
