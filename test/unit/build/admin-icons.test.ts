/** The icons that the admin puts into a file of its own. */
import { describe, expect, it } from 'vitest'
import { selectIcons } from '../../../src/build/admin/icons'

const set = {
  prefix: 'lucide', width: 24, height: 24,
  icons: { user: { body: 'u' }, pencil: { body: 'p' }, trash: { body: 't' }, constructor: { body: 'c' } },
  aliases: { edit: { parent: 'pencil' }, bin: { parent: 'trash' } },
}

describe('selectIcons', () => {
  it('returns the icons with the names, and the parents of aliases', () => {
    expect(selectIcons(set, ['user', 'edit', 'user'])).toEqual({
      prefix: 'lucide', width: 24, height: 24,
      icons: { pencil: { body: 'p' }, user: { body: 'u' } }, aliases: { edit: { parent: 'pencil' } },
    })
  })

  it('leaves out names that do not exist', () => {
    expect(selectIcons({ ...set, aliases: undefined }, ['nothing', 'toString', 'edit']).icons).toEqual({})
  })
})
