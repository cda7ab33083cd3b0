/** Texts of exports and imports. The app can replace each of them. */

export const MESSAGES = {
  'export.format': 'Export as {format}',
  'export.done': 'The file {name} is saved.',
  'import': 'Import',
  'import.file': 'CSV or NDJSON file',
  'import.mode': 'What a line does',
  'import.create': 'Creates a record',
  'import.upsert': 'Creates a record, or updates the one with the same key',
  'import.key': 'Key',
  'import.help': 'The file is checked first. Nothing is written before you confirm.',
  'import.check': 'Check the file',
  'import.preview': 'The file is valid. It creates {created} and updates {updated}.',
  'import.confirm': 'Import {count} record | Import {count} records',
  'import.problems': 'Nothing was written. {count} line has a problem. | Nothing was written. {count} lines have problems.',
  'import.line': 'Line',
  'import.problem': 'Problem',
  'import.done': '{created} created, {updated} updated.',
} as const
