/** Everything that Vue code can use without an import. */
export * from '../../src/runtime/app/index'
export * from '../../src/runtime/plugins/activity-feed/app/index'
export * from '../../src/runtime/plugins/api-tokens/app/index'
export * from '../../src/runtime/plugins/audit-log/app/index'
export * from '../../src/runtime/plugins/batch/app/index'
export * from '../../src/runtime/plugins/data-export/app/index'
export * from '../../src/runtime/plugins/file-upload/app/index'
export * from '../../src/runtime/plugins/live/app/index'
