/** A form for one record: its values, their validation, and the write of what has changed. */
import type { StandardSchemaV1 } from '@standard-schema/spec'
import { useQueryClient } from '@tanstack/vue-query'
import { computed, reactive, ref, shallowRef, toRaw, toValue, watch } from 'vue'
import type { DescribedField, JsonSchema } from '../../shared/types/description'
import type { RecordId } from '../../shared/types/resources'
import { AutoApiError, autoApiFormErrors, type FormError } from '../error'
import { findIssues, type SchemaIssue } from '../form/json-schema'
import { createNested, type CollectedNested, type FormNested } from '../form/nested'
import type { AnyForm, AnyFormOptions, Editable, FormOptions, FormResult, NestedOptions } from '../form/types'
import { copy, differing, initialValues, namesOf, toBody, valuesOf, type Values } from '../form/values'
import { idOf, isMissing, toApiKey, toIdentity } from '../keys'
import type { OnlyAtRunTime, Row } from '../any-resource'
import { hasNested } from '../nuxt'
import { autoApiTag } from '../tags'
import { useAutoApiCreate, useAutoApiUpdate } from './mutations'
import { useAutoApiGet } from './queries'
import { SHARED, useAutoApiSchema } from './schema'

const NO_FIELDS: Readonly<Record<string, DescribedField>> = {}

/**
 * Creates the state of a form that creates a record, or changes the record with an `id`. The description of the API decides which fields
 * the caller can write and which values they accept; the server checks every write again. Works with any inputs, and with `UForm`.
 * @example
 * const { state, schema, submit, errorOf } = useAutoApiForm('posts', { id: () => route.params.id })
 * // <form @submit.prevent="submit"> <input v-model="state.title"> {{ errorOf('title') }}
 */
export function useAutoApiForm<R extends Editable, const N extends NestedOptions<R> = Record<never, never>>(
  resource: R, options?: FormOptions<R, N>,
): FormResult<R, N>
/** Creates the state of a form for a resource whose name is known only at run time. */
export function useAutoApiForm<N extends string, L extends OnlyAtRunTime<N>>(
  resource: N, options?: AnyFormOptions, ...literal: L
): AnyForm
export function useAutoApiForm(
  resource: string, options: Omit<AnyFormOptions, 'nested'> & { readonly nested?: object } = {},
): unknown {
  const { ifMatch = true, defaults, message, schema: ownSchema } = options
  const id = () => toValue(options.id)
  const isNew = computed(() => isMissing(id()))
  const kind = () => isNew.value ? 'create' : 'update'

  const toMessage = (issue: SchemaIssue) => message?.(issue) ?? issue.message
  const nested = hasNested && options.nested
    ? createNested(resource, options.nested as NonNullable<AnyFormOptions['nested']>, name => description.resource(name), toMessage)
    : undefined
  const description = useAutoApiSchema({ resources: [...new Set([resource, ...nested?.targets ?? []])], ...SHARED })
  const query = nested && { include: nested.include }
  const get = useAutoApiGet(resource, id, query)
  const queryClient = hasNested ? useQueryClient() : undefined
  const described = computed(() => description.resource(resource))
  const record = computed(() => {
    const data = get.data.value
    const key = data && idOf(resource, data)
    // After a change of the id, the query still has the previous record for a moment.
    return isNew.value || (key !== undefined && toIdentity(resource, key) !== identity()) ? undefined : data
  })
  const fields = computed(() => {
    const all = described.value?.fields
    return all ? Object.fromEntries(namesOf(all, kind()).map(name => [name, all[name]!])) : NO_FIELDS
  })

  /** What the form was opened with: the first values, and the version of the record. */
  const opened = shallowRef<{ readonly of: string, readonly values: Values, readonly record?: Row }>()
  const state = reactive<Values>({})
  /** The messages of the last submit, and the values that they are about. */
  const refused = shallowRef<{ readonly errors: readonly FormError[], readonly values: Values, readonly inChildren: boolean }>()
  const conflict = shallowRef<Row>()
  const isSending = ref(false)

  const tag = () => ifMatch ? autoApiTag(opened.value?.record) ?? false : false
  const create = useAutoApiCreate(resource)
  const update = useAutoApiUpdate(resource, { ifMatch: tag })
  const write = () => isNew.value ? create : update

  const body = () => toBody(toRaw(state), described.value?.fields ?? NO_FIELDS, kind())
  const changes = computed(() => {
    const values = toBody(state, described.value?.fields ?? NO_FIELDS, kind())
    return Object.fromEntries(differing(values, opened.value?.values ?? {}).map(name => [name, values[name] ?? null]))
  })

  /** Shows values, without the changes of the form except those in `kept`. */
  function open(values: Values, record?: Row, kept: Values = {}) {
    opened.value = { of: identity(), values, record }
    for (const name of Object.keys(state)) Reflect.deleteProperty(state, name)
    Object.assign(state, copy(values), kept)
    refused.value = undefined
    conflict.value = undefined
  }
  function openRecord(record: Row, kept?: Values) {
    open(valuesOf(described.value!, record), record, kept)
    if (kept) nested?.rebase(record)
    else nested?.open(record)
  }
  function openNew() {
    open(initialValues(described.value!, toValue(defaults) ?? {}))
    nested?.open(undefined)
  }
  const isDirty = computed(() => Object.keys(changes.value).length > 0 || !!nested?.isDirty())

  function identity(): string {
    const value = id()
    return isMissing(value) ? '' : toIdentity(resource, value)
  }

  // A refetch brings a new version only into a form without changes. Synchronous, because the server runs no other watchers.
  watch([described, record, identity], () => {
    if (!described.value) return
    if (opened.value?.of === identity() && (isNew.value || isSending.value || isDirty.value)) return
    if (isNew.value) openNew()
    else if (record.value) openRecord(record.value)
  }, { immediate: true, flush: 'sync' })

  async function check(values: Values): Promise<readonly StandardSchemaV1.Issue[]> {
    if (ownSchema) return (await ownSchema['~standard'].validate(values)).issues ?? []
    const wanted: JsonSchema | undefined = described.value?.validation[kind()]
    // The server checks only the fields that an update changes.
    const sent = isNew.value ? values : pick(values, differing(values, opened.value?.values ?? {}))
    return wanted ? findIssues(wanted, sent).map(issue => ({ path: issue.path, message: toMessage(issue) })) : []
  }

  const schema: StandardSchemaV1<Values, Values> = {
    '~standard': {
      version: 1,
      vendor: 'nuxt-auto-api',
      async validate(value) {
        const values = toBody(value as Values, described.value?.fields ?? NO_FIELDS, kind())
        const issues = await check(values)
        return issues.length > 0 ? { issues } : { value: values }
      },
    },
  }

  async function submit(): Promise<Row | undefined> {
    if (isSending.value || !opened.value) return undefined
    isSending.value = true
    const children = nested?.collect()
    try {
      write().reset()
      conflict.value = undefined
      const values = body()
      const own = (await check(values)).map(({ path = [], message }) => ({ name: toName(path), message }))
      const issues = children ? [...own, ...children.errors] : own
      refuse(issues, children, values)
      return issues.length > 0 ? undefined : await send(values, children?.body)
    }
    catch (error) {
      if (!(error instanceof AutoApiError)) throw error
      const current = hasNested && nested ? await reload(error, nested) : error.current
      refuse(autoApiFormErrors(error), children, body())
      conflict.value = error.current && current as Row | undefined
      return undefined
    }
    finally {
      isSending.value = false
    }
  }

  function refuse(errors: readonly FormError[], children: CollectedNested | undefined, values: Values) {
    const own = children?.refuse(errors) ?? errors
    refused.value = { errors: own, values, inChildren: hasNested && own.length < errors.length }
  }

  /** Reads the record with its children, if the one that the form shows is old. The current record of the error has no children. */
  async function reload({ status, path, current }: AutoApiError, nested: FormNested) {
    const isGone = status === 404 && path !== undefined
    if (!current && !isGone) return undefined
    const { data = current } = await get.refetch()
    if (isGone && data) nested.rebase(data as Row)
    return data
  }

  async function send(values: Values, children?: Values): Promise<Row | undefined> {
    if (!isNew.value && !isDirty.value) return opened.value!.record
    let written: Row = await (isNew.value
      ? create.mutateAsync({ ...values, ...children })
      : update.mutateAsync({ ...changes.value, ...children, id: id() as RecordId }))
    if (isNew.value) openNew()
    else if (hasNested && nested) written = openRefetched() ?? written
    else openRecord(written)
    await options.onSuccess?.(written)
    return written
  }

  /** Opens the record with its children. The mutation has refetched it. If that failed, the form is not ready until it is loaded again. */
  function openRefetched(): Row | undefined {
    const state = queryClient?.getQueryState<Row>(toApiKey(resource, 'get', { id: identity(), query }))
    const current = state?.isInvalidated === false ? state.data : undefined
    if (current) openRecord(current)
    else opened.value = undefined
    return current
  }

  const errors = computed(() => {
    const { errors = [], values = {} } = refused.value ?? {}
    if (errors.length === 0) return []
    const edited = new Set(differing(values, toBody(state, described.value?.fields ?? NO_FIELDS, kind())))
    return errors.filter(({ name }) => !edited.has(name.split('.', 1)[0]!))
  })
  const error = computed(() => (write().error.value ?? get.error.value ?? description.error.value) as AutoApiError<Row> | null)
  const isOfField = ({ name }: FormError) => Object.hasOwn(fields.value, name.split('.', 1)[0]!)

  return {
    state,
    schema,
    fields,
    record: computed(() => opened.value?.record),
    errors,
    errorOf: name => errors.value.find(error => error.name === name || error.name.startsWith(`${name}.`))?.message,
    message: computed(() => {
      const { value: failed } = error
      const { errors = [], inChildren = false } = refused.value ?? {}
      return failed && !conflict.value && !(hasNested && inChildren) && !errors.some(isOfField) ? failed.message : undefined
    }),
    error,
    changes,
    children: nested?.lists ?? {},
    isDirty,
    isNew,
    isReady: computed(() => opened.value?.of === identity()),
    isPending: computed(() => isSending.value),
    conflict,
    submit,
    reset() {
      write().reset()
      const { record, values } = opened.value ?? {}
      if (record) {
        open(values!, record)
        nested?.reset()
      }
      else if (isNew.value && described.value) openNew()
    },
    async overwrite() {
      if (!conflict.value) return undefined
      openRecord(conflict.value, changes.value)
      return submit()
    },
    takeCurrent() {
      write().reset()
      if (conflict.value) openRecord(conflict.value)
    },
    async suspense() {
      await Promise.all([description.suspense(), get.suspense()])
    },
  } satisfies AnyForm
}

const pick = (values: Values, names: readonly string[]): Values => Object.fromEntries(names.map(name => [name, values[name]]))

const toName = (path: NonNullable<StandardSchemaV1.Issue['path']>) =>
  path.map(part => String(typeof part === 'object' ? part.key : part)).join('.')
