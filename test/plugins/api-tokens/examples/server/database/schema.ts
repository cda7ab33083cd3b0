/** Example of the docs page `tokens`: the table of the tokens. */
import { apiTokensTable } from 'nuxt-auto-api/schema/sqlite'

export const apiTokens = apiTokensTable()
