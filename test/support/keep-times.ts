/** Writes the seconds of a run to `ci-times.json`: `keep-times.ts <times of the files, as JSON> <steps, each a line "name seconds">`. */
import { readFileSync } from 'node:fs'
import { TIER } from './tiers.ts'
import { keep } from './times.ts'

const [files, steps] = process.argv.slice(2).map(path => readFileSync(path, 'utf8'))

keep(TIER, {
  steps: Object.fromEntries(steps!.trim().split('\n').map(line => line.split(' ')).map(([name, seconds]) => [name, Number(seconds)])),
  files: JSON.parse(files!),
})
