/** The code that mutation tests change, and the tests that have to notice it. */
import { PLACES, type Place } from './places.ts'

export interface MutatedFolder {
  /** The files, relative to the repository. */
  readonly code: readonly string[]
  /** The tests, those that notice most first. Slow ones cost their time again for each mutant that they run. */
  readonly tests: readonly string[]
  /** The part of the mutants that the tests have to notice, in percent. */
  readonly goal: number
  /** The only places of `code` that are changed. Every test then tries every change, and the report lists those that notice it. */
  readonly places?: readonly Place[]
}

const SERVER = 'src/runtime/server'
const PLUGINS = 'src/runtime/plugins'
const FILES = `${PLUGINS}/file-upload`

/** `npm run test:mutation -- row-scope` */
export const FOLDERS: Readonly<Record<string, MutatedFolder>> = {
  'row-scope': {
    code: [`${SERVER}/core/access/{row-rules,row-scope,tenant}.ts`],
    tests: [
      'test/unit/server/core/access/row-scope.test.ts',
      'test/scenarios/description/decisions.test.ts',
      'test/unit/server/plugin/rows.test.ts',
      'test/scenarios/attack/other-side.test.ts',
      'test/scenarios/auth/tenancy.test.ts',
    ],
    goal: 95,
  },
  'access': {
    code: [`${SERVER}/core/access/{authorize,fields,plan,related}.ts`, `${SERVER}/core/request/{csrf,ip-address,limits}.ts`],
    tests: [
      'test/unit/server/core/access/{gate,authorize}.test.ts',
      'test/unit/server/core/request/limits.test.ts',
      'test/unit/server/core/request/same-site.test.ts',
      'test/unit/server/core/request/ip-address.test.ts',
      'test/unit/server/core/access/related-sql.test.ts',
      'test/unit/server/core/access/fields.test.ts',
      'test/scenarios/auth/endpoints.test.ts',
      'test/scenarios/attack/relation-filters.test.ts',
    ],
    goal: 95,
  },
  'sql': {
    code: [`${SERVER}/core/sql/{where,parameterize,conditions}.ts`],
    tests: [
      'test/unit/server/core/sql/conditions.test.ts',
      'test/unit/server/core/sql/parameterize.test.ts',
      'test/unit/server/core/sql/sql.test.ts',
      'test/unit/server/core/sql/keys.test.ts',
      'test/unit/server/core/access/related-sql.test.ts',
      'test/unit/server/core/access/row-scope.test.ts',
    ],
    goal: 95,
  },
  'cursors': {
    code: [`${SERVER}/core/sql/{cursor,keyset}.ts`],
    tests: [
      'test/unit/server/core/sql/cursor-seal.test.ts',
      'test/scenarios/query/cursor-secret.test.ts',
      'test/unit/server/core/sql/position-indexes.test.ts',
      'test/unit/server/core/sql/positions.test.ts',
    ],
    goal: 95,
  },
  'secrets': {
    code: [
      `${SERVER}/core/process/{secret,encryption}.ts`, `${SERVER}/core/replicas/marker.ts`, `${SERVER}/plugin/channel/codec.ts`,
      `${SERVER}/api/secret-warnings.ts`,
    ],
    tests: [
      'test/unit/server/core/process/secret.test.ts',
      'test/unit/server/plugin/channel/codec.test.ts',
      'test/unit/server/core/replicas/marker.test.ts',
      'test/unit/server/api/secret-warnings.test.ts',
      'test/scenarios/query/cursor-secret.test.ts',
    ],
    goal: 85,
  },
  'api-tokens': {
    code: [`${PLUGINS}/api-tokens/**/*.ts`, `${SERVER}/plugin/{issued,owner,owned-rows}.ts`],
    tests: [
      'test/plugins/api-tokens/{options,format,rules,issued,failures,last-used}.test.ts',
      'test/plugins/options.test.ts',
      'test/plugins/api-tokens/{owners,management,introspection}.test.ts',
      'test/plugins/idempotency/tokens.test.ts',
      'test/plugins/api-tokens/authentication.test.ts',
    ],
    goal: 95,
  },
  'parse': {
    code: [`${SERVER}/core/parse/*.ts`],
    tests: ['test/unit/server/core/parse/{query,write}.test.ts'],
    goal: 85,
  },
  'plan': {
    code: [`${SERVER}/core/plan/*.ts`],
    tests: ['test/unit/server/core/plan/plan.test.ts'],
    goal: 85,
  },
  'response-cache': {
    code: [`${PLUGINS}/response-cache/**/*.ts`],
    tests: [
      'test/plugins/response-cache/{options,entries,key,encode,dependencies,memory,key-value,availability}.test.ts',
      'test/plugins/response-cache/{shared-store,plugin,metadata,known-totals,requests}.test.ts',
    ],
    goal: 85,
  },
  'file-content': {
    code: [`${FILES}/content/*.ts`, `${FILES}/server/{http,record}/*.ts`],
    tests: ['test/plugins/file-upload/{identify,dimensions,http,record,hash,names,multipart,receive}.test.ts'],
    goal: 85,
  },
  'file-storage': {
    code: [`${FILES}/storage/*.ts`],
    tests: ['test/plugins/file-upload/{chunks,storage-option,file-system,buckets,s3}.test.ts'],
    goal: 85,
  },
  'file-routes': {
    code: [`${FILES}/*.ts`, `${FILES}/server/*.ts`],
    tests: [
      'test/plugins/file-upload/{options,columns,handlers,orphans,plugin}.test.ts',
      'test/plugins/file-upload/{serve,upload}.test.ts',
    ],
    goal: 85,
  },
  'cves': {
    code: [...new Set(PLACES.map(({ file }) => `src/runtime/${file}`))],
    places: PLACES,
    tests: ['test/scenarios/cves/cves.test.ts'],
    goal: 85,
  },
}
