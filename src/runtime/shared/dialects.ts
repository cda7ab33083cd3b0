/** The SQL dialects the API speaks. */
export type Dialect = 'sqlite' | 'pg' | 'mysql'
