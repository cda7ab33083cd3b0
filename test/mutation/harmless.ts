/** Changes that no test can notice, or that no test needs to notice, and why. A change that survives and is not listed here counts. */

export interface Harmless {
  readonly file: string
  /** The code that the change replaces. */
  readonly code: string
  readonly becomes: string
  readonly reason: string
}

/** The changes of one file of the server or of a plugin, as `[code, becomes, reason]`. */
const inFile = (file: string, changes: readonly (readonly [code: string, becomes: string, reason: string])[]): Harmless[] =>
  changes.map(([code, becomes, reason]) => ({ file: `src/runtime/${file.startsWith('plugins/') ? '' : 'server/'}${file}`, code, becomes, reason }))

const SEPARATE_COPY = 'The copy has the same column. The condition saves the copy.'
const OTHER_LIST = 'A list with another version is refused as well.'
const DECIDED_LATER = 'The function for promises decides the same. This one saves a promise.'
const DECLARED = 'The type does not say that the resource has authorization here.'
const NO_RETURN = 'A function that does not return a value returns `undefined`.'
const SAME_DECISION = 'The rest of the code decides the same. The condition saves its time.'
const ONLY_CACHE = 'The id is the same. Only what is kept in memory differs.'
const ZEROS = 'The texts of the two zeros then change places.'
const FALSY = '`undefined` counts as `false`.'
const FIRST_ENTRY = 'The first entry of a match, the whole text, is not used.'
const ONE_COLUMN = 'With one column, both conditions select the same rows, and search the index in the same way.'

export const HARMLESS: readonly Harmless[] = [
  ...inFile('core/access/row-scope.ts', [
    ['[]', '["Stryker was here"]', 'Every plan with a text search has conditions. The type does not say so.'],
    [
      'where.filter(clause => !plan.related!.clauses.includes(clause))',
      'where',
      'The conditions on related rows then apply twice, which finds the same rows in more time.',
    ],
  ]),
  ...inFile('core/access/row-rules.ts', [
    [
      'resource.auth?.listFilter !== undefined || resource.auth?.objectLevel !== undefined || rowFilters.has(resource) || rowChecks.has(resource)',
      'true',
      SAME_DECISION,
    ],
    ['filters.length === 0', 'false', SAME_DECISION],
    ['resource.auth?.objectLevel || call.api.rowChecks.has(resource)', 'true', 'There is then no rule to find. It saves a promise per plan.'],
    ['!auth?.listFilter && ofPlugins.length === 0', 'false', SAME_DECISION],
    ['rules.length < 2', 'false', 'The function for several rules does the same for one rule, and accepts every row without rules.'],
    ['tenant === \'none\'', 'false', 'The tenant column is then compared with no value, which finds no rows either.'],
    ['table === resource.table', 'false', SEPARATE_COPY],
  ]),
  ...inFile('core/access/tenant.ts', [
    ['text.length > MAX_LENGTH', 'true', ONLY_CACHE],
    ['text.length > MAX_LENGTH', 'false', ONLY_CACHE],
    ['text.length > MAX_LENGTH', 'text.length >= MAX_LENGTH', ONLY_CACHE],
    ['text.length > MAX_LENGTH', 'text.length <= MAX_LENGTH', ONLY_CACHE],
  ]),
  ...inFile('core/access/authorize.ts', [
    ['operations.slice(index + 1)', 'operations', 'The first operations pass again: the decisions of a request are cached.'],
    ['typeof decided === \'boolean\'', 'true', 'The cached promise has the same decision.'],
    [
      `{
  if (limitsOf(ctx)) return undefined
  if (isSuperAdmin(ctx)) return true
  if (permission === undefined) return false
  if (typeof permission === 'boolean') return permission
  return typeof permission === 'string' ? holds(ctx, permission) : undefined
}`,
      '{}',
      DECIDED_LATER,
    ],
    ['limitsOf(ctx)', 'true', DECIDED_LATER],
    ['permission === undefined', 'false', DECIDED_LATER],
    ['typeof permission === \'boolean\'', 'false', DECIDED_LATER],
    ['typeof permission === \'string\'', 'false', DECIDED_LATER],
    ['permission !== undefined', 'true', 'A permission that is not declared is no valid permission, which refuses as well.'],
    ['resource.auth?.permissions', 'resource.auth.permissions', DECLARED],
    ['resource.auth?.custom', 'resource.auth.custom', DECLARED],
  ]),
  ...inFile('core/sql/parameterize.ts', [
    ['part instanceof Param && part.encoder === UNCHANGED && isPlain(part.value)', 'false', SAME_DECISION],
    ['part instanceof SQL || part instanceof Param', 'true', SAME_DECISION],
    ['part instanceof SQL || part instanceof Param', 'false', SAME_DECISION],
    ['part instanceof SQL || part instanceof Param', 'part instanceof SQL && part instanceof Param', SAME_DECISION],
    ['known === undefined', 'true', SAME_DECISION],
    ['[\'\', \'\']', '[]', 'Drizzle writes no words then, and these words are empty.'],
    ['is(encoder, Column) && isConvertedByDialect(encoder)', 'false', 'Only Drizzle 1.0 has such columns. Its tests run with it.'],
    ['chunks.length === 0', 'false', 'SQL without parts has no text either.'],
  ]),
  ...inFile('core/sql/where.ts', [
    ['[\'\', \'\']', '[]', 'Drizzle writes no words then, and these words are empty.'],
    ['[]', '["Stryker was here"]', 'A list of no parts is not looked up.'],
  ]),
  ...inFile('core/request/csrf.ts', [
    ['origin !== undefined', 'true', 'The list of origins contains only texts.'],
    ['/^https?:$/', '/^https?:/', 'The only colon of a protocol is at its end.'],
  ]),
  ...inFile('core/access/fields.ts', [
    ['operation === call.ctx.operation', 'false', 'The key of the cache then always names the operation.'],
    ['operation === call.ctx.operation', 'operation !== call.ctx.operation', 'The two kinds of keys then change places.'],
    ['fields.length === resource.fields.size', 'false', 'The key then lists all fields.'],
  ]),
  ...inFile('core/request/ip-address.ts', [
    ['hops < 1', 'false', 'No entry is at the position after the last one.'],
    ['[]', '["Stryker was here"]', FIRST_ENTRY],
    ['/%.*$/', '/%.*/', 'Only a line break can end the match earlier, and no address contains one.'],
  ]),
  ...inFile('core/request/limits.ts', [
    ['[]', '["Stryker was here"]', 'No rule names this role.'],
    ['{ value: undefined }', '{}', 'A property without a value has the value `undefined`.'],
  ]),
  ...inFile('core/parse/aggregate.ts', [['[]', '["Stryker was here"]', FIRST_ENTRY]]),
  ...inFile('core/parse/body.ts', [
    [
      'issues.length > 0',
      'true',
      'The empty list then passes through a function that returns it. The condition saves reading the fields of the caller.',
    ],
    ['issues.length > 0', 'issues.length >= 0', 'The empty list then passes through a function that returns it.'],
    ['issues.length > 0', 'false', 'With issues, the request is refused, and nothing reads the values.'],
    ['kind === \'create\'', 'true', 'An update contains no primary key.'],
    ['typeof id === \'string\'', 'true', 'The sets contain only texts.'],
    ['value === INVALID', 'false', 'The issue of the validator about this field is left out in both cases.'],
    ['typeof value !== \'object\'', 'false', 'Numbers and booleans have no entries.'],
  ]),
  ...inFile('core/parse/cost.ts', [
    ['having.length > 0', 'true', 'No conditions cost nothing.'],
    ['having.length > 0', 'having.length >= 0', 'No conditions cost nothing.'],
  ]),
  ...inFile('core/parse/filter.ts', [['brackets.length === 0', 'false', 'An object without conditions has the same meaning.']]),
  ...inFile('core/parse/if-match.ts', [
    ['[]', '["Stryker was here"]', FIRST_ENTRY],
    ['tag !== undefined', 'true', 'The text `undefined` is no revision.'],
  ]),
  ...inFile('core/parse/include.ts', [
    ['index < text.length', 'index <= text.length', 'What follows the last character is neither a separator nor a bracket.'],
  ]),
  ...inFile('core/parse/write.ts', [['error instanceof ApiError', 'true', 'The checks of a tag throw no other errors.']]),
  ...inFile('core/plan/filter.ts', [
    ['value === null', 'false', 'No column that can be compared has the value null. The condition says so before the conversion.'],
    ['relationFilters.length > 0', 'true', 'An empty list of relation filters adds no condition.'],
    ['relationFilters.length > 0', 'relationFilters.length >= 0', 'An empty list of relation filters adds no condition.'],
  ]),
  ...inFile('core/plan/include.ts', [
    ['tree.size === 0', 'false', 'The plan of no includes is an empty list too. The condition saves a promise.'],
  ]),
  ...inFile('core/access/readable-relation.ts', [['[]', '["Stryker was here"]', 'A text has neither rules nor row checks.']]),
  ...inFile('core/plan/relation.ts', [
    ['Object.keys(metadata).length === 0', 'false', 'The validation of no values returns no values. The condition saves it.'],
  ]),
  ...inFile('core/plan/search.ts', [['[]', '["Stryker was here"]', 'No field has this name.']]),
  ...inFile('core/sql/cursor.ts', [
    ['[]', '["Stryker was here"]', OTHER_LIST],
  ]),
  ...inFile('core/sql/keyset.ts', [
    ['order.length > 1', 'true', ONE_COLUMN],
    ['order.length > 1', 'order.length >= 1', ONE_COLUMN],
    ['values[index] !== null', 'true', 'A column that is not nullable has no other value.'],
    ['parts.length === 1', 'false', 'The condition then has one more pair of parentheses.'],
  ]),
  ...inFile('plugins/api-tokens/server/authenticate.ts', [
    ['typeof value === \'string\'', 'true', 'A regular expression reads a list as text with commas, in which it finds the same tokens.'],
    ['header === undefined', 'false', 'No header is then the text `undefined`, which contains no token either.'],
    ['/^bearer[ \\t](.*)$/is.exec(header)?.[1]?.trim', '/^bearer[ \\t](.*)$/is.exec(header)?.[1].trim', 'A match always has this group.'],
    ['/^bearer[ \\t](.*)$/is', '/^bearer[ \\t](.*)/is', 'With the flag `s`, the group always reaches to the end.'],
    ['[]', '["Stryker was here"]', 'The caller then cannot use a resource that does not exist.'],
  ]),
  ...inFile('plugins/api-tokens/server/failures.ts', [
    ['blocked.size === 0', 'false', 'There is then no block to find. The condition saves the network of the address.'],
    ['end === undefined', 'false', 'A block without an end does not last either, because the rest of its time is not a number.'],
  ]),
  ...inFile('plugin/issued.ts', [
    ['secret !== undefined', 'true', 'The hook before it has always prepared a secret. The type does not say so.'],
  ]),
  ...inFile('plugins/api-tokens/server/manage.ts', [
    ['ctx.credential?.scopes', 'ctx.credential.scopes', 'Only a credential has limits. The type does not say so.'],
    ['rotated', 'false', 'A rotation sets neither scopes nor an expiry, so the rest of the function only asks for the owner again.'],
  ]),
  ...inFile('plugins/file-upload/server/columns.ts', [
    ['typeof length === \'number\'', 'true', 'A column without a length is not shorter than any.'],
  ]),
  ...inFile('plugins/file-upload/server/lifecycle.ts', [['batch.size > 0', 'true', 'Nothing is read or removed for an empty batch.']]),
  ...inFile('plugins/file-upload/content/dimensions.ts', [
    ['head[at] !== 0x69', 'false', 'The condition saves reading four letters at each byte.'],
    [
      'size.width * size.height > largest.width * largest.height',
      'size.width * size.height >= largest.width * largest.height',
      'Both have the same number of pixels.',
    ],
  ]),
  ...inFile('plugins/file-upload/content/identify.ts', [
    ['[]', '["Stryker was here"]', 'No field accepts this type.'],
    ['{\n    return undefined\n  }', '{}', NO_RETURN],
  ]),
  ...inFile('plugins/file-upload/content/multipart.ts', [
    [
      'held.byteLength - delimiter.byteLength + 1',
      'held.byteLength - delimiter.byteLength - 1',
      'The search for the delimiter then begins two bytes earlier.',
    ],
  ]),
  ...inFile('plugins/file-upload/content/receive.ts', [
    ['text.slice(-16)', 'text', 'The whole text is then checked again with each chunk.'],
  ]),
  ...inFile('plugins/file-upload/server/record/stored-file.ts', [['{\n    return undefined\n  }', '{}', NO_RETURN]]),
  ...inFile('plugins/file-upload/storage/unstorage.ts', [
    ['at < bytes.byteLength', 'at <= bytes.byteLength', 'The last piece of the text is then empty.'],
    ['at < binary.length', 'at <= binary.length', 'An array of bytes ignores a value after its end.'],
  ]),
  ...inFile('plugins/response-cache/server/dependencies.ts', [['[]', '["Stryker was here"]', 'A name is no function.']]),
  ...inFile('plugins/response-cache/server/encode.ts', [
    ['index < values.length', 'index <= values.length', 'The text then also contains the number of values.'],
    ['-0', '+0', ZEROS],
    ['default: return false', 'default:', FALSY],
  ]),
  ...inFile('plugins/response-cache/server/memory.ts', [
    ['known === writes', 'false', SAME_DECISION],
    ['known.writes > writes', 'known.writes >= writes', 'Both responses were read after the same writes.'],
  ]),
  ...inFile('plugins/response-cache/server/index.ts', [
    ['() => false', '() => undefined', FALSY],
    ['!tables', 'true', 'The names are then found again for each request. They are always the same.'],
  ]),
  ...inFile('plugins/response-cache/server/shared.ts', [
    ['text === null', 'false', 'The text `null` is JSON, and no entry either.'],
    ['entry?.text', 'entry.text', 'The error that `null` then causes is caught, as that of invalid JSON.'],
    ['{\n    return undefined\n  }', '{}', NO_RETURN],
  ]),
]
