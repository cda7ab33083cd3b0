/** The paths that an editor suggests for `useAutoApiEndpoint`. */
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const page = join(root, 'test/types/app/suggestions.ts')
const { config } = ts.readConfigFile(join(root, 'test/types/tsconfig.json'), ts.sys.readFile)
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, join(root, 'test/types'))

/** Returns the texts that the editor suggests at `|` of the code. */
function suggestionsIn(code: string): string[] {
  const text = `import { useAutoApiEndpoint } from '../../../src/runtime/app'\n${code}`
  const sources = new Map([[page, text.replace('|', '')]])
  const read = (path: string) => sources.get(path) ?? ts.sys.readFile(path)
  const service = ts.createLanguageService({
    useCaseSensitiveFileNames: () => true,
    directoryExists: ts.sys.directoryExists,
    readDirectory: ts.sys.readDirectory,
    realpath: ts.sys.realpath,
    getCompilationSettings: () => options,
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [page, join(root, 'test/types/app/auto-api.d.ts'), join(root, '.nuxt/nuxt.d.ts')],
    getScriptVersion: () => '1',
    getScriptSnapshot: (path) => {
      const source = read(path)
      return source === undefined ? undefined : ts.ScriptSnapshot.fromString(source)
    },
    fileExists: path => sources.has(path) || ts.sys.fileExists(path),
    readFile: read,
  })
  return service.getCompletionsAtPosition(page, text.indexOf('|'), {})?.entries.map(({ name }) => name) ?? []
}

it('are those of the endpoints of the app', () => {
  expect(suggestionsIn('useAutoApiEndpoint(\'|\')')).toContain('/api/report')
  expect(suggestionsIn('useAutoApiEndpoint(\'|\', { method: \'POST\' })')).toContain('/api/report')
})
