// Where a cluster of real nodes lies: folders, and addresses. Several clusters can run beside each other on one machine; each has
// a number, and that number its own small network between the machine and its nodes. Ranges inside that network (pods,
// services) are the same for all, since no cluster sees another's.

import { homedir } from "node:os"
import path from "node:path"
import { fileURLToPath } from "node:url"

export const kubernetesVersion = "v1.36.3"

export const cacheDirectory = process.env["POLYPLANE_CACHE"] ?? path.join(homedir(), ".cache", "polyplane")
const versionDirectory = path.join(cacheDirectory, "kubernetes", kubernetesVersion)
export const binDirectory = path.join(versionDirectory, "bin")

/** What `kubernetes:build images` makes. */
export const images = {
  /** An OCI layout with every image, which the registry serves. */
  layout: path.join(versionDirectory, "node-images", "layout"),
  /** The same images as a containerd root, unpacked: nodes start with a copy of it. */
  root: path.join(versionDirectory, "node-images", "containerd"),
  /** Says what the two above were made of. */
  stamp: path.join(versionDirectory, "node-images", "stamp"),
  work: path.join(versionDirectory, "node-images", "work"),
}

/** One folder per running cluster. On the same disk as the images, so that nodes can link to them. */
export const clustersDirectory = path.join(cacheDirectory, "clusters")

/** A file beside this one. */
export const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

export const ranges = {
  pods: "10.244.0.0/16",
  services: "10.96.0.0/16",
  /** First address of the services: default/kubernetes. */
  kubernetes: "10.96.0.1",
  dns: "10.96.0.10",
}

export const clusterDomain = "cluster.local"
/** How many clusters one machine can have: one third octet each. */
export const maxClusters = 16
export const maxNodes = 9
export const registryPort = 5000
export const apiPort = 6443

export interface Network {
  /** The device by which the machine reaches the nodes. Making it claims the number. */
  link: string
  /** This machine, as nodes and (masqueraded) their pods reach it. */
  host: string
  registry: string
  node(number: number): string
}

export function networkOf(cluster: number): Network {
  const prefix = `10.199.${cluster}`
  return {
    link: `polyplane${cluster}`,
    host: `${prefix}.1`,
    registry: `${prefix}.2`,
    node: (number) => `${prefix}.${10 + number}`,
  }
}

export const nodeName = (number: number): string => `node${number}`
export const podRange = (number: number): string => `10.244.${number}.0/24`
