// The condition of a flow schema that reports a missing priority level. Source:
// k8s.io/apiserver/pkg/util/flowcontrol/apf_controller.go, which also writes it shortly after the schema.

import { timestamp } from "../../../apimachinery/object.ts"
import { isNotFound } from "../../../apimachinery/status.ts"
import type { KubeClient } from "../../../client/rest.ts"
import { flowSchemas } from "./upkeep.ts"

export interface Dangling {
  type: string
  status: string
  reason: string
  message: string
}

const fieldManager = "api-priority-and-fairness-config-consumer-v1"

export function danglingOf(level: string, isThere: boolean): Dangling {
  const about = `This FlowSchema references the PriorityLevelConfiguration object named "${level}"`
  return isThere
    ? { type: "Dangling", status: "False", reason: "Found", message: `${about} and it exists` }
    : { type: "Dangling", status: "True", reason: "NotFound", message: `${about} but there is no such object` }
}

export function isSame(a: Dangling, b: Dangling | undefined): boolean {
  return a.status === b?.status && a.reason === b.reason && a.message === b.message
}

/** As upstream, a change of only reason or message counts as a transition. */
export async function writeDanglingCondition(client: KubeClient, name: string, dangling: Dangling): Promise<void> {
  const condition = { ...dangling, lastTransitionTime: timestamp() }
  const { group, version } = flowSchemas
  const body = {
    apiVersion: `${group}/${version}`,
    kind: "FlowSchema",
    metadata: { name },
    status: { conditions: [condition] },
  }
  try {
    await client.patch(flowSchemas, undefined, name, body, {
      type: "apply",
      subresource: "status",
      force: true,
      fieldManager,
    })
  } catch (error) {
    if (!isNotFound(error)) throw error // the schema has just been deleted
  }
}
