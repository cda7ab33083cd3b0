/** The address that a request is counted by: a client cannot choose it. */
import { isIP, isIPv4 } from 'node:net'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { resolveClientAddress, toAddress, toAddressPrefix, toNetwork } from '../../../../../src/runtime/server/core/request/ip-address'

const connection = '10.0.0.1'

describe('without trustProxy', () => {
  it('the address is that of the connection, with any X-Forwarded-For', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.array(fc.ipV4()).map(all => all.join(', '))), (forwardedFor) => {
      expect(resolveClientAddress({ connection, forwardedFor }, false)).toBe(connection)
    }))
  })

  it.each([undefined, ''])('a connection without an address has none: %j', (unknown) => {
    expect(resolveClientAddress({ connection: unknown, forwardedFor: '1.2.3.4' }, false)).toBeUndefined()
  })
})

describe('with trustProxy', () => {
  it.each([
    ['one proxy: the last entry', '6.6.6.6, 1.2.3.4', true, '1.2.3.4'],
    ['one proxy by number', '6.6.6.6,1.2.3.4', 1, '1.2.3.4'],
    ['two proxies: the last but one', '6.6.6.6, 1.2.3.4, 10.0.0.9', 2, '1.2.3.4'],
    ['fewer entries than proxies: the first', '1.2.3.4', 3, '1.2.3.4'],
    ['an entry with a port', '1.2.3.4:5678', true, '1.2.3.4'],
    ['an IPv6 entry with a port', '[2001:DB8::1]:5678', true, '2001:db8:0:0:0:0:0:1'],
    ['an IPv4 client in IPv6', '::ffff:1.2.3.4', true, '1.2.3.4'],
    ['no header', undefined, true, connection],
    ['an empty header', '', true, connection],
    ['an entry that is no address', '1.2.3.4, unknown', true, connection],
    ['a host name', 'example.com', true, connection],
  ])('%s', (_, forwardedFor, trustProxy, expected) => {
    expect(resolveClientAddress({ connection, forwardedFor }, trustProxy)).toBe(expected)
  })

  it('entries that the client adds before those of the proxies are ignored', () => {
    fc.assert(fc.property(fc.array(fc.string()), fc.integer({ min: 1, max: 4 }), (written, hops) => {
      const own = ['1.2.3.4', ...Array.from({ length: hops - 1 }, (_, index) => `10.1.0.${index}`)]
      expect(resolveClientAddress({ connection, forwardedFor: [...written, ...own].join(', ') }, hops)).toBe('1.2.3.4')
    }))
  })
})

it('the address of the edge platform takes precedence over headers that a client can set', () => {
  expect(resolveClientAddress({ connection, forwardedFor: '6.6.6.6', edge: '1.2.3.4' }, true)).toBe('1.2.3.4')
})

describe('an address has one canonical spelling', () => {
  it.each([
    ['2001:db8::1', '2001:db8:0:0:0:0:0:1'],
    ['2001:0DB8:0000::0001', '2001:db8:0:0:0:0:0:1'],
    ['fe80::1%eth0', 'fe80:0:0:0:0:0:0:1'],
    ['::1', '0:0:0:0:0:0:0:1'],
    ['::', '0:0:0:0:0:0:0:0'],
    ['::ffff:102:304', '1.2.3.4'],
    ['::FFFF:1.2.3.4', '1.2.3.4'],
    [' 1.2.3.4 ', '1.2.3.4'],
    ['[::1]', '0:0:0:0:0:0:0:1'],
    ['2001:db8::ffff:102:304', '2001:db8:0:0:0:ffff:102:304'],
  ])('%s', (text, address) => {
    expect(toAddress(text)).toBe(address)
  })

  it.each([
    '',
    ' ',
    'unknown',
    '_hidden',
    '1.2.3',
    '1.2.3.4.5',
    '256.1.1.1',
    '01.2.3.4',
    '1.2.3.4:',
    '0x7f000001',
    '2130706433',
    ':::',
    '1::2::3',
    'g::1',
    '2001:db8::1]',
    '[2001:db8::1',
    '::1@evil',
    '::1]/a',
    '::1]/x',
    'x]/::1',
    'x[::1]',
    '[::1]x',
    'x[::1]:80',
    '[::1]:80x',
    '1:2:3:4:5:6:7:8:9',
    '::1/64',
    '\u0661.2.3.4',
  ])('%j is none', (text) => {
    expect(toAddress(text)).toBeUndefined()
  })

  it('accepts exactly the addresses that Node accepts', () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6(), fc.string(), fc.stringMatching(/^[\da-f:.]{1,20}$/)), (text) => {
      expect({ text, isAddress: toAddress(text) !== undefined }).toEqual({
        text,
        isAddress: isIP(text.trim()) !== 0 || isIPv4(text.trim().replace(/:\d+$/, '')),
      })
    }), { numRuns: 2000 })
  })

  it('every address has a canonical form that is itself', () => {
    fc.assert(fc.property(fc.oneof(fc.ipV4(), fc.ipV6()), (text) => {
      const address = toAddress(text)!
      expect(toAddress(address)).toBe(address)
    }))
  })
})

describe('a client is counted by what it cannot change from one request to the next', () => {
  it('IPv6 by its first 64 bits', () => {
    const networks = ['2001:db8:1:2::1', '2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:3::1'].map(text => toNetwork(toAddress(text)!))
    expect(networks).toEqual(['2001:db8:1:2::/64', '2001:db8:1:2::/64', '2001:db8:1:3::/64'])
  })

  it('IPv4 as a whole', () => {
    expect(toNetwork('1.2.3.4')).toBe('1.2.3.4')
  })
})

describe('the prefix of an address identifies no client', () => {
  it.each([
    ['1.2.3.4', '1.2.3.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['::1', '0:0:0::/48'],
  ])('%s is in %s', (text, prefix) => {
    expect(toAddressPrefix(toAddress(text)!)).toBe(prefix)
  })
})
