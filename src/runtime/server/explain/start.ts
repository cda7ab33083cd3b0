/** The Nitro plugin of development that records requests. */
import { useRuntime } from '../api/runtime'
import { addRecorder, startRecording } from './recorder'
import { keepRequests } from './request-log'

export default function start(): void {
  useRuntime().extend(addRecorder)
  startRecording()
  keepRequests()
}
