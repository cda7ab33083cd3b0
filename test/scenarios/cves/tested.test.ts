/** Published vulnerabilities that other tests try already, because they need a built server or a mocked network; and the docs. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../support/once'
import { CAUSES } from './case'
import { CASES } from './cases'

it.each(CASES.filter(({ tested }) => tested))('$system, $id, has a test elsewhere', ({ tested }) => {
  const [file, title] = tested!
  expect(readFileSync(join(root, file), 'utf8')).toContain(title)
})

it('the docs have the number of cases of each root cause', () => {
  const text = readFileSync(join(root, 'docs/5.concepts/4.proofs.md'), 'utf8')
  const rows = [...text.matchAll(/^\| (.+?) \| (\d+) \|/gm)].map(([, cause, count]) => [cause, Number(count)])
  expect(rows).toEqual(CAUSES.map(cause => [cause, CASES.filter(entry => entry.cause === cause).length]))
})
