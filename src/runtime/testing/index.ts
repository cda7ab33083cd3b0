/** Tests that apps and plugins can run with any test runner. */
export { createTestApi, type LocalTestApi, type RemoteTestApi, type TestApi, type TestCallers, type TestRoute } from './api/create'
export { explainAccess, type AccessExplanation, type ExplainedRequest } from './api/explain'
export type { Decision, DecisionKind, ExplainedCaller, ExplainedRows, ExplainedStatement, Explanation } from '../shared/explanation'
export type { TestCaller, TestClient, TestRequest, TestResponse } from './api/client'
export type { TestResource, TestResourceSource } from './api/resources'
export { expectAccess, expectEveryResource, type AccessExpectation, type MatrixOptions, type TestValues } from './access/expect'
export type { ExtraRequest } from './access/observe'
export type { NamedRows, RowId } from './access/probes'
export { expectNoLeaks, type LeakOptions } from './leaks/expect'
export {
  expectNoninterference, type NoninterferenceOptions, type NoninterferenceReport, type NoninterferenceRequest,
} from './noninterference/expect'
export { engineSuite, type EngineSuiteOptions, type EngineTest, type OpenedEngine } from './engine/suite'
export { fileStorageSuite, type FileStorageSuiteOptions, type FileStorageTest, type OpenedFileStorage } from './storage/suite'
