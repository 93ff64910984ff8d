// CSINodes: the drivers of a node. Source: k8s.io/kubernetes/pkg/apis/storage.

import { repeats } from "../../../../apimachinery/repeats.ts"
import { duplicate, type FieldError, FieldPath, invalidValue, required } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { immutableField } from "../../validation/equality.ts"
import { validateLabelName } from "../../validation/selectors.ts"
import { csiDriverName, nonNegative } from "../../validation/values.ts"

interface Driver {
  name?: string
  nodeID?: string
  topologyKeys?: readonly string[] | null
  allocatable?: { count?: number }
}
type CSINode = KubeObject & { spec?: { drivers?: Driver[] | null } }

const path = FieldPath.root("spec", "drivers")
const longestID = 256

const strategy: Strategy<CSINode> = {
  generation: false,
  allowUnconditionalUpdate: false,

  validate: (_ctx, { spec }) => validate(spec?.drivers ?? []),

  validateUpdate: (_ctx, { spec }, { spec: current }) => {
    const drivers = spec?.drivers ?? []
    const named = Map.groupBy(drivers, ({ name }) => name)
    return [
      ...validate(drivers),
      ...(current?.drivers ?? []).flatMap((before) =>
        (named.get(before.name) ?? []).flatMap((driver) =>
          immutableField(path, withoutLimits(driver), withoutLimits(before)),
        ),
      ),
    ]
  },

  settle({ spec }) {
    // As after Go's conversions, an empty list is null.
    for (const driver of spec?.drivers ?? []) if (driver.topologyKeys?.length === 0) driver.topologyKeys = null
    if (spec?.drivers?.length === 0) spec.drivers = null
  },
}

export const csiNodes: KindExtension = { strategy }

/** The maximum number of volumes may change; name, node ID and topology of a driver may not. */
function withoutLimits({ allocatable: _limits, ...driver }: Driver): Driver {
  return driver
}

function validate(drivers: readonly Driver[]): FieldError[] {
  const repeated = repeats(drivers.map(({ name = "" }) => name))
  return drivers.flatMap(({ name = "", nodeID = "", topologyKeys, allocatable }, index) => {
    const at = path.index(index)
    const errors = csiDriverName(at.child("name"), name)
    if (nodeID === "") errors.push(required(at.child("nodeID")))
    if (Buffer.byteLength(nodeID) > longestID) {
      errors.push(invalidValue(at.child("nodeID"), nodeID, `must be ${longestID} characters or less`))
    }
    errors.push(...nonNegative(at.child("allocatable", "count"), allocatable?.count))
    if (repeated.has(index)) {
      errors.push(duplicate(at.child("name"), name))
    }
    const keys = topologyKeys ?? []
    const known = repeats(keys)
    for (const [position, key] of keys.entries()) {
      if (key === "") errors.push(required(at))
      if (known.has(position)) errors.push(duplicate(at, key))
      errors.push(...validateLabelName(at, key))
    }
    return errors
  })
}
