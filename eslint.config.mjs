/** Lint rules: Nuxt's own set with its stylistic part, over TypeScript and Vue alike. */
import { createConfigForNuxt } from '@nuxt/eslint-config/flat'

export default createConfigForNuxt({
  features: {
    tooling: true,
    stylistic: { indent: 2, quotes: 'single', semi: false, commaDangle: 'always-multiline' },
  },
  dirs: { src: ['./playground/app'] },
}).append({
  // As the build writes it.
  ignores: ['test/types/app/auto-api.d.ts'],
}, {
  name: 'auto-api',
  rules: {
    '@typescript-eslint/no-explicit-any': 'error',
    // Most parameter names need no description. A docblock describes those that do, and no parameter that does not exist.
    'jsdoc/check-param-names': ['error', { disableMissingParamChecks: true }],
  },
  linterOptions: { reportUnusedDisableDirectives: 'error' },
}, {
  name: 'auto-api/line-length',
  files: ['src/**'],
  rules: { '@stylistic/max-len': ['error', { code: 140, tabWidth: 2 }] },
}, {
  name: 'auto-api/node-20',
  files: ['src/**'],
  rules: {
    // The package runs where these are not there yet; tests run on a newer Node and would not notice.
    'no-restricted-properties': ['error', ...[['Map', 'groupBy'], ['Object', 'groupBy'], ['Promise', 'withResolvers'], ['Promise', 'try'], ['Array', 'fromAsync']]
      .map(([object, property]) => ({ object, property, message: 'Node 20 does not have it.' }))],
  },
})
