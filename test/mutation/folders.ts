/** The code that mutation tests change, and the unit tests that have to notice it. */

export interface MutatedFolder {
  /** The files, relative to the repository. */
  readonly code: readonly string[]
  /** The unit tests, those that notice most first. Slow ones cost their time again for each mutant that they run. */
  readonly tests: readonly string[]
  /** The part of the mutants that the tests have to notice, in percent. */
  readonly goal: number
}

const SERVER = 'src/runtime/server'
const PLUGINS = 'src/runtime/plugins'
const FILES = `${PLUGINS}/file-upload`

/** `npm run test:mutation -- row-scope` */
export const FOLDERS: Readonly<Record<string, MutatedFolder>> = {
  'row-scope': {
    code: [`${SERVER}/core/access/{row-scope,tenant}.ts`],
    tests: [
      'test/unit/auth/row-scope.test.ts',
      'test/unit/description/decisions.test.ts',
      'test/unit/plugins/rows.test.ts',
      'test/unit/attack/other-side.test.ts',
      'test/unit/auth/tenancy.test.ts',
    ],
    goal: 95,
  },
  'access': {
    code: [`${SERVER}/core/access/{authorize,fields,plan,related}.ts`, `${SERVER}/core/request/{csrf,ip-address,limits}.ts`],
    tests: [
      'test/unit/core/{gate,authorize,limits}.test.ts',
      'test/unit/auth/same-site.test.ts',
      'test/unit/plugins/rate-limit-address.test.ts',
      'test/unit/reading/related-sql.test.ts',
      'test/unit/core/fields.test.ts',
      'test/unit/auth/endpoints.test.ts',
      'test/unit/attack/relation-filters.test.ts',
    ],
    goal: 95,
  },
  'sql': {
    code: [`${SERVER}/core/sql/{where,parameterize,conditions}.ts`],
    tests: [
      'test/unit/server/core/sql/conditions.test.ts',
      'test/unit/query/parameterize.test.ts',
      'test/unit/reading/sql.test.ts',
      'test/unit/query/keys.test.ts',
      'test/unit/reading/related-sql.test.ts',
      'test/unit/auth/row-scope.test.ts',
    ],
    goal: 95,
  },
  'cursors': {
    code: [`${SERVER}/core/sql/{cursor,keyset}.ts`],
    tests: [
      'test/unit/query/cursor-{seal,secret}.test.ts',
      'test/unit/query/position-indexes.test.ts',
      'test/unit/query/positions.test.ts',
    ],
    goal: 95,
  },
  'api-tokens': {
    code: [`${PLUGINS}/api-tokens/**/*.ts`],
    tests: [
      'test/unit/api-tokens/{options,format,rules,issued,failures,last-used}.test.ts',
      'test/unit/plugins/options.test.ts',
      'test/unit/api-tokens/{owners,management,introspection}.test.ts',
      'test/unit/plugins/idempotency-tokens.test.ts',
      'test/unit/api-tokens/authentication.test.ts',
    ],
    goal: 95,
  },
  'parse': {
    code: [`${SERVER}/core/parse/*.ts`],
    tests: ['test/unit/{query,write}/parse.test.ts'],
    goal: 85,
  },
  'plan': {
    code: [`${SERVER}/core/plan/*.ts`],
    tests: ['test/unit/query/plan.test.ts'],
    goal: 85,
  },
  'response-cache': {
    code: [`${PLUGINS}/response-cache/**/*.ts`],
    tests: [
      'test/unit/plugins/response-cache/{options,entries,key,encode,dependencies,memory,key-value,availability}.test.ts',
      'test/unit/plugins/response-cache/{shared-store,plugin,metadata,known-totals,requests}.test.ts',
    ],
    goal: 85,
  },
  'file-content': {
    code: [`${FILES}/content/*.ts`, `${FILES}/server/{http,record}/*.ts`],
    tests: ['test/unit/files/{identify,dimensions,http,record,hash,names,multipart,receive}.test.ts'],
    goal: 85,
  },
  'file-storage': {
    code: [`${FILES}/storage/*.ts`],
    tests: ['test/unit/files/{chunks,storage-option,file-system,buckets,s3}.test.ts'],
    goal: 85,
  },
  'file-routes': {
    code: [`${FILES}/*.ts`, `${FILES}/server/*.ts`],
    tests: ['test/unit/files/{options,columns,handlers,orphans,plugin}.test.ts', 'test/unit/files/{serve,upload}.test.ts'],
    goal: 85,
  },
}
