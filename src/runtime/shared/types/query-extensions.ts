/** The options that plugins add to the composables that read. */

/** Each plugin merges its options into this interface, in files that only the apps with the plugin load. */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- augmentations fill it
export interface QueryExtensions {}
