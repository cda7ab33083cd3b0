/** A process that sends requests at regular times, whether the ones before were answered or not, and measures each of them. */
import { Agent, request as send } from 'node:http'

export interface Load {
  readonly url: string
  readonly requests: readonly { readonly path: string, readonly headers: Readonly<Record<string, string>> }[]
  readonly perSecond: number
  readonly seconds: number
}

process.on('message', (load: Load) => void run(load).then(times => process.send!(times)))

/** @returns the milliseconds of each request. @throws When a request fails: errors are faster than responses. */
async function run({ url, requests, perSecond, seconds }: Load): Promise<readonly number[]> {
  // A server that stood still closes connections that were idle for so long.
  const agent = new Agent({ keepAlive: true })
  const start = performance.now()
  const times: Promise<number>[] = []
  for (let index = 0; index < perSecond * seconds; index++) {
    const due = start + index * 1000 / perSecond
    const left = due - performance.now()
    if (left > 0) await new Promise(resolve => setTimeout(resolve, left))
    const { path, headers } = requests[index % requests.length]!
    times.push(measure(url + path, headers, agent))
  }
  const measured = await Promise.all(times)
  agent.destroy()
  return measured
}

function measure(url: string, headers: Readonly<Record<string, string>>, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const start = performance.now()
    send(url, { agent, headers }, (response) => {
      response.resume().on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - start)
        else reject(new Error(`${url} answers ${response.statusCode}.`))
      })
    }).on('error', reject).end()
  })
}

// The benchmark has ended.
process.on('disconnect', () => process.exit())
