// The part of the kubelet's API that a vn-agent serves, as a table. Everything else is 404: in particular /pods and /logs/, which
// on a kubelet show all tenants' pods and the node's own logs.

interface Route {
  methods: readonly string[]
  /** The first path segment, as in the kubelet. */
  action: string
  /** The following segments. */
  segments: readonly string[]
  /** The client must request a protocol switch. */
  upgrade: boolean
}

const routes: readonly Route[] = [
  { methods: ["GET"], action: "containerLogs", segments: ["namespace", "pod", "container"], upgrade: false },
  { methods: ["GET", "POST"], action: "exec", segments: ["namespace", "pod", "container"], upgrade: true },
  { methods: ["GET", "POST"], action: "exec", segments: ["namespace", "pod", "uid", "container"], upgrade: true },
  { methods: ["GET", "POST"], action: "attach", segments: ["namespace", "pod", "container"], upgrade: true },
  { methods: ["GET", "POST"], action: "attach", segments: ["namespace", "pod", "uid", "container"], upgrade: true },
  { methods: ["GET", "POST"], action: "portForward", segments: ["namespace", "pod"], upgrade: true },
  { methods: ["GET", "POST"], action: "portForward", segments: ["namespace", "pod", "uid"], upgrade: true },
]

export interface RoutedRequest {
  action: string
  upgrade: boolean
  namespace: string
  pod: string
  container?: string
  uid?: string
  /** With the leading "?", or empty. */
  query: string
}

/** A DNS label or subdomain: nothing that could change the meaning of a path. */
const segmentPattern = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/

/** Undefined if it is not served. */
export function route(method: string, url: string): RoutedRequest | undefined {
  const mark = url.indexOf("?")
  const [action, ...values] = (mark < 0 ? url : url.slice(0, mark)).slice(1).split("/")
  const found = routes.find(
    (candidate) =>
      candidate.action === action && candidate.segments.length === values.length && candidate.methods.includes(method),
  )
  if (found === undefined || !values.every((value) => value.length <= 253 && segmentPattern.test(value)))
    return undefined
  const named = Object.fromEntries(found.segments.map((name, index) => [name, values[index] ?? ""]))
  return {
    action: found.action,
    upgrade: found.upgrade,
    namespace: named["namespace"] ?? "",
    pod: named["pod"] ?? "",
    ...(named["container"] === undefined ? {} : { container: named["container"] }),
    ...(named["uid"] === undefined ? {} : { uid: named["uid"] }),
    query: mark < 0 ? "" : url.slice(mark),
  }
}
