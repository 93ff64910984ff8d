// /containerLogs: the output of a container, and further output if followed.

import type { ServerResponse } from "node:http"
import type { LogLine } from "../container/log.ts"
import { CallRefused } from "../../client/http/node-server.ts"
import type { KubeletRequest } from "./request.ts"

/** Maximum number of bytes that a slow reader of a followed log may leave unread; beyond that it is disconnected. */
const maxUnread = 1024 * 1024

export function sendLogs({ sandbox, container, query }: KubeletRequest, response: ServerResponse): void {
  const record = sandbox.find(container)
  const pod = sandbox.pod.metadata.name ?? ""
  if (record === undefined) throw new CallRefused(404, `container "${container}" not found in pod "${pod}"`)
  const previous = query.get("previous") === "true"
  const source = previous ? record.previous : record.current
  if (source === undefined) {
    if (previous) throw new CallRefused(400, `previous terminated container "${container}" in pod "${pod}" not found`)
    throw new CallRefused(
      400,
      `container "${container}" in pod "${pod}" is waiting to start: ${record.waiting?.reason ?? "ContainerCreating"}`,
    )
  }
  const print = printer(query.get("timestamps") === "true", Number(query.get("limitBytes") ?? Number.POSITIVE_INFINITY))
  response.writeHead(200, { "content-type": "text/plain" })
  for (const line of selected(source.log.lines, query)) response.write(print(line))
  if (query.get("follow") !== "true" || source.log.ended || print.full()) {
    response.end()
    return
  }
  const stop = source.log.follow((line) => {
    if (line === undefined || print.full()) response.end()
    else if (response.writableLength > maxUnread) response.destroy()
    else response.write(print(line))
  })
  response.on("close", stop)
  response.flushHeaders()
}

function selected(lines: readonly LogLine[], query: URLSearchParams): readonly LogLine[] {
  const seconds = query.get("sinceSeconds")
  const time = query.get("sinceTime")
  const since = seconds !== null ? Date.now() - Number(seconds) * 1000 : time !== null ? Date.parse(time) : undefined
  const recent = since === undefined ? lines : lines.filter(({ at }) => at >= since)
  const tail = query.get("tailLines")
  return tail === null ? recent : recent.slice(Math.max(0, recent.length - Number(tail)))
}

function printer(timestamps: boolean, limit: number): { (line: LogLine): string; full(): boolean } {
  let left = limit
  let isBegun = false
  const print = ({ at, text, isPartial }: LogLine): string => {
    const time = timestamps && !isBegun ? `${new Date(at).toISOString()} ` : ""
    isBegun = isPartial === true
    const line = `${time}${text}${isBegun ? "" : "\n"}`.slice(0, left)
    left -= line.length
    return line
  }
  return Object.assign(print, { full: () => left <= 0 })
}
