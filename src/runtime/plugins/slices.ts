/** What the built-in plugins add outside of the server. Only data: the build loads this file. The admin has their views in this order. */
import type { Slice } from '../shared/slice'
import activityFeed from './activity-feed/slice'
import apiTokens from './api-tokens/slice'
import auditLog from './audit-log/slice'
import batch from './batch/slice'
import dataExport from './data-export/slice'
import fileUpload from './file-upload/slice'
import live from './live/slice'
import openApi from './open-api/slice'
import webhooks from './webhooks/slice'

export const SLICES: readonly Slice[]
  = Object.freeze([apiTokens, auditLog, activityFeed, batch, dataExport, fileUpload, live, openApi, webhooks])
