// What a container said last: the end of the file at its termination message path or, if it has failed without one and its policy is
// FallbackToLogsOnError, the end of its log. Source: k8s.io/kubernetes/pkg/kubelet/kuberuntime (getTerminationMessage).

import type { Container } from "../../apimachinery/object.ts"
import type { SimulatedContainer } from "../container/container.ts"

/** Bytes of the end of the file. */
const maxFileBytes = 4096
/** Of the end of the log. */
const maxLogLines = 80
const maxLogBytes = 2048
/** Bytes of all containers of a pod, each of which has the same share. */
const maxPodBytes = 12 * 1024

type Policy = Pick<Container, "terminationMessagePath" | "terminationMessagePolicy">

/** undefined: nothing. `containers`: number of those in the pod. */
export function terminationMessage(
  { log, spec: { files } }: SimulatedContainer,
  code: number,
  { terminationMessagePath: path = "", terminationMessagePolicy: policy }: Policy,
  containers: number,
): string | undefined {
  const file = path === "" ? "" : lastBytes(files.read(path) ?? "", maxFileBytes)
  const isFromLog = file === "" && policy === "FallbackToLogsOnError" && code !== 0
  const last = log.lines.slice(-maxLogLines).map(({ text, isPartial }) => (isPartial === true ? text : `${text}\n`))
  const message = isFromLog ? lastBytes(last.join(""), maxLogBytes) : file
  return message === "" ? undefined : firstBytes(message, Math.floor(maxPodBytes / containers))
}

function lastBytes(text: string, bytes: number): string {
  return Buffer.from(text).subarray(-bytes).toString()
}

function firstBytes(text: string, bytes: number): string {
  return Buffer.from(text).subarray(0, bytes).toString()
}
