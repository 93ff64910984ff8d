// PodTemplates: standalone pod templates.

import { FieldPath } from "../../../../apimachinery/field-errors.ts"
import type { KubeObject, PodTemplateSpec } from "../../../../apimachinery/object.ts"
import type { KindExtension, Strategy } from "../../strategy.ts"
import { semanticEqual } from "../../validation/equality.ts"
import { emptyTemplate } from "../../workloads/template.ts"
import { convertPodTemplate, defaultPodTemplate } from "../../../../apimachinery/core/pod-defaults.ts"
import { dropDisabledOfPod } from "../pod-spec/defaults.ts"
import { validatePodTemplate } from "../pod-spec/validate.ts"
import { templateWarnings } from "../../workloads/warnings.ts"

type PodTemplate = KubeObject & { template?: PodTemplateSpec }

const strategy: Strategy<PodTemplate> = {
  generation: true,
  dropDisabled: ({ template }) => dropDisabledOfPod(template?.spec),

  default(object) {
    object.template ??= {}
    object.template.metadata ??= {}
    defaultPodTemplate(object.template)
  },
  convert: ({ template }) => convertPodTemplate(template),
  validate: (_ctx, object) => validatePodTemplate(FieldPath.root("template"), object.template ?? emptyTemplate),
  validateUpdate: (_ctx, object) => validatePodTemplate(FieldPath.root("template"), object.template ?? emptyTemplate),
  warnings: (_ctx, object, current) => templateWarnings(FieldPath.root("template"), object.template, object, current),
  specChanged: (object, current) => !semanticEqual(object.template, current.template),
}

export const podTemplates: KindExtension = { strategy }
