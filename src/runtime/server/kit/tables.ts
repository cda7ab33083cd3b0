/** Marks the tables of plugins and the columns that only the server writes. drizzle-kit loads this file. */
export { markTable, serverOwned } from '../schema/presets/mark'
