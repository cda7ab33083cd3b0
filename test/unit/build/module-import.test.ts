/** Checks module imports: valid and invalid references, and the file of a path. */
import { describe, expect, it } from 'vitest'
import { createModuleImport, findImportPath, isModuleImport } from '../../../src/build/module-import'

describe('createModuleImport', () => {
  it.each([
    ['/app/server/schema', 'posts'],
    ['/app/server/schema.ts', 'default'],
    ['~~/server/schema', 'postsAuth'],
    ['#shared/schema', '$posts'],
    ['@acme/blog/schema', '_posts'],
    ['C:\\app\\schema', 'posts2'],
    ['C:/app/schema', 'naïve'],
    ['virtual:schema', 'posts'],
  ])('accepts %s with the export %s', (path, name) => {
    const reference = createModuleImport(path, name)
    expect(reference).toEqual({ __moduleImport: true, path, name })
    expect(isModuleImport(reference)).toBe(true)
  })

  it('makes a frozen value that survives JSON and another copy of the package', () => {
    const reference = createModuleImport('/app/schema', 'posts')
    expect(Object.isFrozen(reference)).toBe(true)
    expect(isModuleImport(JSON.parse(JSON.stringify(reference)))).toBe(true)
  })

  it.each([
    ['./schema', 'has a relative path. Make it absolute with `createResolver(import.meta.url)`: `resolve(\'./schema\')`.'],
    ['../schema', 'has a relative path'],
    ['..', 'has a relative path'],
    ['.\\schema', 'has a relative path'],
    ['', 'has no path'],
    ['  ', 'has no path'],
    [undefined, 'has no path'],
    [null, 'has no path'],
    [42, 'has no path'],
    [() => '/schema', 'has no path'],
    ['file:///app/schema.ts', 'has a URL instead of a path. Convert it with `fileURLToPath(url)`.'],
    [new URL('file:///app/schema.ts'), 'has no path'],
  ])('refuses the path %o', (path, message) => {
    expect(() => createModuleImport(path as string, 'posts')).toThrow(message)
  })

  it.each([undefined, null, '', ' ', 'posts.auth', 'a b', '1st', 'a-b', 'a\nb', '*', 'x } from "y"; import { z', 7, {}])(
    'refuses the export name %o',
    (name) => {
      expect(() => createModuleImport('/app/schema', name as string)).toThrow('has no export name')
    },
  )

  it('throws an error with the call and a link to the upgrade notes', () => {
    expect(() => createModuleImport('./schema', 'posts')).toThrow(
      /^\[auto-api\] `createModuleImport\('\.\/schema', 'posts'\)` has .+ → node_modules\/nuxt-auto-api\/docs\/6\.project\/1\.upgrading\.md#module-imports$/,
    )
  })
})

describe('isModuleImport', () => {
  it.each([
    null,
    undefined,
    'text',
    () => {},
    [],
    {},
    { path: '/a', name: 'b' },
    { __moduleImport: true },
    { __moduleImport: true, path: './a', name: 'b' },
    { __moduleImport: true, path: '/a', name: 'b c' },
    { __moduleImport: 'true', path: '/a', name: 'b' },
  ])('returns false for %o', (value) => {
    expect(isModuleImport(value)).toBe(false)
  })
})

describe('findImportPath', () => {
  const files = [
    '/app/server/schema.ts',
    '/app/server/both.ts',
    '/app/server/both.mjs',
    '/app/server/auth/index.ts',
    '/app/server/plain.js',
    '/app/app/tables.mts',
  ]
  const options = { alias: { '~': '/app/app', '@': '/app/app', '~~': '/app', '#build': '/app/.nuxt' }, buildDir: '/app/.nuxt' }
  const find = (path: string) => findImportPath(path, options, file => files.includes(file))

  it.each([
    ['/app/server/schema.ts', '/app/server/schema.ts'],
    ['/app/server/schema', '/app/server/schema.ts'],
    ['/app/server/plain', '/app/server/plain.js'],
    ['/app/server/both', '/app/server/both.ts'],
    ['/app/server/auth', '/app/server/auth/index.ts'],
    ['/app/server/x/../schema', '/app/server/schema.ts'],
    ['~~/server/schema', '/app/server/schema.ts'],
    ['~/tables', '/app/app/tables.mts'],
    ['@/tables', '/app/app/tables.mts'],
  ])('resolves %s to the file %s', (path, file) => {
    expect(find(path)).toBe(file)
  })

  it.each(['/app/server/nothing', '/app/server/schema.js', '~~/server/nothing', '/app/server'])('finds no file for %s', (path) => {
    expect(find(path)).toBeUndefined()
  })

  it.each(['@acme/blog/schema', 'blog', '#virtual/schema', 'virtual:schema'])('leaves %s to the bundler', (path) => {
    expect(find(path)).toBe(path)
  })

  it('accepts a file that Nuxt will generate', () => {
    expect(find('#build/schema')).toBe('/app/.nuxt/schema')
  })

  it('finds no file for a directory', () => {
    expect(findImportPath(import.meta.dirname, options)).toBeUndefined()
    expect(findImportPath(import.meta.filename, options)).toBe(import.meta.filename)
  })
})
