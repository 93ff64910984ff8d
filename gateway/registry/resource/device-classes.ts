// DeviceClasses: which devices can be claimed, and their configuration. Source: k8s.io/kubernetes/pkg/apis/resource/validation
// ValidateDeviceClass.

import { type FieldError, FieldPath, invalidValue } from "../../../apimachinery/field-errors.ts"
import type { Steps } from "../../../apimachinery/steps.ts"
import { validateLongName } from "../../../apimachinery/names.ts"
import { isExtendedResource } from "../core/pod-spec/resources.ts"
import type { KindExtension, Strategy } from "../strategy.ts"
import { semanticEqual } from "../validation/equality.ts"
import { compilingAll, validateSelectors } from "./selectors.ts"
import type { DeviceClass } from "./types.ts"
import { configuration, limited, limits } from "./values.ts"

const path = FieldPath.root("spec")

/** A step compiles one selector. */
function* validating({ spec = {} }: DeviceClass, current?: DeviceClass): Steps<FieldError[]> {
  const { selectors, config, extendedResourceName: name } = spec
  const isStored = current !== undefined && semanticEqual(config, current.spec?.config)
  const compiled = yield* compilingAll([selectors])
  const errors = [
    ...validateSelectors(path.child("selectors"), selectors, compiled),
    ...limited(path.child("config"), config, limits.configurations, (at, one) => configuration(at, one, isStored)),
  ]
  if (name !== undefined && !isExtendedResource(name)) {
    errors.push(invalidValue(path.child("extendedResourceName"), name, "must be a valid extended resource name"))
  }
  return errors
}

const strategy: Strategy<DeviceClass> = {
  /** Upstream validates only the final name, not generateName. */
  nameRule: (name, isPrefix) => (isPrefix ? [] : validateLongName(name)),
  compiles: true,
  validating: (_ctx, deviceClass) => validating(deviceClass),
  validatingUpdate: (_ctx, deviceClass, current) => validating(deviceClass, current),
}

export const deviceClasses: KindExtension = { strategy }
