/** The supported SQL dialects. */
export type Dialect = 'sqlite' | 'pg' | 'mysql'
