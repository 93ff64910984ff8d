module polyplane.example/definitions

go 1.26.8

require (
	github.com/argoproj/argo-cd/v3 v3.5.7
	github.com/argoproj/argo-rollouts v1.10.1
	github.com/cert-manager/cert-manager v1.21.2
	github.com/cilium/cilium v1.20.2
	github.com/elastic/cloud-on-k8s/v3 v3.5.0
	github.com/external-secrets/external-secrets v1.3.2
	github.com/fluxcd/source-controller v1.9.6
	github.com/kedacore/keda/v2 v2.21.0
	github.com/kubernetes-csi/external-snapshotter/client/v8 v8.7.0
	github.com/kyverno/kyverno v1.19.1
	github.com/open-policy-agent/gatekeeper/v3 v3.23.1
	github.com/prometheus-operator/prometheus-operator v0.85.0
	github.com/vmware-tanzu/velero v1.18.3
	go.universe.tf/metallb v0.16.2
	istio.io/api v1.31.1
	knative.dev/serving v0.51.0
	sigs.k8s.io/cluster-api v1.14.2
	sigs.k8s.io/cluster-api-provider-aws/v2 v2.13.0
	sigs.k8s.io/gateway-api v1.6.3
	sigs.k8s.io/karpenter v1.14.1
)
