/** How the admin shows the size of a file. */
import { expect, it } from 'vitest'
import { toSize } from '../../../src/runtime/plugins/file-upload/admin/size'

it('shows the size of a file with three digits and a unit', () => {
  expect([0, 999, 48_213, 5_000_000, 7e12].map(toSize)).toEqual(['0 B', '999 B', '48.2 kB', '5 MB', '7000 GB'])
})
