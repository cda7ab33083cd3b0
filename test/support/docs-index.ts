/** Writes `docs/README.md`, the list of all pages. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { generateIndex } from '../../build.docs.ts'

const root = join(import.meta.dirname, '../..')
writeFileSync(join(root, 'docs/README.md'), generateIndex(root))
