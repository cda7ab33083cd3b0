/** The names of uploaded files: what is removed from them, and how long ones are cut. */
import { describe, expect, it } from 'vitest'
import { cleanName, extensionOf } from '../../../src/runtime/plugins/file-upload/content/name'

const x = (length: number) => 'x'.repeat(length)

describe('a name', () => {
  it.each([
    ['../../etc/passwd', 'passwd'], ['C:\\Users\\ann\\photo.png', 'photo.png'], ['a/b\\c.png', 'c.png'], ['..', 'file'], ['.', 'file'],
    ['', 'file'], ['/', 'file'], ['.htaccess', 'htaccess'], ['a\0b.png', 'ab.png'], ['a\r\nSet-Cookie: x.png', 'aSet-Cookie_ x.png'],
    ['photo\u202Egnp.exe', 'photognp.exe'], ['\u200Ba\uFEFF.png', 'a.png'], ['a<b>:"|?*.png', 'a_b______.png'], ['  a . ', 'a'],
    [' . a . b . ', 'a . b'], ['\uD800.png', '\uFFFD.png'], ['Ku\u0308ste.png', 'K\u00FCste.png'], ['a%22%0D%0A.png', 'a___.png'],
    ['a%0d%0a.png', 'a__.png'], ['%2e%2e%2fa', '%2e%2e%2fa'], ['a/ ', 'file'], ['a/\u200B', 'file'],
  ])('%j becomes %j', (sent, name) => expect(cleanName(sent)).toBe(name))

  it('has no invisible characters, and none that change the direction of text', () => {
    for (const [from, to] of [
      [0, 0x1F], [0x7F, 0x9F], [0xAD, 0xAD], [0x61C, 0x61C], [0x180E, 0x180E], [0x200B, 0x200F], [0x2028, 0x202E], [0x2060, 0x206F],
      [0xFEFF, 0xFEFF], [0xFFF9, 0xFFFB],
    ] as const) {
      for (let code = from; code <= to; code++) expect(cleanName(`a${String.fromCharCode(code)}b`)).toBe('ab')
    }
    for (const character of [' ', '~', '\u00A0', '\u00AC', '\u061B', '\u200A', '\u2027', '\u202F', '\u2070', '\uFFF8', '\uFFFC', '😀'])
      expect(cleanName(`a${character}b`)).toBe(`a${character}b`)
  })

  it.each(['con', 'prn', 'aux', 'nul', 'com1', 'com9', 'lpt0', 'LPT1', 'Con'])('is not that of a device: %s', (device) => {
    for (const name of [device, `${device}.png`, `${device}.a.b`]) expect(cleanName(name)).toBe(`_${name}`)
    for (const name of [`${device}a`, `${device}-.png`, `a${device}`, `a.${device}`]) expect(cleanName(name)).toBe(name)
  })

  it('has at most 150 characters, and keeps its extension', () => {
    expect(cleanName(x(150))).toBe(x(150))
    expect(cleanName(`${x(145)}.jpeg`)).toBe(`${x(145)}.jpeg`)
    expect(cleanName(`${x(146)}.PNG`)).toBe(`${x(146)}.PNG`)
    expect(cleanName(x(151))).toBe(x(150))
    for (const length of [146, 300, 100_000]) expect(cleanName(`${x(length)}.JPEG`)).toBe(`${x(145)}.jpeg`)
    expect(cleanName(`${x(300)}.${x(16)}`)).toBe(`${x(133)}.${x(16)}`)
    expect(cleanName(`${x(300)}.${x(17)}`)).toBe(x(150))
    expect(cleanName('😀'.repeat(200) + '.png')).toBe(`${'😀'.repeat(73)}.png`)
    expect(cleanName(`${x(145)}😀.png`)).toBe(`${x(145)}.png`)
  })

  it('does not end with a dot or a space where it is cut', () => {
    expect(cleanName(`${x(143)} . ${x(20)}.png`)).toBe(`${x(143)}.png`)
    expect(cleanName(`${x(149)}.${x(20)}`)).toBe(x(149))
    expect(cleanName(`a . b${x(300)}.png`)).toBe(`a . b${x(141)}.png`)
    expect(cleanName(`${x(149)}😀`)).toBe(x(149))
  })
})

it.each([
  ['a.png', 'png'], ['a.b.PNG', 'png'], ['a', undefined], ['', undefined], ['.png', undefined], ['a.', undefined], ['.a.png', 'png'],
  [`a.${x(16)}`, x(16)], [`a.${x(17)}`, undefined], ['a. b', ' b'],
])('the extension of %j is %j', (name, extension) => expect(extensionOf(name)).toBe(extension))
