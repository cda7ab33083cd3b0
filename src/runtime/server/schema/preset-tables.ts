/** Finds the tables of presets among the exports of the app's schema. */
import { getTableName, type Table } from 'drizzle-orm'
import { isTable } from './drizzle/config'
import { hasMark, type PresetName } from './presets/mark'

/**
 * @param modules all exports of every file that contains a registered table
 * @throws When the schema has two such tables, because the server would use only one of them.
 */
export function findPresetTable(modules: readonly Record<string, unknown>[], preset: PresetName): Table | undefined {
  const tables = new Set(modules.flatMap(module => Object.values(module)).filter(isTable).filter(table => hasMark(table, preset)))
  const [table, other] = tables
  if (table && other)
    throw new Error(`[auto-api] \`${getTableName(table)}\` and \`${getTableName(other)}\` are made by the same preset. Export only one.`)
  return table
}
