/** Tests that apps and plugins can run with any test runner. */
export { engineSuite, type EngineSuiteOptions, type EngineTest, type OpenedEngine } from './engine/suite'
export { fileStorageSuite, type FileStorageSuiteOptions, type FileStorageTest, type OpenedFileStorage } from './storage/suite'
