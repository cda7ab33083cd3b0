import { describe, expect, it } from 'vitest'
import { describeCaller, parseCaller, toAs } from '../../../src/runtime/devtools/caller'
import { parseCaller as parseOnServer } from '../../../src/runtime/server/explain/as'

const CALLERS = [
  { text: '', as: '', said: 'the caller of this browser' },
  { text: '  ,', as: '', said: 'the caller of this browser' },
  { text: ' anonymous ', as: 'anonymous', said: 'an anonymous caller' },
  { text: 'user:7', as: 'user:7', said: 'user 7' },
  { text: 'role: editor , role:author', as: 'role:editor,role:author', said: 'role editor, role author' },
  { text: 'permission:posts:write', as: 'permission:posts:write', said: 'permission posts:write' },
  { text: 'user:7,role:editor,permission:posts:write,tenant:1', as: 'user:7,role:editor,permission:posts:write,tenant:1' },
]

const MISTAKES = [
  { text: 'editor', message: /^`editor` is none of user:…, role:…, permission:…, tenant:…, anonymous\.$/ },
  { text: ':7', message: /`:7` is none of/ },
  { text: 'roles:editor', message: /`roles:editor` is none of/ },
  { text: 'user:', message: /^`user:` has no value\.$/ },
  { text: 'user:1,user:2', message: /^A caller has one user\.$/ },
  { text: 'tenant:1,role:a,tenant:2', message: /^A caller has one tenant\.$/ },
  { text: 'anonymous,role:editor', message: /^`anonymous` stands alone\.$/ },
]

describe('the field for the caller', () => {
  it.each(CALLERS)('reads $text', ({ text, as, said }) => {
    const caller = parseCaller(text)
    expect(toAs(caller)).toBe(as)
    if (said !== undefined) expect(describeCaller(caller)).toBe(said)
  })

  it.each(CALLERS)('sends what the server reads: $text', ({ text }) => {
    expect(() => parseOnServer(toAs(parseCaller(text)))).not.toThrow()
  })

  it.each(MISTAKES)('explains what is wrong with $text', ({ text, message }) => {
    expect(parseCaller(text)).toEqual({ kind: 'invalid', message: expect.stringMatching(message) })
  })
})
