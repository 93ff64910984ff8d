// The images that the upstream suite of this Kubernetes version names, and what stands for them here. Not made, as no spec that
// is run here needs them: perl, ipc-utils, volume/nfs, volume/iscsi, apparmor-loader, node-perf.

import { coreDNSImage } from "../core-dns.ts"
import { pauseImage } from "../configuration.ts"
import type { LayerName } from "./layers.ts"
import type { ImageConfig } from "./oci-layout.ts"

interface ImageRecipe {
  names: string[]
  config: ImageConfig
  layers: LayerName[]
}

const suite = (name: string): string => `registry.k8s.io/e2e-test-images/${name}`
const agnhost = (command: string): ImageConfig => ({ Entrypoint: ["/agnhost"], Cmd: [command], WorkingDir: "/" })
const nginx: ImageConfig = { Cmd: ["nginx", "-g", "daemon off;"], ExposedPorts: { "80/tcp": {} } }

export const recipes: readonly ImageRecipe[] = [
  { names: [pauseImage], config: { Entrypoint: ["/pause"], User: "65535:65535" }, layers: ["pause"] },
  { names: [coreDNSImage], config: { Entrypoint: ["/coredns"] }, layers: ["coredns"] },
  {
    names: ["registry.k8s.io/etcd:3.6.8-0"],
    config: { Cmd: ["/usr/local/bin/etcd"], ExposedPorts: { "2379/tcp": {} } },
    layers: ["base", "etcd"],
  },
  { names: [suite("busybox:1.37.0-1"), "docker.io/library/busybox:latest"], config: { Cmd: ["sh"] }, layers: ["base"] },
  { names: [suite("nonroot:1.5")], config: { Cmd: ["sh"], User: "1234" }, layers: ["base"] },
  {
    names: [suite("agnhost:2.63.0"), suite("agnhost:2.55")],
    config: agnhost("pause"),
    layers: ["base", "coredns", "agnhost"],
  },
  {
    names: [suite("glibc-dns-testing:2.0.0")],
    config: { Cmd: ["/bin/bash"] },
    layers: ["base", "coredns", "agnhost"],
  },
  ...(["nautilus", "kitten"] as const).map((page): ImageRecipe => ({
    names: [suite(`${page}:1.8`)],
    config: agnhost("test-webserver"),
    layers: ["base", "coredns", "agnhost", page],
  })),
  // As docker.io's, for what a person types: kubectl create deployment web --image=nginx.
  { names: [suite("nginx:1.15-4"), "docker.io/library/nginx:latest"], config: nginx, layers: ["base", "nginx"] },
  { names: [suite("nginx:1.27-0")], config: nginx, layers: ["base", "nginx", "newer"] },
  { names: [suite("nonewprivs:1.4")], config: { Cmd: ["nnp"] }, layers: ["base", "effectiveUID"] },
  {
    names: [suite("sample-apiserver:1.29.2")],
    config: { Entrypoint: ["/sample-apiserver"] },
    layers: ["base", "sampleAPIServer"],
  },
  {
    names: [suite("resource-consumer:1.14")],
    config: { Entrypoint: ["/consumer"], ExposedPorts: { "8080/tcp": {} } },
    layers: ["base", "resourceConsumer"],
  },
]
