/** The entries of the package besides the module and the runtime, and the files for coding agents. */
import { fileURLToPath } from 'node:url'
import { defineBuildConfig } from 'unbuild'
import { writeAgentFiles } from './build.docs'

export default defineBuildConfig({
  entries: ['src/admin', 'src/cli/index'],
  hooks: {
    'build:done': () => writeAgentFiles(fileURLToPath(new URL('.', import.meta.url))),
  },
})
